-- The embedded twin of the MySQL file of the same number.

CREATE TABLE IF NOT EXISTS alert (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    alert_key VARCHAR(191) NOT NULL,
    fault VARCHAR(64) NOT NULL,
    state VARCHAR(20) NOT NULL,
    body TEXT NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_error VARCHAR(500) NULL,
    booked_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    told_at TIMESTAMP NULL DEFAULT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_alert_key ON alert (alert_key);
CREATE INDEX IF NOT EXISTS idx_alert_state ON alert (state, next_attempt_at);

CREATE TABLE IF NOT EXISTS alert_fault (
    fault VARCHAR(64) NOT NULL,
    alerted_at TIMESTAMP NULL DEFAULT NULL,
    held_back INT NOT NULL DEFAULT 0,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (fault)
);

CREATE TABLE IF NOT EXISTS automation_heartbeat (
    name VARCHAR(50) NOT NULL,
    seen_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (name)
);
