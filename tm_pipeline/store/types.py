"""Column types: aware UTC times, and the product's time columns."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcTimestamp(TypeDecorator[datetime]):
    """TIMESTAMP in MySQL, text in SQLite; takes aware times only, because drivers drop the zone silently."""

    impl = DateTime
    cache_ok = True

    def __init__(self, fsp: int = 0) -> None:
        super().__init__()
        self.fsp = fsp

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(DateTime())
        return dialect.type_descriptor(mysql.TIMESTAMP(fsp=self.fsp or None))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone was bound to a TIMESTAMP column")
        naive = value.astimezone(UTC).replace(tzinfo=None)
        # MariaDB truncates a fraction that the column cannot hold and MySQL rounds it up: never send one.
        return naive if self.fsp else naive.replace(microsecond=0)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)
