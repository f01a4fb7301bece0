"""Rejudge requests, and answers to repeats: documents shown to the same person a second time."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.judgments.models.judgments import (
    Flag,
    Judgment,
    StatementQuerySet,
    StoredGrade,
)
from annotate.projects.models import Guideline, Membership
from base.constraints import at_and_by


class RejudgeRequestQuerySet(models.QuerySet["RejudgeRequest"]):
    """Rejudge requests."""

    def not_withdrawn(self) -> RejudgeRequestQuerySet:
        """Return the requests that are not withdrawn, answered or not."""
        return self.filter(withdrawn_at__isnull=True)

    def open(self) -> RejudgeRequestQuerySet:
        """Return the unanswered requests: their judgment is still current, on the newest text."""
        return self.not_withdrawn().filter(
            judgment__ended_at__isnull=True, judgment__text_replaced_at__isnull=True
        )


class RejudgeRequest(models.Model):
    """A lead's request to the author of a judgment to judge again.

    The judgment stays as it is. Any later answer by its author, even the same grade, answers the
    request.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="asks")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    words = models.TextField()
    # The version of the guidelines that is the reason for the request, if any.
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
        constraints: ClassVar = [
            # A judgment has one request that is not withdrawn; every key press looks for it.
            models.UniqueConstraint(
                name="rejudge_request_once_per_judgment",
                fields=["judgment"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(name="rejudge_request_has_words", condition=~Q(words="")),
            at_and_by("rejudge_request_withdrawn_by_at", "withdrawn"),
        ]

    def __str__(self) -> str:
        return f"rejudge request {self.pk}"


class RepeatQuerySet(StatementQuerySet["Repeat"]):
    """Answers to repeats."""


class Repeat(StoredGrade):
    """One person's answer to a repeat: a relevance, or a flag instead. `note`: also its words.

    It never changes the first judgment, and counts only for intra-annotator agreement.
    """

    # Their judgment of the document that was current when they answered the repeat. Null if there
    # was none: then it is their current judgment of the document.
    first = models.ForeignKey(
        Judgment, null=True, blank=True, on_delete=models.PROTECT, related_name="repeats"
    )
    relevance = models.IntegerField(null=True, blank=True)
    flag = models.CharField(max_length=20, choices=Flag.Kind, blank=True)
    # Answers by the key of the condition: {"7": "met"}.
    verdicts: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )

    objects = RepeatQuerySet.as_manager()

    class Meta(StoredGrade.Meta):
        constraints: ClassVar = [
            *StoredGrade.Meta.constraints,
            models.CheckConstraint(
                name="repeat_is_a_grade_or_a_flag",
                condition=Q(relevance__isnull=False, flag="")
                | (Q(relevance__isnull=True) & ~Q(flag="")),
            ),
        ]
        indexes: ClassVar = [
            # One person's answers to repeats under one narrative, newest last.
            models.Index(fields=["narrative", "annotator", "at"], name="repeat_history"),
        ]

    def __str__(self) -> str:
        return f"repeat {self.pk}"

    @property
    def kind(self) -> str:
        """The kind of the flag, as of a `Flag`; "" if this is a relevance."""
        return self.flag

    @property
    def words(self) -> str:
        """The words of the flag, as of a `Flag`."""
        return self.note

    def answers(self) -> dict[int, str]:
        """Return the answers by condition key."""
        return {int(condition): answer for condition, answer in self.verdicts.items()}

    def as_flag(self) -> Flag | None:
        """Return an unsaved flag for pages to draw, or None if this is a relevance."""
        if not self.flag:
            return None
        return Flag(uuid=self.uuid, kind=self.flag, words=self.note, at=self.at)
