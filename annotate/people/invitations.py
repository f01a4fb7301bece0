"""Invitation links: made by leads and administrators, for one person or several, used once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotate.people.members import add_member, check_lead, check_role, join, valid_user_name
from annotate.people.models import Invitation
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import InvalidField, ObjectNotFound, Refused, Stale
from base.users import User, find_account, skeleton

# For how many days a link may be valid.
DAYS = range(1, 31)
LONGEST_ADDRESS = 254


class Link(NamedTuple):
    """An invitation, and the secret of its link, which is shown once and not stored."""

    invitation: Invitation
    token: str
    # All rows of a link to several projects; `invitation` is the first.
    invitations: tuple[Invitation, ...] = ()
    # Whether it ended an earlier link for the same name.
    ends_another: bool = False

    @property
    def projects(self) -> list[Project]:
        """Return the projects that the link leads to."""
        rows = self.invitations or (self.invitation,)
        return [row.project for row in rows if row.project is not None]


def invite(
    *,
    role: str,
    name: str = "",
    email: str = "",
    days: int = 7,
    by: Membership,
    now: datetime | None = None,
) -> Link:
    """Make a link that lets one person join the project that `by` leads, valid for `days`.

    With `name`, the person gets this user name, and becomes the rater of this name if a file
    brought one; an earlier link for this name into the project is withdrawn. `email` is the address
    that the link will be sent to.
    """
    return invite_to_projects(roles={by: role}, name=name, email=email, days=days, now=now)


def invite_to_projects(
    *,
    roles: Mapping[Membership, str],
    name: str = "",
    email: str = "",
    days: int = 7,
    now: datetime | None = None,
) -> Link:
    """Make a link that lets one person join several projects.

    `roles` maps the inviting person's memberships to the role in each project; `name` and `email`:
    as for `invite`.
    """
    inviters = {by.user for by in roles}
    inviter = inviters.pop() if inviters else None
    if inviter is None or inviters:
        raise Refused("Only leads of this project can do that.")
    name = _valid_name(name)
    for by, role in roles.items():
        check_lead(by)
        check_role(role)
        if name and by.project.memberships.named(name).filter(is_machine=True).exists():
            raise Refused(
                f"“{name}” is the name of a machine in this project. Choose another name."
            )
    projects: dict[Project | None, str] = {by.project: role for by, role in roles.items()}
    return _make(roles=projects, name=name, email=email, days=days, by=inviter, now=now)


def invite_to_installation(
    *, name: str = "", email: str = "", days: int = 7, by: User, now: datetime | None = None
) -> Link:
    """Make a link that lets one person create an account, without a project."""
    check_admin(by)
    roles: dict[Project | None, str] = {None: Membership.Role.ANNOTATOR.value}
    return _make(roles=roles, name=_valid_name(name), email=email, days=days, by=by, now=now)


def withdraw(*, invitation: Invitation, by: User, now: datetime | None = None) -> Invitation:
    """Withdraw an unused link. Withdrawing twice changes nothing."""
    with transaction.atomic():
        locked = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        if not _may_invite(locked.project, by):
            raise Refused("Only leads of this project can do that.")
        if locked.accepted_at is not None:
            raise Stale("This link has already been used.")
        if locked.withdrawn_at is None:
            locked.withdrawn_at, locked.withdrawn_by = now or timezone.now(), by
            locked.save(update_fields=["withdrawn_at", "withdrawn_by"])
            record(
                project=locked.project, what="invitation.withdrawn", about=locked, by=by, now=now
            )
    return locked


def open_invitation(token: str, *, now: datetime | None = None) -> Invitation:
    """Return the first open invitation of a link, like `open_invitations`."""
    return open_invitations(token, now=now)[0]


def open_invitations(token: str, *, now: datetime | None = None) -> list[Invitation]:
    """Return the open invitations of a link, with project and creator; Refused if none is valid.

    A link is valid only as long as its creator could still make it: a link of a person who is no
    longer a lead does not work.
    """
    rows = Invitation.objects.select_related("project", "created_by")
    return _open_of(rows.filter(digest=_digest(token)).order_by("pk"), now or timezone.now())


def accepted_invitations(token: str, user: User | AnonymousUser) -> list[Invitation]:
    """Return the invitations of a link that this person has accepted."""
    if not user.is_authenticated:
        return []
    accepted = Invitation.objects.select_related("project").order_by("pk")
    return list(accepted.filter(digest=_digest(token), accepted_by=user))


def accept(
    *, token: str, by: User, made_for_it: bool = False, now: datetime | None = None
) -> Membership | None:
    """Use a link for the account `by`; return the membership in its first project, if any.

    Refused: a link for another user name, and one to projects that `by` is already in. A link to
    the installation can only be used to create an account (`made_for_it`).
    """
    now = now or timezone.now()
    with transaction.atomic():
        rows = _locked(token, now)
        if rows[0].project is None and not made_for_it:
            raise Refused("You already have an account. Pass this link on, or let it expire.")
        return _use(rows, by, now)


def accept_with_new_account(
    *, token: str, username: str, password: str, email: str = "", now: datetime | None = None
) -> User:
    """Create an account with a link and use the link for it: both or neither.

    Raises InvalidField for a name that is taken or looks like a taken one, a weak password, or a
    mail address of another account.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rows = _locked(token, now)
        username = valid_user_name(rows[0].name or username)
        if name_is_taken(username):
            sentence = (
                f"{username} has an account by now. If it is yours, sign in with it, then open "
                "this link again; if not, ask for a link with another name."
                if rows[0].name
                else "This name is taken. Choose another."
            )
            raise InvalidField(sentence, "username")
        email = _valid_address(email)
        if email and _address_is_taken(email):
            raise InvalidField("An account with this address exists. Sign in with it.", "email")
        user = User(username=username, email=email)
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise InvalidField(" ".join(error.messages), "password") from error
        user.set_password(password)
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:
            # Another account with this name was created since the check.
            raise InvalidField("This name is taken. Choose another.", "username") from error
        if email:
            EmailAddress.objects.create(user=user, email=email, primary=True, verified=False)
        _use(rows, user, now)
    return user


