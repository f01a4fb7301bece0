"""Rejudge requests: a lead asks the author of a judgment to judge again."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.judgments.models.statements import Judgment
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
