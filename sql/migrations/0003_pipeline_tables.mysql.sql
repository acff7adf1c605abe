-- The pipeline's own tables.

CREATE TABLE IF NOT EXISTS translation_request (
    id BIGINT NOT NULL AUTO_INCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    source_text MEDIUMTEXT NULL,
    source_language VARCHAR(35) NULL,
    source_version BIGINT NULL,
    target_language VARCHAR(35) NULL,
    reason VARCHAR(50) NOT NULL DEFAULT 'save',
    requested_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (id),
    KEY idx_translation_request_resource (resource_type, resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS translation_request_dead (
    id BIGINT NOT NULL AUTO_INCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    source_text MEDIUMTEXT NULL,
    source_language VARCHAR(35) NULL,
    source_version BIGINT NULL,
    target_language VARCHAR(35) NULL,
    reason VARCHAR(50) NOT NULL DEFAULT 'save',
    requested_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    rejected_reason VARCHAR(500) NOT NULL,
    rejected_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS read_model_refresh (
    id BIGINT NOT NULL AUTO_INCREMENT,
    resource_type VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    resource_id BIGINT NOT NULL,
    target_language VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    reason VARCHAR(50) NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_error_message TEXT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (id),
    UNIQUE KEY uk_read_model_refresh_group (resource_type, resource_id, target_language),
    KEY idx_read_model_refresh_due (resource_type, next_attempt_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS provider_call (
    id BIGINT NOT NULL AUTO_INCREMENT,
    request_key CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt INT NOT NULL,
    active_key CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    operation VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    provider VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    engine_key VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    source_language VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL,
    target_language VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL,
    source_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    characters INT NOT NULL,
    billed_units INT NOT NULL DEFAULT 0,
    billed_estimated BOOLEAN NOT NULL DEFAULT 1,
    state VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    http_status INT NULL,
    error_kind VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,
    error_message VARCHAR(500) NULL,
    latency_ms INT NULL,
    reply MEDIUMTEXT NULL,
    run_id VARCHAR(128) NOT NULL,
    job_ids VARCHAR(500) NOT NULL,
    deadline_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    started_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    finished_at TIMESTAMP(6) NULL DEFAULT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_provider_call_attempt (request_key, attempt),
    UNIQUE KEY uk_provider_call_active (active_key),
    KEY idx_provider_call_state (state, deadline_at),
    KEY idx_provider_call_run (run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS provider_state (
    provider VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    circuit VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'CLOSED',
    reason VARCHAR(500) NULL,
    opened_at TIMESTAMP(6) NULL DEFAULT NULL,
    blocked_until TIMESTAMP(6) NULL DEFAULT NULL,
    paused_by VARCHAR(128) NULL,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (provider)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS translation_event (
    id BIGINT NOT NULL AUTO_INCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    target_language VARCHAR(10) NULL,
    job_id BIGINT NULL,
    event VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    from_status VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
    to_status VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
    actor VARCHAR(128) NOT NULL,
    run_id VARCHAR(128) NULL,
    reason VARCHAR(500) NULL,
    occurred_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    PRIMARY KEY (id),
    KEY idx_translation_event_resource (resource_type, resource_id),
    KEY idx_translation_event_run (run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS sensor_watermark (
    resource_type VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    watermark TIMESTAMP(6) NULL DEFAULT NULL,
    last_full_at TIMESTAMP(6) NULL DEFAULT NULL,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (resource_type)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS op_output (
    run_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    step_key VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    output_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    mapping_key VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    value MEDIUMTEXT NOT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (run_id, step_key, output_name, mapping_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
