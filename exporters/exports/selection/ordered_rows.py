"""Read rows in a fixed order, in batches, on either database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Case, QuerySet, When
from django.db.models.functions import Coalesce

from annotate.pairs.models import Narrative

# How many queries or pairs one cursor reads; well under SQLite's limit of variables.
BATCH = 200
# How many rows are fetched at once.
CHUNK = 5_000

T = TypeVar("T")


# The text version that was read, for documents that have several; None if there is only one.
TEXT_READ = Case(
    When(candidate__document__text_version__gt=1, then=Coalesce("text_version", 1)),
    default=None,
)


ORDER_OF_SIDES = {side: place for place, side in enumerate(Narrative.Side.values)}


# The columns of statements that have another name in records.
_COLUMNS = {
    "query_id": "candidate__query__query_id",
    "doc_id": "candidate__document__doc_id",
    "pair_id": "narrative__pair__pair_id",
    "side": "narrative__side",
    "version": "narrative__version",
    "annotator": "annotator__name",
    "machine": "annotator__is_machine",
    "by": "by__name",
    "withdrawn_by": "withdrawn_by__name",
    "superseded_at": "ended_at",
    "cleared_at": "ended_at",
    "first": "first__relevance",
    "first_at": "first__at",
    # Annotated as TEXT_READ.
    "text_version": "text",
}


def statement_columns(fields: Iterable[str], **columns: str) -> list[str]:
    """Return the columns of a statement's row in the order of its record's fields; `columns`: those
    that have another name here, "" for none.
    """
    named = {**_COLUMNS, **columns}
    return [named.get(name, name) for name in fields if named.get(name, name)]


def stream_rows(rows: QuerySet[Any, Any], *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each row through a cursor, CHUNK rows at a time."""
    return rows.values_list(*fields).iterator(CHUNK)


def stream_sql(statement: str, parameters: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an SQL statement through a cursor, CHUNK rows at a time."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, parameters)
        while rows := cursor.fetchmany(CHUNK):
            yield from rows


def narrative_texts(narratives: Sequence[int]) -> dict[int, str]:
    """Return the texts of narratives by their keys."""
    rows = Narrative.objects.filter(pk__in=narratives)
    return dict(stream_rows(rows, "pk", "text"))


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, in the same order."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def stream_named(rows: QuerySet[Any, Any], *fields: str) -> Iterator[Any]:
    """Yield rows whose fields are read by name, as `row.document__doc_id`, through a cursor."""
    return rows.values_list(*fields, named=True).iterator(CHUNK)
