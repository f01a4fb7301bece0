"""Models of reviews: rubrics, reviews with their ratings and texts, and decisions."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Document
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from audit.reviews.criteria import Criterion, Level
from audit.reviews.criteria import Rubric as Content
from base.constraints import at_and_by
from formats.records import RubricRecord
from formats.rubrics import rubric_object


class RubricQuerySet(models.QuerySet["Rubric"]):
    """Rubrics of projects."""

    def current_of(self, project: int) -> Rubric | None:
        """Return the rubric that a project chose last, or None."""
        chosen = self.filter(project=project, chosen_at__isnull=False)
        return chosen.order_by("-chosen_at", "-pk").first()


class Rubric(models.Model):
    """One version of a project's rubric. A change inserts a version.

    The stored form of `audit.reviews.criteria.Rubric`, which the pages use; levels and criteria
    have the same keys as its fields. The current rubric is the one chosen last; a project that has
    not chosen uses the default of Rejudge.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rubrics")
    # Includes the version, "followtable-1"; reviews store this name.
    name = models.CharField(max_length=60)
    title = models.CharField(max_length=120)
    # Best first: [{"value": "poor", "name": "Poor", "sentence": "…", "rejects": true}].
    levels: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField()
    # [{"key": …, "name": …, "asks": …, "poor_when": …, "good_example": …, "poor_example": …}].
    criteria: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    # Null if a command loaded or chose it.
    created_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    chosen_at = models.DateTimeField(null=True, blank=True)
    chosen_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = RubricQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rubric_name_once_per_project", fields=["project", "name"]
            ),
            models.CheckConstraint(name="rubric_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="rubric_chosen_by_someone_at_some_time",
                condition=Q(chosen_by__isnull=True) | Q(chosen_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def content(self) -> Content:
        """The rubric as pages and actions use it."""
        return Content(
            self.name,
            self.title,
            tuple(Level(**level) for level in self.levels),
            tuple(Criterion(**criterion) for criterion in self.criteria),
        )

    @classmethod
    def from_content(cls, content: RubricRecord, **fields: Any) -> Rubric:
        """Return an unsaved row with this content."""
        return cls(**rubric_object(content), **fields)


class ReviewQuerySet(models.QuerySet["Review"]):
    """Reviews, including drafts."""

    def submitted(self) -> ReviewQuerySet:
        """Return submitted reviews; the others are drafts."""
        return self.filter(submitted_at__isnull=False)

    def of_people(self) -> ReviewQuerySet:
        """Return reviews by people; those of machines are never counted among them."""
        return self.filter(auditor__is_machine=False)

    def of_machines(self) -> ReviewQuerySet:
        """Return reviews by machines."""
        return self.filter(auditor__is_machine=True)


class Review(models.Model):
    """One auditor's review of one narrative version; a draft until it is submitted."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="reviews")
    auditor = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="reviews")
    # The name of a rubric of the project, or of one shipped with Rejudge
    # (see `audit.reviews.rubrics`).
    rubric = models.CharField(max_length=60)
    started_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="review_once_per_auditor", fields=["narrative", "auditor"]
            ),
        ]

    def __str__(self) -> str:
        return f"review {self.pk}"


class ReviewedText(models.Model):
    """The text version of a document that the review page showed beside the instruction.

    Inserted when the review is submitted. A review rates the instruction, so a newer text of a
    document does not make it stale.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="texts")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    text_version = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="reviewed_text_once_per_document", fields=["review", "document"]
            ),
            models.CheckConstraint(
                name="reviewed_text_has_a_version", condition=Q(text_version__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"text {self.text_version} of document {self.document_id}"


class RatingQuerySet(models.QuerySet["Rating"]):
    """Ratings of reviews."""

    def of_people(self) -> RatingQuerySet:
        """Return ratings by people; those of machines are never counted among them."""
        return self.filter(review__auditor__is_machine=False)


class Rating(models.Model):
    """The answer to one criterion. In a draft it may have words but no level yet."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="ratings")
    # The key and value in the rubric of the review.
    criterion = models.CharField(max_length=40)
    level = models.CharField(max_length=20, blank=True)
    # Copied from the rubric, so that queries do not need it: the level's position on the scale (0
    # is the best), and whether it rejects.
    place = models.PositiveSmallIntegerField(null=True, blank=True)
    rejects = models.BooleanField(null=True, blank=True)
    words = models.TextField(blank=True)
    # The answer that stands: its UUID, made by the page that gave it, and when it was given. One
    # from a file has no UUID.
    uuid = models.UUIDField(null=True, blank=True, default=uuid.uuid4)
    made_at = models.DateTimeField(default=timezone.now)
    # The UUIDs of all answers from pages: one that is sent twice counts once.
    answered: models.JSONField[list[str], list[str]] = models.JSONField(default=list)

    objects = RatingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rating_once_per_criterion", fields=["review", "criterion"]
            ),
            models.CheckConstraint(name="rating_names_a_criterion", condition=~Q(criterion="")),
            models.CheckConstraint(
                name="rating_level_has_a_place",
                condition=Q(level="", place__isnull=True, rejects__isnull=True)
                | (~Q(level="") & Q(place__isnull=False, rejects__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.level}"


class DecisionQuerySet(models.QuerySet["Decision"]):
    """Decisions on instructions."""

    def current(self) -> DecisionQuerySet:
        """Return decisions that are not withdrawn."""
        return self.filter(withdrawn_at__isnull=True)


class Decision(models.Model):
    """The decision on one narrative version: accepted, sent back, or removed."""

    class Outcome(models.TextChoices):
        """The outcome of a decision."""

        ACCEPTED = "accepted", "Accepted"
        REVISE = "revise", "Sent back for revision"
        REMOVED = "removed", "Removed"

    # Made by the page that decides: a decision that is sent twice counts once.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="decisions")
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="decisions")
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="decision_one_current",
                fields=["narrative"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            # Sending an instruction back or removing it needs a reason.
            models.CheckConstraint(
                name="decision_against_has_a_reason",
                condition=Q(outcome="accepted") | ~Q(reason=""),
            ),
            at_and_by("decision_withdrawn_by_and_at", "withdrawn"),
        ]

    def __str__(self) -> str:
        return self.outcome
