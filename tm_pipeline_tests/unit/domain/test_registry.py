"""The domains file: what it changes, and an error with file, path and remedy for every fault."""

import pytest

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import (
    Domain,
    DomainRegistry,
    FieldSpec,
    MissingPolicy,
    ReadModelShape,
    TextKind,
    TranslationPath,
)
from tm_pipeline.domain.errors import DomainsFileError
from tm_pipeline.domain.registry import builtin_registry, parse_domains

NOVEL = """
domains:
  novel:
    source:
      table: novels
      id_column: novel_no
      language_column: lang
      version_column: revision
      updated_at_column: changed_at
      published: {state: open, hidden: 0}
      context_columns: [genre]
    fields:
      - {key: title, max_length: 80}
      - {key: body, column: body_html, kind: html, preserve_whitespace: true}
    read_model:
      table: novel_translation
      key_column: novel_id
      shape: payload
      hot_columns: {shown_title: title}
    target_languages: [en, zh-Hant, ja-JP]
    source_language: ko-KR
    fallback_locales: []
    provider: papago
    honorific: true
    path: judged
    priority_seconds: 60
    immediate: true
    edit_quiet_seconds: 5
    missing: hold
"""


def _parse(text: str) -> DomainRegistry:
    return parse_domains(text, file_name="domains.yaml")


def _domain(registry: DomainRegistry, resource_type: str) -> Domain:
    domain = registry.get(resource_type)
    assert domain is not None
    return domain


def test_a_new_domain_has_everything_that_the_file_says() -> None:
    novel = _domain(_parse(NOVEL), "novel")

    assert novel.source.table == "novels"
    assert novel.source.id_column == "novel_no"
    assert novel.source.language_column == "lang"
    assert novel.source.version_column == "revision"
    assert novel.source.updated_at_column == "changed_at"
    assert novel.source.published == {"state": "open", "hidden": 0}
    assert novel.source.context_columns == ("genre",)
    assert novel.fields == (
        FieldSpec(key="title", column="title", max_length=80),
        FieldSpec(key="body", column="body_html", kind=TextKind.HTML, preserve_whitespace=True),
    )
    assert novel.read_model.shape is ReadModelShape.PAYLOAD
    assert novel.read_model.hot_columns == {"shown_title": "title"}
    assert (novel.provider, novel.honorific, novel.path) == ("papago", True, TranslationPath.JUDGED)
    assert (novel.priority_seconds, novel.immediate, novel.edit_quiet_seconds) == (60, True, 5)
    assert novel.missing is MissingPolicy.HOLD


def test_languages_of_the_file_get_their_canonical_spelling() -> None:
    novel = _domain(_parse(NOVEL), "novel")

    assert novel.target_languages == ("en", "zh-TW", "ja")
    assert novel.source_language == "ko"
    assert novel.fallback_locales == ()


def test_new_domains_come_after_the_built_in_ones() -> None:
    names = [domain.resource_type for domain in _parse(NOVEL)]

    assert names == [*(domain.resource_type for domain in BUILTIN), "novel"]


def test_a_file_may_leave_the_built_in_domains_out() -> None:
    assert [domain.resource_type for domain in _parse("extend_builtin: false" + NOVEL)] == ["novel"]


def test_a_built_in_domain_keeps_what_the_file_does_not_name() -> None:
    changed = _domain(_parse("domains:\n  category: {priority_seconds: 30}\n"), "category")
    before = _domain(builtin_registry(), "category")

    assert changed.priority_seconds == 30
    assert changed.read_model == before.read_model
    assert changed.fields == before.fields


def test_a_file_without_changes_is_the_built_in_registry() -> None:
    assert list(_parse("domains: {}")) == list(builtin_registry())


