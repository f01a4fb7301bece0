"""Reveals: who looked at the names behind a disagreement, and when."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.checks.models import SampleItem


class Reveal(models.Model):
    """A record that a lead looked up who gave which answer in a disagreement."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    # Null: the reviewers of the narrative were revealed; else the judges of this document.
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Set: the checkers of this claimed label were revealed.
    item = models.ForeignKey(
        SampleItem, null=True, blank=True, on_delete=models.PROTECT, related_name="reveals"
    )
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="reveals")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            # Once per person: looking again adds nothing.
            models.UniqueConstraint(
                name="reveal_of_auditors_once",
                fields=["by", "narrative"],
                condition=Q(candidate__isnull=True),
            ),
            models.UniqueConstraint(
                name="reveal_of_judges_once",
                fields=["by", "narrative", "candidate"],
                condition=Q(candidate__isnull=False, item__isnull=True),
            ),
            models.UniqueConstraint(
                name="reveal_of_checkers_once",
                fields=["by", "item"],
                condition=Q(item__isnull=False),
            ),
            models.CheckConstraint(
                name="reveal_of_a_label_names_its_document",
                condition=Q(item__isnull=True) | Q(candidate__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # The reveals of one disagreement.
            models.Index(fields=["narrative", "candidate"], name="reveal_of"),
        ]

    def __str__(self) -> str:
        return f"reveal {self.pk}"
