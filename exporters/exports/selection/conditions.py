"""Records of documents and conditions: the answers of raters, and their consensus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import Q

from annotate.judgments.consensus import State, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.machine_claims import chosen_machines, machine_that_counts
from annotate.judgments.models import ConditionAdjudication, Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Project
from base.bulk import in_byte_order
from exporters.exports.selection import ordered_rows
from exporters.exports.selection.selection import Pair
from formats.records import ConditionRecord

NOT_MET = Verdict.Answer.NOT_MET.value
# The narrative and the document that a verdict is about.
_PLACE = attrgetter("statement__narrative", "statement__candidate__document__doc_id")


class Answer(NamedTuple):
    """One rater's answer."""

    annotator: str
    machine: bool
    answer: str


class ConditionDecision(NamedTuple):
    """The current adjudication of one condition: who decided, when, and why."""

    answer: str
    by: str
    at: datetime
    cause: str
    reason: str


class AnsweredCondition(NamedTuple):
    """One condition with its answers.

    `agreed` is the consensus of people's answers, or a lead's decision if `state` is settled. It is
    None if nobody answered (`state` unjudged) or the answers differ (disputed).
    """

    condition: int
    name: str
    text: str
    agreed: str | None
    state: str
    answers: tuple[Answer, ...]
    settled: ConditionDecision | None


class DocumentConditions(NamedTuple):
    """One document under one narrative with conditions: a line of the file.

    `met` is how many conditions people agree are met, None while there is no agreement on one;
    `violated_attributes` are those they agree are not met, by name, or by text if unnamed.
    """

    pair_id: str
    query_id: str
    doc_id: str
    side: str
    version: int
    met: int | None
    violated_attributes: tuple[str, ...]
    conditions: tuple[AnsweredCondition, ...]


def documents(
    project: Project, of: Sequence[Pair], *, with_removed: bool = False
) -> Iterator[DocumentConditions]:
    """Yield every document with a current verdict under a current narrative.

    Documents are in byte order of pair_id, side and doc_id. `with_removed`: also those that were
    taken out of their pool, for a record of answers.
    """
    counted = Q() if with_removed else in_pools("statement__candidate")
    in_force = {
        version.pk: (pair, side, version.version)
        for pair in of
        for side, version in sorted(pair.versions.items())
    }
    for batch in ordered_rows.batches(in_force, ordered_rows.BATCH):
        asked = conditions_by_narrative(batch)
        settled = _decisions(asked)
        rows = Verdict.objects.current().filter(counted, statement__narrative__in=list(asked))
        ordered = rows.order_by(
            in_byte_order("statement__narrative__pair__pair_id"),
            in_byte_order("statement__narrative__side"),
            in_byte_order("statement__candidate__document__doc_id"),
            "condition__number",
            in_byte_order("statement__annotator__name"),
        )
        walked = ordered_rows.stream_named(
            ordered,
            "statement__narrative",
            "statement__candidate__document__doc_id",
            "condition__number",
            "statement__annotator__name",
            "statement__annotator__is_machine",
            "answer",
        )
        for (narrative, doc_id), answers in groupby(walked, key=_PLACE):
            pair, side, version = in_force[narrative]
            conditions = _answered_conditions(
                project.consensus, asked[narrative], answers, settled.get((narrative, doc_id), {})
            )
            agreed = [condition.agreed for condition in conditions]
            yield DocumentConditions(
                pair.pair_id,
                pair.query.query_id,
                doc_id,
                side,
                version,
                None if None in agreed else agreed.count(Verdict.Answer.MET),
                tuple(
                    condition.name or condition.text
                    for condition in conditions
                    if condition.agreed == NOT_MET
                ),
                conditions,
            )


def chosen_names(project: Project) -> list[str]:
    """Return the names of the machines whose claims a lead chose, the newest choice first."""
    return [machine.name for machine in chosen_machines(project)]


def claimed_answer(asked: AnsweredCondition, chosen: Sequence[str]) -> str | None:
    """Return the answer that machines claim for a condition; None if none does or they differ.

    `chosen`: from `chosen_names`.
    """
    claims = {answer.annotator: answer.answer for answer in asked.answers if answer.machine}
    machine = machine_that_counts(claims, chosen)
    return None if machine is None else claims[machine]


def counted_answer(asked: AnsweredCondition, chosen: Sequence[str]) -> str | None:
    """Return people's agreed answer, or what machines claim if nobody has answered."""
    if asked.agreed is not None or asked.state == State.DISPUTED:
        return asked.agreed
    return claimed_answer(asked, chosen)


def conditions_by_narrative(narratives: Iterable[int]) -> dict[int, list[Condition]]:
    """Return the conditions of narratives by their numbers; omit narratives without any."""
    by_narrative: dict[int, list[Condition]] = {}
    for condition in Condition.objects.filter(narrative__in=list(narratives)).order_by("number"):
        by_narrative.setdefault(condition.narrative_id, []).append(condition)
    return by_narrative


def records_of(conditions: Iterable[Condition]) -> tuple[ConditionRecord, ...]:
    """Return the conditions of a narrative as records of `pairs-jsonl`."""
    return tuple(ConditionRecord(row.name, row.text, row.negated) for row in conditions)


def _decisions(narratives: Iterable[int]) -> dict[tuple[int, str], dict[int, ConditionDecision]]:
    """Return leads' decisions, by narrative and document, then by the number of the condition."""
    decisions: dict[tuple[int, str], dict[int, ConditionDecision]] = {}
    rows = ConditionAdjudication.objects.current().filter(narrative__in=list(narratives))
    for row in rows.select_related("condition", "candidate__document", "by"):
        place = (row.narrative_id, row.candidate.document.doc_id)
        decision = ConditionDecision(row.answer, row.by.name, row.at, row.cause, row.reason)
        decisions.setdefault(place, {})[row.condition.number] = decision
    return decisions


def _answered_conditions(
    rule: str,
    asked: Sequence[Condition],
    answers: Iterable[Any],
    settled: Mapping[int, ConditionDecision],
) -> tuple[AnsweredCondition, ...]:
    """Return all conditions of the narrative, including those without an answer."""
    by_number: dict[int, list[Answer]] = {}
    for row in answers:
        answer = Answer(
            row.statement__annotator__name, row.statement__annotator__is_machine, row.answer
        )
        by_number.setdefault(row.condition__number, []).append(answer)
    conditions = []
    for condition in asked:
        own_answers = tuple(by_number.get(condition.number, ()))
        of_people = tuple(sorted(own.answer for own in own_answers if not own.machine))
        decision = settled.get(condition.number)
        outcome = _cached_consensus(of_people, rule, decision and decision.answer)
        conditions.append(
            AnsweredCondition(
                condition=condition.number,
                name=condition.name,
                text=condition.text,
                agreed=outcome.relevance,
                state=outcome.state.value,
                answers=own_answers,
                settled=decision,
            )
        )
    return tuple(conditions)


# Cached: the same few combinations of answers recur.
_cached_consensus = lru_cache(maxsize=1_000)(consensus)
