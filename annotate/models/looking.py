"""What a lead wants looked at again, and the cases that led to a version of the guidelines."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership


class LookAgainQuerySet(models.QuerySet["LookAgain"]):
    """What was asked for again."""

    def standing(self) -> LookAgainQuerySet:
        """Leave out what the lead took back; answered or not."""
        return self.filter(withdrawn_at__isnull=True)

    def open(self) -> LookAgainQuerySet:
        """What still waits for an answer: the judgment stands as it was, of the newest text."""
        return self.standing().filter(
            judgment__superseded_at__isnull=True, judgment__text_replaced_at__isnull=True
        )


class LookAgain(models.Model):
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

    objects = LookAgainQuerySet.as_manager()

    class Meta:
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
        return f"look again {self.pk}"


class GuidelineCase(models.Model):
    """A document under a narrative that led to a version of the guidelines."""

    guideline = models.ForeignKey(Guideline, on_delete=models.CASCADE, related_name="cases")
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="guideline_case_once", fields=["guideline", "narrative", "candidate"]
            ),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"