def name_is_taken(name: str, invitation: Invitation | None = None) -> bool:
    """Return whether a new account cannot have this user name.

    An account has it or one that looks like it, or it is another person in a project of
    `invitation`.
    """
    if _account_has(name):
        return True
    if invitation is None:
        return False
    rows = Invitation.objects.select_related("project").filter(digest=invitation.digest)
    return any(_is_other_rater(row, name) for row in rows)


def _account_has(name: str) -> bool:
    """Return whether an account has this name or address, ignoring case, or a name that looks like
    it.
    """
    alike = Q(username__iexact=name) | Q(skeleton=skeleton(name))
    return User.objects.filter(alike).exists() or _address_is_taken(name)


def check_admin(by: User) -> None:
    """Refuse anyone but administrators."""
    if not (by.is_superuser and by.is_active):
        raise Refused("Only administrators can do that.")


def _make(
    *,
    roles: Mapping[Project | None, str],
    name: str,
    email: str,
    days: int,
    by: User,
    now: datetime | None,
) -> Link:
    """Create one row for each project of a link; the project None is the installation."""
    if days not in DAYS:
        raise Refused("A link is valid for 1 to 30 days.")
    if name and find_account(name) is not None:
        raise Refused(
            f"{name} already has an account."
            if None in roles
            else f"{name} already has an account and can be added at once."
        )
    if name and _account_has(name):
        raise Refused(
            f"An account has the address {name}, or a name that looks like it. Choose another name."
        )
    email, now = _valid_address(email), now or timezone.now()
    token = secrets.token_urlsafe(32)
    rows = []
    with transaction.atomic():
        _lock(roles)
        earlier = _withdraw_earlier(name, roles, by, now)
        for project, role in roles.items():
            row = Invitation.objects.create(
                project=project,
                role=role,
                name=name,
                email=email,
                digest=_digest(token),
                created_at=now,
                created_by=by,
                expires_at=now + timedelta(days=days),
            )
            words = "" if project is None else role
            record(project=project, what="invitation.made", about=row, words=words, by=by, now=now)
            rows.append(row)
    return Link(rows[0], token, tuple(rows), ends_another=bool(earlier))


