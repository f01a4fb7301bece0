"""Settling what judges differ on, and taking that back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.actions import seats
from annotate.actions.judging import check_grade
from annotate.errors import Refused, Stale
from annotate.models import (
    Adjudication,
    Candidate,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
)

MAX_REASON = 10_000


def adjudicate(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    reason: str,
    cause: str,
    by: Membership,
    now: datetime | None = None,
) -> Adjudication:
    """Settle a candidate on which people's current judgments differ, and return the decision.

    Judgments stay as they are. The same decision by the same lead again changes nothing. Refused:
    who does not lead, a grade the project does not have, no reason, no cause (an
    `Adjudication.Cause`), nothing to settle, settled already. Stale: the narrative has a newer
    version.
    """
    now = now or timezone.now()
    reason = reason.strip()
    if cause not in Adjudication.Cause.values:
        raise Refused(_("Say why they differ: choose one of the causes."))
    if not reason:
        raise Refused(_("Give a reason, so that the judges can learn from it."))
    if len(reason) > MAX_REASON:
        raise Refused(
            _("The reason has %(reason)s characters; at most %(max_reason)s are kept.")
            % {"reason": f"{len(reason):,}", "max_reason": f"{MAX_REASON:,}"}
        )
    with transaction.atomic():
        _lock(narrative, by)
        check_grade(by, relevance)
        standing = (
            Adjudication.objects.current()
            .select_related("by")
            .filter(narrative=narrative, candidate=candidate)
            .first()
        )
        if standing is not None:
            return _same(standing, relevance, reason, cause, by)
        _check_differing(narrative, candidate)
        return Adjudication.objects.create(
            narrative=narrative,
            candidate=candidate,
            relevance=relevance,
            reason=reason,
            cause=cause,
            by=by,
            at=now,
        )


def adopt(
    *,
    judgment: Judgment,
    cause: str,
    by: Membership,
    reason: str = "",
    now: datetime | None = None,
) -> Adjudication:
    """Settle a candidate as one of its judges said. Without a reason, theirs is taken.

    Refused or Stale as `adjudicate`; also refused when that judge has changed their mind since.
    """
    if judgment.superseded_at is not None:
        raise Stale(
            _("%(annotator)s has changed this answer. Look again, then settle.")
            % {"annotator": judgment.annotator}
        )
    theirs = f"As {judgment.annotator} said"
    return adjudicate(
        narrative=judgment.narrative,
        candidate=judgment.candidate,
        relevance=judgment.relevance,
        reason=reason.strip() or (f"{theirs}: {judgment.note}" if judgment.note else f"{theirs}."),
        cause=cause,
        by=by,
        now=now,
    )


def withdraw_adjudication(
    *, adjudication: Adjudication, by: Membership, now: datetime | None = None
) -> Adjudication:
    """Take a settling decision back: the candidate is disputed again. Twice changes nothing."""
    now = now or timezone.now()
    with transaction.atomic():
        _led_pair(adjudication.narrative, by)
        standing = Adjudication.objects.select_for_update().get(pk=adjudication.pk)
        if standing.withdrawn_at is None:
            standing.withdrawn_at, standing.withdrawn_by = now, by
            standing.save(update_fields=["withdrawn_at", "withdrawn_by"])
    return standing


def _lock(narrative: Narrative, by: Membership) -> None:
    """Keep two leads, and a rewriter, apart; check that the narrative is still in force."""
    pair = _led_pair(narrative, by)
    if pair.removed_at is not None:
        raise Refused(_("This instruction was removed, so there is nothing to settle under it."))
    newest = pair.current(narrative.side)
    if newest is None or newest.pk != narrative.pk:
        raise Stale(_("The narrative changed. What was said under the old one needs no settling."))


def _led_pair(narrative: Narrative, by: Membership) -> InstructionPair:
    pair = InstructionPair.objects.select_for_update().get(pk=narrative.pair_id)
    if not by.leads or by.project_id != pair.project_id:
        raise Refused(_("Only leads of this project can settle what its judges differ on."))
    seats.refuse_if_archived(by.project)
    return pair


def _check_differing(narrative: Narrative, candidate: Candidate) -> None:
    said = (
        Judgment.objects.current()
        .of_people()
        .filter(narrative=narrative, candidate=candidate)
        .values_list("relevance", flat=True)
    )
    if len(set(said)) < 2:
        raise Refused(_("Nobody disagrees about this document, so there is nothing to settle."))


def _same(
    standing: Adjudication, relevance: int, reason: str, cause: str, by: Membership
) -> Adjudication:
    """Return the decision that stands, if it is this very one; else say whose it is."""
    before = (standing.relevance, standing.reason, standing.cause, standing.by_id)
    if before != (relevance, reason, cause, by.pk):
        raise Refused(
            _("%(by)s has settled this as %(relevance)s. Withdraw that decision first.")
            % {"by": standing.by, "relevance": standing.relevance}
        )
    return standing
