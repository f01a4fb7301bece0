"""How rows are walked in a fixed order, a part at a time, on either database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Case, QuerySet, When
from django.db.models.functions import Coalesce, Collate

from annotate.pairs.models import Narrative

# Queries or pairs whose rows one cursor walks; well under SQLite's limit of variables.
BATCH = 200
# Rows fetched at once.
CHUNK = 5_000

T = TypeVar("T")


# The text version that was read, of documents that have had several; else there is only one.
TEXT_READ = Case(
    When(candidate__document__text_version__gt=1, then=Coalesce("text_version", 1)),
    default=None,
)


ORDER_OF_SIDES = {side: place for place, side in enumerate(Narrative.Side.values)}


def bytewise(field: str) -> Collate:
    """Order by the bytes of a text, whatever language the database sorts in."""
    return Collate(field, byte_order())


def byte_order() -> str:
    """The database's name of the order of bytes, for SQL."""
    return "C" if connection.vendor == "postgresql" else "BINARY"


def marks(values: Sequence[object]) -> str:
    """A mark for each value, for a list in SQL."""
    return ", ".join(["%s"] * len(values))


def walk(rows: QuerySet[Any, Any], *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each row through a cursor, CHUNK rows at a time."""
    return rows.values_list(*fields).iterator(CHUNK)


def narrative_texts(narratives: Sequence[int]) -> dict[int, str]:
    """Return the texts of narratives by their keys."""
    rows = Narrative.objects.filter(pk__in=narratives)
    return dict(walk(rows, "pk", "text"))


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, in their order."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
