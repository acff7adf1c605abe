-- A person's decision about a ledger row: from then on its reply is neither replayed nor counted against its text.
-- What was paid and what came back stays as it is.

ALTER TABLE provider_call ADD COLUMN settled_at TIMESTAMP(6) NULL DEFAULT NULL;
