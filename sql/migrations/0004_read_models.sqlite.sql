-- The embedded twin of the MySQL file of the same number.

CREATE TABLE IF NOT EXISTS content_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    content_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    payload TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_content_translation ON content_translation (content_id, locale);

CREATE TABLE IF NOT EXISTS series_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    series_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    payload TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_series_translation ON series_translation (series_id, locale);

CREATE TABLE IF NOT EXISTS ai_character_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ai_character_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    payload TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_ai_character_translation ON ai_character_translation (ai_character_id, locale);

CREATE TABLE IF NOT EXISTS original_work_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    original_work_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    payload TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_original_work_translation ON original_work_translation (original_work_id, locale);

CREATE TABLE IF NOT EXISTS category_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    category_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    value TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_category_translation ON category_translation (category_id, locale);

CREATE TABLE IF NOT EXISTS content_theme_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    content_theme_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    value TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_content_theme_translation ON content_theme_translation (content_theme_id, locale);

CREATE TABLE IF NOT EXISTS series_genre_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    series_genre_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    value TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_series_genre_translation ON series_genre_translation (series_genre_id, locale);

CREATE TABLE IF NOT EXISTS game_line_translation (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    game_line_id BIGINT NOT NULL,
    locale VARCHAR(10) NOT NULL,
    value TEXT NOT NULL,
    source_fingerprint CHAR(64) NOT NULL,
    source_version BIGINT NULL,
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX IF NOT EXISTS uk_game_line_translation ON game_line_translation (game_line_id, locale);
