"""What people say of a document that comes to them a second time, unmarked."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership


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
