"""Settling decisions on documents, and on whether documents meet conditions."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.judgments.models.statements import Verdict
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership
from base.constraints import at_and_by

Row = TypeVar("Row", bound=models.Model)


class DecisionQuerySet(models.QuerySet[Row]):
    """Settling decisions of one kind."""

    def current(self) -> Self:
        """Return the decisions that are not withdrawn, on the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


class SettlingDecision(ReadsText):
    """A lead's decision on what judges differ about. It never edits the judges' rows."""

    class Cause(models.TextChoices):
        """Why the judges differed."""

        AMBIGUOUS = "ambiguous", "Ambiguous text"
        GUIDELINE = "guideline", "Gap in the guidelines"
        ERROR = "error", "Annotator's error"
        EDGE = "edge", "Edge case"

    # Made by the page that decides: a decision that is sent twice counts once.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="%(class)ss")
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(name="%(class)s_has_a_reason", condition=~Q(reason="")),
            at_and_by("%(class)s_withdrawn_by_and_at", "withdrawn"),
        ]


class AdjudicationQuerySet(DecisionQuerySet["Adjudication"]):
    """Settling decisions on documents."""


class Adjudication(SettlingDecision):
    """The settling decision on one candidate."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="adjudications")
    relevance = models.IntegerField()
    # Set if it was settled together with others; a batch can be withdrawn as a whole.
    batch = models.UUIDField(null=True, blank=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta(SettlingDecision.Meta):
        constraints: ClassVar = [
            *SettlingDecision.Meta.constraints,
            models.UniqueConstraint(
                name="adjudication_one_current",
                fields=["narrative", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]
        indexes: ClassVar = [
            # Finds all decisions of a batch, to withdraw them; most decisions have no batch.
            models.Index(
                fields=["batch"],
                name="adjudication_of_batch",
                condition=Q(batch__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"adjudication {self.pk}"


class ConditionAdjudicationQuerySet(DecisionQuerySet["ConditionAdjudication"]):
    """Settling decisions on conditions."""


class ConditionAdjudication(SettlingDecision):
    """The settling decision on whether a candidate meets a condition."""

    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(
        Candidate, on_delete=models.PROTECT, related_name="condition_adjudications"
    )
    answer = models.CharField(max_length=10, choices=Verdict.Answer)

    objects = ConditionAdjudicationQuerySet.as_manager()

    class Meta(SettlingDecision.Meta):
        constraints: ClassVar = [
            *SettlingDecision.Meta.constraints,
            models.UniqueConstraint(
                name="condition_adjudication_one_current",
                fields=["condition", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"condition adjudication {self.pk}"
