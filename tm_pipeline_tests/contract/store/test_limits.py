"""What a column cannot hold is refused in the same words on every database, and nothing is ever cut."""

from dataclasses import replace

import pytest

from tm_pipeline.domain.errors import InvalidSourceError, UsageError
from tm_pipeline.store.engine import Database
from tm_pipeline.store.memory import UnitDraft, UnitKey, find_units, upsert_units
from tm_pipeline_tests.contract.store.rows import book, draft, job_rows, key

FULL = "한" * 21_845  # 65,535 bytes
HASH = "b" * 64


@pytest.mark.parametrize(
    "text",
    [FULL, "👩‍👩‍👧‍👦 가족", "a\x00b", "줄\r\n바꿈\u2028", "ß\u00a0é e\u0301", "'\"\\%s :name"],
    ids=["65,535 bytes", "joined emoji", "NUL", "line ends", "composed and decomposed", "SQL and its parameters"],
)
def test_a_text_comes_back_to_the_character(database: Database, text: str) -> None:
    book(database, [draft(key(), text=text)])
    (row,) = job_rows(database)
    assert row.source_text == text


@pytest.mark.parametrize(
    ("text", "said"),
    [(FULL + "한", "65,538 bytes"), ("half \ud83d of a pair", "surrogate")],
    ids=["too many bytes", "lone surrogate"],
)
def test_a_text_that_no_column_holds_is_refused_whole(database: Database, text: str, said: str) -> None:
    with pytest.raises(InvalidSourceError, match=said):
        book(database, [draft(key()), draft(key(2), text=text)])
    assert job_rows(database) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"field_key": "f" * 81}, "81 characters"),
        ({"field_key": "title "}, "without spaces"),
        ({"field_key": "títle"}, "ASCII"),
        ({"source_language": "zh-Hant-TW-x"}, "12 characters"),
        ({"source_hash": "A" * 64}, "lower case"),
        ({"source_hash": "a" * 63}, "64 hexadecimal"),
    ],
    ids=["long field", "space at the end", "accent", "long language", "upper case", "short hash"],
)
def test_a_key_that_a_collation_would_cut_or_fold_is_refused(
    database: Database, change: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        book(database, [replace(draft(key()), **change)])  # type: ignore[arg-type]
    assert job_rows(database) == []


def test_a_resource_type_longer_than_its_column_is_refused(database: Database) -> None:
    with pytest.raises(UsageError, match="51 characters"):
        book(database, [draft(key(resource_type="r" * 51))])


def test_a_translation_that_no_column_holds_is_refused(database: Database) -> None:
    unit = UnitDraft(
        key=UnitKey(source_hash=HASH, source_language="ko", target_language="en"),
        source_text="제목",
        translated_text="x" * 65_536,
        provider="papago",
        provider_version="1",
    )
    with pytest.raises(InvalidSourceError, match="translated_text has 65,536 bytes"):
        database.run(lambda conn: upsert_units(conn, [unit], "v1"))
    with database.read() as conn:
        assert find_units(conn, [unit.key], "papago", "v1") == {}


def test_a_booking_of_thirty_megabytes_is_sent_in_packets_that_the_server_takes(database: Database) -> None:
    book(database, [draft(key(number), text=FULL[: 21_000 - number]) for number in range(1, 501)])
    assert [len(row.source_text) for row in job_rows(database)] == [21_000 - number for number in range(1, 501)]
