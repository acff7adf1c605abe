-- The embedded twin of the MySQL file of the same number.

CREATE TABLE IF NOT EXISTS translation_memory (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_hash VARCHAR(64) NOT NULL,
    source_text TEXT NOT NULL,
    source_language VARCHAR(10) NOT NULL,
    target_language VARCHAR(10) NOT NULL,
    translated_text TEXT NOT NULL,
    provider VARCHAR(50) NOT NULL,
    provider_version VARCHAR(50) NOT NULL,
    normalization_version VARCHAR(20) NOT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_translation_memory_source_target_provider ON translation_memory (source_hash, source_language, target_language, provider, normalization_version);
CREATE INDEX IF NOT EXISTS idx_translation_memory_source_hash ON translation_memory (source_hash);
CREATE INDEX IF NOT EXISTS idx_translation_memory_target_language ON translation_memory (target_language);

CREATE TABLE IF NOT EXISTS translation_job (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    resource_type VARCHAR(50) NOT NULL,
    resource_id BIGINT NOT NULL,
    field_key VARCHAR(80) NOT NULL,
    source_hash VARCHAR(64) NOT NULL,
    source_text TEXT NOT NULL,
    source_language VARCHAR(10) NOT NULL,
    target_language VARCHAR(10) NOT NULL,
    status VARCHAR(20) NOT NULL,
    retry_count INT NOT NULL,
    last_error_message TEXT DEFAULT NULL,
    next_retry_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_translation_job_resource_field_target_hash ON translation_job (resource_type, resource_id, field_key, target_language, source_hash);
CREATE INDEX IF NOT EXISTS idx_translation_job_status_retry ON translation_job (status, next_retry_at);
CREATE INDEX IF NOT EXISTS idx_translation_job_resource ON translation_job (resource_type, resource_id);

CREATE TABLE IF NOT EXISTS language_detection_result (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    source_hash VARCHAR(64) NOT NULL,
    source_text_sample VARCHAR(500) NOT NULL,
    detected_language VARCHAR(10) NOT NULL,
    provider VARCHAR(50) NOT NULL,
    confidence DOUBLE DEFAULT NULL,
    normalization_version VARCHAR(20) NOT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_language_detection_result_hash_provider_version ON language_detection_result (source_hash, provider, normalization_version);
CREATE INDEX IF NOT EXISTS idx_language_detection_result_source_hash ON language_detection_result (source_hash);
