-- The tables that the product shares with its application: names, types, keys and defaults are its contract.
-- An existing product has them already.

CREATE TABLE IF NOT EXISTS translation_memory (
    id BIGINT NOT NULL AUTO_INCREMENT COMMENT '번역 메모리 ID',
    source_hash VARCHAR(64) NOT NULL COMMENT '정규화 원문 SHA-256 해시',
    source_text TEXT NOT NULL COMMENT '정규화 원문 텍스트',
    source_language VARCHAR(10) NOT NULL COMMENT '원문 언어 코드',
    target_language VARCHAR(10) NOT NULL COMMENT '대상 언어 코드',
    translated_text TEXT NOT NULL COMMENT '번역 결과 텍스트',
    provider VARCHAR(50) NOT NULL COMMENT '번역 provider 이름',
    provider_version VARCHAR(50) NOT NULL COMMENT '번역 provider 버전',
    normalization_version VARCHAR(20) NOT NULL COMMENT '정규화 규칙 버전',
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP COMMENT '생성 시각',
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT '수정 시각',
    PRIMARY KEY (id),
    UNIQUE KEY uk_translation_memory_source_target_provider (
        source_hash,
        source_language,
        target_language,
        provider,
        normalization_version
    ),
    KEY idx_translation_memory_source_hash (source_hash),
    KEY idx_translation_memory_target_language (target_language)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS translation_job (
    id BIGINT NOT NULL AUTO_INCREMENT COMMENT '번역 작업 ID',
    resource_type VARCHAR(50) NOT NULL COMMENT '번역 대상 리소스 타입',
    resource_id BIGINT NOT NULL COMMENT '번역 대상 리소스 ID',
    field_key VARCHAR(80) NOT NULL COMMENT '번역 대상 필드 키',
    source_hash VARCHAR(64) NOT NULL COMMENT '정규화 원문 SHA-256 해시',
    source_text TEXT NOT NULL COMMENT '정규화 원문 텍스트',
    source_language VARCHAR(10) NOT NULL COMMENT '원문 언어 코드',
    target_language VARCHAR(10) NOT NULL COMMENT '대상 언어 코드',
    status VARCHAR(20) NOT NULL COMMENT '번역 작업 상태',
    retry_count INT NOT NULL COMMENT '재시도 횟수',
    last_error_message TEXT DEFAULT NULL COMMENT '마지막 오류 메시지',
    next_retry_at TIMESTAMP NOT NULL COMMENT '다음 재시도 가능 시각',
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP COMMENT '생성 시각',
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT '수정 시각',
    PRIMARY KEY (id),
    UNIQUE KEY uk_translation_job_resource_field_target_hash (
        resource_type,
        resource_id,
        field_key,
        target_language,
        source_hash
    ),
    KEY idx_translation_job_status_retry (status, next_retry_at),
    KEY idx_translation_job_resource (resource_type, resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS language_detection_result (
    id BIGINT NOT NULL AUTO_INCREMENT COMMENT '언어 감지 결과 ID',
    source_hash VARCHAR(64) NOT NULL COMMENT '정규화 원문 SHA-256 해시',
    source_text_sample VARCHAR(500) NOT NULL COMMENT '정규화 원문 샘플 텍스트',
    detected_language VARCHAR(10) NOT NULL COMMENT '감지된 언어 코드',
    provider VARCHAR(50) NOT NULL COMMENT '언어 감지 provider 이름',
    confidence DOUBLE DEFAULT NULL COMMENT '언어 감지 신뢰도',
    normalization_version VARCHAR(20) NOT NULL COMMENT '정규화 규칙 버전',
    created_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP COMMENT '생성 시각',
    updated_at TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT '수정 시각',
    PRIMARY KEY (id),
    UNIQUE KEY uk_language_detection_result_hash_provider_version (
        source_hash,
        provider,
        normalization_version
    ),
    KEY idx_language_detection_result_source_hash (source_hash)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
