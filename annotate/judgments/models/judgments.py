"""What annotators say of documents: judgments with their verdicts, and flags."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.collection.models import Candidate, ReadsText
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Judgments of people and machines."""

    def current(self) -> JudgmentQuerySet:
        """What each annotator says now of the newest text."""
        return self.standing().filter(text_replaced_at__isnull=True)

    def standing(self) -> JudgmentQuerySet:
        """What each annotator said last of each text version they read."""
        return self.filter(superseded_at__isnull=True)

    def of_people(self) -> JudgmentQuerySet:
        """Leave machines out: they never count among people."""
        return self.filter(annotator__is_machine=False)


class Judgment(ReadsText):
    """One annotator's relevance for one candidate under one narrative version and text version.
    Unjudged is no row.
    """

    class Source(models.TextChoices):
        """How the judgment came in."""

        PAGE = "page", _("Entered here")
        FILE = "file", _("Loaded from a file")

    class Pressed(models.TextChoices):
        """What the grade was given with."""

        KEY = "key", _("A key")
        CLICK = "click", _("A click")

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="judgments")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="judgments")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="judgments")
    relevance = models.IntegerField()
    note = models.TextField(blank=True)
    # Spans that decided: [{"start": 10, "end": 42}], offsets in characters of the stored text.
    evidence = models.JSONField(default=list, blank=True)
    # Spans of the narrative that decided, in the same shape: offsets in characters of its text.
    clauses = models.JSONField(default=list, blank=True)
    # Time with the document before the eyes; time away does not count.
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Pressed, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.PAGE)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock: earlier than `at` where the network was away.
    made_at = models.DateTimeField(null=True, blank=True)
    # Null while it stands under its text version. Set when the annotator judged again, or took the
    # judgment back.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # The judgment this one took the place of: undoing this one brings that one back.
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # The referee: one current judgment of an annotator for a candidate and narrative ...
            models.UniqueConstraint(
                name="judgment_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            # ... and one that stands under each older text version.
            models.UniqueConstraint(
                name="judgment_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=False),
            ),
            # A judgment taken back is no longer current.
            models.CheckConstraint(
                name="judgment_withdrawn_is_superseded",
                condition=Q(withdrawn_at__isnull=True) | Q(superseded_at__isnull=False),
            ),
            models.CheckConstraint(
                name="judgment_never_replaces_itself",
                condition=Q(replaces__isnull=True) | ~Q(replaces=F("id")),
            ),
        ]
        indexes: ClassVar = [
            # The history of one annotator on one narrative, newest last: previous and undo.
            models.Index(fields=["narrative", "annotator", "at"], name="judgment_history"),
            # When somebody judged last on a page, and whether a file brought any of theirs.
            models.Index(fields=["annotator", "source", "at"], name="judgment_last_of_person"),
            # What people differ on: all that the queue of disagreements groups stands in it, and
            # what SQLite looks up for its condition.
            models.Index(
                fields=[
                    *("narrative", "candidate", "annotator", "relevance", "at"),
                    *("superseded_at", "text_replaced_at"),
                ],
                name="judgment_differing",
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"

    @property
    def is_current(self) -> bool:
        """Whether it is what its annotator says now of the newest text."""
        return self.superseded_at is None and self.text_replaced_at is None

    def answers(self) -> dict[int, str]:
        """Answers by the key of the condition; verdicts fetched ahead are not asked for anew."""
        return {verdict.condition_id: verdict.answer for verdict in self.verdicts.all()}


class Verdict(models.Model):
    """What a judgment says of one condition of its narrative."""

    class Answer(models.TextChoices):
        """Whether the document meets the condition."""

        MET = "met", _("Met")
        NOT_MET = "not_met", _("Not met")
        CANT_TELL = "cant_tell", _("Can't tell")

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="verdicts")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="verdicts")
    answer = models.CharField(max_length=10, choices=Answer)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="verdict_once_per_condition", fields=["judgment", "condition"]
            ),
        ]

    def __str__(self) -> str:
        return self.answer


class FlagQuerySet(models.QuerySet["Flag"]):
    """Flags of documents."""

    def current(self) -> FlagQuerySet:
        """Flags that still stand, of the newest text."""
        return self.filter(cleared_at__isnull=True, text_replaced_at__isnull=True)


class Flag(ReadsText):
    """What an annotator says instead of a grade. Not a grade."""

    class Kind(models.TextChoices):
        """Why there is no grade."""

        LATER = "later", _("Later")
        CANNOT_JUDGE = "cannot_judge", _("Cannot judge")
        PROBLEM = "problem", _("Problem with this document")

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="flags")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="flags")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=20, choices=Kind)
    words = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock.
    made_at = models.DateTimeField(null=True, blank=True)
    # Set when the annotator judged after all, or took the flag back.
    cleared_at = models.DateTimeField(null=True, blank=True)

    objects = FlagQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="flag_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(cleared_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="flag_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(cleared_at__isnull=True, text_replaced_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.kind
