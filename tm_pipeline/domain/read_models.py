"""Read models: translated fields laid out as the row that readers select (S42–S46)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.domain.errors import ReadModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadModelRow:
    """One row: ``payload`` or ``value`` by the domain's shape; ``hot`` holds its hot columns."""

    resource_id: int
    locale: str
    payload: Mapping[str, str] | None = None
    value: str | None = None
    hot: Mapping[str, str] = field(default_factory=dict)
    source_fingerprint: str = ""
    source_version: int | None = None


def assemble(
    domain: Domain,
    resource_id: int,
    locale: str,
    texts: Mapping[str, str],
    *,
    source_fingerprint: str,
    source_version: int | None,
) -> ReadModelRow:
    """Lay ``texts`` (field key → shown text) out as a row; never cuts one.

    Raises ``ReadModelError`` naming field, length and limit where a text is longer than its column.
    """
    for spec in domain.fields:
        length = len(texts.get(spec.key, ""))
        if spec.max_length is not None and length > spec.max_length:
            raise ReadModelError(
                f"{domain.resource_type} {resource_id} {locale}: the translation of {spec.key} has {length} "
                f"characters, its column takes {spec.max_length}. "
                "Shorten the source, or widen the column and max_length."
            )
    scalar = domain.read_model.shape is ReadModelShape.SCALAR
    return ReadModelRow(
        resource_id=resource_id,
        locale=locale,
        payload=None if scalar else {key: texts.get(key, "") for key in domain.field_keys},
        value=texts.get(domain.field_keys[0], "") if scalar else None,
        hot={column: texts.get(key, "") for column, key in domain.read_model.hot_columns.items()},
        source_fingerprint=source_fingerprint,
        source_version=source_version,
    )
