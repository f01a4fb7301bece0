"""Invite several people at once, each to one or more projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from annotate.people.invitations import Link, invite_to_projects
from annotate.people.members import add_member, check_lead
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.users import User, find_account

# The maximum number of people invited at once.
MOST = 100


class Invitee(NamedTuple):
    """A person to invite: a user name, a mail address, or both."""

    name: str = ""
    email: str = ""


class InvitationResult(NamedTuple):
    """The result for one person: the new link, or the new memberships of an existing account."""

    invitee: Invitee
    link: Link | None
    members: tuple[Membership, ...] = ()

    @property
    def projects(self) -> list[Project]:
        """Return the projects that the link leads to, or that the account was added to."""
        return self.link.projects if self.link else [member.project for member in self.members]


class RefusedLines(Refused):
    """Some people cannot be invited: `lines` maps line numbers to sentences."""

    def __init__(self, lines: Mapping[int, str]) -> None:
        super().__init__(" ".join(sentences_by_line(lines)))
        self.lines = dict(lines)


def sentences_by_line(lines: Mapping[int, str]) -> list[str]:
    """Return one sentence per line: "Line 3: This repeats line 1."."""
    return [f"Line {n}: {lines[n]}" for n in sorted(lines)]


def read_lines(text: str) -> dict[int, Invitee]:
    """Parse a text with one person per line into line number -> invitee; skip empty lines.

    A line is a user name, a mail address, or both with a comma between them.
    """
    invitees, wrong = {}, {}
    for number, line in enumerate(text.splitlines(), start=1):
        parts = [part.strip() for part in line.split(",") if part.strip()]
        emails = [part for part in parts if "@" in part]
        # A user name may contain an "@"; alone it is read as an address.
        if len(parts) > 2 or (len(parts) == 2 and not emails):
            wrong[number] = "Write a user name, a mail address, or both with a comma between them."
        elif parts:
            email = emails[-1] if emails else ""
            names = [part for part in parts if part != email]
            invitees[number] = Invitee("".join(names), email)
    if wrong:
        raise RefusedLines(wrong)
    return invitees


def invite_several(
    *,
    people: Mapping[int, Invitee],
    roles: Mapping[Membership, str],
    days: int = 7,
    now: datetime | None = None,
) -> list[InvitationResult]:
    """Invite people, by line number, to projects: all of them, or none.

    `roles` maps the inviting person's memberships to the role in each project. A person with an
    account of the given name is added at once; anybody else gets one link for all projects. Raises
    RefusedLines with what is wrong on each line.
    """
    if not people:
        raise Refused("There are no names. Write one person per line.")
    if len(people) > MOST:
        raise Refused(f"At most {MOST} people can be invited at once.")
    if not roles:
        raise Refused("Choose at least one project.")
    for by in roles:
        check_lead(by)
    wrong = _find_repeated(people)
    done = []
    with transaction.atomic():
        for number, invitee in people.items():
            if number in wrong:
                continue
            try:
                # If any line is refused, the transaction undoes all of them.
                done.append(_invite(invitee, roles, days, now))
            except Refused as refused:
                wrong[number] = str(refused)
        if wrong:
            raise RefusedLines(wrong)
    return done


def _find_repeated(people: Mapping[int, Invitee]) -> dict[int, str]:
    """Return a sentence for each line that repeats a person of an earlier line."""
    wrong: dict[int, str] = {}
    for field in Invitee._fields:
        first: dict[str, int] = {}
        for number, invitee in people.items():
            value = getattr(invitee, field).lower()
            if value and first.setdefault(value, number) != number:
                wrong[number] = f"This repeats line {first[value]}."
    return wrong


def _invite(
    invitee: Invitee, roles: Mapping[Membership, str], days: int, now: datetime | None
) -> InvitationResult:
    user = find_account(invitee.name) if invitee.name else None
    if user is None:
        link = invite_to_projects(
            roles=roles, name=invitee.name, email=invitee.email, days=days, now=now
        )
        return InvitationResult(invitee, link)
    new = _memberships_to_add(user, roles)
    if not new:
        raise Refused(f"{user.username} is already in all these projects.")
    members = [
        add_member(username=user.username, role=role, by=by, now=now)
        for by, role in roles.items()
        if by in new
    ]
    return InvitationResult(invitee, None, tuple(members))


def _memberships_to_add(user: User, roles: Mapping[Membership, str]) -> Sequence[Membership]:
    projects = [by.project_id for by in roles]
    there = Membership.objects.active().filter(user=user, project__in=projects)
    is_in = set(there.values_list("project_id", flat=True))
    return [by for by in roles if by.project_id not in is_in]
