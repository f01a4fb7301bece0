"""Settling disagreements between judges, and withdrawing those decisions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired, TypedDict, TypeVar, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotate.collection import text_versions
from annotate.collection.models import Candidate
from annotate.judging.answer_rules import check_grade
from annotate.judgments import adjudication_chain
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    Statement,
    Verdict,
)
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects import access as assignments
from annotate.projects import hash_chain
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from base.errors import Refused, Stale, refuse_longer

MAX_REASON = 10_000

# A decision on a document, or on one condition of it.
Decision = TypeVar("Decision", Adjudication, ConditionAdjudication)


class Why(TypedDict):
    """Why it is settled; `uuid`: the decision's own, if its sender made one."""

    cause: str
    reason: NotRequired[str]
    uuid: NotRequired[UUID | None]
    now: NotRequired[datetime | None]


def adjudicate(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    **why: Unpack[Why],
) -> Adjudication:
    """Settle a candidate on which people's current judgments differ, and return the decision.

    Judgments are not changed. Repeating a decision as the same lead changes nothing. Refused: not a
    lead, a grade the project does not have, no reason, no cause (an `Adjudication.Cause`), nothing
    to settle, already settled. Stale: the narrative has a newer version.
    """
    decision = Adjudication(narrative=narrative, candidate=candidate, relevance=relevance)
    return _settle(decision, by=by, **why)


def adopt(*, judgment: Judgment, by: Membership, **why: Unpack[Why]) -> Adjudication:
    """Settle a candidate by adopting one judge's grade. Without a reason, the notes of those who
    gave that grade are used, without their names.

    Refused or Stale as in `adjudicate`; also Stale if the judgment is no longer current.
    """
    _refuse_outdated(judgment)
    decided: dict[str, Any] = {
        "narrative": judgment.narrative,
        "candidate": judgment.candidate,
        "relevance": judgment.relevance,
    }
    alike = Judgment.objects.current().of_people().filter(**decided)
    why["reason"] = why.get("reason", "").strip() or _adoption_reason(alike)
    return adjudicate(**decided, by=by, **why)


def settle_condition(
    *, condition: Condition, candidate: Candidate, answer: str, by: Membership, **why: Unpack[Why]
) -> ConditionAdjudication:
    """Settle whether a candidate meets a condition on which people's current verdicts differ.

    Verdicts are not changed. Refused or Stale as in `adjudicate`; also refused: an answer that is
    not a `Verdict.Answer`.
    """
    if answer not in Verdict.Answer.values:
        raise Refused("Choose one: met, not met, or can't tell.")
    decision = ConditionAdjudication(
        narrative=condition.narrative, condition=condition, candidate=candidate, answer=answer
    )
    return _settle(decision, by=by, **why)


def adopt_verdict(*, verdict: Verdict, by: Membership, **why: Unpack[Why]) -> ConditionAdjudication:
    """Settle whether a candidate meets a condition by adopting one judge's answer. Without a
    reason, the notes of those who gave that answer are used, without their names.

    Refused or Stale as in `settle_condition`; also Stale if the judgment is no longer current.
    """
    _refuse_outdated(verdict.statement)
    candidate, condition, answer = verdict.statement.candidate, verdict.condition, verdict.answer
    alike = (
        Judgment.objects.current()
        .of_people()
        .filter(candidate=candidate, verdicts__condition=condition, verdicts__answer=answer)
    )
    why["reason"] = why.get("reason", "").strip() or _adoption_reason(alike)
    return settle_condition(condition=condition, candidate=candidate, answer=answer, by=by, **why)


def withdraw_adjudication(
    *, adjudication: Decision, by: Membership, now: datetime | None = None
) -> Decision:
    """Withdraw a settling decision, so that people differ again. Repeating changes nothing."""
    now = now or timezone.now()
    with transaction.atomic():
        _lock_led_pair(adjudication.narrative, by)
        model = type(adjudication)
        current = model._default_manager.select_for_update().get(pk=adjudication.pk)
        if current.withdrawn_at is None:
            current.withdrawn_at, current.withdrawn_by = now, by
            current.save(update_fields=["withdrawn_at", "withdrawn_by"])
            _add_to_chain(by.project_id, current, ended=True)
            _record_event("unsettled", current, by, now)
    return current


def _settle(decision: Decision, *, by: Membership, **why: Unpack[Why]) -> Decision:
    """Save a decision, unless there is a current one or nobody differs."""
    decision.reason = check_reason(why.get("reason", ""), why["cause"])
    decision.cause, decision.by = why["cause"], by
    decision.at = why.get("now") or timezone.now()
    decision.uuid = why.get("uuid") or decision.uuid
    with transaction.atomic():
        _lock_narrative(decision.narrative, by)
        decision.text_version = text_versions.lock_read_version(decision.candidate.document_id)[
            "text_version"
        ]
        if isinstance(decision, Adjudication):
            check_grade(by, decision.relevance)
        current = _current_decision(decision)
        if current is not None:
            return _return_or_refuse(current, decision)
        _check_disagreement(decision)
        decision.save(force_insert=True)
        _add_to_chain(by.project_id, decision)
        _record_event("settled", decision, by, decision.at)
    return decision


