"""Contributions of other apps to the home and project pages.

They register providers here, so this app does not depend on them.
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
    # How many documents a lead asks this person to look at again.
    again: int = 0


def _no_details() -> Mapping[str, Any]:
    return {}


class Contribution(NamedTuple):
    """What one app adds: things to do, and values for the templates.

    `context` holds the values of both pages; `details` returns those of the project page alone.
    """

    todo: tuple[Todo, ...] = ()
    context: Mapping[str, Any] = {}
    details: Callable[[], Mapping[str, Any]] = _no_details


# Returns what one app adds for memberships of one person in different projects, by the key of each;
# memberships for which it adds nothing may be missing. The number of its queries must not grow with
# the number of memberships.
Provider = Callable[[Sequence[Membership]], Mapping[int, Contribution]]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Register a provider for the home and project pages; call once, when an app starts."""
    if provider not in _providers:
        _providers.append(provider)


def overview(member: Membership, *, details: bool = False) -> Contribution:
    """Return everything that other apps add for this member, as far as their role may see it.

    `details`: include what only the project page shows.
    """
    return overviews([member], details=details)[member.pk]


def overviews(members: Sequence[Membership], *, details: bool = False) -> dict[int, Contribution]:
    """Like `overview`, for memberships of one person in different projects, by the key of each."""
    todo: dict[int, list[Todo]] = {member.pk: [] for member in members}
    context: dict[int, dict[str, Any]] = {member.pk: {} for member in members}
    for provider in _providers:
        for member, added in provider(members).items():
            todo[member].extend(item for item in added.todo if item.count)
            context[member].update(added.context)
            if details:
                context[member].update(added.details())
    return {pk: Contribution(tuple(items), context[pk]) for pk, items in todo.items()}
