-- Ask for a translation, in the transaction that saves the text. Without it the next scan finds the row.

-- Every field, every language.
INSERT INTO translation_request (resource_type, resource_id, reason) VALUES ('content', 42, 'save');

-- One language only.
INSERT INTO translation_request (resource_type, resource_id, target_language, reason)
VALUES ('content', 42, 'ja', 'save');
