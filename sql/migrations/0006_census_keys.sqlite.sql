-- The embedded twin of the MySQL file of the same number.

CREATE INDEX IF NOT EXISTS idx_translation_memory_census
    ON translation_memory (status, provider, source_language, target_language);
CREATE INDEX IF NOT EXISTS idx_provider_call_spend ON provider_call (provider, state, characters, billed_units);
