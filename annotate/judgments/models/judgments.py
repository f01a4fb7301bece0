"""Annotators' answers on documents: judgments with their verdicts, and flags."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership

Row = TypeVar("Row", bound=models.Model)


class StatementQuerySet(models.QuerySet[Row]):
    """Statements of one kind."""

    def current(self) -> Self:
        """Return each person's current statements on the newest text."""
        return self.filter(ended_at__isnull=True, text_replaced_at__isnull=True)


class StoredStatement(ReadsText):
    """What one person said about one candidate under one narrative version and text version."""

    # Made by the sender, so that sending it twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="%(class)ss")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="%(class)ss")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="%(class)ss")
    at = models.DateTimeField(default=timezone.now)
    # When it was given, by the browser's clock: earlier than `at` if the network was down.
    made_at = models.DateTimeField(null=True, blank=True)
    # Null while it is the person's last statement of its text version. Set when they answered
    # again, or withdrew it.
    ended_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            # One is current, and one is the last under each older text version.
            models.UniqueConstraint(
                name="%(class)s_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="%(class)s_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=False),
            ),
            models.CheckConstraint(
                name="%(class)s_withdrawn_is_ended",
                condition=Q(withdrawn_at__isnull=True) | Q(ended_at__isnull=False),
            ),
        ]


class StoredGrade(StoredStatement):
    """A statement that can be a grade, with all that belongs to one."""

    # The milliseconds of some grades, and how many of them have any, to annotate.
    EFFORT: ClassVar = {"milliseconds": Sum("active_ms"), "timed": Count("active_ms")}

    class Pressed(models.TextChoices):
        """How the grade was given on the page."""

        KEY = "key", "A key"
        CLICK = "click", "A click"

    note = models.TextField(blank=True)
    # Spans that decided: [{"start": 10, "end": 42}], offsets in characters of the stored text.
    evidence = models.JSONField(default=list, blank=True)
    # Spans of the narrative that decided, in the same shape: offsets in characters of its text.
    clauses = models.JSONField(default=list, blank=True)
    # Active time with the document on the screen, in milliseconds; time away does not count.
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Pressed, blank=True)

    # The fields that a grade consists of, in the order in which they are hashed.
    CONTENT: ClassVar = (
        "relevance",
        "note",
        "evidence",
        "clauses",
        "verdicts",
        "active_ms",
        "pressed",
    )

    class Meta(StoredStatement.Meta):
        abstract = True


class JudgmentQuerySet(StatementQuerySet["Judgment"]):
    """Judgments of people and machines."""

    def not_superseded(self) -> JudgmentQuerySet:
        """Return each annotator's last judgment of each text version they read."""
        return self.filter(ended_at__isnull=True)

    def timed(self) -> JudgmentQuerySet:
        """Return the judgments whose active time is known."""
        return self.filter(active_ms__isnull=False)

    def of_people(self) -> JudgmentQuerySet:
        """Leave out machines, which never count as people."""
        return self.filter(annotator__is_machine=False)


class Judgment(StoredGrade):
    """One annotator's relevance for one candidate under one narrative version and text version.

    An unjudged candidate has no row.
    """

    class Source(models.TextChoices):
        """How the judgment was entered."""

        PAGE = "page", "Entered here"
        FILE = "file", "Loaded from a file"

    relevance = models.IntegerField()
    source = models.CharField(max_length=10, choices=Source, default=Source.PAGE)
    # The judgment that this one superseded: undoing this one restores it.
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta(StoredGrade.Meta):
        constraints: ClassVar = [
            *StoredGrade.Meta.constraints,
            models.CheckConstraint(
                name="judgment_never_replaces_itself",
                condition=Q(replaces__isnull=True) | ~Q(replaces=F("id")),
            ),
        ]
        indexes: ClassVar = [
            # One annotator's judgments under one narrative, newest last: for "previous" and undo.
            models.Index(fields=["narrative", "annotator", "at"], name="judgment_history"),
            # When a member last judged on a page, and whether they have judgments from a file.
            models.Index(fields=["annotator", "source", "at"], name="judgment_last_of_person"),
            # Counts of answers and the queue of disagreements: covers every column that they group
            # or add up, and the columns that SQLite reads for the condition.
            models.Index(
                fields=[
                    *("narrative", "candidate", "annotator", "relevance", "at"),
                    *("active_ms", "ended_at", "text_replaced_at"),
                ],
                name="judgment_differing",
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"

    @property
    def is_current(self) -> bool:
        """Whether it is its annotator's current judgment of the newest text."""
        return self.ended_at is None and self.text_replaced_at is None

    @property
    def seconds(self) -> float | None:
        """The active time with the document on the screen; None if it is not known."""
        return None if self.active_ms is None else self.active_ms / 1_000

    def answers(self) -> dict[int, str]:
        """Return the answers by condition key; prefetched verdicts are not queried again."""
        return {verdict.condition_id: verdict.answer for verdict in self.verdicts.all()}


class VerdictQuerySet(models.QuerySet["Verdict"]):
    """Answers to conditions."""

    def current(self) -> VerdictQuerySet:
        """Return the answers in current judgments of the newest texts."""
        return self.filter(judgment__ended_at__isnull=True, judgment__text_replaced_at__isnull=True)

    def of_people(self) -> VerdictQuerySet:
        """Return the answers of people, without those of machines."""
        return self.filter(judgment__annotator__is_machine=False)


class Verdict(models.Model):
    """A judgment's answer to one condition of its narrative."""

    class Answer(models.TextChoices):
        """Whether the document meets the condition."""

        MET = "met", "Met"
        NOT_MET = "not_met", "Not met"
        CANT_TELL = "cant_tell", "Can't tell"

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="verdicts")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="verdicts")
    answer = models.CharField(max_length=10, choices=Answer)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="verdict_once_per_condition", fields=["judgment", "condition"]
            ),
        ]

    def __str__(self) -> str:
        return self.answer


class FlagQuerySet(StatementQuerySet["Flag"]):
    """Flags on documents."""


class Flag(StoredStatement):
    """An annotator's answer instead of a grade. It is not a grade."""

    class Kind(models.TextChoices):
        """Why there is no grade."""

        LATER = "later", "Later"
        CANNOT_JUDGE = "cannot_judge", "Cannot judge"
        PROBLEM = "problem", "Problem with this document"

    kind = models.CharField(max_length=20, choices=Kind)
    words = models.TextField(blank=True)

    objects = FlagQuerySet.as_manager()

    def __str__(self) -> str:
        return self.kind
