"""Documents x conditions: what was answered of each, and what the answers come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import IO, Any, NamedTuple

from annotate.judgments.consensus import consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import ConditionAdjudication, Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Project
from exporters.exports import ordered_rows
from exporters.exports.selection import Pair
from formats.fields import to_json
from formats.reading import write_lines
from formats.records import ANSWERS

NOT_MET = Verdict.Answer.NOT_MET.value


class Answered(NamedTuple):
    """One rater's answer."""

    annotator: str
    machine: bool
    answer: str


class Settled(NamedTuple):
    """The decision on one condition that stands: who took it, when, and why."""

    answer: str
    by: str
    at: datetime
    cause: str
    reason: str


class Asked(NamedTuple):
    """One condition with the answers to it. `agreed` is what people's answers come to, or what a
    lead settled them as (`state` settled), None where `state` says that nobody answered (unjudged)
    or that they differ (disputed).
    """

    condition: int
    name: str
    text: str
    agreed: str | None
    state: str
    answers: tuple[Answered, ...]
    settled: Settled | None


class Document(NamedTuple):
    """One document under one narrative with conditions: the line of a file.

    `met` is how many conditions people agree to be met, None while one is not agreed on;
    `violated_attributes` are those agreed not to be met, by their names, or texts without one.
    """

    pair_id: str
    query_id: str
    doc_id: str
    side: str
    version: int
    met: int | None
    violated_attributes: tuple[str, ...]
    conditions: tuple[Asked, ...]


def documents(project: Project, of: Sequence[Pair]) -> Iterator[Document]:
    """Yield every document with a verdict that stands under a narrative in force, in byte order of
    pair_id, side and doc_id.
    """
    in_force = {
        version.pk: (pair, side, version.version)
        for pair in of
        for side, version in sorted(pair.versions.items())
    }
    for batch in ordered_rows.batches(in_force, ordered_rows.BATCH):
        asked = _asked(batch)
        settled = _settled(asked)
        rows = Verdict.objects.filter(
            in_pools("judgment__candidate"),
            judgment__narrative__in=list(asked),
            judgment__superseded_at=None,
            judgment__text_replaced_at=None,
        ).order_by(
            ordered_rows.bytewise("judgment__narrative__pair__pair_id"),
            ordered_rows.bytewise("judgment__narrative__side"),
            ordered_rows.bytewise("judgment__candidate__document__doc_id"),
            "condition__number",
            ordered_rows.bytewise("judgment__annotator__name"),
        )
        walked = ordered_rows.walk(
            rows,
            "judgment__narrative",
            "judgment__candidate__document__doc_id",
            "condition__number",
            "judgment__annotator__name",
            "judgment__annotator__is_machine",
            "answer",
        )
        for (narrative, doc_id), answers in groupby(walked, key=itemgetter(0, 1)):
            pair, side, version = in_force[narrative]
            conditions = _conditions(
                project.consensus, asked[narrative], answers, settled.get((narrative, doc_id), {})
            )
            agreed = [one.agreed for one in conditions]
            yield Document(
                pair.pair_id,
                pair.query.query_id,
                doc_id,
                side,
                version,
                None if None in agreed else agreed.count(Verdict.Answer.MET),
                tuple(one.name or one.text for one in conditions if one.agreed == NOT_MET),
                conditions,
            )


def claimed(asked: Asked) -> str | None:
    """Return what machines claim of a condition, None where none does or they differ."""
    said = {one.answer for one in asked.answers if one.machine}
    return said.pop() if len(said) == 1 else None


def write(records: Iterable[Document], stream: IO[bytes]) -> int:
    """One document a line; return how many there were."""
    return write_lines(map(to_json, records), stream)


def _asked(narratives: Iterable[int]) -> dict[int, list[tuple[int, str, str]]]:
    """Number, name and text of the conditions, by narrative; those without any are left out."""
    found: dict[int, list[tuple[int, str, str]]] = {}
    rows = Condition.objects.filter(narrative__in=list(narratives)).order_by("number")
    for narrative, *condition in ordered_rows.walk(rows, "narrative", "number", "name", "text"):
        number, name, text = condition
        found.setdefault(narrative, []).append((number, name, text))
    return found


def _settled(narratives: Iterable[int]) -> dict[tuple[int, str], dict[int, Settled]]:
    """What leads decided: by narrative and document, by the number of the condition."""
    found: dict[tuple[int, str], dict[int, Settled]] = {}
    rows = ConditionAdjudication.objects.current().filter(condition__narrative__in=list(narratives))
    for narrative, doc_id, number, *decision in ordered_rows.walk(
        rows,
        "condition__narrative",
        "candidate__document__doc_id",
        "condition__number",
        *("answer", "by__name", "at", "cause", "reason"),
    ):
        found.setdefault((narrative, doc_id), {})[number] = Settled._make(decision)
    return found


def _conditions(
    rule: str,
    asked: Sequence[tuple[int, str, str]],
    answers: Iterable[tuple[Any, ...]],
    settled: Mapping[int, Settled],
) -> tuple[Asked, ...]:
    """All conditions of the narrative, also those nobody has answered."""
    said: dict[int, list[Answered]] = {}
    for _, _, number, *answer in answers:
        said.setdefault(number, []).append(Answered._make(answer))
    conditions = []
    for number, name, text in asked:
        given = tuple(said.get(number, ()))
        of_people = tuple(sorted(ANSWERS.index(one.answer) for one in given if not one.machine))
        decision = settled.get(number)
        outcome = _agreed(of_people, rule, decision and ANSWERS.index(decision.answer))
        agreed = None if outcome.relevance is None else ANSWERS[outcome.relevance]
        conditions.append(Asked(number, name, text, agreed, outcome.state.value, given, decision))
    return tuple(conditions)


# The same few answers come again and again.
_agreed = lru_cache(maxsize=1_000)(consensus)
