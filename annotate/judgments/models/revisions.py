"""Revisions: numbers that change with the judgments, flags and decisions of a narrative."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from annotate.collection.models import Query
from annotate.pairs.models import Condition, Narrative


def _only(name: str) -> Q:
    every = ("narrative", "query", "condition")
    return Q(**{f"{column}__isnull": column != name for column in every})


class Revision(models.Model):
    """A random number that changes with every answer or decision on a narrative or one of its
    conditions, and with every change to a candidate of a query.

    Database triggers write it in the transaction of the change, whether a page, a file or a command
    makes it. `annotate.judgments.cached_counts` reads it.
    """

    narrative = models.ForeignKey(
        Narrative, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    query = models.ForeignKey(
        Query, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    condition = models.ForeignKey(
        Condition, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    # The member who answered or settled (0 for a query), so that two members who do so at the same
    # time do not wait for each other.
    source = models.BigIntegerField()
    # 40 bits, because the values of all sources are added up.
    value = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            # The triggers' ON CONFLICT clauses name these.
            models.UniqueConstraint(
                name="revision_once_per_narrative", fields=["narrative", "source"]
            ),
            models.UniqueConstraint(name="revision_once_per_query", fields=["query", "source"]),
            models.UniqueConstraint(
                name="revision_once_per_condition", fields=["condition", "source"]
            ),
            models.CheckConstraint(
                name="revision_is_of_one_thing",
                condition=_only("narrative") | _only("query") | _only("condition"),
            ),
        ]

    def __str__(self) -> str:
        return f"revision {self.pk}"
