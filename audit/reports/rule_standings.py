"""The state of a project's rules, in words, for pages, the API, manifests and releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotate.judgments.pair_rules import Rule, RuleStatus
from annotate.judgments.rule_report import PairStatus, RuleReport

RULES: Mapping[Rule, tuple[str, str]] = {
    Rule.SHRINKING: (
        "The relevant set only shrinks",
        "No document became relevant under the altered narrative.",
    ),
    Rule.CHANGE: (
        "At least one document changes",
        "The altered narrative rules out at least one document that judges were given.",
    ),
    Rule.SHARE: (
        "About half of the relevant documents drop out",
        (
            "Of the documents that were relevant, between %(least_percent)d and "
            "%(most_percent)d percent drop out under the altered narrative."
        ),
    ),
    Rule.BALANCE: (
        "The instruction tells documents apart",
        (
            "At least %(complying)d documents comply with it, and at least %(violating)d that "
            "were relevant before violate it."
        ),
    ),
    Rule.GOLD: (
        "Gold documents are relevant in two modes, not in the third",
        (
            "A document that is relevant to the instructed query is relevant to the original "
            "one, and is not relevant to the reversed one."
        ),
    ),
    Rule.CONDITIONS: (
        "Condition counts do not exceed the number of conditions",
        "No document meets more conditions than the narrative has.",
    ),
    Rule.ATTRIBUTES: (
        "Relevance follows from the conditions",
        (
            "A relevant document satisfies all conditions; a document that is not relevant "
            "violates at least one."
        ),
    ),
}


# The most pairs that break a rule to list at once.
BROKEN_AT_ONCE = 20


@dataclass(frozen=True)
class RuleStanding:
    """One rule: for how many pairs it holds or is not known, and the pairs that break it."""

    rule: Rule
    name: str
    sentence: str
    limits: Mapping[str, int]
    holds: Annotated[int, "The number of pairs."]
    not_known: Annotated[int, "The number of pairs."]
    broken: list[PairStatus]

    def broken_after(self, pair: int) -> list[PairStatus]:
        """Return the pairs that break the rule, after this one by key."""
        return [status for status in self.broken if status.pair.pk > pair]

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.holds + self.not_known + len(self.broken)

    @property
    def state(self) -> RuleStatus:
        """The state of the rule in the whole project."""
        if self.broken:
            return RuleStatus.BROKEN
        is_open = self.not_known or not self.holds
        return RuleStatus.NOT_KNOWN if is_open else RuleStatus.HOLDS


def outside_share(report: RuleReport) -> list[PairStatus]:
    """Return the pairs whose dropped share of judged documents is outside the rule's range.

    Open documents may still bring a pair back into the range; a release does not wait for them.
    """
    if (limits := report.rules.get(Rule.SHARE)) is None:
        return []
    return [
        status
        for status in report.pairs
        if (percent := status.counts.dropped_percent) is not None
        and not limits["least_percent"] <= percent <= limits["most_percent"]
    ]


def rule_standings(report: RuleReport) -> list[RuleStanding]:
    """Return the state of each rule of the project's kind.

    Pairs without any judgment count as not known; pairs that the reader still judges are left out.
    """
    standings = []
    for rule, limits in report.rules.items():
        by = report.pairs_by_status(rule)
        name, sentence = RULES[rule]
        standings.append(
            RuleStanding(
                rule=rule,
                name=name,
                sentence=sentence % limits if limits else sentence,
                limits=limits,
                holds=len(by[RuleStatus.HOLDS]),
                not_known=len(by[RuleStatus.NOT_KNOWN]) + report.silent,
                broken=by[RuleStatus.BROKEN],
            )
        )
    return standings
