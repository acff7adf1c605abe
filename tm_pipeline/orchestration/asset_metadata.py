"""What an asset's page shows: column schemas, links into the code, and samples in which nothing can be read.

Texts are hostile: of each only a few letters are shown, and no character that Markdown or HTML could read.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import regex

from tm_pipeline.domain.domains import Domain, ReadModelShape
from tm_pipeline.services.coverage import SampleRow
from tm_pipeline.store.coverage import Coverage
from tm_pipeline.store.tables import metadata as tables

SHOWN_LETTERS = 3
SAMPLE_BYTES = 2_048
LOOKED_AT_CHARACTERS = 64
ROOT = Path(__file__).resolve().parents[2]
_LETTER = regex.compile(r"[\p{L}\p{N}]")

JOB_COLUMNS: Mapping[str, str] = {
    "resource_type": "The domain.",
    "resource_id": "The id of the product's row.",
    "field_key": "The field of that row.",
    "source_hash": "Of the normalised text: identical texts share it, and their translation.",
    "source_text": "The normalised text, as the engine gets it.",
    "status": "PENDING, RUNNING, COMPLETED, FAILED, NEEDS_REVIEW, NEEDS_CREDENTIAL, SUPERSEDED or CANCELLED.",
    "retry_count": "Attempts that failed.",
    "last_error_message": "What to read first about a job that stopped or waits.",
    "next_retry_at": "Due from this time on.",
    "claim_token": "Of the claim that holds the group; every later write must carry it.",
    "claimed_by": "The first run of the chain that holds the group.",
    "lease_expires_at": "Until when; afterwards the sweep gives the group back.",
    "error_kind": "The class of the last error.",
    "engine_key": "The engine of the last attempt.",
}
MEMORY_COLUMNS: Mapping[str, str] = {
    "source_hash": "Of the normalised text; with pair, engine and normalisation it is the unit's key.",
    "source_text": "The normalised text, compared at each hit.",
    "translated_text": "What is shown.",
    "provider": "The engine's key; `human` is a person and wins over every machine.",
    "provider_version": "The engine's version.",
    "normalization_version": "The rules by which the text was normalised.",
    "status": "ACTIVE, or RETIRED and not shown any more.",
    "origin_call_id": "The row of provider_call that was paid for it.",
    "qa_warnings": "What the checks noticed and let pass.",
}


def table_schema(name: str, descriptions: Mapping[str, str]) -> dg.TableSchema:
    """The columns of one of the pipeline's tables as the code uses them."""
    return dg.TableSchema(
        [
            dg.TableColumn(
                column.name,
                str(column.type).lower(),
                descriptions.get(column.name),
                dg.TableColumnConstraints(nullable=bool(column.nullable)),
            )
            for column in tables.tables[name].columns
        ]
    )


def source_schema(domain: Domain) -> dg.TableSchema:
    """The columns of a product's table that a domain reads."""
    spec = domain.source
    extra = [
        (spec.language_column, "string", "The language of the row's texts; empty means: find out."),
        (spec.version_column, "bigint", "Grows with each change."),
        (spec.updated_at_column, "timestamp", "Changes are found by it."),
        *((name, "string", "Read as context.") for name in spec.context_columns),
        *((name, "string", f"Published rows have {wanted!r}.") for name, wanted in spec.published.items()),
    ]
    return dg.TableSchema(
        [dg.TableColumn(spec.id_column, "bigint", "The resource's id.")]
        + [dg.TableColumn(part.column, part.kind.value, f"Field {part.key}.") for part in domain.fields]
        + [dg.TableColumn(name, kind, words) for name, kind, words in extra if name]
    )


def read_model_schema(domain: Domain) -> dg.TableSchema:
    """The columns of a domain's read model."""
    model = domain.read_model
    content = (
        dg.TableColumn("payload", "json", f"The texts by field key: {', '.join(domain.field_keys)}.")
        if model.shape is ReadModelShape.PAYLOAD
        else dg.TableColumn("value", "text", f"The text of {domain.field_keys[0]}.")
    )
    hot = [dg.TableColumn(column, "text", f"Repeats {key} for lists.") for column, key in model.hot_columns.items()]
    return dg.TableSchema(
        [
            dg.TableColumn(model.key_column, "bigint", "The resource's id."),
            dg.TableColumn("locale", "string", "The target language; unique together with the id."),
            content,
            *hot,
            dg.TableColumn("source_fingerprint", "string", "Of the source texts that this row was made from."),
            dg.TableColumn("source_version", "bigint", "The source row's version at that time."),
        ]
    )


def code_reference(function: Callable[..., Any], label: str, git_url: str) -> dict[str, Any]:
    """Where ``function`` is: in the repository that ``git_url`` browses, else on this machine's disk."""
    path, line = Path(inspect.getsourcefile(function) or __file__).resolve(), function.__code__.co_firstlineno
    if git_url:
        place = path.relative_to(ROOT).as_posix()
        reference: Any = dg.UrlCodeReference(url=f"{git_url.rstrip('/')}/{place}#L{line}", label=label)
    else:
        reference = dg.LocalFileCodeReference(file_path=str(path), line_number=line, label=label)
    return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[reference])}


def coverage_metadata(found: Coverage) -> dict[str, int | float]:
    """A partition's coverage as numbers that plot."""
    return {"coverage_percent": found.percent, "covered": found.covered, "published": found.published}


def masked(text: str) -> str:
    """The first letters of a text and its length; never more than a third of it, and never markup."""
    letters = regex.findall(_LETTER, text[:LOOKED_AT_CHARACTERS])
    shown = letters[: min(SHOWN_LETTERS, len(text) // 3)]
    return f"{''.join(shown)}… ({len(text):,})"


def sample_table(rows: Sequence[SampleRow]) -> str:
    """Rows as a Markdown table of at most ``SAMPLE_BYTES``; what does not fit is left out."""
    table = "| id | field | source | target |\n| ---: | --- | --- | --- |"
    for row in rows:
        key = "".join(regex.findall(r"[\w-]", row.field_key[:LOOKED_AT_CHARACTERS]))
        line = f"\n| {row.resource_id} | `{key}` | {masked(row.source)} | {masked(row.target)} |"
        if len((table + line).encode()) > SAMPLE_BYTES:
            break
        table += line
    return table
