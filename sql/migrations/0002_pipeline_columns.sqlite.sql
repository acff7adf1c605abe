-- The embedded twin of the MySQL file of the same number.

ALTER TABLE translation_job ADD COLUMN claim_token CHAR(32) NULL;
ALTER TABLE translation_job ADD COLUMN claimed_by VARCHAR(128) NULL;
ALTER TABLE translation_job ADD COLUMN lease_expires_at TIMESTAMP NULL DEFAULT NULL;
ALTER TABLE translation_job ADD COLUMN error_kind VARCHAR(40) NULL;
ALTER TABLE translation_job ADD COLUMN engine_key VARCHAR(50) NULL;
CREATE INDEX IF NOT EXISTS idx_translation_job_group ON translation_job (resource_type, resource_id, target_language, status);
CREATE INDEX IF NOT EXISTS idx_translation_job_domain_due ON translation_job (resource_type, status, next_retry_at);
ALTER TABLE translation_memory ADD COLUMN status VARCHAR(20) NOT NULL DEFAULT 'ACTIVE';
ALTER TABLE translation_memory ADD COLUMN origin_call_id BIGINT NULL;
ALTER TABLE translation_memory ADD COLUMN qa_warnings TEXT NULL;
