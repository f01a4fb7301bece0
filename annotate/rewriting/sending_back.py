"""A lead sends a narrative back to its writer with a reason, and takes that back.

A decision on an instruction that was reviewed sends it back as well (`audit.reviews.decisions`);
that has no reason here, and is withdrawn with the decision. The app of reviews registers a provider
of its reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from annotate.rewriting import actions
from base.errors import Refused, Stale, refuse_invalid_characters, refuse_longer
from base.texts import tidy

MAX_REASON = 2_000


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
    reason = tidy(reason)
    if not reason:
        raise Refused("Give a reason; its writer will read it.")
    refuse_longer(reason, MAX_REASON, "The reason has %(length)s characters; at most %(most)s.")
    refuse_invalid_characters(reason)
    with transaction.atomic():
        locked = actions.lock_for_lead(pair, by)
        if locked.removed_at is not None:
            raise Refused("This instruction was removed, so its narrative stays as it is.")
        narrative = locked.current(Narrative.Side.ALTERED)
        if narrative is not None and narrative.sent_back_at is not None:
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
        if narrative is None or narrative.sent_back_at is None:
            raise Refused("It is not sent back, or has a new version already.")
        if not narrative.sent_back_reason:
            raise Refused(
                "A decision on its reviews sent it back. Withdraw that decision on its history."
            )
        reason = narrative.sent_back_reason
        kept = actions.undo_decision(pair=locked, by=by)
        _log("narrative.kept", kept, by, words=reason, now=now)
    return kept


def _log(what: str, pair: InstructionPair, by: Membership, *, words: str, now: datetime) -> None:
    record(
        project=by.project, what=what, about=pair, named=pair.pair_id, by=by, words=words, now=now
    )


class Remark(NamedTuple):
    """An auditor's remark on one point, without their name."""

    about: str
    level: str
    words: str
    rejects: bool


@dataclass(frozen=True)
class SentBack:
    """Why a version has to be rewritten, and by whom and when it was sent back."""

    by: str
    at: datetime
    reason: str
    remarks: list[Remark]
    url: Annotated[str, "The page with the pair's whole history; empty: no reviews."] = ""


Provider = Callable[[InstructionPair, Membership], SentBack | None]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Register a provider of reasons; call once, when an app starts."""
    if provider not in _providers:
        _providers.append(provider)


def why_sent_back(pair: InstructionPair, reader: Membership) -> SentBack | None:
    """Return why the current version was sent back, as far as `reader` may know; else None.

    One query, and three more if it was sent back.
    """
    narrative = pair.current(Narrative.Side.ALTERED)
    if narrative is None or narrative.sent_back_at is None:
        return None
    if narrative.sent_back_reason:
        name = narrative.sent_back_by.name if narrative.sent_back_by else ""
        return SentBack(name, narrative.sent_back_at, narrative.sent_back_reason, [])
    answers = (provider(pair, reader) for provider in _providers)
    return next((reason for reason in answers if reason is not None), None)
