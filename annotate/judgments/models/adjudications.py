"""Settling decisions on documents, and on whether documents meet conditions."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.judgments.models.judgments import Verdict
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership
from base.constraints import at_and_by


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    """Settling decisions."""

    def current(self) -> AdjudicationQuerySet:
        """Return the decisions that are not withdrawn, on the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


class Adjudication(ReadsText):
    """The settling decision on one candidate. It never edits the judges' rows."""

    class Cause(models.TextChoices):
        """Why the judges differed."""

        AMBIGUOUS = "ambiguous", "Ambiguous text"
        GUIDELINE = "guideline", "Gap in the guidelines"
        ERROR = "error", "Annotator's error"
        EDGE = "edge", "Edge case"

    # Made by the page that decides: a decision that is sent twice counts once.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="adjudications")
    relevance = models.IntegerField()
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="adjudications")
    at = models.DateTimeField(default=timezone.now)
    # Set if it was settled together with others; a batch can be withdrawn as a whole.
    batch = models.UUIDField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="adjudication_one_current",
                fields=["narrative", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.CheckConstraint(name="adjudication_has_a_reason", condition=~Q(reason="")),
            at_and_by("adjudication_withdrawn_by_and_at", "withdrawn"),
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


class ConditionAdjudicationQuerySet(models.QuerySet["ConditionAdjudication"]):
    """Settling decisions on conditions."""

    def current(self) -> ConditionAdjudicationQuerySet:
        """Return the decisions that are not withdrawn, on the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


class ConditionAdjudication(ReadsText):
    """The settling decision on whether a candidate meets a condition. It never edits verdicts."""

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(
        Candidate, on_delete=models.PROTECT, related_name="condition_adjudications"
    )
    answer = models.CharField(max_length=10, choices=Verdict.Answer)
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Adjudication.Cause)
    by = models.ForeignKey(
        Membership, on_delete=models.PROTECT, related_name="condition_adjudications"
    )
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = ConditionAdjudicationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="condition_adjudication_one_current",
                fields=["condition", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.CheckConstraint(
                name="condition_adjudication_has_a_reason", condition=~Q(reason="")
            ),
            at_and_by("condition_adjudication_withdrawn_by_and_at", "withdrawn"),
        ]

    def __str__(self) -> str:
        return f"condition adjudication {self.pk}"