def _lock(projects: Collection[Project | None]) -> None:
    """Make invitations to the same projects wait for each other, and those to the installation.

    The second then withdraws the link that the first made for the same name.
    """
    keys = [project.pk for project in projects if project is not None]
    list(Project.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    if None in projects:
        administrators = User.objects.filter(is_superuser=True).order_by("pk")
        list(administrators.select_for_update(no_key=True))


def _withdraw_earlier(
    name: str, projects: Collection[Project | None], by: User, now: datetime
) -> list[Invitation]:
    """Withdraw the valid links for a user name to these projects: one link lets the person in."""
    if not name:
        return []
    places = Q(project__in=[project for project in projects if project is not None])
    if None in projects:
        places |= Q(project=None)
    rows = Invitation.objects.open(now).filter(places, name__iexact=name).order_by("pk")
    return [withdraw(invitation=row, by=by, now=now) for row in rows]


def _locked(token: str, now: datetime) -> list[Invitation]:
    """Return the open invitations of a link, and lock them and their projects.

    Projects are locked first, as `_make` does.
    """
    keys = [row.pk for row in open_invitations(token, now=now)]
    of_link = Invitation.objects.filter(digest=_digest(token))
    projects = Project.objects.filter(pk__in=of_link.values("project")).order_by("pk")
    by_key = {project.pk: project for project in projects.select_for_update(no_key=True)}
    locked = list(of_link.select_for_update(of=("self",)).order_by("pk"))
    for row in locked:
        if row.project_id is not None:
            row.project = by_key[row.project_id]
    # Rows that became valid since were not shown to the person.
    return [row for row in _open_of(locked, now) if row.pk in keys]


def _use(rows: Sequence[Invitation], by: User, now: datetime) -> Membership | None:
    """Add `by` to the projects of a link and mark its rows as used; return the first membership."""
    name = rows[0].name
    if name and find_account(name) != by:
        raise Refused(f"This link is for {name}. Sign out and open it again.")
    new = [row for row in rows if not _is_in(row.project, by)]
    if not new:
        raise Refused(
            "You are already in this project."
            if len(rows) == 1
            else "You are already in these projects."
        )
    members = [_join(row, by) for row in new]
    for row in rows:
        row.accepted_at, row.accepted_by = now, by
        row.save(update_fields=["accepted_at", "accepted_by"])
        record(project=row.project, what="invitation.taken", about=row, by=by, now=now)
    return members[0]


def _is_in(project: Project | None, user: User) -> bool:
    return project is not None and project.memberships.active().filter(user=user).exists()


def _join(invitation: Invitation, by: User) -> Membership | None:
    if invitation.project is None:
        return None
    if _is_other_rater(invitation, by.username):
        raise InvalidField(
            f"“{by.username}” is already another person in this project. Choose another name, or "
            "ask for a link for this name.",
            "username",
        )
    return join(invitation.project, by, invitation.role)


def _is_other_rater(invitation: Invitation, name: str) -> bool:
    """Return whether a file brought a rater of this name; only a lead can assign one."""
    return (
        invitation.project is not None
        and invitation.name.lower() != name.lower()
        and invitation.project.memberships.named(name).filter(user=None).exists()
    )


def _open_of(rows: Iterable[Invitation], now: datetime) -> list[Invitation]:
    """Return the valid rows of a link, or refuse with the reason why the first one is not valid."""
    rows = list(rows)
    if not rows:
        raise ObjectNotFound("This link is not valid. Check that all of it was copied.")
    if any(row.accepted_at is not None for row in rows):
        raise Stale("This link has already been used. Ask for another.")
    valid, reasons = [], []
    for row in rows:
        try:
            _check_open(row, now)
        except Refused as refused:
            reasons.append(refused)
        else:
            valid.append(row)
    if not valid:
        raise reasons[0]
    return valid


def _check_open(invitation: Invitation, now: datetime) -> None:
    if invitation.withdrawn_at is not None:
        raise Stale("This link was withdrawn. Ask for another.")
    if invitation.expires_at <= now:
        raise Stale("This link has expired. Ask for another.")
    if not _may_invite(invitation.project, invitation.created_by):
        raise Stale("The person who made this link can no longer invite you. Ask for another.")
    if invitation.project is not None:
        refuse_if_archived(invitation.project)


def _may_invite(project: Project | None, user: User) -> bool:
    if not user.is_active:
        return False
    if user.is_superuser:
        return True
    return (
        project is not None
        and project.memberships.active().filter(user=user, role=Membership.Role.LEAD).exists()
    )


def _valid_name(name: str) -> str:
    return valid_user_name(name) if name.strip() else ""


def _valid_address(email: str) -> str:
    email = email.strip().lower()
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            raise InvalidField("This is not a mail address.", "email") from error
        if len(email) > LONGEST_ADDRESS:
            raise InvalidField("This mail address is too long.", "email")
    return email


def _address_is_taken(email: str) -> bool:
    return (
        EmailAddress.objects.filter(email__iexact=email).exists()
        or User.objects.filter(email__iexact=email).exists()
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


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
