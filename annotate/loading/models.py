"""Loads of files, and what they wrote."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse

from annotate.collection.models import Candidate, Run
from annotate.projects.models import Membership
from base.constraints import at_and_by
from jobs.models import Job


class Load(Job):
    """A job for an uploaded file: a preview first, then a load once a lead has confirmed it.

    The load of a command is a row that is done, without a preview and a stored file.
    """

    KIND: ClassVar[str] = "load"
    WORK: ClassVar[str] = "annotate.loading.load_jobs.perform"

    format = models.CharField(max_length=40)
    file = models.FileField(upload_to="uploads", max_length=300)
    # The name on the uploader's computer.
    file_name = models.CharField(max_length=255)
    # The value in the file that means "no grade", if there is one.
    no_grade = models.IntegerField(null=True, blank=True)
    # Under which narratives a run ranks documents; "" derives it from the ids on its lines.
    side = models.CharField(max_length=10, choices=Run.Side, blank=True, default="", db_default="")
    # The files that were uploaded together, and the order in which they are loaded; 0: alone.
    batch = models.UUIDField(null=True, blank=True)
    place = models.PositiveSmallIntegerField(default=0, db_default=0)
    # Who wants this preview loaded once the files before it in its batch are.
    chained_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Whether a lead chose to load rows that break rules of the project's kind.
    despite_rules = models.BooleanField(default=False, db_default=False)
    # Whether a lead chose to carry machines' claims over to new versions of narratives.
    carry_claims = models.BooleanField(default=False, db_default=False)
    # Whether this is a preview, which reads the file and writes nothing.
    dry_run = models.BooleanField(default=True)
    # The preview that a lead confirmed; each is confirmed at most once.
    preview = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="confirmed_as"
    )
    # The report of `annotate.collection.intake`: what was read, what would change (or has
    # changed), and the bad lines.
    report: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    # A lead took back what a file of qrels had written.
    taken_back_at = models.DateTimeField(null=True, blank=True)
    taken_back_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            at_and_by("load_taken_back_by_and_at", "taken_back"),
            models.CheckConstraint(
                name="load_place_only_in_a_batch",
                condition=Q(batch__isnull=True, place=0) | Q(batch__isnull=False, place__gt=0),
            ),
            # A load of an uploaded file has a confirmed preview; a preview has none.
            models.CheckConstraint(
                name="load_writes_after_preview",
                condition=Q(dry_run=True, preview__isnull=True)
                | Q(dry_run=False, preview__isnull=False)
                | Q(dry_run=False, file=""),
            ),
        ]

    def __str__(self) -> str:
        return self.file_name

    def get_absolute_url(self) -> str:
        """Return the URL of the page with the preview or the result."""
        return reverse("annotate:load", args=[self.project.slug, self.pk])

    def title(self) -> str:
        if self.is_over:
            return "The file"
        return "Checking the file" if self.dry_run else "Loading the file"

    def name_in_log(self) -> str:
        return f"{self.file_name} · {self.format}"

    def discard(self) -> None:
        """Delete the uploaded file, and clear it on every row that shares it."""
        name = self.file.name
        if not name:
            return
        with transaction.atomic():
            Load.objects.filter(project=self.project_id, file=name).update(file="")
            transaction.on_commit(lambda: self.file.storage.delete(name))
        self.file.name = ""

    def why_not_retryable(self) -> str:
        return "" if self.file else "Its file was discarded. Upload it again."


class LoadedCandidate(models.Model):
    """A candidate that a load of qrels made, or whose earlier relevance it changed.

    Kept so that the load can be taken back.
    """

    load = models.ForeignKey(Load, on_delete=models.CASCADE, related_name="loaded_candidates")
    candidate = models.ForeignKey(Candidate, on_delete=models.CASCADE, related_name="+")
    is_new = models.BooleanField()
    # The relevance that a changed candidate had before; null if it had none.
    earlier = models.IntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="loaded_candidate_once", fields=["load", "candidate"]),
            models.CheckConstraint(
                name="loaded_candidate_new_had_no_relevance",
                condition=Q(is_new=False) | Q(earlier__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate} of {self.load}"
