"""Runs: the rankings of systems, as uploaded."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models.documents import Document, Query
from annotate.projects.models import Project


class Run(models.Model):
    """A system's ranking, as uploaded; the file itself is stored unchanged."""

    class Side(models.TextChoices):
        """What the system searched for; the values are those of `Narrative.Side`."""

        ORIGINAL = "original", "Queries"
        ALTERED = "altered", "Instructions"
        REVERSED = "reversed", "Reversed instructions"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="runs")
    # The file's name: the same run tag occurs in several files.
    name = models.CharField(max_length=255)
    tag = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64)
    # Under which narratives the documents were ranked. Each line of a run over instructions or
    # reversed instructions has a pair.
    side = models.CharField(
        max_length=10, choices=Side, default=Side.ORIGINAL, db_default=Side.ORIGINAL
    )
    file = models.FileField(upload_to="runs", max_length=300)
    loaded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="run_name_once_per_project", fields=["project", "name"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def names_pairs(self) -> bool:
        """Whether its lines name instruction pairs instead of queries."""
        return self.side != self.Side.ORIGINAL


class RunLine(models.Model):
    """One document in a run, with the rank given by its score.

    Ties are ordered by document id, descending, as in trec_eval.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lines")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    # In a run over instructions: the pair under whose narrative the document was ranked.
    pair = models.ForeignKey(
        "annotate.InstructionPair",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        # Lines are found by their run: see the constraints.
        db_index=False,
    )
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    rank = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            # Like trec_eval, refuse a run with a document twice.
            models.UniqueConstraint(
                name="run_document_once",
                fields=["run", "query", "document"],
                condition=Q(pair__isnull=True),
            ),
            models.UniqueConstraint(
                name="run_document_once_per_pair",
                fields=["run", "pair", "document"],
                condition=Q(pair__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"rank {self.rank}"
