"""The second pass: reviews of instructions, decisions on them, and reports of agreement."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.models import Membership, Narrative, Project
from audit.criteria import CRITERIA, Level
from jobs.models import Job

# The same for every report, so that the same rows give the same figures.
SEED = 20_260_101
RESAMPLES = 2_000


class ReviewQuerySet(models.QuerySet["Review"]):
    """Auditors' passes."""

    def submitted(self) -> ReviewQuerySet:
        """Reviews that count; the others are drafts."""
        return self.filter(submitted_at__isnull=False)


class Review(models.Model):
    """One auditor's pass over one narrative version. A draft until it is submitted."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="reviews")
    auditor = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="reviews")
    rubric = models.CharField(max_length=60)
    started_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="review_once_per_auditor", fields=["narrative", "auditor"]
            ),
        ]

    def __str__(self) -> str:
        return f"review {self.pk}"


class Rating(models.Model):
    """The answer to one criterion. Without a level while only its words are written, in a draft."""

    LEVELS: ClassVar = [(level.value, level.value.capitalize()) for level in Level]
    CRITERIA: ClassVar = [(criterion.key, criterion.name) for criterion in CRITERIA]

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="ratings")
    criterion = models.CharField(max_length=40, choices=CRITERIA)
    level = models.CharField(max_length=20, choices=LEVELS, blank=True)
    words = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rating_once_per_criterion", fields=["review", "criterion"]
            ),
            models.CheckConstraint(
                name="rating_level_known",
                condition=Q(level__in=["", *(level.value for level in Level)]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.level}"


class DecisionQuerySet(models.QuerySet["Decision"]):
    """What was decided about instructions."""

    def current(self) -> DecisionQuerySet:
        """Decisions that stand."""
        return self.filter(withdrawn_at__isnull=True)


class Decision(models.Model):
    """What becomes of one narrative version: accepted, sent back, or removed."""

    class Outcome(models.TextChoices):
        """What was decided."""

        ACCEPTED = "accepted", _("Accepted")
        REVISE = "revise", _("Send back for revision")
        REMOVED = "removed", _("Removed")

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="decisions")
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="decisions")
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="decision_one_current",
                fields=["narrative"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            # Who sends an instruction back, or removes it, says why.
            models.CheckConstraint(
                name="decision_against_has_a_reason",
                condition=Q(outcome="accepted") | ~Q(reason=""),
            ),
            models.CheckConstraint(
                name="decision_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.outcome


class AgreementReport(Job):
    """Agreement of a project, computed at one moment, with what it was computed on."""

    task: ClassVar[str] = "audit.agreement"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="agreement_reports")
    seed = models.PositiveIntegerField(default=SEED)
    resamples = models.PositiveIntegerField(default=RESAMPLES)
    code_version = models.CharField(max_length=40, blank=True)
    # As `audit.reliability.agreement_of` returns it; null until computed.
    figures: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta(Job.Meta):
        abstract = False
        indexes: ClassVar = [
            # The newest report of a project.
            models.Index(fields=["project", "-id"], name="report_newest"),
        ]

    def __str__(self) -> str:
        return f"agreement report {self.pk}"

    def get_absolute_url(self) -> str:
        """Where the newest report of its project is shown."""
        return reverse("audit:agreement", args=[self.project.slug])