def _novel(old: str, new: str) -> str:
    assert old in NOVEL
    return NOVEL.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            _novel("kind: html", "kind: rich"),
            "domains.novel.fields[1].kind: got 'rich'; use one of plain, html, icu, markdown.",
        ),
        (_novel("path: judged", "path: x"), "domains.novel.path: got 'x'; use one of direct, judged."),
        (_novel("missing: hold", "missing: no"), "domains.novel.missing: got False; use one of source, hold."),
        (_novel("shape: payload", "shape: [json]"), "domains.novel.read_model.shape: got ['json']; use one of payload"),
        (
            _novel("max_length: 80", "max_length: 0"),
            "domains.novel.fields[0].max_length: got 0; use a whole number from 1",
        ),
        (_novel("max_length: 80", "max_length: true"), "max_length: got True; use a whole number"),
        (_novel("priority_seconds: 60", "priority_seconds: 1e30"), "priority_seconds: got "),
        (_novel("priority_seconds: 60", f"priority_seconds: {10**30}"), "use a whole number from 0 to"),
        (
            _novel("immediate: true", "immediate: 'yes'"),
            "domains.novel.immediate: got 'yes'; use true or false.",
        ),
        (_novel("- {key: title,", "- {name: title,"), "domains.novel.fields[0].name: unknown key; use one of key,"),
        (_novel("key: title,", "key: 1st,"), "domains.novel.fields[0].key: got '1st'; use letters"),
        (_novel("key: body,", "key: title,"), "domains.novel.fields: got "),
        (_novel("table: novels", "table: 'novels; x'"), "domains.novel.source.table: got 'novels; x'; use the name"),
        (_novel("table: novels", 'table: "novels\\n"'), "domains.novel.source.table: got 'novels\\n'; use the name"),
        (_novel("shown_title: title", "'a b': title"), "read_model.hot_columns.a b: use the name of a column."),
        (_novel("shown_title: title", "t: name"), "hot_columns.t: got 'name'; use one of title, body."),
        (_novel("shown_title: title", "payload: title"), "the column payload has another use there"),
        (_novel("shown_title: title", "novel_id: title"), "the column novel_id has another use there"),
        (_novel("key_column: novel_id", "key_column: ID"), "the column ID has another use there"),
        (_novel("state: open", "state: 1.5"), "domains.novel.source.published.state: got 1.5; use column: text"),
        (_novel("state: open", "on: 1"), "domains.novel.source.published: got the key True; put quotes around it."),
        (_novel("[en, zh-Hant,", "[en, english,"), "target_languages[1]: got 'english'; use a language tag"),
        (_novel("[en, zh-Hant,", "[no, zh-Hant,"), "target_languages[0]: got False; use a language tag"),
        (_novel("[en, zh-Hant, ja-JP]", "[ja, ja-JP]"), "target_languages: got ['ja', 'ja-JP']; list each"),
        (_novel("[en, zh-Hant, ja-JP]", "[]"), "target_languages: got []; list at least one language."),
        (_novel("table: novel_translation", "table: series_translation"), "which series uses; name another table."),
        (_novel("table: novel_translation", "table: Novels"), "got 'Novels', which novel uses; name another table."),
        (_novel("shape: payload", "shape: value"), "read_model.shape: value holds one field, the domain has 2;"),
        (_novel("  novel:", "  Novel:"), "domains.Novel: use lower-case letters, digits and _, at most 50."),
        ("domains:\n  novel: {}\n", "domains.novel: source, fields, read_model missing; a new domain needs them."),
        ("domains:\n  category:\n", "domains.category: got None; use a mapping of keys to values."),
        ("domains:\n  category: {colour: 1}\n", "domains.category.colour: unknown key; use one of source, fields,"),
        ("domains:\n  category: {source: {id_column: id}}\n", "domains.category.source.table: missing"),
        ("domains:\n  category: {read_model: {table: t}}\n", "domains.category.read_model.key_column: missing"),
        ("domains:\n  category: {fields: []}\n", "domains.category.fields: got []; list each field once"),
        ("domains:\n  category: {fields: [{kind: html}]}\n", "domains.category.fields[0].key: missing"),
        ("domains: []\n", "domains: got []; use a mapping"),
        ("domain: {}\n", "domain: unknown key; use one of extend_builtin, domains."),
        ("extend_builtin: true\n", "domains: the key is missing"),
        ("extend_builtin: false\ndomains: {}\n", "domains: none is left; list one, or set extend_builtin: true."),
        ("extend_builtin: 1\ndomains: {}\n", "extend_builtin: got 1; use true or false."),
        ("", "top level: got None; use a mapping"),
        ("domains: [\n", "no valid YAML at line 2, column 1:"),
        ("domains: {}\ndomains: {}\n", "no valid YAML at line 2, column 1: domains is there twice."),
        ("domains: {category: {provider: 2026-13-01}}\n", "no valid YAML"),
        ("domains: {category: {provider: !!python/name:os.system x}}\n", "no valid YAML at line 1"),
    ],
)
def test_every_fault_names_file_path_and_remedy(text: str, message: str) -> None:
    with pytest.raises(DomainsFileError) as caught:
        _parse(text)

    assert str(caught.value).startswith("domains.yaml: ")
    assert message in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_long_value_is_shown_shortened() -> None:
    with pytest.raises(DomainsFileError) as caught:
        _parse(f"domains:\n  category: {{provider: {'X' * 500}}}\n")

    assert len(str(caught.value)) < 200
