"""Releases: exports and more, frozen under a name."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotate.projects.models import Guideline
from jobs.models import Job


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Releases, finished or not."""

    def made(self) -> ReleaseQuerySet:
        """Return finished releases; the others are being made, failed or cancelled."""
        return self.filter(state=Job.State.DONE, manifest__isnull=False)

    def delete(self) -> NoReturn:
        """Refuse: a release is deleted alone, and only if it has no content."""
        raise TypeError("A release is never deleted.")


class Release(Job):
    """A snapshot of a project under a name: made once, by a job, and never changed.

    Its files are stored by their sha256 (`exporters.releases.file_store`). Triggers (migration
    0002) ensure that neither its name nor its content is ever written a second time, and that only
    the deletion of the whole project deletes it.
    """

    # Made nothing, and never will.
    DISCARDABLE: ClassVar = (Job.State.FAILED, Job.State.CANCELLED)

    KIND: ClassVar[str] = "release"
    WORK: ClassVar[str] = "exporters.releases.actions.build"
    TITLE: ClassVar[str] = "Making the release"
    NAMED: ClassVar[bool] = True

    # Without an accessor: an evaluation, which is a job too, has a field `release`.
    job_ptr = models.OneToOneField(
        Job, on_delete=models.CASCADE, parent_link=True, primary_key=True, related_name="+"
    )
    note = models.TextField(blank=True)
    # The time of the snapshot. This field and all that follow are written together, once.
    at = models.DateTimeField(null=True, blank=True)
    # The guidelines at that time; null if there were none.
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="releases"
    )
    code_version = models.CharField(max_length=40, blank=True)
    # The checksum of release.json, which has the sha256 of every other file.
    sha256 = models.CharField(max_length=64, blank=True)
    # The content of release.json, as `exporters.releases.contents` defines it.
    manifest: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = ReleaseQuerySet.as_manager()  # type: ignore[misc]  # not an instance variable

    class Meta:
        constraints: ClassVar = [
            # Content, time, version and checksum are written together.
            models.CheckConstraint(
                name="release_whole_or_not_at_all",
                condition=Q(manifest__isnull=True, at__isnull=True, sha256="", code_version="")
                | Q(manifest__isnull=False, at__isnull=False) & ~Q(sha256="") & ~Q(code_version=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete a failed or cancelled release; refuse any other."""
        if self.state not in self.DISCARDABLE or self.manifest is not None:
            raise TypeError("A release is never deleted.")
        return super().delete(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """Return the URL of the release's page."""
        return reverse("exporters:release", args=[self.project.slug, self.name])
