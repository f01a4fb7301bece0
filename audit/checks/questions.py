"""Two questions of each label, on topic and meets the constraint: error rates and agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.checks.models import RESAMPLES, SEED, Check, Question, Reply, Sample

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion


class Answered(NamedTuple):
    """What one person answers: in which place, and by the value of the question."""

    place: int
    name: str
    replies: Mapping[str, str]


# What an answer says, by the question and the reply.
IN_WORDS: Mapping[Question, Mapping[str, str | Promise]] = {
    Question.TOPIC: {
        Reply.YES: _("on topic"),
        Reply.NO: _("off topic"),
        Reply.CANT_TELL: _("topic unclear"),
    },
    Question.CONSTRAINT: {
        Reply.YES: _("meets the constraint"),
        Reply.NO: _("violates the constraint"),
        Reply.CANT_TELL: _("constraint unclear"),
    },
}

# By item, in the order of places.
Answers = Mapping[int, Sequence[Answered]]
# The decided answers to the questions, by item: True for yes.
Decided = Mapping[int, Mapping[str, bool]]
# What one label claims of the questions: its item, and True, False or None by the question.
Claimed = tuple[int, Mapping[str, bool | None]]


class QuestionRate(NamedTuple):
    """How many labels are wrong in what they claim of one question.

    `rate` is of the checked labels that claim something of it, of `claimed` in the sample.
    """

    claimed: int
    rate: Proportion
    more: int | None


class QuestionAgreement(NamedTuple):
    """How much the two agree on one question, before settling."""

    question: Question
    percent: Coefficient
    kappa: Coefficient

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient]:
        """Both, as the page lists them."""
        return self.percent, self.kappa


def in_words(*replies: str) -> str:
    """Say what somebody answered to the questions, in their order; "" where they are not asked."""
    said = zip(Question, replies, strict=False)
    return ", ".join(str(IN_WORDS[question][reply]) for question, reply in said if reply)


def answers_of(sample: Sample) -> Answers:
    """What people answer to two questions: place, name and answers by item, by place."""
    found: dict[int, list[Answered]] = defaultdict(list)
    if sample.asks != Sample.Asks.QUESTIONS:
        return found
    rows = Check.objects.current().filter(item__sample=sample).exclude(on_topic="")
    columns = [one.column for one in Question]
    for item, place, name, *said in rows.order_by("item", "place").values_list(
        "item", "place", "checker__name", *columns
    ):
        replies = dict(zip(Question.values, said, strict=True))
        found[item].append(Answered(place, name, replies))
    return found


def decide(checked: Iterable[int], answers: Answers) -> Decided:
    """What the answers come to for each checked item: the third's, else what both say."""
    return {
        item: {key: reply == Reply.YES for key, reply in answers[item][-1].replies.items()}
        for item in checked
        if item in answers
    }


def agreement_of(rows: list[Any]) -> tuple[Coefficient, Coefficient]:
    """Percent agreement and Cohen's kappa of (item, person, answer)."""
    from agreement import Ratings, cohen_kappa, percent_agreement

    scale = sorted({answer for _, _, answer in rows}) or [0]
    ratings = Ratings.from_long(rows, categories=scale)
    kappa = cohen_kappa(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    percent = percent_agreement(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    return percent, kappa


def agreement_on(question: Question, answers: Answers) -> QuestionAgreement:
    """How much the two agree on a question; who cannot tell has said nothing that could agree."""
    rows = [
        (item, one.name, int(one.replies[question.value] == Reply.YES))
        for item, of_item in answers.items()
        for one in of_item
        if one.place < Check.SETTLES and one.replies[question.value] != Reply.CANT_TELL
    ]
    return QuestionAgreement(question, *agreement_of(rows))


def question_rate(
    question: Question, labels: Sequence[Claimed], bound: float, decided: Decided
) -> QuestionRate:
    """How many of the checked labels that claim something of a question are wrong in it."""
    from agreement.proportion import more_needed, proportion

    key = question.value
    claimed = [(item, of[key]) for item, of in labels if of[key] is not None]
    checked = [(claim, decided[item][key]) for item, claim in claimed if item in decided]
    wrong = sum(1 for claim, is_so in checked if claim != is_so)
    return QuestionRate(
        len(claimed),
        proportion(wrong, len(checked)),
        more_needed(wrong, len(checked), bound=bound),
    )
