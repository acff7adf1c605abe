-- Run these in the transaction that saves the resource: both are committed, or neither is.
-- Named parameters start with a colon; `content` stands for any resource type of the domains file.

-- The usual case: the pipeline reads the texts from the source table.
INSERT INTO translation_request (resource_type, resource_id, reason)
VALUES ('content', :content_id, 'save');

-- Only one language, for instance after a reader asked for it.
INSERT INTO translation_request (resource_type, resource_id, target_language, reason)
VALUES ('content', :content_id, :locale, 'save');

-- A text that is in no source table: name the field and carry the text. `source_version` must grow with every
-- save of the resource, because the order of the ids is not the order of the commits.
INSERT INTO translation_request (resource_type, resource_id, field_key, source_text, source_language, source_version, reason)
VALUES ('content', :content_id, 'title', :title, :language, :version, 'save');
