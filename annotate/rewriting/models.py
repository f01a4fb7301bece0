"""Drafts of narratives."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership

# The most characters that a narrative, or the draft of one, may have.
MAX_NARRATIVE = 100_000
TOO_LONG = "The narrative has %(length)s characters; at most %(most)s are allowed."


class Draft(models.Model):
    """What someone is writing on one side of a pair and has not saved as a version yet."""

    pair = models.ForeignKey(InstructionPair, on_delete=models.CASCADE, related_name="drafts")
    side = models.CharField(max_length=10, choices=Narrative.Side)
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="drafts")
    text = models.TextField(blank=True)
    note = models.CharField(max_length=500, blank=True)
    # One condition per line.
    conditions = models.TextField(blank=True)
    # The version it was begun from; 0: none.
    based_on = models.PositiveIntegerField(default=0)
    # Candidates that the writer expects to drop out.
    drops = models.JSONField(default=list, blank=True)
    saved_at = models.DateTimeField(default=timezone.now)
    # The open page it was last written on, and when, in milliseconds of that browser's clock. Of
    # two pages that write at the same time the newer one counts.
    place = models.CharField(max_length=36, blank=True)
    turn = models.BigIntegerField(default=0)
    # What other pages wrote at the same time and does not count; kept until the writer has read it.
    overtaken = models.JSONField(default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="draft_once_per_side", fields=["pair", "side", "member"]),
        ]

    def __str__(self) -> str:
        return f"draft of {self.side}"
