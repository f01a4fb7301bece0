"""Reports of agreement."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.db import models
from django.urls import reverse

from audit.checks.models import RESAMPLES, SEED
from jobs.models import Job


class AgreementReportQuerySet(models.QuerySet["AgreementReport"]):
    """Reports of agreement."""

    def of(self, scope: str) -> AgreementReportQuerySet:
        """Return the reports of one part of a project, as `audit.reports.scopes` writes it ("" is
        the whole), without comparisons.
        """
        return self.filter(scope=scope, compares=False)

    def computed(self) -> AgreementReportQuerySet:
        """Return the reports that have figures, the newest first."""
        return self.filter(state=Job.State.DONE, figures__isnull=False).order_by("-pk")


class AgreementReport(Job):
    """The agreement in a project or a part of it, computed at one time, with the sum of what was
    counted.
    """

    KIND: ClassVar[str] = "agreement"
    WORK: ClassVar[str] = "audit.reports.actions.compute_agreement"
    TITLE: ClassVar[str] = "Computing agreement"

    # The part of the project, as `audit.reports.scopes` writes it; "" is the whole.
    scope = models.TextField(blank=True, default="")
    # Whether it is compared with another part, and which one; "" is the whole.
    compares = models.BooleanField(default=False)
    against = models.TextField(blank=True, default="")
    seed = models.PositiveIntegerField(default=SEED)
    resamples = models.PositiveIntegerField(default=RESAMPLES)
    code_version = models.CharField(max_length=40, blank=True)
    # The sum of everything that was counted: the same answers have the same sum.
    sha256 = models.CharField(max_length=64, blank=True, default="")
    # The result of `audit.reports.reliability.agreement_of`; null until computed.
    figures: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = AgreementReportQuerySet.as_manager()  # type: ignore[misc]  # not an instance variable

    def __str__(self) -> str:
        return f"agreement report {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of the newest report of the same part of its project."""
        if self.compares:
            where = reverse("audit:agreement_comparison", args=[self.project.slug])
            return f"{where}?{urlencode({'of': self.scope, 'against': self.against})}"
        where = reverse("audit:agreement", args=[self.project.slug])
        return f"{where}?{self.scope}" if self.scope else where
