"""The list of disagreements as a table."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects.models import Membership
from audit.checks.models import Check
from audit.settling.queue import read_all
from audit.settling.queue_filters import QueueFilter
from audit.settling.queue_items import Item, Voice

HEADER = (
    "key",
    "kind",
    "query_id",
    "pair_id",
    "side",
    "version",
    "doc_id",
    "condition",
    "answers",
    "distance",
    "decides",
    "since",
    "settled_as",
    "cause",
    "reason",
    "by",
)


def table_rows(by: Membership, filters: QueueFilter) -> Iterator[list[str]]:
    """Yield the header, and a row for each disagreement that the list shows to this lead."""
    yield list(HEADER)
    for item in read_all(by, filters):
        narrative, document = item.narrative, item.candidate.document if item.candidate else None
        yield [
            str(item.key.disagreement_key),
            item.key.kind.value,
            narrative.pair.query.query_id,
            narrative.pair.pair_id,
            narrative.side,
            str(narrative.version),
            document.doc_id if document else "",
            (item.condition.name or str(item.condition.number)) if item.condition else "",
            "; ".join(f"{voice.name}: {_answer(voice)}" for voice in item.voices),
            str(item.distance),
            "yes" if item.decides else "no",
            item.key.at.isoformat(),
            *_decision(item),
        ]


def _answer(voice: Voice) -> str:
    """Return a person's answer in words."""
    if voice.rejects is not None:
        return f"rejects on {voice.rejects}"
    if voice.relevance is None:
        return voice.answer or voice.replies or "cannot judge"
    return f"{voice.relevance} ({voice.replies})" if voice.replies else str(voice.relevance)


def _decision(item: Item) -> list[str]:
    """Return the cells of the decision: what, the cause, the reason, who."""
    decision = item.settled
    if decision is None:
        return ["", "", "", ""]
    if isinstance(decision, Check):
        grade = decision.relevance
        return [
            "cannot judge" if grade is None else str(grade),
            "",
            decision.words,
            decision.checker.name,
        ]
    if isinstance(decision, Adjudication):
        return [str(decision.relevance), decision.cause, decision.reason, decision.by.name]
    if isinstance(decision, ConditionAdjudication):
        return [decision.answer, decision.cause, decision.reason, decision.by.name]
    return [decision.outcome, "", decision.reason, decision.by.name]
