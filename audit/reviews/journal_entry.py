"""The entry of a browser's journal for reviews: the answer to one criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.judging.journal_entries import (
    RegisteredEntry,
    SavedEntry,
    key_field,
    optional_field,
    text_field,
)
from annotate.pairs import access
from audit.reviews.actions import save_rating
from base.users import User


@dataclass(frozen=True)
class RatingEntry(RegisteredEntry):
    """A level, words, or both, for one criterion of a draft; None: not part of this entry."""

    pair: int
    narrative: int
    criterion: str
    level: str | None
    words: str | None

    def save(self, *, by: User) -> SavedEntry:
        """Save it in the draft of `by`; the entry that arrives last wins."""
        now = timezone.now()
        member, pair = access.pair(by, self.pair)
        save_rating(
            narrative=access.narrative(pair, self.narrative),
            criterion=self.criterion,
            level=self.level,
            words=self.words,
            by=member,
            now=now,
        )
        return SavedEntry(now)


def read_rating(entry: Mapping[str, Any], origin: dict[str, Any]) -> RatingEntry:
    """Parse a journal entry with the answer to one criterion."""
    return RatingEntry(
        **origin,
        pair=key_field(entry, "pair"),
        narrative=key_field(entry, "narrative"),
        criterion=text_field(entry, "criterion"),
        level=text_field(entry, "level", "") or None,
        words=optional_field(entry, "words", text_field),
    )
