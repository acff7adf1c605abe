-- Queries that must return no row. Run by `tm-pipeline check`, as asset checks and after every integration test.

-- name: unit_keys_are_unique
SELECT source_hash, source_language, target_language, provider, normalization_version
FROM translation_memory
GROUP BY source_hash, source_language, target_language, provider, normalization_version
HAVING COUNT(*) > 1;

-- name: a_group_is_held_under_one_token
SELECT resource_type, resource_id, target_language
FROM translation_job
WHERE status = 'RUNNING' AND claim_token IS NOT NULL
GROUP BY resource_type, resource_id, target_language
HAVING COUNT(DISTINCT claim_token) > 1;

-- name: only_running_jobs_hold_a_token
SELECT id
FROM translation_job
WHERE status <> 'RUNNING' AND claim_token IS NOT NULL;

-- name: every_status_is_known
SELECT id
FROM translation_job
WHERE status NOT IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'NEEDS_REVIEW', 'NEEDS_CREDENTIAL', 'SUPERSEDED', 'CANCELLED');

-- name: stopped_jobs_say_why
SELECT id
FROM translation_job
WHERE status IN ('FAILED', 'NEEDS_REVIEW', 'NEEDS_CREDENTIAL') AND (error_kind IS NULL OR last_error_message IS NULL);

-- name: a_call_in_flight_is_the_only_one_of_its_key
SELECT request_key
FROM provider_call
WHERE state = 'IN_FLIGHT'
GROUP BY request_key
HAVING COUNT(*) > 1;

-- name: ended_calls_free_their_key
SELECT id
FROM provider_call
WHERE state <> 'IN_FLIGHT' AND active_key IS NOT NULL;

-- name: a_text_has_one_usable_paid_reply
SELECT request_key
FROM provider_call
WHERE state = 'DONE' AND error_kind IS NULL AND settled_at IS NULL
GROUP BY request_key
HAVING COUNT(*) > 1;

-- name: completed_jobs_have_their_unit
SELECT j.id
FROM translation_job j
WHERE j.status = 'COMPLETED' AND j.engine_key IS NOT NULL
  AND NOT EXISTS (
    SELECT 1
    FROM translation_memory m
    WHERE m.source_hash = j.source_hash
      AND m.source_language = j.source_language
      AND m.target_language = j.target_language
  );

-- name: no_unit_is_empty
SELECT id
FROM translation_memory
WHERE translated_text = '';
