"""Script actions: rewriting, judging, and settling disagreements."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from annotate.collection.marking import Span
from annotate.collection.models import Candidate
from annotate.judging import actions as judging
from annotate.judgments.conditions import derive_relevance
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.rewriting import actions as rewriting
from annotate.rewriting import drafts
from audit.settling import adjudication
from config.kind_examples.stage import Stage, answer_times, take_assignment, verdict_answers

Task = Assignment.Task


def rewrite(
    stage: Stage, pair: str, text: str, note: str = "", conditions: str | None = None
) -> None:
    """Write the next version of an altered narrative."""
    instruction_pair = stage.pair(pair)
    if not stage.by.leads:
        take_assignment(stage, instruction_pair, Task.REWRITE)
    current = instruction_pair.current(Narrative.Side.ALTERED)
    rewriting.rewrite_narrative(
        pair=instruction_pair,
        text=text,
        note=note,
        conditions=conditions,
        based_on=current.version if current else 0,
        by=stage.by,
        now=stage.now,
    )


def draft(stage: Stage, pair: str, text: str, drops: list[str]) -> None:
    """Save a narrative as a draft; `drops` are documents that would become not relevant."""
    instruction_pair = stage.pair(pair)
    take_assignment(stage, instruction_pair, Task.REWRITE)
    candidates = tuple(stage.candidate(instruction_pair, doc).pk for doc in drops)
    turn = int(stage.now.timestamp() * 1000)
    drafts.save_draft(
        pair=instruction_pair,
        side=Narrative.Side.ALTERED,
        writing=drafts.Writing("example", turn, text, drops=candidates),
        by=stage.by,
        now=stage.now,
    )


def judge(stage: Stage, pair: str, answers: dict[str, Any]) -> None:
    """Judge documents one after the other. An answer is a grade or arguments of `_judge_one`."""
    instruction_pair = stage.pair(pair)
    take_assignment(stage, instruction_pair, Task.JUDGE)
    for (doc, answer), (now, spent) in zip(answers.items(), answer_times(stage), strict=False):
        fields = answer if isinstance(answer, dict) else {"grade": answer}
        _judge_one(stage, instruction_pair, doc, now=now, spent=spent, **fields)


def _judge_one(
    stage: Stage,
    pair: InstructionPair,
    doc: str,
    *,
    now: datetime,
    spent: int,
    grade: int | None = None,
    note: str = "",
    evidence: str = "",
    verdicts: str = "",
    flag: str = "",
) -> None:
    """Judge or flag a document.

    `evidence` is a passage of its text. `verdicts` has a letter for each condition
    (`verdict_answers`); if `grade` is None, it follows from them. `flag` is a kind of flag, and
    `note` its words.
    """
    narrative = judging.narrative_for(stage.by, pair)
    candidate = stage.candidate(pair, doc)
    if flag:
        judging.flag(
            narrative=narrative,
            candidate=candidate,
            kind=flag,
            words=note,
            by=stage.by,
            made_at=now,
            now=now,
        )
        return
    condition_verdicts = verdict_answers(narrative, verdicts)
    if grade is None:
        grades = list(stage.project.grades.values_list("value", flat=True))
        verdict_values = list(condition_verdicts.values())
        grade = derive_relevance(stage.project.condition_rule, verdict_values, grades)
    assert grade is not None, f"no grade for {doc}"
    judging.judge(
        narrative=narrative,
        candidate=candidate,
        relevance=grade,
        note=note,
        evidence=_spans(candidate, evidence),
        verdicts=condition_verdicts,
        active_ms=spent,
        pressed="key",
        made_at=now,
        by=stage.by,
        now=now,
    )


def _spans(candidate: Candidate, words: str) -> list[Span]:
    if not words:
        return []
    text = candidate.document.texts.current().get().text
    begin = text.index(words)
    return [Span(begin, begin + len(words))]


def adjudicate(stage: Stage, pair: str, doc: str, grade: int, reason: str, cause: str) -> None:
    """Settle a document on which judges disagree."""
    instruction_pair = stage.pair(pair)
    adjudication.adjudicate(
        narrative=stage.narrative(pair),
        candidate=stage.candidate(instruction_pair, doc),
        relevance=grade,
        reason=reason,
        cause=cause,
        by=stage.by,
        now=stage.now,
    )


def settle_condition(
    stage: Stage, pair: str, doc: str, condition: int, answer: str, reason: str, cause: str
) -> None:
    """Settle one condition of a document; conditions are numbered from 1."""
    instruction_pair = stage.pair(pair)
    adjudication.settle_condition(
        condition=stage.narrative(pair).conditions.get(number=condition),
        candidate=stage.candidate(instruction_pair, doc),
        answer=answer,
        reason=reason,
        cause=cause,
        by=stage.by,
        now=stage.now,
    )
