"""Which state the judgments, flags and decisions of a narrative are in, as a number."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from annotate.collection.models import Query
from annotate.pairs.models import Condition, Narrative


def _only(name: str) -> Q:
    every = ("narrative", "query", "condition")
    return Q(**{f"{one}__isnull": one != name for one in every})


class Revision(models.Model):
    """A random number that changes whenever something is said or settled of a narrative or one of
    its conditions, or a candidate of a query changes. `annotate.judgments.revisions` reads it.

    Triggers of the database write it, in the transaction of the change, whoever makes it: pages,
    files, commands.
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
    # The member who said or settled it (0: of a query), so that two who do so at the same moment do
    # not wait for each other.
    source = models.BigIntegerField()
    # Of 40 bits: a database adds up those of all sources.
    value = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            # What the triggers' ON CONFLICT names.
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
