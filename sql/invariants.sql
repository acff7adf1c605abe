-- Queries that must return no row. Run by `tm-pipeline check`, as asset checks and after every integration test.
-- `:ten_minutes_ago` is filled in from the database's clock: a lease or a call that ended just now is swept soon.

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
SELECT DISTINCT later.request_key
FROM provider_call later
JOIN provider_call earlier ON earlier.request_key = later.request_key AND earlier.attempt < later.attempt
WHERE later.attempt > 1
  AND later.state = 'DONE' AND later.error_kind IS NULL AND later.settled_at IS NULL
  AND earlier.state = 'DONE' AND earlier.error_kind IS NULL AND earlier.settled_at IS NULL;

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

-- name: no_lease_outlives_its_bound
SELECT id
FROM translation_job
WHERE status = 'RUNNING' AND claim_token IS NOT NULL
  AND (lease_expires_at IS NULL OR lease_expires_at < :ten_minutes_ago);

-- name: a_claim_is_of_one_group
SELECT claim_token
FROM translation_job
WHERE claim_token IS NOT NULL
GROUP BY claim_token
HAVING COUNT(DISTINCT resource_type) > 1 OR COUNT(DISTINCT resource_id) > 1 OR COUNT(DISTINCT target_language) > 1;

-- name: no_call_outlives_its_deadline
SELECT id
FROM provider_call
WHERE state = 'IN_FLIGHT' AND deadline_at < :ten_minutes_ago;

-- name: no_job_is_lost
SELECT DISTINCT e.job_id
FROM translation_event e
WHERE e.job_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM translation_job j WHERE j.id = e.job_id);

-- name: no_stale_worker_completed_a_job
SELECT e.job_id
FROM translation_event e
WHERE e.job_id IS NOT NULL
GROUP BY e.job_id
HAVING SUM(CASE WHEN e.event = 'recorded' AND e.to_status = 'COMPLETED' THEN 1 ELSE 0 END)
  > 1 + SUM(CASE WHEN e.event <> 'recorded' AND e.to_status = 'PENDING' THEN 1 ELSE 0 END);

-- name: every_paid_unit_has_its_call
SELECT m.id
FROM translation_memory m
WHERE m.origin_call_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM provider_call c WHERE c.id = m.origin_call_id AND c.state = 'DONE');

-- name: refused_calls_cost_nothing
SELECT id
FROM provider_call
WHERE state = 'REFUSED' AND billed_units > 0;
