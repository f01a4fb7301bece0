"""Facts in manifests about label check samples: how drawn, error rates, agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from django.db.models import F

from annotate.projects.models import Project
from audit.checks.figures import Figures, figures
from audit.checks.models import Sample, SampleItem
from audit.checks.queue import with_checks
from exporters.exports.ordered_rows import bytewise

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion

# Decimal places of shares and coefficients.
_DIGITS = 6


class RateFacts(TypedDict):
    """How many of the checked labels are wrong. A sample that was not drawn has no interval."""

    wrong: int
    checked: int
    share: float | None
    interval: list[float] | None
    at_most: float | None


class AgreementFacts(TypedDict):
    """Agreement of the two checkers before settling; None if undefined."""

    percent: float | None
    kappa: float | None
    labels: int


class WrongLabel(TypedDict):
    """A label whose check found another grade than the claim."""

    pair_id: str
    side: str
    doc_id: str
    claimed: int
    found: int


class CheckFacts(TypedDict):
    """One sample. `rates` and `agreement` by question: topic, constraint, status, grade."""

    sample: str
    kind: str
    source: str
    rater: str
    asks: str
    stratify: str
    per: str
    size: int | None
    seed: int | None
    frame: dict[str, int]
    labels: int
    checked: int
    unjudgeable: int
    rates: dict[str, RateFacts]
    agreement: dict[str, AgreementFacts]
    wrong: list[WrongLabel]
    says: str


def check_facts(project: Project) -> list[CheckFacts]:
    """Return the facts of each sample, in byte order of their names."""
    samples = Sample.objects.filter(project=project).select_related("project", "rater")
    return [_facts(sample, figures(sample)) for sample in samples.order_by(bytewise("name"))]


def _facts(sample: Sample, counted: Figures) -> CheckFacts:
    overall = counted.overall
    drawn = sample.kind == Sample.Kind.RANDOM
    rates = {key: _rate(counts.rate, drawn=drawn) for key, counts in overall.questions.items()}
    if sample.asks != Sample.Asks.COUNT:
        rates["status"] = _rate(overall.status, drawn=drawn)
    if sample.asks != Sample.Asks.QUESTIONS:
        rates["grade"] = _rate(overall.grade, drawn=drawn)
    agreement = {
        question.question.value: _agreement(question.percent, question.kappa)
        for question in counted.questions
    }
    agreement["grade"] = _agreement(counted.percent, counted.kappa)
    return CheckFacts(
        sample=sample.name,
        kind=sample.kind,
        source=sample.source,
        rater=sample.rater.name if sample.rater else "",
        asks=sample.asks,
        stratify=sample.stratify,
        per=sample.per,
        size=sample.size,
        seed=sample.seed,
        frame=dict(sorted(sample.frame.items())),
        labels=overall.items,
        checked=overall.checked,
        unjudgeable=overall.unjudgeable,
        rates=rates,
        agreement=agreement,
        wrong=_wrong_labels(sample),
        says=counted.sentence,
    )


def _rate(rate: Proportion, *, drawn: bool) -> RateFacts:
    exact = drawn and rate.interval is not None
    return RateFacts(
        wrong=rate.count,
        checked=rate.of,
        share=_rounded(rate.share),
        interval=[round(bound, _DIGITS) for bound in rate.interval or ()] if exact else None,
        at_most=_rounded(rate.at_most) if drawn else None,
    )


def _agreement(percent: Coefficient, kappa: Coefficient) -> AgreementFacts:
    return AgreementFacts(
        percent=_rounded(percent.value), kappa=_rounded(kappa.value), labels=percent.units
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _wrong_labels(sample: Sample) -> list[WrongLabel]:
    items = with_checks(SampleItem.objects.filter(sample=sample))
    rows = items.filter(outcome__isnull=False).exclude(outcome=F("claimed"))
    order = ("narrative__pair__pair_id", "narrative__side", "candidate__document__doc_id")
    return [
        WrongLabel(pair_id=pair, side=side, doc_id=doc, claimed=claimed, found=outcome)
        for pair, side, doc, claimed, outcome in rows.order_by(
            *(bytewise(name) for name in order), "narrative__version"
        ).values_list(*order, "claimed", "outcome")
    ]
