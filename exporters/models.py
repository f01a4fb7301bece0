"""What has been written for the evaluator, and what was released for good."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.models.project import Guideline, Membership, Project
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


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Releases, made and in the making."""

    def made(self) -> ReleaseQuerySet:
        """Releases that stand; the others are being made, failed, or were called off."""
        return self.filter(state=Job.State.DONE)

    def delete(self) -> NoReturn:
        """Nothing that was released is taken back; what failed is kept as well."""
        raise TypeError("A release is never deleted.")


class Release(Job):
    """A project under a name, as it stood at one moment: made once, by a job, and never changed.

    Its files lie in storage by their sha256 (`exporters.releases.file_store`). Two triggers
    (migration 0002) see
    to it that neither what it is nor what it holds is ever written a second time.
    """

    task: ClassVar[str] = "exporters.release"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases")
    # Null: made by the command, which knows nobody.
    by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="releases"
    )
    name = models.CharField(max_length=60)
    note = models.TextField(blank=True)
    # The moment whose rows it holds. This and all that follows is written together, once.
    at = models.DateTimeField(null=True, blank=True)
    # The guidelines in force at that moment; null where there were none.
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="releases"
    )
    code_version = models.CharField(max_length=40, blank=True)
    # Of release.json, which names the sha256 of every other file: the one sum for all of it.
    sha256 = models.CharField(max_length=64, blank=True)
    # What stands in release.json, as `exporters.releases.contents` defines it.
    manifest: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            *Job.Meta.constraints,
            # A name means one release, for ever, however it is written. One that came to nothing
            # leaves its name free.
            models.UniqueConstraint(
                F("project"),
                Lower("name"),
                name="release_name_once_per_project",
                condition=Q(state__in=["queued", "running", "done"]),
            ),
            # Two at once would only keep each other waiting, and could not tell their files apart.
            models.UniqueConstraint(
                name="release_one_under_way",
                fields=["project"],
                condition=Q(state__in=["queued", "running"]),
            ),
            models.CheckConstraint(name="release_has_a_name", condition=~Q(name="")),
            # What it holds, the moment, the version and the sum come together.
            models.CheckConstraint(
                name="release_whole_or_not_at_all",
                condition=Q(manifest__isnull=True, at__isnull=True, sha256="", code_version="")
                | Q(manifest__isnull=False, at__isnull=False) & ~Q(sha256="") & ~Q(code_version=""),
            ),
            # No half a release is offered.
            models.CheckConstraint(
                name="release_made_is_whole",
                condition=~Q(state="done") | Q(manifest__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Nothing that was released is taken back."""
        raise TypeError("A release is never deleted.")

    def get_absolute_url(self) -> str:
        """Where it is shown."""
        return reverse("exporters:release", args=[self.project.slug, self.name])


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    """Evaluations of runs."""

    def computed(self) -> EvaluationQuerySet:
        """Those that have results, the newest first."""
        return self.filter(state=Job.State.DONE, results__isnull=False).order_by("-pk")


class Evaluation(Job):
    """Systems measured by their runs on a release, or on what an export would hold: what was
    measured, how, and what came out.
    """

    task: ClassVar[str] = "exporters.evaluate"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="evaluations")
    # Null: made by the command, which knows nobody.
    by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="evaluations"
    )
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
    # As `exporters.evaluations.evaluation.evaluate` returns it; null until computed.
    results: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            *Job.Meta.constraints,
            # No evaluation is shown as done without its results, nor results without a version.
            models.CheckConstraint(
                name="evaluation_done_has_results",
                condition=~Q(state="done") | Q(results__isnull=False) & ~Q(code_version=""),
            ),
        ]
        indexes: ClassVar = [
            # The newest evaluation of a project.
            models.Index(fields=["project", "-id"], name="evaluation_newest"),
        ]

    def __str__(self) -> str:
        return f"evaluation {self.pk}"

    def get_absolute_url(self) -> str:
        """Where its results are shown."""
        return reverse("exporters:evaluation", args=[self.project.slug, self.pk])
