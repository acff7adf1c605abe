-- Named parameters start with a colon. One row per resource and locale, found by its unique key.
-- No row means: not translated yet. Show the source text; the next scan or request brings the translation.

-- A resource with several texts: `payload` is one JSON object, its keys are the field keys of the domain.
SELECT payload, source_version
FROM content_translation
WHERE content_id = :content_id AND locale = :locale;

-- One text of it.
SELECT JSON_UNQUOTE(JSON_EXTRACT(payload, '$.title')) AS title
FROM content_translation
WHERE content_id = :content_id AND locale = :locale;

-- A resource with a single text: `value`.
SELECT value
FROM category_translation
WHERE category_id = :category_id AND locale = :locale;

-- A list page: every source row, with its translation in the reader's language or else the source text.
SELECT c.id, COALESCE(t.value, c.name) AS name
FROM category c
LEFT JOIN category_translation t ON t.category_id = c.id AND t.locale = :locale
WHERE c.is_active = 1
ORDER BY c.id;

-- Several languages in the order of preference: the first one that is there.
SELECT locale, value
FROM category_translation
WHERE category_id = :category_id AND locale IN (:locale, :fallback_locale)
ORDER BY CASE locale WHEN :locale THEN 0 ELSE 1 END
LIMIT 1;
