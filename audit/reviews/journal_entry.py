"""The entry of a browser's journal for reviews: the answer to one criterion, or its undoing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.judging.journal_entries import (
    RegisteredEntry,
    SavedEntry,
    form_field,
    key_field,
    optional_field,
    text_field,
)
from annotate.pairs import access
from audit.reviews.actions import save_rating
from audit.reviews.models import Rating
from base.errors import Refused
from base.users import User


@dataclass(frozen=True)
class RatingEntry(RegisteredEntry):
    """A level, words, or both, for one criterion of a draft; None: not part of this entry."""

    pair: int
    narrative: int
    criterion: str
    level: str | None
    words: str | None
    # The level that is undone, and None for an answer. The entry then holds what stood before.
    undone: str | None

    def save(self, *, by: User) -> SavedEntry:
        """Save it in the draft of `by`; the entry that arrives last wins, except that a newer
        level is not undone.
        """
        now = timezone.now()
        member, pair = access.pair(by, self.pair)
        narrative = access.narrative(pair, self.narrative)
        mine = Rating.objects.filter(
            review__narrative=narrative, review__auditor=member, criterion=self.criterion
        )
        if self.undone is not None and mine.exclude(level__in=["", self.undone]).exists():
            if mine.filter(level=self.level).exists():
                return SavedEntry(now)
            raise Refused("You have rated this criterion again. The newer answer counts.")
        save_rating(
            narrative=narrative,
            criterion=self.criterion,
            level=self.level,
            words=self.words,
            by=member,
            now=now,
        )
        return SavedEntry(now)


def read_rating(entry: Mapping[str, Any], origin: dict[str, Any]) -> RatingEntry:
    """Parse a journal entry with the answer to one criterion."""
    fields = form_field(entry, "fields")
    return RatingEntry(
        **origin,
        pair=key_field(entry, "pair"),
        narrative=key_field(entry, "narrative"),
        criterion=text_field(entry, "criterion"),
        level=fields.get("level"),
        words=fields.get("words"),
        undone=optional_field(entry, "undone", text_field),
    )
