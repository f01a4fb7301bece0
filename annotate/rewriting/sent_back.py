"""Why a narrative was sent back, for whoever rewrites it.

A lead's own reason is with the pair (`sending_back`). Those of reviews come from another app, which
registers a provider here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership


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

    Three queries more for a pair that was sent back, none for the others.
    """
    if pair.sent_back_at is None:
        return None
    if pair.sent_back_reason:
        narrative = pair.current(Narrative.Side.ALTERED)
        if narrative is None or not pair.is_sent_back(narrative.created_at):
            return None
        name = pair.sent_back_by.name if pair.sent_back_by else ""
        return SentBack(name, pair.sent_back_at, pair.sent_back_reason, [])
    answers = (provider(pair, reader) for provider in _providers)
    return next((reason for reason in answers if reason is not None), None)
