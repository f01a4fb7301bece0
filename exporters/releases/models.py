"""Releases: exports and more, frozen under a name."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse

from annotate.projects.models import Guideline, Membership, Project
from jobs.models import Job


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
