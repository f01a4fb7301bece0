"""Rows that nobody sees yet, because the load that writes them is not done.

SQLite has one writer at a time. There a large load writes a little at a time and lets others write
in between (`annotate.collection.intake.slices`); what it has written is unseen until its last
transaction shows all of it. PostgreSQL writes a load in one transaction, and has no unseen rows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import FullResultSet
from django.db import connection, models
from django.db.models import F, Q

# Whether there are unseen rows at all is asked once for a query, not for each of its rows.
_SEEN = (
    "(NOT EXISTS (SELECT 1 FROM annotate_unseen) OR NOT EXISTS (SELECT 1 FROM annotate_unseen "
    "WHERE kind = '%(kind)s' AND %(expressions)s BETWEEN first AND last))"
)

Row = TypeVar("Row", bound=models.Model)


class Unseen(models.Model):
    """Keys that the load under way has for itself, of one table, from first to last. The row goes
    with the transaction that shows the rows, or when they are deleted again.
    """

    class Kind(StrEnum):
        """The tables that may have unseen rows."""

        QUERY = "query"
        DOCUMENT = "document"
        CANDIDATE = "candidate"

    kind = models.CharField(max_length=10)
    first = models.BigIntegerField()
    last = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="unseen_from_first_to_last", condition=Q(first__lte=F("last"))
            ),
            models.CheckConstraint(
                name="unseen_of_a_known_kind",
                condition=Q(kind__in=["query", "document", "candidate"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.first} to {self.last}"


def seen(kind: Unseen.Kind, key: str) -> str:
    """SQL that says whether a row is seen: `kind` is its table, `key` an expression for its key."""
    if connection.vendor == "postgresql":
        return "1 = 1"
    return _SEEN % {"expressions": key, "kind": kind}


class IsSeen(models.Func):
    """The same, in a query of the models: of an expression for the key, and `kind`."""

    template = _SEEN
    output_field = models.BooleanField()

    def as_postgresql(self, *_: Any, **__: Any) -> Any:
        raise FullResultSet


class Seen(models.Manager[Row]):
    """Rows that are seen. What only a load may know of is in `_base_manager`."""

    def get_queryset(self) -> models.QuerySet[Row]:
        """All rows but those of a load that is being written."""
        return super().get_queryset().filter(IsSeen(F("pk"), kind=self.model._meta.model_name))


class InPool(Seen[Row]):
    """Candidates that are seen and were not taken out of their pools.

    What a lead took out is nowhere wanted work and in no qrels; `Candidate.with_removed` has it.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        """All seen rows but those that were taken out."""
        return super().get_queryset().filter(removed_at__isnull=True)
