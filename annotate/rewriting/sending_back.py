"""A lead sends a narrative back to its writer with a reason, and takes that back.

A decision on an instruction that was reviewed sends it back as well (`audit.reviews.decisions`);
that has no reason here, and is withdrawn with the decision.
"""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.db import transaction
from django.utils import timezone

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from annotate.rewriting import actions
from base.errors import Refused, Stale, refuse_invalid_characters, refuse_longer

MAX_REASON = 2_000


class SendBackForm(forms.Form):
    """Why a narrative is sent back; `version` is the version that was read."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="What to change",
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text="Its writer reads this, with your name. Do not mention what judges answered.",
        error_messages={"required": "Give a reason; its writer will read it."},
    )


def send_back(
    *,
    pair: InstructionPair,
    version: int,
    reason: str,
    by: Membership,
    now: datetime | None = None,
) -> InstructionPair:
    """Send the altered narrative of a pair back to its writer, and return the pair.

    Until there is a new version nobody judges or reviews it, and no export contains it; its answers
    are kept. Stale: `version` is not the current one. Refused: not a lead, no reason, an archived
    project, a removed instruction, no altered narrative, sent back already.
    """
    now = now or timezone.now()
    reason = reason.strip()
    if not reason:
        raise Refused("Give a reason; its writer will read it.")
    refuse_longer(reason, MAX_REASON, "The reason has %(length)s characters; at most %(most)s.")
    refuse_invalid_characters(reason)
    with transaction.atomic():
        locked = actions.lock_for_lead(pair, by)
        if locked.removed_at is not None:
            raise Refused("This instruction was removed, so its narrative stays as it is.")
        narrative = locked.current(Narrative.Side.ALTERED)
        if narrative is not None and locked.is_sent_back(narrative.created_at):
            raise Refused("It is sent back already. Its writer has not written it anew yet.")
        if narrative is not None and narrative.version != version:
            raise Stale(f"Version {narrative.version} was saved meanwhile. Read it first.")
        sent = actions.send_back(pair=locked, by=by, reason=reason, now=now)
        _log("narrative.sent_back", sent, by, words=reason, now=now)
    return sent


def take_back(
    *, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> InstructionPair:
    """Undo `send_back`: the version counts again as before. Calling twice is refused.

    Refused: not a lead, an archived project, not sent back or rewritten since, and what a decision
    on its reviews sent back.
    """
    now = now or timezone.now()
    with transaction.atomic():
        locked = actions.lock_for_lead(pair, by)
        narrative = locked.current(Narrative.Side.ALTERED)
        if narrative is None or not locked.is_sent_back(narrative.created_at):
            raise Refused("It is not sent back, or has a new version already.")
        if not locked.sent_back_reason:
            raise Refused(
                "A decision on its reviews sent it back. Withdraw that decision on its history."
            )
        reason = locked.sent_back_reason
        kept = actions.undo_decision(pair=locked, by=by)
        _log("narrative.kept", kept, by, words=reason, now=now)
    return kept


def _log(what: str, pair: InstructionPair, by: Membership, *, words: str, now: datetime) -> None:
    record(
        project=by.project, what=what, about=pair, named=pair.pair_id, by=by, words=words, now=now
    )
