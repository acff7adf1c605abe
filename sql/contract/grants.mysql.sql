-- Who may do what. Replace the names of accounts, and `product` by your database.

-- The application: asks for translations and reads them. It needs nothing else.
GRANT INSERT ON product.translation_request TO 'app'@'%';
GRANT SELECT ON product.content_translation TO 'app'@'%';
GRANT SELECT ON product.category_translation TO 'app'@'%';

-- The pipeline: reads the product's tables and owns its own; one line per table.
GRANT SELECT ON product.* TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_memory TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_job TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.language_detection_result TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_request TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_request_dead TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.read_model_refresh TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.provider_call TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.provider_state TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.translation_event TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.sensor_watermark TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.op_output TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.alert TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.alert_fault TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.automation_heartbeat TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.content_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.series_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.ai_character_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.original_work_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.category_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.content_theme_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.series_genre_translation TO 'tm'@'%';
GRANT INSERT, UPDATE, DELETE ON product.game_line_translation TO 'tm'@'%';

-- Whoever runs `tm-pipeline migrate`, for that time only.
GRANT SELECT, INSERT, UPDATE, CREATE, ALTER, INDEX ON product.* TO 'tm_admin'@'%';
