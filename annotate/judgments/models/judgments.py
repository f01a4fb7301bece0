"""Annotators' answers on documents: judgments with their verdicts, and flags."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership


def one_current(statement: str, ended: str) -> tuple[models.UniqueConstraint, ...]:
    """Return the constraints on an annotator's statements on a candidate under one narrative.

    One is current, and one is the last under each older text version; `ended` is set on the others.
    """
    target = ["narrative", "candidate", "annotator"]
    not_ended = {f"{ended}__isnull": True}
    return (
        models.UniqueConstraint(
            name=f"{statement}_one_current",
            fields=target,
            condition=Q(**not_ended, text_replaced_at__isnull=True),
        ),
        models.UniqueConstraint(
            name=f"{statement}_one_of_older_text",
            fields=[*target, "text_version"],
            condition=Q(**not_ended, text_replaced_at__isnull=False),
        ),
    )


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Judgments of people and machines."""

    def current(self) -> JudgmentQuerySet:
        """Return each annotator's current judgment of the newest text."""
        return self.not_superseded().filter(text_replaced_at__isnull=True)

    def not_superseded(self) -> JudgmentQuerySet:
        """Return each annotator's last judgment of each text version they read."""
        return self.filter(superseded_at__isnull=True)

    def of_people(self) -> JudgmentQuerySet:
        """Leave out machines, which never count as people."""
        return self.filter(annotator__is_machine=False)


class Judgment(ReadsText):
    """One annotator's relevance for one candidate under one narrative version and text version.

    An unjudged candidate has no row.
    """

    class Source(models.TextChoices):
        """How the judgment was entered."""

        PAGE = "page", "Entered here"
        FILE = "file", "Loaded from a file"

    class Pressed(models.TextChoices):
        """How the grade was given on the page."""

        KEY = "key", "A key"
        CLICK = "click", "A click"

    # Made by the sender, so that sending it twice changes nothing.
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
    # Active time with the document on the screen; time away does not count.
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Pressed, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.PAGE)
    at = models.DateTimeField(default=timezone.now)
    # When it was given, by the browser's clock: earlier than `at` if the network was down.
    made_at = models.DateTimeField(null=True, blank=True)
    # Null while it is the annotator's last judgment of its text version. Set when the annotator
    # judged again, or withdrew the judgment.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # The judgment that this one superseded: undoing this one restores it.
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            *one_current("judgment", "superseded_at"),
            # A withdrawn judgment is no longer current.
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
            # One annotator's judgments under one narrative, newest last: for "previous" and undo.
            models.Index(fields=["narrative", "annotator", "at"], name="judgment_history"),
            # When a member last judged on a page, and whether they have judgments from a file.
            models.Index(fields=["annotator", "source", "at"], name="judgment_last_of_person"),
            # Disagreements: covers every column that the queue groups by, and the columns that
            # SQLite reads for the condition.
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
        """Whether it is its annotator's current judgment of the newest text."""
        return self.superseded_at is None and self.text_replaced_at is None

    def answers(self) -> dict[int, str]:
        """Return the answers by condition key; prefetched verdicts are not queried again."""
        return {verdict.condition_id: verdict.answer for verdict in self.verdicts.all()}


class VerdictQuerySet(models.QuerySet["Verdict"]):
    """Answers to conditions."""

    def current(self) -> VerdictQuerySet:
        """Return the answers in current judgments of the newest texts."""
        return self.filter(
            judgment__superseded_at__isnull=True, judgment__text_replaced_at__isnull=True
        )

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


class FlagQuerySet(models.QuerySet["Flag"]):
    """Flags on documents."""

    def current(self) -> FlagQuerySet:
        """Return the flags that are not cleared, on the newest text."""
        return self.filter(cleared_at__isnull=True, text_replaced_at__isnull=True)


class Flag(ReadsText):
    """An annotator's answer instead of a grade. It is not a grade."""

    class Kind(models.TextChoices):
        """Why there is no grade."""

        LATER = "later", "Later"
        CANNOT_JUDGE = "cannot_judge", "Cannot judge"
        PROBLEM = "problem", "Problem with this document"

    # Made by the sender, so that sending it twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="flags")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="flags")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=20, choices=Kind)
    words = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    # When it was given, by the browser's clock.
    made_at = models.DateTimeField(null=True, blank=True)
    # Set when the annotator answered again, or withdrew the flag.
    cleared_at = models.DateTimeField(null=True, blank=True)

    objects = FlagQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            *one_current("flag", "cleared_at"),
        ]

    def __str__(self) -> str:
        return self.kind
