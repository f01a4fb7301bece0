"""What the rooms above have to say on the project page, without this room knowing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from annotate.models import Membership


class Panel(NamedTuple):
    """One box on the project page: the template that draws it, and what it draws."""

    template: str
    context: dict[str, Any]


Provider = Callable[[Membership], Panel | None]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a panel to every project page; called once, when a room starts."""
    if provider not in _providers:
        _providers.append(provider)


def panels_for(member: Membership) -> list[Panel]:
    """The panels this member may see, in the order the rooms were built."""
    return [panel for provider in _providers if (panel := provider(member)) is not None]
