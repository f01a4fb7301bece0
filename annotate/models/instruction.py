"""The narratives: what they said before, and what they say now."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Max, Q
from django.utils import timezone

from annotate.models.collection import Query
from annotate.models.project import Membership, Project


class InstructionPair(models.Model):
    """Original and altered (and reversed) narrative of one query."""

    class Origin(models.TextChoices):
        """Who wrote the altered narrative."""

        HUMAN = "human", "People"
        LLM = "llm", "A language model"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="pairs")
    # The id its files use: the query's own, or for several instructions of a query e.g. "110_2".
    pair_id = models.CharField(max_length=255)
    category = models.CharField(max_length=60, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.HUMAN)
    model = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pair_id_once_per_project", fields=["project", "pair_id"]),
            models.CheckConstraint(name="pair_has_an_id", condition=~Q(pair_id="")),
            models.CheckConstraint(
                name="pair_by_people_names_no_model", condition=Q(origin="llm") | Q(model="")
            ),
        ]

    def __str__(self) -> str:
        return self.pair_id


class NarrativeQuerySet(models.QuerySet["Narrative"]):
    """Versions of narratives."""

    def current(self) -> NarrativeQuerySet:
        """Keep the highest version of each side of each pair."""
        newest = (
            Narrative.objects.filter(pair=models.OuterRef("pair"), side=models.OuterRef("side"))
            .order_by()
            .values("pair", "side")
            .annotate(newest=Max("version"))
            .values("newest")
        )
        return self.filter(version=models.Subquery(newest))


class Narrative(models.Model):
    """One version of the text that says what is relevant. Rewriting inserts a version; nothing is overwritten."""

    class Side(models.TextChoices):
        """Which of the pair's narratives this is."""

        ORIGINAL = "original", "Original"
        ALTERED = "altered", "Altered"
        REVERSED = "reversed", "Reversed"

    pair = models.ForeignKey(InstructionPair, on_delete=models.PROTECT, related_name="narratives")
    side = models.CharField(max_length=10, choices=Side)
    version = models.PositiveIntegerField(default=1)
    # Empty where a collection has topics without narratives.
    text = models.TextField(blank=True)
    note = models.CharField(max_length=500, blank=True)
    # Null: it came with a file.
    author = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="narratives"
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = NarrativeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="narrative_version_once", fields=["pair", "side", "version"]
            ),
            models.CheckConstraint(name="narrative_versions_from_1", condition=Q(version__gte=1)),
            models.CheckConstraint(
                name="narrative_rewritten_has_words",
                condition=Q(side="original") | ~Q(text=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.version}"
