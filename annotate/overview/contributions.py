"""What the rooms above have to say on the home and project pages, without this room knowing
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


# What one room adds for memberships of one person in different projects, by the key of each; one
# for which it adds nothing may be missing. Its queries do not grow with their number.
Provider = Callable[[Sequence[Membership]], Mapping[int, Contribution]]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Ask this provider for every home and project page; called once, when a room starts."""
    if provider not in _providers:
        _providers.append(provider)


def overview(member: Membership, *, details: bool = False) -> Contribution:
    """Everything the rooms add for this member, who may see what their role allows.

    `details`: with what the project page shows.
    """
    return overviews([member], details=details)[member.pk]


def overviews(members: Sequence[Membership], *, details: bool = False) -> dict[int, Contribution]:
    """The same for memberships of one person in different projects, by the key of each."""
    todo: dict[int, list[Todo]] = {member.pk: [] for member in members}
    context: dict[int, dict[str, Any]] = {member.pk: {} for member in members}
    for provider in _providers:
        for member, added in provider(members).items():
            todo[member].extend(item for item in added.todo if item.count)
            context[member].update(added.context)
            if details:
                context[member].update(added.details())
    return {pk: Contribution(tuple(items), context[pk]) for pk, items in todo.items()}
