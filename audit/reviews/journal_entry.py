"""The entry of a browser's journal for reviews: the answer to one criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.judging.journal_entries import RegisteredEntry, SavedEntry, text_field
from annotate.pairs import access
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from audit.reviews.actions import save_rating


@dataclass(frozen=True)
class RatingEntry(RegisteredEntry):
    """A level, words, or both, for one criterion of a draft; None: not part of this entry."""

    criterion: str
    level: str | None
    words: str | None

    def save(self, *, by: Membership, pair: InstructionPair) -> SavedEntry:
        """Save it in the draft of `by`; the entry that arrives last wins."""
        now = timezone.now()
        save_rating(
            narrative=access.narrative(pair, self.narrative),
            criterion=self.criterion,
            level=self.level,
            words=self.words,
            by=by,
            now=now,
        )
        return SavedEntry(now)


def read_rating(entry: Mapping[str, Any], origin: dict[str, Any]) -> RatingEntry:
    """Parse a journal entry with the answer to one criterion."""
    return RatingEntry(
        **origin,
        criterion=text_field(entry, "criterion"),
        level=text_field(entry, "level", "") or None,
        words=None if entry.get("words") is None else text_field(entry, "words"),
    )
