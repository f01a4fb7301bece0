"""Facts in manifests about the kind of a project: rules, label checks, removals, draws, filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from django.db.models import F, Value

from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.collection.topics import filter_counts
from annotate.judgments.pair_rules import Rule
from annotate.judgments.rule_report import RuleReport, rule_report_in
from annotate.projects.models import Project
from audit.checks.figures import Figures, figures
from audit.checks.models import Sample, SampleItem
from audit.checks.queue import with_checks
from audit.reports.rule_standings import outside_share, rule_standings
from audit.reviews.draws import current_draw
from base.bulk import in_byte_order

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion

# Decimal places of shares and coefficients.
_DIGITS = 6


class RuleFacts(TypedDict):
    """A rule: in how many pairs it holds or is not known, and the ids of pairs that break it."""

    rule: str
    says: str
    state: str
    holds: int
    not_known: int
    broken: Annotated[list[str], "Ids of pairs."]


class KindFacts(TypedDict, total=False):
    """The kind of a project and the state of its rules. Absent if empty: all but these two."""

    kind: str
    must_hold: list[RuleFacts]
    # How many of the judged, formerly relevant documents dropped out, for each pair.
    dropped_shares: list[dict[str, Any]]
    label_checks: list[dict[str, Any]]
    # The queries and pairs that were taken out. `pair_id` is "" for a whole query.
    taken_out: list[dict[str, str]]
    # Absent if all instructions are reviewed.
    review_draw: dict[str, Any]
    # Decisions of machine filters, as `annotate.collection.topics.FilterCount`.
    filters: list[dict[str, Any]]


def kind_facts(project: Project) -> KindFacts:
    """Return the kind of a project with the state of its rules, and what was taken out."""
    report = rule_report_in(project, None)
    standings = rule_standings(report)
    facts = KindFacts(
        kind=project.kind,
        must_hold=[
            RuleFacts(
                rule=standing.rule.value,
                says=standing.sentence,
                state=standing.state.value,
                holds=standing.holds,
                not_known=standing.not_known,
                broken=sorted((pair.pair.pair_id for pair in standing.broken), key=str.encode),
            )
            for standing in standings
        ],
    )
    if shares := _share_facts(report):
        facts["dropped_shares"] = shares
    if checks := check_facts(project):
        facts["label_checks"] = checks
    if out := _taken_out(project):
        facts["taken_out"] = out
    if filters := filter_counts(project):
        facts["filters"] = [filter_count._asdict() for filter_count in filters]
    if (standing := current_draw(project)) is not None:
        facts["review_draw"] = {
            "stratify": standing.draw.stratify,
            "size": standing.draw.size,
            "seed": standing.draw.seed,
            "drawn": standing.taken,
            "of": standing.total,
        }
    return facts


def _share_facts(report: RuleReport) -> list[dict[str, Any]]:
    """Return the share that drops out of each judged pair, in byte order of pair ids."""
    if Rule.SHARE not in report.rules:
        return []
    outside = {pair_report.pair.pk for pair_report in outside_share(report)}
    return [
        {
            "pair_id": pair_report.pair.pair_id,
            "dropped": pair_report.counts.dropped,
            "of": pair_report.counts.known_of_relevant,
            "percent": round(percent, 2),
            "outside": pair_report.pair.pk in outside,
        }
        for pair_report in sorted(
            report.pairs, key=lambda pair_report: pair_report.pair.pair_id.encode()
        )
        if (percent := pair_report.counts.dropped_percent) is not None
    ]


def _taken_out(project: Project) -> list[dict[str, str]]:
    """Return the queries that are taken out, then the pairs, each in byte order of their ids."""
    queries = QUERIES.removed(project).order_by(in_byte_order("query_id"))
    pairs = INSTRUCTIONS.removed(project).order_by(in_byte_order("pair_id"))
    rows = [
        *queries.values_list("query_id", Value(""), "removed_reason"),
        *pairs.values_list("query__query_id", "pair_id", "removed_reason"),
    ]
    return [
        {"query_id": query_id, "pair_id": pair_id, "reason": reason}
        for query_id, pair_id, reason in rows
    ]


def check_facts(project: Project) -> list[dict[str, Any]]:
    """Return the facts of each sample, in byte order of their names."""
    samples = Sample.objects.filter(project=project).select_related("project", "rater")
    return [_facts(sample, figures(sample)) for sample in samples.order_by(in_byte_order("name"))]


def _facts(sample: Sample, counted: Figures) -> dict[str, Any]:
    overall = counted.overall
    rates = {key: _rate(counts.rate) for key, counts in overall.questions.items()}
    if sample.asks != Sample.Asks.COUNT:
        rates["status"] = _rate(overall.status)
    if sample.asks != Sample.Asks.QUESTIONS:
        rates["grade"] = _rate(overall.grade)
    agreement = {
        question.question.value: _agreement(question.percent, question.kappa)
        for question in counted.questions
    }
    agreement["grade"] = _agreement(counted.percent, counted.kappa)
    return {
        "sample": sample.name,
        "kind": sample.kind,
        "source": sample.source,
        "rater": sample.rater.name if sample.rater else "",
        "asks": sample.asks,
        "stratify": sample.stratify,
        "per": sample.per,
        "size": sample.size,
        "seed": sample.seed,
        "frame": dict(sorted(sample.frame.items())),
        "labels": overall.items,
        "checked": overall.checked,
        "unjudgeable": overall.unjudgeable,
        "outdated": counted.outdated,
        "rates": rates,
        "agreement": agreement,
        "wrong": _wrong_labels(sample),
        "says": counted.sentence,
    }


def _rate(rate: Proportion) -> dict[str, Any]:
    return {
        "wrong": rate.count,
        "checked": rate.of,
        "share": _rounded(rate.share),
        "interval": rate.interval and [round(bound, _DIGITS) for bound in rate.interval],
        "at_most": _rounded(rate.at_most),
    }


def _agreement(percent: Coefficient, kappa: Coefficient) -> dict[str, Any]:
    return {
        "percent": _rounded(percent.value),
        "kappa": _rounded(kappa.value),
        "labels": percent.units,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _wrong_labels(sample: Sample) -> list[dict[str, Any]]:
    items = with_checks(SampleItem.objects.filter(sample=sample))
    rows = items.filter(outcome__isnull=False).exclude(outcome=F("claimed"))
    order = ("narrative__pair__pair_id", "narrative__side", "candidate__document__doc_id")
    return [
        {
            "pair_id": pair,
            "side": side,
            "doc_id": doc,
            "claimed": claimed,
            "found": outcome,
        }
        for pair, side, doc, claimed, outcome in rows.order_by(
            *(in_byte_order(name) for name in order), "narrative__version"
        ).values_list(*order, "claimed", "outcome")
    ]
