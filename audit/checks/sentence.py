"""Sentences that report a sample of checked labels in a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from audit.checks.models import Question, Sample

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified
    from audit.checks.figures import Rates, WeightedRates
    from audit.checks.questions import QuestionAgreement

QUESTION_SENTENCES = {
    Question.TOPIC: _lazy("On topic or not was wrong in %(words)s."),
    Question.CONSTRAINT: _lazy("Meeting the constraint or not was wrong in %(words)s."),
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
        parts.append(_("%(left)s of the %(items)s labels could not be judged.") % left)
    if overall.checked + overall.unjudgeable < overall.items:
        left = {
            "left": f"{overall.items - overall.checked - overall.unjudgeable:,}",
            "items": f"{overall.items:,}",
        }
        parts.append(_("%(left)s of the %(items)s labels are not included yet.") % left)
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
        words = _(
            "Two people each checked %(checked)s of the %(items)s labels drawn from %(frame)s"
        )
    elif by_two < overall.items:
        words = _("Two people each checked %(checked)s of %(items)s labels")
    elif drawn:
        words = _("Two people each checked %(checked)s of %(frame)s labels")
    else:
        words = _("Two people each checked %(checked)s labels")
    return (words + " (%(source)s; %(how)s).") % about


def _error_sentences(
    sample: Sample, overall: Rates, weighted: WeightedRates | None, drawn: bool
) -> list[str]:
    """Return a sentence for each kind of error that the sample asks about; if the strata were drawn
    at different rates, also the weighted rate of all labels.
    """
    if sample.asks == Sample.Asks.COUNT:
        sentences = {"grade": _("The number of conditions met was wrong in %(words)s.")}
    elif sample.asks == Sample.Asks.QUESTIONS:
        sentences = {"status": _("Relevant or not was wrong in %(words)s.")}
    else:
        sentences = {
            "status": _("Relevant or not was wrong in %(words)s."),
            "grade": _("The grade was wrong in %(words)s."),
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
                _("Weighted by the sizes of the strata, that is %(words)s of all labels.")
                % {"words": _weighted_rate_in_words(whole)}
            )
    return rates


def _weighted_rate_in_words(rate: Stratified) -> str:
    """Return a rate over strata in words."""
    assert rate.share is not None
    assert rate.interval is not None
    assert rate.at_most is not None
    return _("%(share)s%% (95%% interval %(low)s to %(high)s%%; at most %(at_most)s%% at 95%%)") % {
        "share": f"{100 * rate.share:.1f}",
        "low": f"{100 * rate.interval.low:.1f}",
        "high": f"{100 * rate.interval.high:.1f}",
        "at_most": format_upper_bound(rate.at_most),
    }


def _source_in_words(sample: Sample) -> str:
    if sample.rater is not None:
        return _("judgments of %(machine)s") % {"machine": sample.rater.name}
    if sample.source == Sample.Source.CONSENSUS:
        return _("the consensus of people's judgments")
    if sample.source == Sample.Source.NEVER:
        return _("documents that were not relevant before, under the altered narratives")
    return _("earlier qrels")


def _selection_in_words(sample: Sample, items: int) -> str:
    if sample.kind == Sample.Kind.SUSPECTS:
        words = _(
            "relevant ones that at least %(at_least)s of %(runs)s runs do not rank in the first "
            "%(depth)s, not a random sample"
        ) % {
            "at_least": sample.at_least,
            "runs": sample.runs.count(),
            "depth": sample.depth,
        }
        if sample.below is None:
            return words
        return words + _(", where a document scored below %(below)s counts as not ranked") % {
            "below": sample.below
        }
    about: dict[str, object] = {"size": f"{sample.size:,}", "seed": sample.seed}
    if sample.per == Sample.Per.INSTRUCTION:
        words = _("%(size)s of each instruction, drawn at random with seed %(seed)s") % about
        if sample.stratify == Sample.Stratify.LABEL:
            words += _(", in turn from those that comply, violate, and are off topic")
    elif sample.stratify != Sample.Stratify.NONE:
        by = {"by": sample.get_stratify_display().lower()}
        fewer = any(frame < (sample.size or 0) for frame in sample.frame.values())
        words = _("%(size)s of each stratum, drawn at random with seed %(seed)s") % about
        if fewer:
            words = _("up to %(size)s of each stratum, drawn at random with seed %(seed)s") % about
        words += _(", stratified by %(by)s") % by
    else:
        about["size"] = f"{items:,}"
        words = _("%(size)s drawn at random with seed %(seed)s") % about
    return words + (_(", relevant ones only") if sample.relevant_only else "")


def agreement_sentence(
    differed: int, settled: int, percent: Coefficient, kappa: Coefficient
) -> str:
    """Return a sentence on how far the two agreed."""
    if percent.value is None:
        return _("The agreement of the two is %(reason)s.") % {"reason": percent.note}
    about: Mapping[str, str] = {"percent": f"{100 * percent.value:.1f}", "settled": f"{settled:,}"}
    sentence = _("The two agreed on %(percent)s%%") % about
    if kappa.value is None:
        sentence += _(" (%(name)s is %(reason)s)") % {"name": kappa.name, "reason": kappa.note}
    elif kappa.interval is None:
        sentence += f" ({kappa.name} {kappa.value:.2f})"
    else:
        low, high = kappa.interval
        sentence += _(" (%(name)s %(value)s, 95%% interval %(low)s to %(high)s)") % {
            "name": kappa.name,
            "value": f"{kappa.value:.2f}",
            "low": f"{low:.2f}",
            "high": f"{high:.2f}",
        }
    if differed:
        sentence += _("; a third person settled %(settled)s") % about
    return sentence + "."


def question_agreement_sentences(questions: Sequence[QuestionAgreement]) -> list[str]:
    """Return for each question a sentence on how far the two agreed."""
    return [
        _("On whether it %(question)s: %(agreed)s")
        % {
            "question": {
                Question.TOPIC: _("is on topic"),
                Question.CONSTRAINT: _("meets the constraint"),
            }[one.question],
            "agreed": agreement_sentence(0, 0, one.percent, one.kappa),
        }
        for one in questions
    ]


def _rate_in_words(rate: Proportion, drawn: bool) -> str:
    """Return a rate in words; without an interval if the labels were not drawn at random."""
    if rate.share is None or rate.interval is None or rate.at_most is None:
        return rate.note
    if not drawn:
        return _("%(count)s of %(of)s (%(share)s%%)") % {
            "count": f"{rate.count:,}",
            "of": f"{rate.of:,}",
            "share": f"{100 * rate.share:.1f}",
        }
    return _(
        "%(count)s of %(of)s (%(share)s%%, exact 95%% interval %(low)s to %(high)s%%; at most "
        "%(at_most)s%% at 95%%)"
    ) % {
        "count": f"{rate.count:,}",
        "of": f"{rate.of:,}",
        "share": f"{100 * rate.share:.1f}",
        "low": f"{100 * rate.interval.low:.1f}",
        "high": f"{100 * rate.interval.high:.1f}",
        "at_most": format_upper_bound(rate.at_most),
    }


def format_upper_bound(share: float, digits: int = 1) -> str:
    """Return a bound in percent, rounded up: 1.977% becomes 2.0%, never 1.9."""
    steps = 10**digits
    # Subtract a little, so that a floating-point error does not round an exact step up.
    return f"{math.ceil(share * 100 * steps - 1e-9) / steps:.{digits}f}"
