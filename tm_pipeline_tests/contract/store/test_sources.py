"""Reading a product's tables as products really write them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from tm_pipeline.domain.builtin_domains import BUILTIN
from tm_pipeline.domain.domains import Domain
from tm_pipeline.store.engine import Database, open_database
from tm_pipeline.store.migrate import migrate
from tm_pipeline.store.sources import SourceRow, check_source, latest_change, read_rows, rows_changed_since

CATEGORY = next(domain for domain in BUILTIN if domain.resource_type == "category")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def product(empty_database: Database) -> Database:
    migrate(empty_database, with_sample=True)
    return empty_database


def write(db: Database, statement: str, **values: object) -> None:
    with db.begin() as conn:
        conn.execute(text(statement), values)


def pages(db: Database, since: datetime, size: int) -> list[int]:
    """The ids of every page, as a scan reads them."""
    found: list[int] = []
    after: tuple[datetime, int] | None = None
    while True:
        with db.read() as conn:
            page = rows_changed_since(conn, CATEGORY, since, after, size)
        found += [row.resource_id for row in page]
        if len(page) < size:
            return found
        last = page[-1]
        assert last.updated_at is not None
        after = (last.updated_at, last.resource_id)


@pytest.mark.parametrize("written", ["2026-03-01 12:00:00", "2026-03-01 12:00:00.000000"])
def test_rows_of_one_second_are_all_found_page_by_page(product: Database, written: str) -> None:
    for number in range(1, 8):
        write(product, "INSERT INTO category (id, name, updated_at) VALUES (:id, 'n', :at)", id=number, at=written)
    assert pages(product, NOON, 2) == [1, 2, 3, 4, 5, 6, 7]


def test_rows_that_the_product_stamps_by_default_are_found_page_by_page(product: Database) -> None:
    for number in range(1, 6):
        write(product, "INSERT INTO category (id, name) VALUES (:id, 'n')", id=number)
    assert pages(product, NOON, 2) == [1, 2, 3, 4, 5]


def test_an_older_row_is_left_out(product: Database) -> None:
    write(product, "INSERT INTO category (id, name, updated_at) VALUES (1, 'n', '2026-03-01 11:59:59')")
    assert pages(product, NOON, 2) == []


def one_row(db: Database, domain: Domain) -> SourceRow:
    with db.read() as conn:
        (row,) = read_rows(conn, domain, [1])
    return row


def test_a_row_shows_its_texts_language_version_and_time(product: Database) -> None:
    write(
        product,
        "INSERT INTO category (id, name, language_code, updated_at) VALUES (1, '역사', 'ko', '2026-03-01 12:00:00')",
    )
    row = one_row(product, CATEGORY)
    assert (row.values, row.language, row.published) == ({"name": "역사"}, "ko", True)
    assert row.updated_at == NOON
    assert row.version == int(NOON.timestamp()) * 1_000_000
    with product.read() as conn:
        assert latest_change(conn, CATEGORY) == NOON


@pytest.mark.parametrize(("flag", "published"), [(1, True), (0, False)])
def test_a_row_is_published_by_its_condition(product: Database, flag: int, *, published: bool) -> None:
    write(product, "INSERT INTO category (id, name, is_active) VALUES (1, 'n', :flag)", flag=flag)
    assert one_row(product, CATEGORY).published is published


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [("BIT(1)", "b'1'", "b'0'"), ("BOOLEAN", "TRUE", "FALSE"), ("VARCHAR(3)", "'1'", "'0'")],
)
def test_a_truth_value_may_be_kept_in_any_column_type(mariadb_url: str, kind: str, yes: str, no: str) -> None:
    db = open_database(mariadb_url)
    migrate(db, with_sample=True)
    write(db, "ALTER TABLE category MODIFY is_active " + kind + " NOT NULL")
    write(db, "INSERT INTO category (id, name, is_active) VALUES (1, 'n', " + yes + "), (2, 'm', " + no + ")")
    with db.read() as conn:
        assert {row.resource_id: row.published for row in read_rows(conn, CATEGORY, [1, 2])} == {1: True, 2: False}
    db.dispose()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"table": "no_such"}, ["category: the source table no_such is missing"]),
        ({"language_column": "lang"}, ["category: the source table category has no column lang"]),
        ({"id_column": "a", "version_column": "b"}, ["has no column a", "has no column b"]),
    ],
)
def test_what_a_source_table_lacks_is_said_line_by_line(
    product: Database, change: Mapping[str, str], said: list[str]
) -> None:
    domain = replace(CATEGORY, source=replace(CATEGORY.source, **change))  # type: ignore[arg-type]
    with product.read() as conn:
        problems = check_source(conn, domain)
    assert len(problems) == len(said)
    assert all(part in problem for part, problem in zip(said, problems, strict=True))
