"""Pools: which documents of which runs are put up for judging, and how they were chosen."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.collection.models import Candidate, Document, Query, Run
from annotate.projects.models import Membership, Project
from jobs.models import Job


class Pool(Job):
    """A selection of documents from runs, made once by a job. A later pool adds what is new."""

    task: ClassVar[str] = "annotate.pool"

    class Method(models.TextChoices):
        """How documents are chosen from the runs."""

        UNION = "union", _("Top k of every run")
        FUSION = "fusion", _("Top k by reciprocal rank fusion")
        SAMPLE = "sample", _("Stratified sample by rank")
        JUDGED = "judged", _("Everything judged so far")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="pools")
    # Null: made by the command, which knows nobody.
    by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    name = models.CharField(max_length=60)
    method = models.CharField(max_length=10, choices=Method)
    # The deepest rank, or of a fusion the documents of each query; null for what is judged so far.
    depth = models.PositiveIntegerField(null=True, blank=True)
    # Of a sample: pairs of the last rank of a stratum and the percentage drawn from it.
    strata: models.JSONField[list[list[int]], list[list[int]]] = models.JSONField(
        default=list, blank=True
    )
    # Decides what a sample draws, and the order in which candidates are stored.
    seed = models.PositiveIntegerField(default=1)
    # Of the documents that were counted before; the job makes the same pool or none. "" where
    # nobody counted.
    counted = models.CharField(max_length=64, blank=True)
    # What it holds, as `annotate.pools.counting` counts it.
    counts: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta:
        constraints: ClassVar = [
            *Job.Meta.constraints,
            # One that came to nothing leaves its name free.
            models.UniqueConstraint(
                F("project"),
                Lower("name"),
                name="pool_name_once_per_project",
                condition=Q(state__in=["queued", "running", "done"]),
            ),
            # Two at once would count the same documents as new.
            models.UniqueConstraint(
                name="pool_one_under_way",
                fields=["project"],
                condition=Q(state__in=["queued", "running"]),
            ),
            models.CheckConstraint(name="pool_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="pool_by_a_known_method",
                condition=Q(method__in=["union", "fusion", "sample", "judged"]),
            ),
            models.CheckConstraint(
                name="pool_has_a_depth",
                condition=Q(method="judged", depth__isnull=True)
                | ~Q(method="judged") & Q(depth__isnull=False, depth__gte=1),
            ),
            # No half a pool is offered.
            models.CheckConstraint(
                name="pool_made_is_counted",
                condition=~Q(state="done") | Q(counts__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Where it is shown."""
        return reverse("annotate:pool", args=[self.project.slug, self.pk])


class PoolRun(models.Model):
    """A run that a pool is drawn from. Runs are never overwritten, so its lines stay."""

    pool = models.ForeignKey(
        Pool, on_delete=models.CASCADE, related_name="pool_runs", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    # The run's tag and the checksum of its file.
    system = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pool_run_once", fields=["pool", "run"]),
        ]

    def __str__(self) -> str:
        return self.system


class PoolEntry(models.Model):
    """One document that a pool chose for a query.

    Which runs ranked it, and where, stands in their lines (`annotate.pools.provenance`).
    """

    # Entries are found by their pool and query: the unique constraint is the index.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="entries", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # Whether the pool added it: it was no candidate of the query before.
    is_new = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pool_entry_once", fields=["pool", "query", "document"]),
        ]

    def __str__(self) -> str:
        return f"entry {self.pk}"


class HardNegatives(models.Model):
    """Whose non-relevant documents a release lists as hard negatives, and how deep."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="hard_negatives")
    depth = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="hard_negatives_have_a_depth", condition=Q(depth__gte=1)),
        ]

    def __str__(self) -> str:
        return f"hard negatives to rank {self.depth}"


class HardNegativeRun(models.Model):
    """A system whose non-relevant documents are listed."""

    of = models.ForeignKey(
        HardNegatives, on_delete=models.CASCADE, related_name="of_runs", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="hard_negative_run_once", fields=["of", "run"]),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}"


class Replacement(models.Model):
    """A document that failed a check and was replaced by another in every pool of its core query.

    The new candidates take over what machines and files claim of the old ones. Undone: the old
    candidates are back, and the new ones are out.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="replacements")
    old = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="replacement_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="replacement_by_another_document", condition=~Q(old=F("new"))
            ),
            models.CheckConstraint(
                name="replacement_undone_by_and_at",
                condition=Q(undone_at__isnull=True, undone_by__isnull=True)
                | Q(undone_at__isnull=False, undone_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"replacement {self.pk}"


class ReplacedCandidate(models.Model):
    """One pool of a replacement: the candidate that went out, and the one that came in."""

    replacement = models.ForeignKey(Replacement, on_delete=models.PROTECT, related_name="pools")
    old = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="replaced_candidate_once", fields=["replacement", "old"]),
        ]

    def __str__(self) -> str:
        return f"replaced candidate {self.pk}"
