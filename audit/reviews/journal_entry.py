"""The entry of a browser's journal for reviews: the answer to one criterion, or its undoing."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.pairs import access
from audit.reviews.actions import save_rating
from audit.reviews.models import Rating
from base.api.resource import KeyField
from base.errors import Refused


class RatingEntry(JournalEntry):
    """A level, words, or both, for one criterion of a draft."""

    pair = KeyField()
    narrative = KeyField()
    criterion = serializers.CharField(allow_blank=True, trim_whitespace=False)
    # `level` and `words`; one that is missing is not part of this entry.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The level that is undone, and None for an answer. The entry then holds what stood before.
    undone = serializers.CharField(default=None, allow_null=True, allow_blank=True)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save it in the draft of `by`; the entry that arrives last wins, except that a newer
        level is not undone.
        """
        now = timezone.now()
        member, pair = by.pair(sent["pair"])
        narrative = access.narrative(pair, sent["narrative"])
        criterion, undone = sent["criterion"], sent["undone"]
        level, words = sent["fields"].get("level"), sent["fields"].get("words")
        mine = Rating.objects.filter(
            review__narrative=narrative, review__auditor=member, criterion=criterion
        )
        if undone is not None and mine.exclude(level__in=["", undone]).exists():
            if mine.filter(level=level).exists():
                return SavedEntry(now)
            raise Refused("You have rated this criterion again. The newer answer counts.")
        save_rating(
            narrative=narrative,
            criterion=criterion,
            level=level,
            words=words,
            by=member,
            now=now,
        )
        return SavedEntry(now)


ENTRIES = {"rating": RatingEntry()}
