"""Figures of a sample: error rates of its labels, their intervals, and a sentence for a paper.

A claim is checked once two people agree on it or a third has settled it. It may be wrong in two
ways, which are counted separately: in being relevant or not, and in its grade.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from audit.checks.condition_counts import ErrorMatrix, error_matrix
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.questions import (
    Decided,
    QuestionAgreement,
    QuestionRate,
    agreement_of_rows,
    agreement_on_question,
    decide_replies,
    question_rate,
    question_replies_of,
)
from audit.checks.queue import with_checks
from audit.checks.sentence import agreement_sentence, paper_sentences, question_agreement_sentences

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified

# The default bound that a residual error rate should stay below.
BOUND = 0.02


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


@dataclass(frozen=True)
class Rates:
    """Error rates of one stratum, or of all strata."""

    label: str
    items: int
    checked: int
    # Labels that the third person could not judge either; not counted in `checked`.
    unjudgeable: int
    # Claimed relevant but not, or the reverse.
    status: Proportion
    # Claimed a different grade; includes all that are wrong in status.
    grade: Proportion
    # How many more checks, all of them right, lower each bound enough; None: impractically many.
    more_status: int | None
    more_grade: int | None
    # How many claims there were to draw from.
    frame: int
    # By the value of the question; empty if the sample does not ask them.
    questions: dict[str, QuestionRate] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """How many claims of the frame are not checked: the most that can still be checked."""
        return self.frame - self.checked


class WeightedRates(NamedTuple):
    """Rates for all claims of the frame, weighted by the sizes of the strata."""

    status: Stratified
    grade: Stratified


@dataclass(frozen=True)
class Figures:
    """All figures on the page of a sample."""

    sample: Sample
    bound: float
    overall: Rates
    strata: list[Rates]
    # Weighted by the sizes of the strata; None unless strata were drawn at different rates.
    weighted: WeightedRates | None
    differed: int
    to_settle: int
    settled: int
    # Labels that one or both of the two could not judge.
    unsure: int
    # Labels that fewer than two have checked.
    unchecked: int
    percent: Coefficient
    kappa: Coefficient
    sentence: str
    # For a sample that asks for conditions: numbers claimed against numbers counted.
    matrix: ErrorMatrix | None
    # One for each question of the sample.
    questions: tuple[QuestionAgreement, ...] = ()

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient]:
        """The coefficients of agreement between the two, in the order of the page."""
        return self.percent, self.kappa


def _checked_labels(sample: Sample) -> list[CheckedLabel]:
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
    relevant_from = sample.project.relevant_from
    lines = _checked_labels(sample)
    answers = question_replies_of(sample)
    decided = decide_replies((line.pk for line in lines if line.outcome is not None), answers)
    sample_questions = list(Question) if sample.asks == Sample.Asks.QUESTIONS else []
    of_stratum: dict[str, list[CheckedLabel]] = defaultdict(list)
    for line in lines:
        of_stratum[line.stratum].append(line)
    counted: Any = {
        "relevant_from": relevant_from,
        "bound": bound,
        "sample_questions": sample_questions,
        "decided": decided,
    }
    overall = _count_errors("", lines, frame=sum(sample.frame.values()), **counted)
    percent, kappa = agreement_of_rows(_grades_of_the_two(sample))
    differed = [line for line in lines if line.differs]
    settled = sum(1 for line in differed if line.closed)
    strata = [
        _count_errors(stratum, of_stratum[stratum], frame=sample.frame.get(stratum, 0), **counted)
        for stratum in sorted(of_stratum)
    ]
    weighted = _weight_rates(sample, strata)
    by_two = sum(1 for line in lines if line.answered == 2)
    questions = tuple(agreement_on_question(question, answers) for question in sample_questions)
    return Figures(
        sample=sample,
        bound=bound,
        overall=overall,
        strata=strata if sample.stratify != Sample.Stratify.NONE else [],
        weighted=weighted,
        differed=len(differed),
        to_settle=len(differed) - settled,
        settled=settled,
        unsure=sum(1 for line in lines if line.unsure),
        unchecked=len(lines) - by_two,
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
        ),
        questions=questions,
        matrix=error_matrix(sample, ((line.claimed, line.outcome) for line in lines)),
    )


def _count_errors(
    label: str,
    lines: Sequence[CheckedLabel],
    *,
    relevant_from: int,
    bound: float,
    frame: int,
    sample_questions: Sequence[Question],
    decided: Decided,
) -> Rates:
    from agreement.proportion import more_needed, proportion

    labels = [(line.pk, line.claimed_answers) for line in lines]
    checked = [(line.claimed, line.outcome) for line in lines if line.outcome is not None]
    status = sum(1 for was, now in checked if (was >= relevant_from) != (now >= relevant_from))
    grade = sum(1 for was, now in checked if was != now)
    return Rates(
        label=label,
        items=len(lines),
        checked=len(checked),
        unjudgeable=sum(1 for line in lines if line.unjudgeable),
        status=proportion(status, len(checked)),
        grade=proportion(grade, len(checked)),
        more_status=more_needed(status, len(checked), bound=bound),
        more_grade=more_needed(grade, len(checked), bound=bound),
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
