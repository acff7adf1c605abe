-- The embedded twin of the MySQL file of the same number.

CREATE TABLE IF NOT EXISTS translation_request (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    source_text TEXT NULL,
    source_language VARCHAR(35) NULL,
    source_version BIGINT NULL,
    target_language VARCHAR(35) NULL,
    reason VARCHAR(50) NOT NULL DEFAULT 'save',
    requested_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS idx_translation_request_resource ON translation_request (resource_type, resource_id);

CREATE TABLE IF NOT EXISTS translation_request_dead (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    source_text TEXT NULL,
    source_language VARCHAR(35) NULL,
    source_version BIGINT NULL,
    target_language VARCHAR(35) NULL,
    reason VARCHAR(50) NOT NULL DEFAULT 'save',
    requested_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    rejected_reason VARCHAR(500) NOT NULL,
    rejected_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);


CREATE TABLE IF NOT EXISTS read_model_refresh (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    target_language VARCHAR(10) NOT NULL,
    reason VARCHAR(50) NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    next_attempt_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_error_message TEXT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_read_model_refresh_group ON read_model_refresh (resource_type, resource_id, target_language);
CREATE INDEX IF NOT EXISTS idx_read_model_refresh_due ON read_model_refresh (resource_type, next_attempt_at);

CREATE TABLE IF NOT EXISTS provider_call (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    request_key CHAR(64) NOT NULL,
    attempt INT NOT NULL,
    active_key CHAR(64) NULL,
    operation VARCHAR(20) NOT NULL,
    provider VARCHAR(50) NOT NULL,
    engine_key VARCHAR(50) NOT NULL,
    source_language VARCHAR(10) NULL,
    target_language VARCHAR(10) NULL,
    source_hash CHAR(64) NULL,
    characters INT NOT NULL,
    billed_units INT NOT NULL DEFAULT 0,
    billed_estimated BOOLEAN NOT NULL DEFAULT 1,
    state VARCHAR(20) NOT NULL,
    http_status INT NULL,
    error_kind VARCHAR(40) NULL,
    error_message VARCHAR(500) NULL,
    latency_ms INT NULL,
    reply TEXT NULL,
    run_id VARCHAR(128) NOT NULL,
    job_ids VARCHAR(500) NOT NULL,
    deadline_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    finished_at TIMESTAMP NULL DEFAULT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_provider_call_attempt ON provider_call (request_key, attempt);
CREATE UNIQUE INDEX IF NOT EXISTS uk_provider_call_active ON provider_call (active_key);
CREATE INDEX IF NOT EXISTS idx_provider_call_state ON provider_call (state, deadline_at);
CREATE INDEX IF NOT EXISTS idx_provider_call_run ON provider_call (run_id);

CREATE TABLE IF NOT EXISTS provider_state (
    provider VARCHAR(50) NOT NULL,
    circuit VARCHAR(20) NOT NULL DEFAULT 'CLOSED',
    reason VARCHAR(500) NULL,
    opened_at TIMESTAMP NULL DEFAULT NULL,
    blocked_until TIMESTAMP NULL DEFAULT NULL,
    paused_by VARCHAR(128) NULL,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (provider)
);


CREATE TABLE IF NOT EXISTS translation_event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NULL,
    target_language VARCHAR(10) NULL,
    job_id BIGINT NULL,
    event VARCHAR(40) NOT NULL,
    from_status VARCHAR(20) NULL,
    to_status VARCHAR(20) NULL,
    actor VARCHAR(128) NOT NULL,
    run_id VARCHAR(128) NULL,
    reason VARCHAR(500) NULL,
    occurred_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS idx_translation_event_resource ON translation_event (resource_type, resource_id);
CREATE INDEX IF NOT EXISTS idx_translation_event_run ON translation_event (run_id);

CREATE TABLE IF NOT EXISTS sensor_watermark (
    resource_type VARCHAR(50) NOT NULL,
    watermark TIMESTAMP NULL DEFAULT NULL,
    last_full_at TIMESTAMP NULL DEFAULT NULL,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (resource_type)
);


CREATE TABLE IF NOT EXISTS op_output (
    run_id VARCHAR(64) NOT NULL,
    step_key VARCHAR(191) NOT NULL,
    output_name VARCHAR(64) NOT NULL,
    mapping_key VARCHAR(191) NOT NULL,
    value TEXT NOT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (run_id, step_key, output_name, mapping_key)
);

