"""Why a narrative was sent back, for whoever writes it anew. The room of reviews knows; this room
only asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership


class Remark(NamedTuple):
    """What somebody, unnamed, said of one point."""

    about: str
    level: str
    words: str
    rejects: bool


@dataclass(frozen=True)
class SentBack:
    """A version that has to be written anew: by whom and when it was sent back, and why."""

    by: str
    at: datetime
    reason: str
    remarks: list[Remark]
    # Where the whole story is told.
    url: str


Provider = Callable[[InstructionPair, Membership], SentBack | None]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Ask this provider for every rewriting; called once, when a room starts."""
    if provider not in _providers:
        _providers.append(provider)


def why_sent_back(pair: InstructionPair, reader: Membership) -> SentBack | None:
    """Return why the version in force was sent back, as far as `reader` may know; None: it was not.

    Three queries more for a pair that was sent back, none for the others.
    """
    if pair.sent_back_at is None:
        return None
    found = (provider(pair, reader) for provider in _providers)
    return next((one for one in found if one is not None), None)
