from sqlalchemy import event, update

from tm_pipeline.store.engine import Database
from tm_pipeline.store.memory import HUMAN, UnitDraft, UnitKey, find_units, upsert_units
from tm_pipeline.store.tables import translation_memory as t

ENGINE = "fake:1"


def unit_key(number: int = 1, target: str = "en") -> UnitKey:
    return UnitKey(source_hash=f"{number:064x}", source_language="ko", target_language=target)


def unit(key: UnitKey, translated: str = "Title", provider: str = ENGINE, source: str = "제목") -> UnitDraft:
    return UnitDraft(key=key, source_text=source, translated_text=translated, provider=provider, provider_version="1")


def write(db: Database, *units: UnitDraft, version: str = "v1") -> None:
    db.run(lambda conn: upsert_units(conn, units, version))


def found(db: Database, *keys: UnitKey, engine: str = ENGINE, version: str = "v1") -> dict[UnitKey, str]:
    with db.read() as conn:
        return {key: unit.translated_text for key, unit in find_units(conn, keys, engine, version).items()}


def test_a_persons_translation_beats_the_engines_whichever_came_first(database: Database) -> None:
    one, two = unit_key(1), unit_key(2)
    write(database, unit(one, "machine"))
    write(database, unit(one, "person", HUMAN))
    write(database, unit(two, "person", HUMAN))
    write(database, unit(two, "machine"))
    assert found(database, one, two) == {one: "person", two: "person"}


def test_a_machine_never_overwrites_a_person(database: Database) -> None:
    write(database, unit(unit_key(), "person", HUMAN))
    write(database, unit(unit_key(), "machine"))
    write(database, unit(unit_key(), "machine, later"))
    with database.read() as conn:
        rows = conn.execute(t.select().order_by(t.c.id)).all()
    assert [(row.provider, row.translated_text) for row in rows] == [(HUMAN, "person"), (ENGINE, "machine, later")]


def test_a_retired_unit_is_not_found_until_it_is_written_again(database: Database) -> None:
    write(database, unit(unit_key(), "old"))
    with database.begin() as conn:
        conn.execute(update(t).values(status="RETIRED"))
    assert found(database, unit_key()) == {}
    write(database, unit(unit_key(), "new"))
    assert found(database, unit_key()) == {unit_key(): "new"}


def test_another_engine_language_or_normalisation_is_another_unit(database: Database) -> None:
    write(database, unit(unit_key()))
    assert found(database, unit_key(), engine="other:1") == {}
    assert found(database, unit_key(), version="v2") == {}
    assert found(database, unit_key(target="ja")) == {}


def test_twelve_hundred_hashes_are_found_in_lists_that_keep_the_index(database: Database) -> None:
    keys = [unit_key(number) for number in range(1_200)]
    write(database, *(unit(key, f"text {key.source_hash}") for key in keys))
    sizes: list[int] = []

    def watch(_conn: object, _cursor: object, _sql: str, parameters: object, _context: object, _many: bool) -> None:  # noqa: FBT001 - SQLAlchemy's signature
        assert isinstance(parameters, (tuple, dict))
        sizes.append(len(parameters))

    event.listen(database.engine, "before_cursor_execute", watch)
    try:
        assert found(database, *keys) == {key: f"text {key.source_hash}" for key in keys}
    finally:
        event.remove(database.engine, "before_cursor_execute", watch)
    assert len([size for size in sizes if size > 100]) == 3
    assert max(sizes) < 1_000  # MariaDB turns longer lists into a derived table


def test_a_colliding_text_can_be_told_by_its_source_text(database: Database) -> None:
    write(database, unit(unit_key(), "Title", source="제목"))
    with database.read() as conn:
        (known,) = find_units(conn, [unit_key()], ENGINE, "v1").values()
    assert known.source_text == "제목"  # the caller compares it with its own text
    write(database, unit(unit_key(), "Other", source="다른 글"))
    with database.read() as conn:
        (known,) = find_units(conn, [unit_key()], ENGINE, "v1").values()
    assert (known.source_text, known.translated_text) == ("다른 글", "Other")


def test_an_upper_case_hash_of_an_application_is_the_same_key_on_mariadb(mariadb: Database) -> None:
    lower = UnitKey(source_hash="ab" * 32, source_language="ko", target_language="en")
    write(mariadb, unit(UnitKey(source_hash="AB" * 32, source_language="ko", target_language="en"), "Title"))
    assert found(mariadb, lower) == {lower: "Title"}


def test_no_keys_find_nothing_and_no_units_write_nothing(database: Database) -> None:
    write(database)
    assert found(database) == {}
