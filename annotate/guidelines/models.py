"""Cases that led to a version of the guidelines."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline


class GuidelineCase(models.Model):
    """A document under a narrative that led to a version of the guidelines."""

    guideline = models.ForeignKey(Guideline, on_delete=models.CASCADE, related_name="cases")
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="guideline_case_once", fields=["guideline", "narrative", "candidate"]
            ),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"
