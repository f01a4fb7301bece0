"""Decisions of machines' filters, made before people saw the collection."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate, Query
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership, Project


class FilterDecision(models.Model):
    """A machine keeps or discards a query, an instruction, or a document of a query's pool.

    Discarding takes the object out once, when the decision is loaded; a lead may bring it back.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="filter_decisions")
    machine = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    # Exactly one of the three.
    query = models.ForeignKey(
        Query, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    pair = models.ForeignKey(
        InstructionPair, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    discards = models.BooleanField()
    reason = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="filter_decision_is_on_one_thing",
                condition=Q(query__isnull=False, pair__isnull=True, candidate__isnull=True)
                | Q(query__isnull=True, pair__isnull=False, candidate__isnull=True)
                | Q(query__isnull=True, pair__isnull=True, candidate__isnull=False),
            ),
            models.CheckConstraint(
                name="filter_discards_with_a_reason",
                condition=Q(discards=False) | ~Q(reason=""),
            ),
            # A machine decides once on each object.
            *(
                models.UniqueConstraint(
                    name=f"filter_decides_once_on_a_{thing}",
                    fields=["machine", thing],
                    condition=Q(**{f"{thing}__isnull": False}),
                )
                for thing in ("query", "pair", "candidate")
            ),
        ]

    def __str__(self) -> str:
        return f"filter decision {self.pk}"
