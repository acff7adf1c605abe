-- Rights in MySQL and MariaDB. Replace the database name `product`, the hosts and the passwords.
-- The pipeline never writes to a source table; an application never writes to a read model.

-- The pipeline at work: reads the source tables, reads and writes its own.
CREATE USER IF NOT EXISTS 'tm_pipeline'@'%' IDENTIFIED BY 'change me';
GRANT SELECT ON product.* TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_memory TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_job TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.language_detection_result TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_request TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_request_dead TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.read_model_refresh TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.provider_call TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.provider_state TO 'tm_pipeline'@'%';
GRANT INSERT ON product.translation_event TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.sensor_watermark TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.op_output TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE ON product.schema_version TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.content_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.series_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.ai_character_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.original_work_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.category_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.content_theme_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.series_genre_translation TO 'tm_pipeline'@'%';
GRANT INSERT, UPDATE, DELETE ON product.game_line_translation TO 'tm_pipeline'@'%';

-- Whoever runs `tm-pipeline migrate`: may also create and extend tables. Keep this user out of the workers.
CREATE USER IF NOT EXISTS 'tm_migrate'@'%' IDENTIFIED BY 'change me';
GRANT SELECT, INSERT, UPDATE, CREATE, ALTER, INDEX ON product.* TO 'tm_migrate'@'%';

-- An application: asks for translations and reads them. Repeat the last line for each read model that it shows.
CREATE USER IF NOT EXISTS 'product_app'@'%' IDENTIFIED BY 'change me';
GRANT INSERT ON product.translation_request TO 'product_app'@'%';
GRANT SELECT ON product.content_translation TO 'product_app'@'%';
