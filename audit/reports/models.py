"""Reports of agreement."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.db import models
from django.urls import reverse

from annotate.projects.models import Project
from audit.checks.models import RESAMPLES, SEED
from jobs.models import Job


class AgreementReportQuerySet(models.QuerySet["AgreementReport"]):
    """Reports of agreement."""

    def of(self, scope: str) -> AgreementReportQuerySet:
        """Those of one part of a project, as `audit.reports.scopes` writes it; "" is the whole.
        Without those that compare it with another.
        """
        return self.filter(scope=scope, compares=False)

    def computed(self) -> AgreementReportQuerySet:
        """Those that have figures, the newest first."""
        return self.filter(state=Job.State.DONE, figures__isnull=False).order_by("-pk")


class AgreementReport(Job):
    """Agreement in a project or a part of it, computed at one moment, with what it was computed
    on.
    """

    task: ClassVar[str] = "audit.agreement"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="agreement_reports")
    # The part of the project it is of, as `audit.reports.scopes` writes it; "" is the whole.
    scope = models.TextField(blank=True, default="")
    # Whether it is compared with another part, and which; "" is the whole there too.
    compares = models.BooleanField(default=False)
    against = models.TextField(blank=True, default="")
    seed = models.PositiveIntegerField(default=SEED)
    resamples = models.PositiveIntegerField(default=RESAMPLES)
    code_version = models.CharField(max_length=40, blank=True)
    # Of everything that was counted: the same answers have the same sum.
    sha256 = models.CharField(max_length=64, blank=True, default="")
    # As `audit.reports.reliability.agreement_of` returns it; null until computed.
    figures: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = AgreementReportQuerySet.as_manager()

    class Meta(Job.Meta):
        abstract = False
        indexes: ClassVar = [
            # The newest report of a project.
            models.Index(fields=["project", "-id"], name="report_newest"),
        ]

    def __str__(self) -> str:
        return f"agreement report {self.pk}"

    def get_absolute_url(self) -> str:
        """Where the newest report of the same part of its project is shown."""
        if self.compares:
            where = reverse("audit:agreement_comparison", args=[self.project.slug])
            return f"{where}?{urlencode({'of': self.scope, 'against': self.against})}"
        where = reverse("audit:agreement", args=[self.project.slug])
        return f"{where}?{self.scope}" if self.scope else where
