"""Unseen rows: hidden until the load that writes them is done.

SQLite has one writer at a time. There a large load writes in slices and lets others write in
between (`annotate.collection.intake.slices`); its rows are unseen until its last transaction shows
all of them. PostgreSQL writes a load in one transaction, and has no unseen rows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import FullResultSet
from django.db import connection, models
from django.db.models import F, Q

# Whether there are unseen rows at all is checked once per query, not for each row.
_SEEN = (
    "(NOT EXISTS (SELECT 1 FROM annotate_unseen) OR NOT EXISTS (SELECT 1 FROM annotate_unseen "
    "WHERE kind = '%(kind)s' AND %(expressions)s BETWEEN first AND last))"
)

Row = TypeVar("Row", bound=models.Model)


class Unseen(models.Model):
    """A range of keys in one table, reserved by the load in progress.

    It is deleted in the transaction that shows the rows, or when they are deleted again.
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


def seen_condition(kind: Unseen.Kind, key: str) -> str:
    """Return an SQL condition that a row is visible; `kind` is its table, `key` its key in SQL."""
    if connection.vendor == "postgresql":
        return "1 = 1"
    return _SEEN % {"expressions": key, "kind": kind}


class IsSeen(models.Func):
    """`seen_condition` for the ORM: takes an expression for the key, and `kind`."""

    template = _SEEN
    output_field = models.BooleanField()

    def as_postgresql(self, *_: Any, **__: Any) -> Any:
        raise FullResultSet


class SeenManager(models.Manager[Row]):
    """Manager of visible rows. Only `_base_manager` includes the rows of a load in progress."""

    def get_queryset(self) -> models.QuerySet[Row]:
        """Return all rows except those of a load in progress."""
        return super().get_queryset().filter(IsSeen(F("pk"), kind=self.model._meta.model_name))


class InPoolManager(SeenManager[Row]):
    """Manager of visible candidates that were not taken out of their pools.

    Candidates that a lead took out are not judged and in no qrels; `Candidate.with_removed`
    includes them.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        """Return all visible rows except those that were taken out."""
        return super().get_queryset().filter(removed_at__isnull=True)
