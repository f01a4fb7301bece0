"""Compare claimed and counted numbers of conditions met, and list the broken conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from django.db.models import Max

from annotate.judgments.document_names import names_for
from annotate.judgments.models import Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Membership
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.questions import QuestionReplies, question_replies_of
from audit.checks.queue import hide_open_checks, with_checks

_AT_ONCE = 500


class ConditionCountRow(NamedTuple):
    """The checked labels that claim one number, counted by the number they actually meet."""

    claimed: int
    counts: Annotated[list[int], "How many meet 0, 1, 2 … conditions."]
    checked: Annotated[int, "Number of checked labels that claim this number."]
    wrong: Annotated[int, "How many of these labels meet a different number."]


class ErrorMatrix(NamedTuple):
    """Numbers of conditions that labels claim against the numbers counted."""

    # From 0 to the most conditions that a narrative of the sample has.
    numbers: list[int]
    rows: list[ConditionCountRow]


def error_matrix(sample: Sample, outcomes: Iterable[tuple[int, int | None]]) -> ErrorMatrix | None:
    """Count the checked labels, given as (claimed, counted): one query.

    None for a sample that does not ask for conditions.
    """
    if sample.asks != Sample.Asks.COUNT:
        return None
    met = Counter((claimed, counted) for claimed, counted in outcomes if counted is not None)
    conditions = Condition.objects.filter(narrative__in=sample.items.values("narrative"))
    most = max(conditions.aggregate(most=Max("number"))["most"] or 0, *map(max, met), 0)
    numbers = list(range(most + 1))
    rows = []
    for claimed in numbers:
        counts = [met[claimed, counted] for counted in numbers]
        rows.append(ConditionCountRow(claimed, counts, sum(counts), sum(counts) - counts[claimed]))
    return ErrorMatrix(numbers, rows)


class BrokenConditions(NamedTuple):
    """The numbers of the conditions that a document breaks: as claimed, and as checked.

    None: not known which.
    """

    claimed: list[int] | None
    checked: list[int] | None


def broken_conditions(sample: Sample, items: Sequence[Any]) -> dict[int, BrokenConditions]:
    """Return which conditions the documents of checked labels break, by the keys of the items.

    `items` come from `with_checks`. Unchecked labels are left out, because leads check too. Up to
    three queries, and none for a sample that does not ask for conditions.
    """
    if sample.asks != Sample.Asks.COUNT:
        return {}
    done = {item.pk: item for item in items if item.outcome is not None}
    claimed = _claimed_as_broken(sample, list(done.values()))
    counted = _counted_as_broken(list(done))
    return {
        pk: BrokenConditions(claimed.get((item.narrative_id, item.candidate_id)), counted.get(pk))
        for pk, item in done.items()
    }


def claimed_breaks_for(
    by: Membership, item: SampleItem, *, answer: Check, has_open_labels: bool
) -> list[int] | None:
    """Return which conditions a document is claimed to break, as who gave `answer` may see it.

    None before the label is checked. If checkers are blind to the claims, also while they could
    follow it: in this answer, which they can change until a third settles the label or they read
    the reason, or in the labels of the same document that they could still check
    (`has_open_labels`). Leads see the claims of checked labels in lists, and cannot change theirs.
    """
    if item.sample.asks != Sample.Asks.COUNT:
        return None
    [row] = rows = list(with_checks(SampleItem.objects.filter(pk=item.pk)))
    is_settled = row.third is not None and answer.place != Check.SETTLES
    is_final = is_settled or answer.reason_read_at is not None
    if not (by.leads or item.sample.shows_claim or (is_final and not has_open_labels)):
        return None
    broken = broken_conditions(item.sample, rows).get(item.pk)
    return broken.claimed if broken else None


def _claimed_as_broken(sample: Sample, items: Sequence[Any]) -> dict[tuple[int, int], list[int]]:
    """Return the conditions that the machine says are not met, where it gave verdicts."""
    broken_by_label: dict[tuple[int, int], list[int]] = defaultdict(list)
    if sample.rater_id is None:
        return broken_by_label
    rows: Iterable[Any] = (
        Verdict.objects.current()
        .filter(
            statement__annotator=sample.rater_id,
            statement__narrative__in={item.narrative_id for item in items},
            statement__candidate__in={item.candidate_id for item in items},
        )
        .values_list("statement__narrative", "statement__candidate", "condition__number", "answer")
    )
    for narrative, candidate, number, answer in rows.order_by("condition__number"):  # type: ignore[attr-defined]
        broken = broken_by_label[narrative, candidate]
        if answer == Verdict.Answer.NOT_MET:
            broken.append(number)
    return broken_by_label


def _counted_as_broken(items: Sequence[int]) -> dict[int, list[int]]:
    """Return the conditions that are not met, as settled by the third or agreed by the two."""
    broken_by_item: dict[int, dict[int, frozenset[int]]] = defaultdict(dict)
    rows = Check.objects.current().filter(item__in=items).values_list("item", "place", "verdicts")
    for item, place, verdicts in rows:
        broken = (int(key) for key, answer in verdicts.items() if answer == "not_met")
        broken_by_item[item][place] = frozenset(broken)
    agreed = {}
    for item, places in broken_by_item.items():
        first, *others = [places[Check.SETTLES]] if Check.SETTLES in places else places.values()
        if all(other == first for other in others):
            agreed[item] = first
    numbers = dict(
        Condition.objects.filter(pk__in=frozenset().union(*agreed.values())).values_list(
            "pk", "number"
        )
    )
    return {
        item: sorted(numbers[condition] for condition in broken) for item, broken in agreed.items()
    }


HEADER = (
    *("pair_id", "side", "query_id", "domain", "doc_id", "stratum", "conditions"),
    *("claimed", "first", "second", "outcome", "wrong", "claimed_breaks", "checked_breaks"),
)

QUESTIONS_HEADER = tuple(
    f"{place}{question.column}" for question in Question for place in ("first_", "second_", "")
)


def listed_labels(lead: Membership, sample: Sample, labels: Sequence[Any]) -> Sequence[Any]:
    """Return labels from `with_checks` as lists show them to a lead: without what could influence
    them (`hide_open_checks`), with the document's `name` as they may see it, and with the
    conditions that it breaks, as `broken`.
    """
    broken = broken_conditions(sample, labels)
    names = names_for(lead, [label.candidate for label in labels])
    for label in hide_open_checks(labels):
        label.name = names[label.candidate_id]
        label.broken = broken.get(label.pk, BrokenConditions(None, None))
    return labels


def label_rows(lead: Membership, sample: Sample) -> Iterator[list[str]]:
    """Yield the labels of a sample as rows of a table for a lead, the header first.

    The two answers appear once both are given, the claim once the label is checked. For a sample
    that asks two questions the answers to them follow.
    """
    asks_questions = sample.asks == Sample.Asks.QUESTIONS
    yield [*HEADER, *(QUESTIONS_HEADER if asks_questions else ())]
    answers = question_replies_of(sample)
    sizes = Counter(
        Condition.objects.filter(narrative__in=sample.items.values("narrative")).values_list(
            "narrative", flat=True
        )
    )
    rows = with_checks(SampleItem.objects.filter(sample=sample)).select_related(
        "narrative__pair__query", "candidate__document"
    )
    last = 0
    while part := list(rows.filter(pk__gt=last).order_by("pk")[:_AT_ONCE]):
        last = part[-1].pk
        for item in listed_labels(lead, sample, part):
            yield [
                *_label_columns(item, sizes[item.narrative_id]),
                *(_reply_columns(item, answers.get(item.pk, ())) if asks_questions else ()),
            ]


def _reply_columns(item: Any, answers: Sequence[QuestionReplies]) -> list[str]:
    """Return for each question the first answer, the second, and the outcome."""
    by_place = {answer.place: answer.replies for answer in answers} if item.answered == 2 else {}
    outcome = answers[-1].replies if answers and item.outcome is not None else {}
    every = (by_place.get(1, {}), by_place.get(2, {}), outcome)
    return [replies.get(question, "") for question in Question.values for replies in every]


def _label_columns(item: Any, conditions: int) -> list[str]:
    pair = item.narrative.pair
    wrong = None if item.outcome is None else int(item.outcome != item.claimed)
    values = [item.claimed, item.first, item.second, item.outcome, wrong]
    return [
        pair.pair_id,
        item.narrative.side,
        pair.query.query_id,
        pair.query.domain,
        item.name.doc_id or "",
        item.stratum,
        str(conditions or ""),
        *("" if value is None else str(value) for value in values),
        *(
            "" if numbers is None else " ".join(map(str, numbers)) or "none"
            for numbers in item.broken
        ),
    ]
