-- Alerts: each fault once, told at least once; and when the automation was last at work.

CREATE TABLE IF NOT EXISTS alert (
    id BIGINT NOT NULL AUTO_INCREMENT,
    alert_key VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    fault VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    state VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    body MEDIUMTEXT NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    last_error VARCHAR(500) NULL,
    booked_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    told_at TIMESTAMP(6) NULL DEFAULT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_alert_key (alert_key),
    KEY idx_alert_state (state, next_attempt_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS alert_fault (
    fault VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    alerted_at TIMESTAMP(6) NULL DEFAULT NULL,
    held_back INT NOT NULL DEFAULT 0,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (fault)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS automation_heartbeat (
    name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seen_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
