"""What has been written for the evaluator, and what was released for good."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.projects.models import Membership, Project
from jobs.models import Job


class Export(Job):
    """One export: its files lie in storage under `folder`, its manifest says what they hold."""

    task: ClassVar[str] = "exporters.build"

    class Format(models.TextChoices):
        """What is written."""

        TREC = "trec", _("TREC: paired qrels, topics, changed documents, runs")
        JSONL = "jsonl", _("JSON lines: every judgment, review and adjudication")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="exports")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="exports")
    format = models.CharField(max_length=10, choices=Format)
    # Where its files are, within the storage; empty until they are all written.
    folder = models.CharField(max_length=200, blank=True)
    # Counts, files with their sha256, rule and versions, as `exporters.exports.manifest` defines
    # them.
    manifest: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta:
        constraints: ClassVar = [
            *Job.Meta.constraints,
            # No half an export is offered: a folder is named together with its manifest.
            models.CheckConstraint(
                name="export_folder_with_manifest",
                condition=Q(folder="", manifest__isnull=True)
                | (~Q(folder="") & Q(manifest__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} export {self.pk}"

    def get_absolute_url(self) -> str:
        """Where its manifest is shown."""
        return reverse("exporters:export", args=[self.project.slug, self.pk])
