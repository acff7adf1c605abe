-- What the pipeline needs on the shared tables: nullable or defaulted, so that an application which inserts
-- without them goes on working. One change a statement: each is skipped where it is there already.

ALTER TABLE translation_job ADD COLUMN claim_token CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL;
ALTER TABLE translation_job ADD COLUMN claimed_by VARCHAR(128) NULL;
ALTER TABLE translation_job ADD COLUMN lease_expires_at TIMESTAMP(6) NULL DEFAULT NULL;
ALTER TABLE translation_job ADD COLUMN error_kind VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL;
ALTER TABLE translation_job ADD COLUMN engine_key VARCHAR(50) NULL;
ALTER TABLE translation_job ADD KEY idx_translation_job_group (resource_type, resource_id, target_language, status);
ALTER TABLE translation_job ADD KEY idx_translation_job_domain_due (resource_type, status, next_retry_at);
ALTER TABLE translation_memory ADD COLUMN status VARCHAR(20) NOT NULL DEFAULT 'ACTIVE';
ALTER TABLE translation_memory ADD COLUMN origin_call_id BIGINT NULL;
ALTER TABLE translation_memory ADD COLUMN qa_warnings TEXT NULL;
