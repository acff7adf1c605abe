-- The embedded twin of the MySQL file of the same name.

CREATE TABLE IF NOT EXISTS content (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    title VARCHAR(255) NULL,
    detail TEXT NULL,
    tags TEXT NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_content_updated_at ON content (updated_at);

CREATE TABLE IF NOT EXISTS series (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    title VARCHAR(255) NULL,
    introduction TEXT NULL,
    keywords TEXT NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_series_updated_at ON series (updated_at);

CREATE TABLE IF NOT EXISTS ai_character (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name VARCHAR(255) NULL,
    tagline VARCHAR(255) NULL,
    description TEXT NULL,
    personality TEXT NULL,
    background TEXT NULL,
    greeting TEXT NULL,
    speech_style TEXT NULL,
    likes TEXT NULL,
    dislikes TEXT NULL,
    relationship TEXT NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_ai_character_updated_at ON ai_character (updated_at);

CREATE TABLE IF NOT EXISTS original_work (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    title VARCHAR(255) NULL,
    description TEXT NULL,
    author_note TEXT NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_original_work_updated_at ON original_work (updated_at);

CREATE TABLE IF NOT EXISTS category (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name VARCHAR(255) NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_category_updated_at ON category (updated_at);

CREATE TABLE IF NOT EXISTS content_theme (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name VARCHAR(255) NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_content_theme_updated_at ON content_theme (updated_at);

CREATE TABLE IF NOT EXISTS series_genre (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name VARCHAR(255) NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_series_genre_updated_at ON series_genre (updated_at);

CREATE TABLE IF NOT EXISTS game_line (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    text TEXT NULL,
    speaker VARCHAR(255) NULL,
    scene VARCHAR(255) NULL,
    note TEXT NULL,
    language_code VARCHAR(35) NULL,
    is_active INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
    updated_at TIMESTAMP NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now'))
);
CREATE INDEX IF NOT EXISTS idx_game_line_updated_at ON game_line (updated_at);

CREATE TRIGGER IF NOT EXISTS content_touch AFTER UPDATE ON content FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE content SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS series_touch AFTER UPDATE ON series FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE series SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS ai_character_touch AFTER UPDATE ON ai_character FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE ai_character SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS original_work_touch AFTER UPDATE ON original_work FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE original_work SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS category_touch AFTER UPDATE ON category FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE category SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS content_theme_touch AFTER UPDATE ON content_theme FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE content_theme SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS series_genre_touch AFTER UPDATE ON series_genre FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE series_genre SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;

CREATE TRIGGER IF NOT EXISTS game_line_touch AFTER UPDATE ON game_line FOR EACH ROW WHEN NEW.updated_at IS OLD.updated_at BEGIN UPDATE game_line SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END;
