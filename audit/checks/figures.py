"""Figures of a sample: error rates of its labels, their intervals, and sentences for a paper.

A claim is checked once two people agree on it or a third has settled it. It may be wrong in two
ways, which are counted separately: in being relevant or not, and in its grade.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from audit.checks.condition_counts import ErrorMatrix, error_matrix
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.questions import (
    Decided,
    QuestionAgreement,
    QuestionRate,
    agreement_of_rows,
    agreement_on_question,
    decide_replies,
    error_rate,
    question_rate,
    question_replies_of,
)
from audit.checks.queue import with_checks
from base.texts import amount

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified


# The default bound that a residual error rate should stay below.
BOUND = 0.02


QUESTION_SUBJECTS = {
    Question.TOPIC: "On topic or not",
    Question.CONSTRAINT: "Meeting the constraint or not",
}


class CheckedLabel(NamedTuple):
    """One claim and the answers to it. `outcome` is None while the claim is not checked, and if it
    cannot be judged.
    """

    stratum: str
    claimed: int
    first: int | None
    second: int | None
    outcome: int | None
    # How many of the first two have answered, and could not judge; whether the third could not.
    answered: int
    unsure: int
    unjudgeable: bool
    # If two questions are asked: what each of the two answered, and what is claimed.
    first_answers: str | None = None
    second_answers: str | None = None
    claimed_topic: bool | None = None
    claimed_constraint: bool | None = None
    pk: int = 0
    # Whether its narrative is still current, and neither instruction nor document was taken out.
    in_force: bool = True
    # Whether its instruction or document was taken out, so that nobody checks it any more.
    taken_out: bool = False

    @property
    def differs(self) -> bool:
        """Whether two have answered and do not agree, so that a third settles or has settled."""
        alike = (self.first, self.first_answers) == (self.second, self.second_answers)
        return self.answered == 2 and (self.unsure > 0 or not alike)

    @property
    def claimed_answers(self) -> dict[str, bool | None]:
        """The claimed answer to each question."""
        return {Question.TOPIC: self.claimed_topic, Question.CONSTRAINT: self.claimed_constraint}

    @property
    def closed(self) -> bool:
        """Whether its check is complete: it has an outcome, or nobody can judge it."""
        return self.outcome is not None or self.unjudgeable

    @property
    def is_lost(self) -> bool:
        """Whether it was taken out before its check was complete."""
        return self.taken_out and not self.closed


@dataclass(frozen=True)
class Rates:
    """How many claims are wrong: in being relevant or not (`status`), and in their grade."""

    label: Annotated[str, "The stratum; empty for all."]
    items: int
    checked: int
    unjudgeable: Annotated[int, "Labels that the third could not judge either; not in `checked`."]
    frame: Annotated[int, "Claims that there were to draw from."]
    status: Annotated[Proportion, "Claimed relevant but not, or the reverse."]
    grade: Annotated[Proportion, "Claimed another grade: with all that are wrong in status."]
    more_status: Annotated[
        int | None,
        "How many more checks, all right, lower the bound enough; null: too many, or not drawn.",
    ]
    more_grade: Annotated[int | None, "The same for the grade."]
    questions: Annotated[
        dict[str, QuestionRate], "By `topic` and `constraint`; empty if these are not asked."
    ] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """How many claims of the frame are not checked: the most that can still be checked."""
        return self.frame - self.checked


class WeightedRates(NamedTuple):
    """Error rates for the whole frame, weighted by the sizes of the strata."""

    status: Stratified
    grade: Stratified


class ErrorRates(NamedTuple):
    """Error rates of a sample: of all its labels, by stratum, and weighted.

    `weighted` is None unless strata were drawn at different rates.
    """

    overall: Rates
    strata: list[Rates]
    weighted: WeightedRates | None


@dataclass(frozen=True)
class Figures:
    """The figures of a sample."""

    bound: float
    overall: Rates
    strata: list[Rates]
    weighted: Annotated[WeightedRates | None, "null unless strata were drawn at different rates."]
    differed: int
    to_settle: int
    settled: int
    unsure: Annotated[
        int,
        "Labels that one of the first two could not judge, once both have answered, or the third.",
    ]
    unchecked: Annotated[int, "Labels that fewer than two have checked, and that wait for it."]
    taken_out: Annotated[int, "Labels taken out before they were checked or settled."]
    outdated: Annotated[
        int,
        "Labels of narratives that were replaced since, or of instructions or documents that were "
        "taken out; they still count.",
    ]
    percent: Coefficient
    kappa: Coefficient
    questions: Annotated[
        tuple[QuestionAgreement, ...], "On each question; empty if these are not asked."
    ]
    sentence: Annotated[str, "Sentences for a paper."]
    matrix: Annotated[ErrorMatrix | None, "For a sample that asks how many conditions are met."]

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient]:
        """The coefficients of agreement between the two, in the order of the page."""
        return self.percent, self.kappa


def labels_of(sample: Sample) -> list[CheckedLabel]:
    """Return the labels of a sample, each with the answers to it: one query."""
    rows = with_checks(SampleItem.objects.filter(sample=sample)).order_by()
    return [CheckedLabel(*row) for row in rows.values_list(*CheckedLabel._fields)]


def _grades_of_the_two(sample: Sample) -> list[Any]:
    # "Cannot judge" is not counted in agreement.
    graded = Check.objects.current().filter(
        item__sample=sample, place__lt=Check.SETTLES, relevance__isnull=False
    )
    in_order = graded.order_by("item", "place")
    return list(in_order.values_list("item", "checker__name", "relevance"))


def figures(sample: Sample, *, bound: float = BOUND) -> Figures:
    """Compute the figures of a sample: two queries, whatever its size, and one more if it asks for
    conditions or two questions.

    Raises ValueError for a bound that is not between 0 and 1.
    """
    lines = labels_of(sample)
    answers = question_replies_of(sample)
    decided = decide_replies((line.pk for line in lines if line.outcome is not None), answers)
    sample_questions = list(Question) if sample.asks == Sample.Asks.QUESTIONS else []
    overall, strata, weighted = error_rates(
        sample, lines, bound=bound, sample_questions=sample_questions, decided=decided
    )
    percent, kappa = agreement_of_rows(_grades_of_the_two(sample))
    differed = [line for line in lines if line.differs]
    settled = sum(1 for line in differed if line.closed)
    by_two = sum(1 for line in lines if line.answered == 2)
    lost = [line for line in lines if line.is_lost]
    outdated = sum(1 for line in lines if not line.in_force and not line.is_lost)
    questions = tuple(agreement_on_question(question, answers) for question in sample_questions)
    return Figures(
        bound=bound,
        overall=overall,
        strata=strata if sample.stratify != Sample.Stratify.NONE else [],
        weighted=weighted,
        differed=len(differed),
        to_settle=len(differed) - settled - sum(1 for line in lost if line.differs),
        settled=settled,
        # Not before both have answered: a lead may be the second.
        unsure=sum(1 for line in lines if line.unjudgeable or (line.unsure and line.answered == 2)),
        unchecked=len(lines) - by_two - sum(1 for line in lost if line.answered < 2),
        taken_out=len(lost),
        outdated=outdated,
        percent=percent,
        kappa=kappa,
        sentence=paper_sentences(
            sample,
            overall,
            weighted,
            [
                agreement_sentence(len(differed), settled, percent, kappa),
                *question_agreement_sentences(questions),
            ],
            by_two=by_two,
            taken_out=len(lost),
            outdated=outdated,
        ),
        questions=questions,
        matrix=error_matrix(sample, ((line.claimed, line.outcome) for line in lines)),
    )


def error_rates(
    sample: Sample,
    lines: Sequence[CheckedLabel],
    *,
    bound: float = BOUND,
    sample_questions: Sequence[Question] = (),
    decided: Decided | None = None,
) -> ErrorRates:
    """Count the wrong labels among those of a sample, and return their rates: no query."""
    of_stratum: dict[str, list[CheckedLabel]] = defaultdict(list)
    for line in lines:
        of_stratum[line.stratum].append(line)
    frame = sample.frame
    counted: Any = {
        "relevant_from": sample.project.relevant_from,
        "bound": bound if sample.kind == Sample.Kind.RANDOM else None,
        "sample_questions": sample_questions,
        "decided": decided or {},
    }
    strata = [
        _count_errors(stratum, of_stratum[stratum], frame=frame.get(stratum, 0), **counted)
        for stratum in sorted(of_stratum)
    ]
    overall = _count_errors("", lines, frame=sum(frame.values()), **counted)
    return ErrorRates(overall, strata, _weight_rates(sample, strata))


def _count_errors(
    label: str,
    lines: Sequence[CheckedLabel],
    *,
    relevant_from: int,
    bound: float | None,
    frame: int,
    sample_questions: Sequence[Question],
    decided: Decided,
) -> Rates:
    labels = [(line.pk, line.claimed_answers) for line in lines]
    checked = [(line.claimed, line.outcome) for line in lines if line.outcome is not None]
    status = sum(1 for was, now in checked if (was >= relevant_from) != (now >= relevant_from))
    grade = sum(1 for was, now in checked if was != now)
    status_rate, more_status = error_rate(status, len(checked), bound=bound)
    grade_rate, more_grade = error_rate(grade, len(checked), bound=bound)
    return Rates(
        label=label,
        items=len(lines),
        checked=len(checked),
        unjudgeable=sum(1 for line in lines if line.unjudgeable),
        status=status_rate,
        grade=grade_rate,
        more_status=more_status,
        more_grade=more_grade,
        frame=frame,
        questions={
            question.value: question_rate(question, labels, bound, decided)
            for question in sample_questions
        },
    )


def _weight_rates(sample: Sample, strata: Sequence[Rates]) -> WeightedRates | None:
    """Return rates weighted by stratum, or None unless strata were drawn at different rates."""
    from agreement.stratified import Stratum, stratified

    if sample.kind != Sample.Kind.RANDOM or sample.stratify == Sample.Stratify.NONE:
        return None
    # With a fixed number per instruction, labels of one stratum differ in their probability too.
    if sample.per == Sample.Per.INSTRUCTION:
        return None
    drawn = [(line.items, line.frame) for line in strata]
    if all(items * drawn[0][1] == drawn[0][0] * frame for items, frame in drawn):
        return None
    return WeightedRates(
        stratified([Stratum(rates.status.count, rates.status.of, rates.frame) for rates in strata]),
        stratified([Stratum(rates.grade.count, rates.grade.of, rates.frame) for rates in strata]),
    )


def paper_sentences(
    sample: Sample,
    overall: Rates,
    weighted: WeightedRates | None,
    agreement: Sequence[str],
    *,
    by_two: int,
    taken_out: int,
    outdated: int,
) -> str:
    """Return the sentences that a paper may print about the sample; "" while nothing is checked.

    They count the labels that two people have checked, `by_two`, however many were drawn, and name
    those that were taken out before, `taken_out`, and others that are not in force any more,
    `outdated`.
    """
    if not overall.checked:
        return ""
    parts = [
        _extent_sentence(sample, overall, by_two),
        *agreement,
        *_error_sentences(sample, overall, weighted),
    ]
    outside = "to narratives that were replaced since, or to instructions or documents taken out"
    waiting = overall.items - overall.checked - overall.unjudgeable - taken_out
    left_out = (
        (overall.unjudgeable, "could", "could", "not be judged"),
        (waiting, "is", "are", "not included yet"),
        (taken_out, "was", "were", "taken out before being checked"),
        (outdated, "belongs", "belong", outside),
    )
    labels = amount(overall.items, "label")
    parts += [
        f"{number:,} of the {labels} {verb if number == 1 else plural} {words}."
        for number, verb, plural, words in left_out
        if number
    ]
    return " ".join(parts)


def _extent_sentence(sample: Sample, overall: Rates, by_two: int) -> str:
    """Return how many labels two people have checked, of how many, and how these were chosen."""
    items, frame = amount(overall.items, "label"), amount(overall.frame, "label")
    drawn = sample.kind == Sample.Kind.RANDOM
    if by_two < overall.items:
        of = f" of the {items} drawn from {overall.frame:,}" if drawn else f" of {items}"
    else:
        of = f" of {frame}" if drawn else f" {'label' if by_two == 1 else 'labels'}"
    chosen = f"{_source_in_words(sample)}; {_selection_in_words(sample, overall.items)}"
    return f"Two people each checked {by_two:,}{of} ({chosen})."


def _error_sentences(sample: Sample, overall: Rates, weighted: WeightedRates | None) -> list[str]:
    """Return a sentence for each kind of error that the sample asks about; if the strata were drawn
    at different rates, also the weighted rate of all labels.
    """
    status = {"status": "Relevant or not"}
    subjects = {
        Sample.Asks.COUNT: {"grade": "The number of conditions met"},
        Sample.Asks.QUESTIONS: status,
        Sample.Asks.GRADE: {**status, "grade": "The grade"},
    }[Sample.Asks(sample.asks)]
    sentences = [
        f"{subject} was wrong in {_rate_in_words(overall.questions[question].rate)}."
        for question, subject in QUESTION_SUBJECTS.items()
        if question in overall.questions
    ]
    for kind, subject in subjects.items():
        sentences.append(f"{subject} was wrong in {_rate_in_words(getattr(overall, kind))}.")
        whole: Stratified | None = getattr(weighted, kind, None)
        if whole is not None and whole.share is not None:
            sentences.append(
                "Weighted by the sizes of the strata, that is "
                f"{_weighted_rate_in_words(whole)} of all labels."
            )
    return sentences


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
    if sample.is_second_look:
        if sample.kind == Sample.Kind.DIFFERING:
            words = "those on which people and the machine differ most"
        else:
            words = "of each grade those on which its own answers differ most"
        return f"{words}, not a random sample"
    drawn = f"drawn at random with seed {sample.seed}"
    if sample.per == Sample.Per.INSTRUCTION:
        words = f"{sample.size:,} of each instruction, {drawn}"
        if sample.stratify == Sample.Stratify.LABEL:
            words += ", in turn from those that comply, violate, and are off topic"
    elif sample.stratify != Sample.Stratify.NONE:
        fewer = any(frame < (sample.size or 0) for frame in sample.frame.values())
        by = sample.get_stratify_display().lower()
        size = f"{'up to ' if fewer else ''}{sample.size:,}"
        words = f"{size} of each stratum, {drawn}, stratified by {by}"
    else:
        words = f"{items:,} {drawn}"
    return words + (", relevant ones only" if sample.relevant_only else "")


def agreement_sentence(
    differed: int, settled: int, percent: Coefficient, kappa: Coefficient
) -> str:
    """Return a sentence on how far the two agreed."""
    if percent.value is None:
        return f"The agreement of the two is {percent.note}."
    sentence = f"The two agreed on {100 * percent.value:.1f}%"
    if kappa.value is None:
        sentence += f" ({kappa.name} is {kappa.note})"
    elif kappa.interval is None:
        sentence += f" ({kappa.name} {kappa.value:.2f})"
    else:
        low, high = kappa.interval
        sentence += f" ({kappa.name} {kappa.value:.2f}, 95% interval {low:.2f} to {high:.2f})"
    if differed:
        sentence += f"; a third person settled {settled:,}"
    return sentence + "."


def question_agreement_sentences(questions: Sequence[QuestionAgreement]) -> list[str]:
    """Return for each question a sentence on how far the two agreed."""
    predicates = {Question.TOPIC: "is on topic", Question.CONSTRAINT: "meets the constraint"}
    return [
        f"On whether it {predicates[question]}: {agreement_sentence(0, 0, percent, kappa)}"
        for question, percent, kappa in questions
    ]


def _rate_in_words(rate: Proportion) -> str:
    """Return a rate in words; without an interval if the labels were not drawn at random."""
    if rate.share is None:
        return rate.note
    if rate.interval is None or rate.at_most is None:
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
