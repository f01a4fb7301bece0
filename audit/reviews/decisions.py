"""Decide on reviewed instructions, and withdraw decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from annotate.pairs.models import Narrative
from annotate.projects import hash_chain
from annotate.projects.audit_log import record
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from annotate.rewriting import actions as rewriting
from audit.reviews import review_chain
from audit.reviews.actions import MAX_WORDS, refuse_if_superseded
from audit.reviews.criteria import Verdict
from audit.reviews.models import Decision
from audit.reviews.passes import passes_of, verdict_of
from base.errors import InvalidField, Refused, refuse_longer


def decide(
    *,
    narrative: Narrative,
    outcome: str,
    by: Membership,
    reason: str = "",
    uuid: UUID | None = None,
    now: datetime | None = None,
) -> Decision:
    """Accept an altered narrative, send it back to be rewritten, or remove its pair.

    The same decision again changes nothing. Refused: not a lead, an outcome that is not in
    `Decision.Outcome`, no reason (needed except to accept a narrative that passed), already
    decided, no review yet; accepting before every review is submitted. Stale: there is a newer
    version.
    """
    now = now or timezone.now()
    reason = reason.strip()
    if outcome not in Decision.Outcome.values:
        raise Refused("Choose one: accept, send back, or remove.")
    too_long = "The reason has %(length)s characters; at most %(most)s are kept."
    refuse_longer(reason, MAX_WORDS, too_long)
    with transaction.atomic():
        pair = rewriting.lock_for_lead(narrative.pair, by)
        refuse_if_superseded(narrative, "The narrative changed. Read the new version, then decide.")
        current = (
            Decision.objects.current().select_related("by").filter(narrative=narrative).first()
        )
        if current is not None:
            if (current.outcome, current.reason, current.by_id) == (outcome, reason, by.pk):
                return current
            raise Refused(
                f"{current.by} has decided this: {current.get_outcome_display().lower()}. "
                "Withdraw that decision first."
            )
        if pair.removed_at is not None:
            raise Refused("This instruction was taken out, so there is nothing to decide.")
        if Narrative.objects.filter(pk=narrative.pk, sent_back_at__isnull=False).exists():
            raise Refused("It was sent back to its writer. Take that back first, then decide.")
        _refuse_undecided(narrative, outcome, reason, by.project)
        decision = Decision.objects.create(
            uuid=uuid or uuid4(), narrative=narrative, outcome=outcome, reason=reason, by=by, at=now
        )
        if outcome == Decision.Outcome.REVISE:
            rewriting.send_back(pair=narrative.pair, by=by, now=now)
        elif outcome == Decision.Outcome.REMOVED:
            rewriting.remove(pair=narrative.pair, by=by, now=now)
        rows = Decision.objects.filter(pk=decision.pk)
        hash_chain.append_new(review_chain.DECISION, by.project_id, rows)
        _record_decision("instruction.decided", decision, by, now)
    return decision


# Decisions that can be made on several instructions at once.
OF_MANY = (Decision.Outcome.ACCEPTED, Decision.Outcome.REVISE)


def decide_many(
    *,
    narratives: Sequence[Narrative],
    outcome: str,
    reason: str = "",
    by: Membership,
    now: datetime | None = None,
) -> list[Decision]:
    """Accept several altered narratives that passed, or send several back with one reason: all of
    them, or none.

    Refused: an outcome that is not in `OF_MANY`, an empty list; naming the pair: as `decide`.
    """
    if outcome not in OF_MANY:
        raise Refused("Several instructions are accepted or sent back. Remove them one by one.")
    if not narratives:
        raise Refused("Tick one or more instructions first.")
    now = now or timezone.now()
    with transaction.atomic():
        made = []
        for narrative in narratives:
            try:
                made.append(
                    decide(narrative=narrative, outcome=outcome, reason=reason, by=by, now=now)
                )
            except Refused as refused:
                raise Refused(
                    f"{narrative.pair.pair_id}: {refused} Nothing was decided."
                ) from refused
    return made


def describe(decision: Decision) -> str:
    """Return a sentence that names a decision."""
    return f"{decision.narrative.pair.pair_id}: {decision.get_outcome_display().lower()}."


def withdraw_decision(
    *, decision: Decision, by: Membership, now: datetime | None = None
) -> Decision:
    """Withdraw a decision and undo its effect on the pair. Calling twice changes nothing.

    Refused: not a lead. Stale: the narrative was rewritten since, so the decision is history.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rewriting.lock_for_lead(decision.narrative.pair, by)
        current = Decision.objects.select_for_update().get(pk=decision.pk)
        if current.withdrawn_at is not None:
            return current
        refuse_if_superseded(
            decision.narrative, "A new version was written since, so this decision is history."
        )
        current.withdrawn_at, current.withdrawn_by = now, by
        current.save(update_fields=["withdrawn_at", "withdrawn_by"])
        if current.outcome != Decision.Outcome.ACCEPTED:
            rewriting.undo_decision(pair=decision.narrative.pair, by=by)
        rows = Decision.objects.filter(pk=current.pk)
        hash_chain.append_ended(review_chain.DECISION, by.project_id, rows)
        _record_decision("instruction.undecided", current, by, now)
    return current


def _record_decision(what: str, decision: Decision, by: Membership, now: datetime) -> None:
    narrative = decision.narrative
    named = f"{narrative.pair} · {narrative}"
    made, gone = (None, decision.outcome), (decision.outcome, None)
    record(
        project=by.project,
        what=what,
        about=decision,
        named=named,
        by=by,
        changes={"outcome": gone if decision.withdrawn_at else made},
        now=now,
    )


def _refuse_undecided(narrative: Narrative, outcome: str, reason: str, project: Project) -> None:
    passes = passes_of([narrative])[narrative.pk]
    state = verdict_of(passes, project)
    if state is Verdict.UNREVIEWED:
        raise Refused("Nobody has reviewed this version yet, so there is nothing to decide.")
    if outcome != Decision.Outcome.ACCEPTED:
        if not reason:
            raise InvalidField("Give a reason; its author will read it.", "reason")
    elif state is Verdict.INCOMPLETE:
        raise Refused(
            f"{len(passes)} of {passes[0].wanted} reviews are in. Accept it once all are."
        )
    elif state is Verdict.REJECTED and not reason:
        by_majority = kind_of(project.kind).rejects_by_majority
        who = "Most auditors reject" if by_majority else "An auditor rejects"
        raise InvalidField(f"{who} it. Give the reason for accepting it anyway.", "reason")
