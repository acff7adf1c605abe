-- The embedded twin of the MySQL file of the same number.

ALTER TABLE provider_call ADD COLUMN settled_at TIMESTAMP NULL DEFAULT NULL;
