-- Read translations. No row means: not translated yet, show the source.

-- A resource with several texts. (`->>` is MySQL only; this form works on MariaDB too, at any length.)
SELECT JSON_UNQUOTE(JSON_EXTRACT(payload, '$.title')) AS title,
       JSON_UNQUOTE(JSON_EXTRACT(payload, '$.detail')) AS detail
FROM content_translation
WHERE content_id = 42 AND locale = 'ja';

-- A resource with one text.
SELECT value FROM category_translation WHERE category_id = 3 AND locale = 'ja';

-- A list in Japanese, else English, else the source, in one statement.
SELECT c.id, COALESCE(ja.value, en.value, c.name) AS name
FROM category c
LEFT JOIN category_translation ja ON ja.category_id = c.id AND ja.locale = 'ja'
LEFT JOIN category_translation en ON en.category_id = c.id AND en.locale = 'en'
ORDER BY c.id;
