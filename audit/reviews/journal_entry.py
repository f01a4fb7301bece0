"""The entry of a browser's journal for reviews: the answer to one criterion, or its undoing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.pairs import access
from audit.reviews.actions import RATED_AGAIN, SentAnswer, save_rating
from audit.reviews.models import Rating
from audit.reviews.review_session import STORED
from base.api.resource import KeyField
from base.errors import Refused


class ShownAnswerField(StatementUuidField):
    """The UUID of the answer that a page showed, from there or from the server."""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID, without what the page's script knows stored answers by."""
        return super().to_internal_value(
            data.removeprefix(STORED) if isinstance(data, str) else data
        )


class RatingEntry(JournalEntry):
    """A level, words, or both, for one criterion of a draft."""

    pair = KeyField()
    narrative = KeyField()
    criterion = serializers.CharField(allow_blank=True, trim_whitespace=False)
    # `level` and `words`; one that is missing is not part of this entry.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The level that is undone, and None for an answer. The entry then holds what stood before.
    undone = serializers.CharField(default=None, allow_null=True, allow_blank=True)
    # The answer that the page showed, or None.
    instead_of = ShownAnswerField(default=None, allow_null=True)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save it in the draft of `by`, once; a newer level is neither replaced nor undone."""
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
            raise Refused(RATED_AGAIN)
        save_rating(
            narrative=narrative,
            criterion=criterion,
            level=level,
            words=words,
            by=member,
            sent=SentAnswer(sent["uuid"], sent["made_at"], sent["instead_of"]),
            now=now,
        )
        return SavedEntry(now)


ENTRIES = {"rating": RatingEntry()}
