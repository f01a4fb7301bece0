"""The two questions, on topic and meets the constraint: error rates and agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from audit.checks.models import RESAMPLES, SEED, Check, Question, Reply, Sample

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion


class QuestionReplies(NamedTuple):
    """One person's answers, by the value of the question, with their place and name."""

    place: int
    name: str
    replies: Mapping[str, str]


# By item, in the order of places.
Answers = Mapping[int, Sequence[QuestionReplies]]
# The decided answers to the questions, by item: True for yes.
Decided = Mapping[int, Mapping[str, bool]]
# One label's claims on the questions: its item, and True, False or None by question.
Claimed = tuple[int, Mapping[str, bool | None]]


class QuestionRate(NamedTuple):
    """Error rate of the labels' claims on one question, among labels that make a claim on it."""

    claimed: Annotated[int, "Labels of the sample that make a claim on it."]
    rate: Annotated[Proportion, "Among the checked ones of these."]
    more: Annotated[int | None, "As `more_status`."]


class QuestionAgreement(NamedTuple):
    """How much the two agree on one question, before settling."""

    question: Question
    percent: Coefficient
    kappa: Coefficient

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient]:
        """Both coefficients, in the order of the page."""
        return self.percent, self.kappa


def question_replies_of(sample: Sample) -> Answers:
    """Return the current answers to the two questions by item, in the order of places."""
    answers: dict[int, list[QuestionReplies]] = defaultdict(list)
    if sample.asks != Sample.Asks.QUESTIONS:
        return answers
    rows = Check.objects.current().filter(item__sample=sample).exclude(on_topic="")
    columns = [question.column for question in Question]
    for item, place, name, *values in rows.order_by("item", "place").values_list(
        "item", "place", "checker__name", *columns
    ):
        replies = dict(zip(Question.values, values, strict=True))
        answers[item].append(QuestionReplies(place, name, replies))
    return answers


def decide_replies(checked: Iterable[int], answers: Answers) -> Decided:
    """Return the decided answers of each checked item: the third's, else those both gave."""
    return {
        item: {key: reply == Reply.YES for key, reply in answers[item][-1].replies.items()}
        for item in checked
        if item in answers
    }


def agreement_of_rows(rows: list[Any]) -> tuple[Coefficient, Coefficient]:
    """Return percent agreement and Cohen's kappa of rows (item, person, answer)."""
    from agreement import Ratings, cohen_kappa, percent_agreement

    scale = sorted({answer for _, _, answer in rows}) or [0]
    ratings = Ratings.from_long(rows, categories=scale)
    kappa = cohen_kappa(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    percent = percent_agreement(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    return percent, kappa


def agreement_on_question(question: Question, answers: Answers) -> QuestionAgreement:
    """Return how much the two agree on a question, without the answers "can't tell"."""
    rows = [
        (item, answer.name, int(answer.replies[question.value] == Reply.YES))
        for item, of_item in answers.items()
        for answer in of_item
        if answer.place < Check.SETTLES and answer.replies[question.value] != Reply.CANT_TELL
    ]
    return QuestionAgreement(question, *agreement_of_rows(rows))


def error_rate(wrong: int, checked: int, *, bound: float | None) -> tuple[Proportion, int | None]:
    """Return the share of wrong labels, and how many more to check to come below `bound`.

    No `bound`: the labels were chosen, not drawn, so their share has no interval.
    """
    from agreement.proportion import more_needed, proportion

    rate = proportion(wrong, checked)
    if bound is None:
        return replace(rate, interval=None, at_most=None), None
    return rate, more_needed(wrong, checked, bound=bound)


def question_rate(
    question: Question, labels: Sequence[Claimed], bound: float | None, decided: Decided
) -> QuestionRate:
    """Return the error rate among checked labels that make a claim on a question."""
    key = question.value
    claimed = [(item, of[key]) for item, of in labels if of[key] is not None]
    checked = [(claim, decided[item][key]) for item, claim in claimed if item in decided]
    wrong = sum(1 for claim, is_so in checked if claim != is_so)
    return QuestionRate(len(claimed), *error_rate(wrong, len(checked), bound=bound))
