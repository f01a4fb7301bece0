"""Sentences that report a sample of checked labels in a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from audit.checks.models import Question, Sample

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified
    from audit.checks.figures import Rates, WeightedRates
    from audit.checks.questions import QuestionAgreement

QUESTION_SENTENCES = {
    Question.TOPIC: "On topic or not was wrong in %(words)s.",
    Question.CONSTRAINT: "Meeting the constraint or not was wrong in %(words)s.",
}


def paper_sentences(
    sample: Sample,
    overall: Rates,
    weighted: WeightedRates | None,
    agreement: Sequence[str],
    *,
    by_two: int,
) -> str:
    """Return the sentences that a paper may print about the sample; "" while nothing is checked.

    They count the labels that two people have checked, `by_two`, however many were drawn.
    """
    if not overall.checked:
        return ""
    drawn = sample.kind == Sample.Kind.RANDOM
    parts = [
        _extent_sentence(sample, overall, by_two),
        *agreement,
        *_error_sentences(sample, overall, weighted, drawn),
    ]
    if overall.unjudgeable:
        left = {"left": f"{overall.unjudgeable:,}", "items": f"{overall.items:,}"}
        parts.append("{left} of the {items} labels could not be judged.".format(**left))
    if overall.checked + overall.unjudgeable < overall.items:
        left = {
            "left": f"{overall.items - overall.checked - overall.unjudgeable:,}",
            "items": f"{overall.items:,}",
        }
        parts.append("{left} of the {items} labels are not included yet.".format(**left))
    return " ".join(parts)


def _extent_sentence(sample: Sample, overall: Rates, by_two: int) -> str:
    """Return how many labels two people have checked, of how many, and how these were chosen."""
    about = {
        "checked": f"{by_two:,}",
        "items": f"{overall.items:,}",
        "frame": f"{overall.frame:,}",
        "source": _source_in_words(sample),
        "how": _selection_in_words(sample, overall.items),
    }
    drawn = sample.kind == Sample.Kind.RANDOM
    if by_two < overall.items and drawn:
        words = "Two people each checked %(checked)s of the %(items)s labels drawn from %(frame)s"
    elif by_two < overall.items:
        words = "Two people each checked %(checked)s of %(items)s labels"
    elif drawn:
        words = "Two people each checked %(checked)s of %(frame)s labels"
    else:
        words = "Two people each checked %(checked)s labels"
    return (words + " (%(source)s; %(how)s).") % about


def _error_sentences(
    sample: Sample, overall: Rates, weighted: WeightedRates | None, drawn: bool
) -> list[str]:
    """Return a sentence for each kind of error that the sample asks about; if the strata were drawn
    at different rates, also the weighted rate of all labels.
    """
    if sample.asks == Sample.Asks.COUNT:
        sentences = {"grade": "The number of conditions met was wrong in %(words)s."}
    elif sample.asks == Sample.Asks.QUESTIONS:
        sentences = {"status": "Relevant or not was wrong in %(words)s."}
    else:
        sentences = {
            "status": "Relevant or not was wrong in %(words)s.",
            "grade": "The grade was wrong in %(words)s.",
        }
    rates = [
        sentence % {"words": _rate_in_words(overall.questions[question].rate, drawn)}
        for question, sentence in QUESTION_SENTENCES.items()
        if question in overall.questions
    ]
    for kind, sentence in sentences.items():
        rate: Proportion = getattr(overall, kind)
        rates.append(sentence % {"words": _rate_in_words(rate, drawn)})
        whole: Stratified | None = getattr(weighted, kind) if weighted else None
        if whole is not None and whole.share is not None:
            rates.append(
                "Weighted by the sizes of the strata, that is "
                f"{_weighted_rate_in_words(whole)} of all labels."
            )
    return rates


def _weighted_rate_in_words(rate: Stratified) -> str:
    """Return a rate over strata in words."""
    assert rate.share is not None
    assert rate.interval is not None
    assert rate.at_most is not None
    return (
        f"{100 * rate.share:.1f}% (95% interval {100 * rate.interval.low:.1f} to "
        f"{100 * rate.interval.high:.1f}%; at most {format_upper_bound(rate.at_most)}% at 95%)"
    )


def _source_in_words(sample: Sample) -> str:
    if sample.rater is not None:
        return f"judgments of {sample.rater.name}"
    if sample.source == Sample.Source.CLAIMS:
        return "claims of all machines"
    if sample.source == Sample.Source.CONSENSUS:
        return "the consensus of people's judgments"
    if sample.source == Sample.Source.NEVER:
        return "documents that were not relevant before, under the altered narratives"
    return "earlier qrels"


def _selection_in_words(sample: Sample, items: int) -> str:
    if sample.kind == Sample.Kind.SUSPECTS:
        words = (
            f"relevant ones that at least {sample.at_least} of {sample.runs.count()} runs do not "
            f"rank in the first {sample.depth}, not a random sample"
        )
        if sample.below is None:
            return words
        return words + f", where a document scored below {sample.below} counts as not ranked"
    about: dict[str, object] = {"size": f"{sample.size:,}", "seed": sample.seed}
    if sample.per == Sample.Per.INSTRUCTION:
        words = "{size} of each instruction, drawn at random with seed {seed}".format(**about)
        if sample.stratify == Sample.Stratify.LABEL:
            words += ", in turn from those that comply, violate, and are off topic"
    elif sample.stratify != Sample.Stratify.NONE:
        by = {"by": sample.get_stratify_display().lower()}
        fewer = any(frame < (sample.size or 0) for frame in sample.frame.values())
        words = "{size} of each stratum, drawn at random with seed {seed}".format(**about)
        if fewer:
            words = "up to {size} of each stratum, drawn at random with seed {seed}".format(**about)
        words += ", stratified by {by}".format(**by)
    else:
        about["size"] = f"{items:,}"
        words = "{size} drawn at random with seed {seed}".format(**about)
    return words + (", relevant ones only" if sample.relevant_only else "")


def agreement_sentence(
    differed: int, settled: int, percent: Coefficient, kappa: Coefficient
) -> str:
    """Return a sentence on how far the two agreed."""
    if percent.value is None:
        return f"The agreement of the two is {percent.note}."
    about: Mapping[str, str] = {"percent": f"{100 * percent.value:.1f}", "settled": f"{settled:,}"}
    sentence = "The two agreed on {percent}%".format(**about)
    if kappa.value is None:
        sentence += f" ({kappa.name} is {kappa.note})"
    elif kappa.interval is None:
        sentence += f" ({kappa.name} {kappa.value:.2f})"
    else:
        low, high = kappa.interval
        sentence += f" ({kappa.name} {kappa.value:.2f}, 95% interval {low:.2f} to {high:.2f})"
    if differed:
        sentence += "; a third person settled {settled}".format(**about)
    return sentence + "."


def question_agreement_sentences(questions: Sequence[QuestionAgreement]) -> list[str]:
    """Return for each question a sentence on how far the two agreed."""
    return [
        "On whether it {question}: {agreed}".format(
            question={
                Question.TOPIC: "is on topic",
                Question.CONSTRAINT: "meets the constraint",
            }[agreement.question],
            agreed=agreement_sentence(0, 0, agreement.percent, agreement.kappa),
        )
        for agreement in questions
    ]


def _rate_in_words(rate: Proportion, drawn: bool) -> str:
    """Return a rate in words; without an interval if the labels were not drawn at random."""
    if rate.share is None or rate.interval is None or rate.at_most is None:
        return rate.note
    if not drawn:
        return f"{rate.count:,} of {rate.of:,} ({100 * rate.share:.1f}%)"
    return (
        f"{rate.count:,} of {rate.of:,} ({100 * rate.share:.1f}%, exact 95% interval "
        f"{100 * rate.interval.low:.1f} to {100 * rate.interval.high:.1f}%; at most "
        f"{format_upper_bound(rate.at_most)}% at 95%)"
    )


def format_upper_bound(share: float, digits: int = 1) -> str:
    """Return a bound in percent, rounded up: 1.977% becomes 2.0%, never 1.9."""
    steps = 10**digits
    # Subtract a little, so that a floating-point error does not round an exact step up.
    return f"{math.ceil(share * 100 * steps - 1e-9) / steps:.{digits}f}"
