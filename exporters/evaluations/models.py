"""Evaluations of systems, and the effects on measures that they found."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from exporters.releases.models import Release
from jobs.models import Job


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    """Evaluations of runs."""

    def computed(self) -> EvaluationQuerySet:
        """Return those that have results, the newest first."""
        return self.filter(state=Job.State.DONE, results__isnull=False).order_by("-pk")


class Evaluation(Job):
    """An evaluation: the systems, options and results of measuring runs on a release or on the
    current rows.
    """

    KIND: ClassVar[str] = "evaluation"
    WORK: ClassVar[str] = "exporters.evaluations.measuring.compute_evaluation"
    TITLE: ClassVar[str] = "Measuring the systems"

    # Null: measured on the rows as they stood when the worker read them.
    release = models.ForeignKey(
        Release, null=True, blank=True, on_delete=models.PROTECT, related_name="evaluations"
    )
    # Systems in their order: name, and by side the name and sha256 of a run.
    systems: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField()
    # Options of measures as they were given: {"p-mrr.documents": "changed"}.
    options: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    # The system that the others are compared with.
    baseline = models.CharField(max_length=255, blank=True)
    code_version = models.CharField(max_length=40, blank=True)
    # As `exporters.evaluations.system_measures.evaluate` returns it; null until computed.
    results: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = EvaluationQuerySet.as_manager()  # type: ignore[misc]  # not an instance variable

    class Meta:
        constraints: ClassVar = [
            # Results say which version computed them.
            models.CheckConstraint(
                name="evaluation_results_with_version",
                condition=Q(results__isnull=True) | ~Q(code_version=""),
            ),
        ]

    def get_absolute_url(self) -> str:
        """Return the URL of the results page."""
        return reverse("exporters:evaluation", args=[self.project.slug, self.pk])


class SettlingEffect(models.Model):
    """How far settling one disagreement would move a measure, as computed by an evaluation."""

    evaluation = models.ForeignKey(
        Evaluation, on_delete=models.CASCADE, related_name="settling_effects"
    )
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    # The largest change of a system's value, in millionths.
    effect = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="settling_effect_once", fields=["evaluation", "narrative", "candidate"]
            ),
        ]

    def __str__(self) -> str:
        return f"effect {self.pk}"
