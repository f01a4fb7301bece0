"""Settling many documents together, and withdrawing those decisions."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from annotate.collection import text_versions
from annotate.judging.answer_rules import check_grade
from annotate.judgments import adjudication_chain
from annotate.judgments.models import Adjudication
from annotate.pairs.models import InstructionPair
from annotate.projects.audit_log import name_documents, record
from annotate.projects.models import Membership
from audit.settling.adjudication import check_reason, refuse_unless_lead
from base.errors import Refused


def lock_pairs(by: Membership) -> None:
    """Lock every pair of the project of `by` against other leads and rewriters, for this
    transaction. Refused: not a lead.
    """
    refuse_unless_lead(by, by.project_id)
    held = InstructionPair.objects.select_for_update().filter(project=by.project_id)
    list(held.order_by("pk").values_list("pk", flat=True))


def settle_together(
    *,
    decisions: Collection[tuple[int, int, int]],
    cause: str,
    reason: str,
    by: Membership,
    now: datetime | None = None,
) -> UUID:
    """Settle many candidates with one reason, and return their batch.

    `decisions`: keys of narrative and candidate, and the relevance. The caller has locked the pairs
    and the texts (`text_versions.lock_texts`), and checked that each is open. Refused: not a lead,
    no reason, no cause, nothing to settle, a grade the project does not have.
    """
    now = now or timezone.now()
    reason = check_reason(reason, cause)
    batch = uuid4()
    with transaction.atomic():
        lock_pairs(by)
        if not decisions:
            raise Refused("There is nothing to settle.")
        for relevance in sorted({relevance for _narrative, _candidate, relevance in decisions}):
            check_grade(by, relevance)
        read = text_versions.lock_newest_versions(
            candidate for _narrative, candidate, _relevance in decisions
        )
        made = Adjudication.objects.bulk_create(
            (
                Adjudication(
                    narrative_id=narrative,
                    candidate_id=candidate,
                    relevance=relevance,
                    reason=reason,
                    cause=cause,
                    by=by,
                    at=now,
                    batch=batch,
                    text_version=read[candidate],
                )
                for narrative, candidate, relevance in decisions
            ),
            batch_size=1_000,
        )
        adjudication_chain.follow(by.project_id, new={one.pk for one in made})
        about = name_documents(len(decisions), batch)
        record(project=by.project, what="judgments.settled", about=about, by=by, now=now)
    return batch


def withdraw_batch(*, batch: UUID, by: Membership, now: datetime | None = None) -> int:
    """Withdraw the decisions of a batch that are still current, and return how many there were.
    Repeating changes nothing. Refused: not a lead.
    """
    now = now or timezone.now()
    with transaction.atomic():
        lock_pairs(by)
        standing = Adjudication.objects.current().filter(batch=batch, by__project=by.project_id)
        keys = set(standing.values_list("pk", flat=True))
        count = standing.update(withdrawn_at=now, withdrawn_by=by)
        if count:
            adjudication_chain.follow(by.project_id, ended=keys)
            about = name_documents(count, batch)
            record(project=by.project, what="judgments.unsettled", about=about, by=by, now=now)
    return count