def _current_decision(decision: Decision) -> Decision | None:
    """Return the current decision on the same question, or None."""
    question = {column: getattr(decision, column) for column in decision.QUESTION}
    current = type(decision)._default_manager.filter(
        **question, withdrawn_at=None, text_replaced_at=None
    )
    return current.select_related("by").first()


def _add_to_chain(project: int, row: Decision, *, ended: bool = False) -> None:
    """Add a decision, or its end, to its hash chain."""
    is_condition = isinstance(row, ConditionAdjudication)
    kind = adjudication_chain.CONDITION if is_condition else adjudication_chain.KIND
    append = hash_chain.append_ended if ended else hash_chain.append_new
    append(kind, project, type(row)._default_manager.filter(pk=row.pk))


def _record_event(what: str, about: Decision, by: Membership, now: datetime) -> None:
    """Record in the audit log what a decision was about, but not its outcome."""
    is_condition = isinstance(about, ConditionAdjudication)
    kind = "condition" if is_condition else "judgment"
    named = f"{about.narrative.pair} · {about.narrative} · {about.candidate.document}"
    record(project=by.project, what=f"{kind}.{what}", about=about, named=named, by=by, now=now)


def check_reason(reason: str, cause: str) -> str:
    """Return the stripped reason; refuse an empty or too long one, and an unknown cause."""
    reason = reason.strip()
    if cause not in Adjudication.Cause.values:
        raise Refused("Say why they differ: choose one of the causes.")
    if not reason:
        raise Refused("Give a reason, so that the judges can learn from it.")
    too_long = "The reason has %(length)s characters; at most %(most)s are kept."
    refuse_longer(reason, MAX_REASON, too_long)
    return reason


def _refuse_outdated(judgment: Statement) -> None:
    if judgment.ended_at is not None:
        raise Stale("This answer has changed since. Look again, then settle.")
    if judgment.text_replaced_at is not None:
        raise Stale("The document has a new text. Answers to the old text need no settling.")


def _adoption_reason(alike: QuerySet[Judgment]) -> str:
    """Return the reason for adopting these judgments: how many they are, and their notes."""
    notes = list(alike.order_by("pk").values_list("note", flat=True))
    opening = "As one of them said" if len(notes) == 1 else f"As {len(notes)} of them said"
    words = " / ".join(note for note in notes if note)[: MAX_REASON - len(opening) - 2]
    return f"{opening}: {words}" if words else f"{opening}."


def _lock_narrative(narrative: Narrative, by: Membership) -> None:
    """Lock out other leads and rewriters, and check that the narrative is still current."""
    pair = _lock_led_pair(narrative, by)
    if pair.removed_at is not None:
        raise Refused("This instruction was removed, so there is nothing to settle under it.")
    newest = pair.current(narrative.side)
    if newest is None or newest.pk != narrative.pk:
        raise Stale("The narrative changed. Answers under the old version need no settling.")


def _lock_led_pair(narrative: Narrative, by: Membership) -> InstructionPair:
    pair = InstructionPair.objects.select_for_update().get(pk=narrative.pair_id)
    refuse_unless_lead(by, pair.project_id)
    return pair


def refuse_unless_lead(by: Membership, project: int) -> None:
    """Refuse anyone who does not lead this project, and any archived project."""
    if not by.leads or by.project_id != project:
        raise Refused("Only leads of this project can settle its disagreements.")
    assignments.refuse_if_archived(by.project)


def _check_disagreement(decision: Decision) -> None:
    """Refuse a decision if nobody differs."""
    judgments = Judgment.objects.current().of_people().filter(candidate=decision.candidate_id)
    if isinstance(decision, Adjudication):
        answers: QuerySet[Any, Any] = judgments.filter(narrative=decision.narrative_id).values(
            "relevance"
        )
        agreed = "Nobody disagrees about this document, so there is nothing to settle."
    else:
        of_condition = judgments.filter(verdicts__condition=decision.condition_id)
        answers = of_condition.values("verdicts__answer")
        agreed = "Nobody disagrees about this condition, so there is nothing to settle."
    if answers.order_by().distinct().count() < 2:
        raise Refused(agreed)


def _return_or_refuse(current: Decision, decision: Decision) -> Decision:
    """Return the current decision if the new one equals it; else refuse and name its lead."""
    if all(
        getattr(current, name) == getattr(decision, name)
        for name in (decision.VALUE, "reason", "cause", "by_id")
    ):
        return current
    if isinstance(current, Adjudication):
        settled_as = str(current.relevance)
    else:
        settled_as = f"“{current.get_answer_display()}”"
    raise Refused(f"{current.by} has settled this as {settled_as}. Withdraw that decision first.")
