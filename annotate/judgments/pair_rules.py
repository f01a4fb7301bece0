"""Rules on a pair's documents under its narratives. No Django here.

The kind of a project defines its rules (`annotate.projects.kinds`). Rules on the change of the
relevant set are decided here; rules on labels, in `annotate.judgments.label_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

# The least number of complying documents, and of violating ones, for every instruction.
BALANCE = 3


class Change(StrEnum):
    """The change of a document whose relevance under the altered narrative is known."""

    KEPT = "kept"
    DROPPED = "dropped"
    # Relevant now and not before: a narrower narrative must not do that.
    GREW = "grew"
    # Relevant neither before nor now.
    STAYED = "stayed"


def change(before: int | None, now: int, relevant_from: int) -> Change:
    """Return the change of a document; `before` is None if its earlier relevance is unknown."""
    was = before is not None and before >= relevant_from
    if now >= relevant_from:
        return Change.KEPT if was or before is None else Change.GREW
    return Change.DROPPED if was else Change.STAYED


def dropped_share(kept: int, dropped: int) -> float | None:
    """Return the share that dropped, of the documents relevant before whose relevance is known now.

    Documents that are disputed or not judged are in neither number. None without any document.

    >>> dropped_share(kept=3, dropped=1)
    0.25
    """
    return dropped / (kept + dropped) if kept + dropped else None


class RuleStatus(StrEnum):
    """The status of a rule. It is broken only if no document that is still open could mend it."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_KNOWN = "not_known"

    @property
    def label(self) -> str:
        """The status in words."""
        return self.value.replace("_", " ")


class Rule(StrEnum):
    """A rule that must hold for every pair."""

    SHRINKING = "shrinking"
    CHANGE = "change"
    SHARE = "share"
    BALANCE = "balance"
    GOLD = "gold"
    CONDITIONS = "conditions"
    ATTRIBUTES = "attributes"

    @property
    def is_of_labels(self) -> bool:
        """Whether it is decided by the labels of several narratives, or by verdicts."""
        return self in {Rule.GOLD, Rule.CONDITIONS, Rule.ATTRIBUTES}


# The default limits of rules.
LIMITS: Mapping[Rule, Mapping[str, int]] = {
    Rule.BALANCE: {"complying": BALANCE, "violating": BALANCE},
    Rule.SHARE: {"least_percent": 25, "most_percent": 75},
}


@dataclass
class Counts:
    """The numbers of a pair's documents by their change.

    `stayed`: not relevant before and now. Documents with an unknown earlier relevance have neither
    been kept nor dropped: `relevant_unknown_before` comply with the instruction, `unknown_before`
    are judged not relevant and violate it.
    """

    kept: int = 0
    dropped: int = 0
    grew: int = 0
    stayed: int = 0
    unknown_before: int = 0
    relevant_unknown_before: int = 0
    disputed: int = 0
    unjudged: int = 0

    @property
    def open(self) -> int:
        """The number of documents without a known relevance."""
        return self.disputed + self.unjudged

    @property
    def has_answers(self) -> bool:
        """Whether any document of the pair has an answer."""
        return any(getattr(self, field.name) for field in fields(self) if field.name != "unjudged")

    @property
    def compliant(self) -> int:
        """The number of documents that are relevant under the altered narrative."""
        return self.kept + self.grew + self.relevant_unknown_before

    @property
    def violating(self) -> int:
        """The number of documents that the altered narrative rules out."""
        return self.dropped + self.unknown_before

    def add(self, before: int | None, now: int, relevant_from: int, documents: int = 1) -> Change:
        """Count documents whose relevance is known, and return their change."""
        became = change(before, now, relevant_from)
        name = became.value
        if before is None:
            name = "relevant_unknown_before" if became is Change.KEPT else "unknown_before"
        setattr(self, name, getattr(self, name) + documents)
        return became

    @property
    def known_of_relevant(self) -> int:
        """The number of documents that were relevant before and whose relevance is known now."""
        return self.kept + self.dropped

    @property
    def dropped_percent(self) -> float | None:
        """The percentage that dropped out, of the documents relevant before and known now."""
        share = dropped_share(self.kept, self.dropped)
        return None if share is None else 100 * share

    def status(self, rule: Rule, limits: Mapping[str, int] | None = None) -> RuleStatus:
        """Return the status of a rule on the change of the relevant set for these documents."""
        limits = limits or LIMITS.get(rule, {})
        if rule is Rule.SHRINKING:
            # An open document may still become relevant; until one does, the set has only shrunk.
            return RuleStatus.BROKEN if self.grew else RuleStatus.HOLDS
        if rule is Rule.CHANGE:
            kept = bool(self.dropped or self.unknown_before)
            return _status(kept, hopeful=self.open > 0)
        if rule is Rule.SHARE:
            return self._share(limits["least_percent"], limits["most_percent"])
        missing = max(limits["complying"] - self.compliant, 0)
        missing += max(limits["violating"] - self.violating, 0)
        return _status(not missing, hopeful=self.open >= missing)

    def _share(self, least: int, most: int) -> RuleStatus:
        """Return whether the share of dropped documents is between two percentages."""
        total = self.kept + self.dropped + self.open
        if not total:
            return RuleStatus.NOT_KNOWN
        # Each open document either stays relevant or drops out.
        lowest, highest = 100 * self.dropped, 100 * (self.dropped + self.open)
        if highest < least * total or lowest > most * total:
            return RuleStatus.BROKEN
        decided = lowest >= least * total and highest <= most * total
        return RuleStatus.HOLDS if decided else RuleStatus.NOT_KNOWN


def _status(kept: bool, *, hopeful: bool) -> RuleStatus:
    if kept:
        return RuleStatus.HOLDS
    return RuleStatus.NOT_KNOWN if hopeful else RuleStatus.BROKEN
