"""What is said again: requests to rejudge, and answers to documents that come a second time."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.judgments.models.judgments import Flag, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership


class RejudgeRequestQuerySet(models.QuerySet["RejudgeRequest"]):
    """What was asked for again."""

    def standing(self) -> RejudgeRequestQuerySet:
        """Leave out what the lead took back; answered or not."""
        return self.filter(withdrawn_at__isnull=True)

    def open(self) -> RejudgeRequestQuerySet:
        """What still waits for an answer: the judgment stands as it was, of the newest text."""
        return self.standing().filter(
            judgment__superseded_at__isnull=True, judgment__text_replaced_at__isnull=True
        )


class RejudgeRequest(models.Model):
    """A lead asks whoever made a judgment to look again. The judgment stays as it is; any later
    word of its author is the answer, also the same grade.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="asks")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    words = models.TextField()
    # The version of the guidelines for which it is asked, if it is.
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="asks"
    )
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = RejudgeRequestQuerySet.as_manager()

    class Meta:
        # As in backups made before.
        db_table = "annotate_lookagain"
        constraints: ClassVar = [
            # Asked twice is asked once; it also finds what stands of a judgment at every key press.
            models.UniqueConstraint(
                name="look_again_once_per_judgment",
                fields=["judgment"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(name="look_again_has_words", condition=~Q(words="")),
            models.CheckConstraint(
                name="look_again_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"rejudge request {self.pk}"


class RepeatQuerySet(models.QuerySet["Repeat"]):
    """Answers to documents that came again."""

    def current(self) -> RepeatQuerySet:
        """What each person says now of what came again, of the newest text."""
        return self.filter(superseded_at__isnull=True, text_replaced_at__isnull=True)


class Repeat(ReadsText):
    """What one person said of a document that came again: a relevance, or a flag instead.

    It never changes the first judgment, and counts nowhere but in the agreement of this person with
    themselves.
    """

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="repeats")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="repeats")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="repeats")
    # What they said the first time, as it stood when this was said. Null where nothing stood: then
    # it is what they say of the document now.
    first = models.ForeignKey(
        Judgment, null=True, blank=True, on_delete=models.PROTECT, related_name="repeats"
    )
    relevance = models.IntegerField(null=True, blank=True)
    flag = models.CharField(max_length=20, choices=Flag.Kind, blank=True)
    # With a relevance a note, with a flag its words.
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    clauses = models.JSONField(default=list, blank=True)
    # Answers by the key of the condition: {"7": "met"}.
    verdicts: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Judgment.Pressed, blank=True)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock.
    made_at = models.DateTimeField(null=True, blank=True)
    # Current while null. Set when they said something else of the repeat, or took it back.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = RepeatQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # The referee: one current answer of a person to a document that came again.
            models.UniqueConstraint(
                name="repeat_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="repeat_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=False),
            ),
            models.CheckConstraint(
                name="repeat_is_a_grade_or_a_flag",
                condition=Q(relevance__isnull=False, flag="")
                | (Q(relevance__isnull=True) & ~Q(flag="")),
            ),
            models.CheckConstraint(
                name="repeat_withdrawn_is_superseded",
                condition=Q(withdrawn_at__isnull=True) | Q(superseded_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # What one person said again of one narrative, newest last.
            models.Index(fields=["narrative", "annotator", "at"], name="repeat_history"),
        ]

    def __str__(self) -> str:
        return f"repeat {self.pk}"

    def answers(self) -> dict[int, str]:
        """Answers by the key of the condition."""
        return {int(condition): answer for condition, answer in self.verdicts.items()}

    def as_flag(self) -> Flag | None:
        """The flag it is, as pages draw one; it is no row. None for a relevance."""
        if not self.flag:
            return None
        return Flag(uuid=self.uuid, kind=self.flag, words=self.note, at=self.at)
