"""What the rooms above have to say on the home and project pages, without this room knowing
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotate.projects.models import Membership


@dataclass(frozen=True)
class Todo:
    """Something that needs this person: a link with a count."""

    text: str
    count: int
    url: str
    # The count in words, where it is not clear from the text what is counted.
    counted: str = ""
    # How many documents a lead asks to look at again.
    again: int = 0


def _nothing() -> Mapping[str, Any]:
    return {}


class Contribution(NamedTuple):
    """What one room adds: things to do, values for the template of both pages, and `details`,
    which returns those of the project page alone.
    """

    todo: tuple[Todo, ...] = ()
    context: Mapping[str, Any] = {}
    details: Callable[[], Mapping[str, Any]] = _nothing


Provider = Callable[[Membership], Contribution]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Ask this provider for every home and project page; called once, when a room starts."""
    if provider not in _providers:
        _providers.append(provider)


def overview(member: Membership, *, details: bool = False) -> Contribution:
    """Everything the rooms add for this member, who may see what their role allows.

    `details`: with what the project page shows.
    """
    todo: list[Todo] = []
    context: dict[str, Any] = {}
    for provider in _providers:
        added = provider(member)
        todo.extend(item for item in added.todo if item.count)
        context.update(added.context)
        if details:
            context.update(added.details())
    return Contribution(tuple(todo), context)
