"""What must hold of a pair's documents under its narratives. No Django here.

The kind of a project says which rules hold in it (`annotate.projects.kinds`). Rules on how the
relevant set changes are decided here; those on labels, in `annotate.judgments.label_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

# Documents that comply, and documents that violate, which every instruction has at least.
BALANCE = 3


class Change(StrEnum):
    """What became of a document whose relevance under the altered narrative is known."""

    KEPT = "kept"
    DROPPED = "dropped"
    # Relevant now and not before: a narrower narrative lets nothing in.
    GREW = "grew"
    # It was not relevant, and is not.
    STAYED = "stayed"


def change(before: int | None, now: int, relevant_from: int) -> Change:
    """Say what became of a document. `before` is None where nothing is known from before."""
    was = before is not None and before >= relevant_from
    if now >= relevant_from:
        return Change.KEPT if was or before is None else Change.GREW
    return Change.DROPPED if was else Change.STAYED


class Promise(StrEnum):
    """How a promise stands. It is broken only where nothing that is still open could mend it."""

    KEPT = "kept"
    NOT_YET = "not_yet"
    BROKEN = "broken"


class Rule(StrEnum):
    """What must hold of every pair."""

    SHRINKING = "shrinking"
    CHANGE = "change"
    SHARE = "share"
    BALANCE = "balance"
    GOLD = "gold"
    CONDITIONS = "conditions"
    ATTRIBUTES = "attributes"

    @property
    def is_of_labels(self) -> bool:
        """Whether it is decided on labels of several narratives, or on verdicts."""
        return self in {Rule.GOLD, Rule.CONDITIONS, Rule.ATTRIBUTES}


# The limits of a rule that names none.
LIMITS: Mapping[Rule, Mapping[str, int]] = {
    Rule.BALANCE: {"complying": BALANCE, "violating": BALANCE},
    Rule.SHARE: {"least_percent": 25, "most_percent": 75},
}


@dataclass
class Counts:
    """The documents of a pair by what became of them.

    `stayed` are those that were not relevant and are not; `unknown_before` those judged not
    relevant of which nothing is known from before: they violate the instruction, and nobody can
    say that they dropped out.
    """

    kept: int = 0
    dropped: int = 0
    grew: int = 0
    stayed: int = 0
    unknown_before: int = 0
    disputed: int = 0
    unjudged: int = 0

    @property
    def open(self) -> int:
        """Documents of which nobody knows yet."""
        return self.disputed + self.unjudged

    @property
    def spoken(self) -> bool:
        """Whether anybody has said anything of the pair."""
        return any(getattr(self, one.name) for one in fields(self) if one.name != "unjudged")

    @property
    def compliant(self) -> int:
        """Documents that are relevant under the altered narrative."""
        return self.kept + self.grew

    @property
    def violating(self) -> int:
        """Documents that the altered narrative rules out."""
        return self.dropped + self.unknown_before

    def add(self, before: int | None, now: int, relevant_from: int, documents: int = 1) -> Change:
        """Count documents whose relevance is known, and say what became of them."""
        became = change(before, now, relevant_from)
        name = "unknown_before" if before is None and became is Change.STAYED else became.value
        setattr(self, name, getattr(self, name) + documents)
        return became

    @property
    def dropped_percent(self) -> float | None:
        """The share of the documents that were relevant and have dropped out, of those known."""
        known = self.kept + self.dropped
        return 100 * self.dropped / known if known else None

    def promise(self, rule: Rule, limits: Mapping[str, int] | None = None) -> Promise:
        """Say how a rule on the change of the relevant set stands with these documents."""
        limits = limits or LIMITS.get(rule, {})
        if rule is Rule.SHRINKING:
            # A document that is open may still grow; until one has, the set has only shrunk.
            return Promise.BROKEN if self.grew else Promise.KEPT
        if rule is Rule.CHANGE:
            kept = bool(self.dropped or self.unknown_before)
            return _promise(kept, hopeful=self.open > 0)
        if rule is Rule.SHARE:
            return self._share(limits["least_percent"], limits["most_percent"])
        missing = max(limits["complying"] - self.compliant, 0)
        missing += max(limits["violating"] - self.violating, 0)
        return _promise(not missing, hopeful=self.open >= missing)

    def _share(self, least: int, most: int) -> Promise:
        """Say whether the share that dropped lies between two percentages."""
        total = self.kept + self.dropped + self.open
        if not total:
            return Promise.NOT_YET
        # Each open document either stays relevant or drops out.
        lowest, highest = 100 * self.dropped, 100 * (self.dropped + self.open)
        if highest < least * total or lowest > most * total:
            return Promise.BROKEN
        decided = lowest >= least * total and highest <= most * total
        return Promise.KEPT if decided else Promise.NOT_YET


def _promise(kept: bool, *, hopeful: bool) -> Promise:
    if kept:
        return Promise.KEPT
    return Promise.NOT_YET if hopeful else Promise.BROKEN
