"""What manifests say of the rules of the project's kind, of checked labels, and of what is out."""

from __future__ import annotations

from typing import TypedDict

from django.utils import translation

from annotate.judgments.pair_rules import Rule
from annotate.judgments.tally import RuleReport, rule_report_in
from annotate.projects.models import Project
from annotate.topics.filters import filter_counts
from annotate.topics.removal import removed_pairs, removed_queries
from audit.reports.rule_standings import outside_share, rule_standings
from audit.reviews.draws import standing_draw
from exporters.exports.check_facts import CheckFacts, check_facts
from exporters.exports.ordered_rows import bytewise


class RuleFacts(TypedDict):
    """A rule: in how many pairs it holds or is not known, and the ids of those that break it."""

    rule: str
    says: str
    state: str
    holds: int
    not_known: int
    broken: list[str]


class ShareFacts(TypedDict):
    """Of a pair, how many documents that were relevant drop out, of those judged."""

    pair_id: str
    dropped: int
    of: int
    percent: float
    outside: bool


class TakenOut(TypedDict):
    """A query, or an instruction of one, that is taken out. `pair_id` is "" for a whole query."""

    query_id: str
    pair_id: str
    reason: str


class ReviewDrawFacts(TypedDict):
    """Which instructions are reviewed: so many `of` those there are, of each stratum `size`."""

    stratify: str
    size: int
    seed: int
    drawn: int
    of: int


class FilterFacts(TypedDict):
    """What a machine's filter decided on things of one kind."""

    machine: str
    about: str
    kept: int
    discarded: int
    brought_back: int


class KindFacts(TypedDict, total=False):
    """The kind of project and how its rules stand. Absent where there is nothing: the share that
    drops out of each pair, what checks of labels came to, what was taken out, what machines'
    filters decided, and which instructions are reviewed (absent where all are).
    """

    kind: str
    must_hold: list[RuleFacts]
    dropped_shares: list[ShareFacts]
    label_checks: list[CheckFacts]
    taken_out: list[TakenOut]
    review_draw: ReviewDrawFacts
    filters: list[FilterFacts]


def kind_facts(project: Project) -> KindFacts:
    """Return the kind of a project with its rules as they stand, and what was taken out."""
    # The same rows make the same bytes, whatever language the reader has.
    with translation.override("en"):
        report = rule_report_in(project, None)
        standings = rule_standings(report)
        found = KindFacts(
            kind=project.kind,
            must_hold=[
                RuleFacts(
                    rule=one.rule.value,
                    says=one.sentence,
                    state=one.state.value,
                    holds=one.holds,
                    not_known=one.not_known,
                    broken=sorted((pair.pair.pair_id for pair in one.broken), key=str.encode),
                )
                for one in standings
            ],
        )
    if shares := _shares(report):
        found["dropped_shares"] = shares
    if checks := check_facts(project):
        found["label_checks"] = checks
    if out := _taken_out(project):
        found["taken_out"] = out
    if filters := filter_counts(project):
        found["filters"] = [FilterFacts(**one._asdict()) for one in filters]  # type: ignore[typeddict-item]
    if (standing := standing_draw(project)) is not None:
        found["review_draw"] = ReviewDrawFacts(
            stratify=standing.draw.stratify,
            size=standing.draw.size,
            seed=standing.draw.seed,
            drawn=standing.taken,
            of=standing.total,
        )
    return found


def _shares(report: RuleReport) -> list[ShareFacts]:
    """Return the share that drops out of each judged pair, in byte order of their ids."""
    if Rule.SHARE not in report.rules:
        return []
    outside = {one.pair.pk for one in outside_share(report)}
    return [
        ShareFacts(
            pair_id=one.pair.pair_id,
            dropped=one.counts.dropped,
            of=one.counts.kept + one.counts.dropped,
            percent=round(percent, 2),
            outside=one.pair.pk in outside,
        )
        for one in sorted(report.pairs, key=lambda one: one.pair.pair_id.encode())
        if (percent := one.counts.dropped_percent) is not None
    ]


def _taken_out(project: Project) -> list[TakenOut]:
    """Return the queries that are taken out, then the instructions, in byte order of their ids."""
    queries = removed_queries(project).order_by(bytewise("query_id"))
    pairs = removed_pairs(project).order_by(bytewise("pair_id"))
    return [
        *(
            TakenOut(query_id=query_id, pair_id="", reason=reason)
            for query_id, reason in queries.values_list("query_id", "removed_reason")
        ),
        *(
            TakenOut(query_id=query_id, pair_id=pair_id, reason=reason)
            for query_id, pair_id, reason in pairs.values_list(
                "query__query_id", "pair_id", "removed_reason"
            )
        ),
    ]
