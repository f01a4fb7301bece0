"""Pools: documents of runs that were chosen for judging. Also hard negatives and replacements."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from annotate.collection.models import Candidate, Document, Query, Run
from annotate.projects.models import Membership, Project
from base.constraints import at_and_by
from jobs.models import Job


class Pool(Job):
    """A selection of documents from runs, made once by a job. A later pool adds what is new."""

    KIND: ClassVar[str] = "pool"
    WORK: ClassVar[str] = "annotate.pools.actions.make_pool"
    TITLE: ClassVar[str] = "Making the pool"
    NAMED: ClassVar[bool] = True

    class Method(models.TextChoices):
        """How documents are chosen from the runs."""

        UNION = "union", "Top k of every run"
        FUSION = "fusion", "Top k by reciprocal rank fusion"
        SAMPLE = "sample", "Stratified sample by rank"
        JUDGED = "judged", "Everything judged so far"

    method = models.CharField(max_length=10, choices=Method)
    # The deepest rank, or for a fusion the documents per query; null for the method JUDGED.
    depth = models.PositiveIntegerField(null=True, blank=True)
    # For a sample: pairs of the last rank of a stratum and the percentage drawn from it.
    strata: models.JSONField[list[list[int]], list[list[int]]] = models.JSONField(
        default=list, blank=True
    )
    # Determines what a sample draws, and the order in which candidates are stored.
    seed = models.PositiveIntegerField(default=1)
    # The digest of the count that was shown; the job makes the same pool or fails. "" if nothing
    # was counted before.
    counted = models.CharField(max_length=64, blank=True)
    # Its counts, as `annotate.pools.choosing` returns them.
    counts: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="pool_by_a_known_method",
                condition=Q(method__in=["union", "fusion", "sample", "judged"]),
            ),
            models.CheckConstraint(
                name="pool_has_a_depth",
                condition=Q(method="judged", depth__isnull=True)
                | ~Q(method="judged") & Q(depth__isnull=False, depth__gte=1),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the URL of its page."""
        return reverse("annotate:pool", args=[self.project.slug, self.pk])

    def reaches(self, rank: int) -> bool:
        """Return whether the pool reads its runs down to this rank."""
        is_bounded = self.method in {self.Method.UNION, self.Method.SAMPLE}
        return not is_bounded or rank <= (self.depth or 0)

    @property
    def strata_words(self) -> str:
        """The strata as `annotate.pools.choosing.parse_strata` reads them."""
        return " ".join(f"{until}:{percent}" for until, percent in self.strata)


class PoolRun(models.Model):
    """A run that a pool is drawn from. Runs are never overwritten, so its lines do not change."""

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

    The lines of runs record which runs ranked it, and where (`annotate.pools.provenance`).
    """

    # Entries are looked up by pool and query, with the index of the unique constraint.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="entries", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # Whether the pool added it: it was not a candidate of the query before.
    is_new = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pool_entry_once", fields=["pool", "query", "document"]),
        ]

    def __str__(self) -> str:
        return f"entry {self.pk}"


class HardNegatives(models.Model):
    """The depth to which a release lists non-relevant documents of systems as hard negatives."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="hard_negatives")
    depth = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="hard_negatives_have_a_depth", condition=Q(depth__gte=1)),
        ]

    def __str__(self) -> str:
        return f"hard negatives to rank {self.depth}"


class HardNegativeRun(models.Model):
    """A run whose non-relevant documents are listed."""

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

    The new candidates take over the claims of machines and files about the old ones. After an undo
    the old candidates are back in their pools, and the new ones are out.
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
            at_and_by("replacement_undone_by_and_at", "undone"),
        ]

    def __str__(self) -> str:
        return f"replacement {self.pk}"


class ReplacedCandidate(models.Model):
    """One pool of a replacement: the candidate that left it, and the one that replaced it."""

    replacement = models.ForeignKey(Replacement, on_delete=models.PROTECT, related_name="pools")
    old = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="replaced_candidate_once", fields=["replacement", "old"]),
        ]

    def __str__(self) -> str:
        return f"replaced candidate {self.pk}"
