-- What is plotted every ten minutes is counted in these keys alone, however long the texts and replies are.

ALTER TABLE translation_memory ADD KEY idx_translation_memory_census (status, provider, source_language, target_language);
ALTER TABLE provider_call ADD KEY idx_provider_call_spend (provider, state, characters, billed_units);
