"""Links by which people come in: made by leads and by who runs the installation, used once."""

from __future__ import annotations

import hashlib
import secrets
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
from django.utils.translation import gettext as _

from annotate.people.members import check_lead, check_role, checked_name, join
from annotate.people.models import Invitation
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import NotHere, Refused, Stale, Unfit
from base.lookalikes import skeleton
from base.users import User

# For how many days a link may hold.
DAYS = range(1, 31)


class Link(NamedTuple):
    """An invitation, and the secret of its link: shown once, kept nowhere."""

    invitation: Invitation
    token: str


def invite(
    *,
    role: str,
    name: str = "",
    email: str = "",
    days: int = 7,
    by: Membership,
    now: datetime | None = None,
) -> Link:
    """Make a link that lets one person into the project `by` leads, for so many days.

    With `name` whoever comes has that user name, and is the rater of that name if a file brought
    one; `email` is where the link will be sent.
    """
    check_lead(by)
    if by.user is None:
        raise Refused(_("Only leads of this project can do that."))
    check_role(role)
    name = _name(name)
    if name and by.project.memberships.filter(name=name, is_machine=True).exists():
        raise Refused(
            _("“%(name)s” is the name of a machine rater here. Choose another name.")
            % {"name": name}
        )
    return _make(
        project=by.project, role=role, name=name, email=email, days=days, by=by.user, now=now
    )


def invite_to_installation(
    *, name: str = "", email: str = "", days: int = 7, by: User, now: datetime | None = None
) -> Link:
    """Make a link that lets one person have an account, in no project yet."""
    check_admin(by)
    role = Membership.Role.ANNOTATOR
    return _make(project=None, role=role, name=_name(name), email=email, days=days, by=by, now=now)


def withdraw(*, invitation: Invitation, by: User, now: datetime | None = None) -> Invitation:
    """End a link before somebody used it. Doing it twice changes nothing."""
    with transaction.atomic():
        found = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        if not _may_invite(found.project, by):
            raise Refused(_("Only leads of this project can do that."))
        if found.accepted_at is not None:
            raise Stale(_("Somebody has come in by this link already."))
        if found.withdrawn_at is None:
            found.withdrawn_at, found.withdrawn_by = now or timezone.now(), by
            found.save(update_fields=["withdrawn_at", "withdrawn_by"])
            record(project=found.project, what="invitation.withdrawn", about=found, by=by, now=now)
    return found


def read(token: str, *, now: datetime | None = None) -> Invitation:
    """Return the open invitation of a link, with its project and who made it, or refuse with why
    it does not hold.

    A link holds as long as who made it could make it: whoever leads no more lets nobody in.
    """
    found = (
        Invitation.objects.select_related("project", "created_by")
        .filter(digest=_digest(token))
        .first()
    )
    if found is None:
        raise NotHere(_("This link leads nowhere. Look whether all of it was copied."))
    _check_open(found, now or timezone.now())
    return found


def used_by(token: str, user: User | AnonymousUser) -> Invitation | None:
    """Return the invitation of a link by which this very person came in."""
    if not user.is_authenticated:
        return None
    found = Invitation.objects.select_related("project")
    return found.filter(digest=_digest(token), accepted_by=user).first()


def accept(
    *, token: str, by: User, made_for_it: bool = False, now: datetime | None = None
) -> Membership | None:
    """Let `by` in by a link, which is used up; return who they are in its project, if it has one.

    Refused: a link for another name, and one to a project they are in. A link to the installation
    is used up only by who got their account by it (`made_for_it`).
    """
    now = now or timezone.now()
    with transaction.atomic():
        found = _locked(token, now)
        if found.project is None and not made_for_it:
            raise Refused(_("You have an account already. Pass this link on, or let it expire."))
        return _use(found, by, now)


def accept_with_new_account(
    *, token: str, username: str, password: str, email: str = "", now: datetime | None = None
) -> User:
    """Make an account for whoever holds the link, and let it in: both or neither.

    Unfit: a name that is taken, or looks like one that is; a weak password; an address that another
    account has.
    """
    now = now or timezone.now()
    with transaction.atomic():
        found = _locked(token, now)
        username = checked_name(found.name or username)
        if name_is_taken(username):
            raise Unfit(_("This name is taken. Choose another."), "username")
        email = _address(email)
        if email and _address_is_taken(email):
            raise Unfit(_("There is an account with this address. Sign in with it."), "email")
        user = User(username=username, email=email)
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise Unfit(" ".join(error.messages), "password") from error
        user.set_password(password)
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:
            # Made since it was looked for.
            raise Unfit(_("This name is taken. Choose another."), "username") from error
        if email:
            EmailAddress.objects.create(user=user, email=email, primary=True, verified=False)
        _use(found, user, now)
    return user


def name_is_taken(name: str, invitation: Invitation | None = None) -> bool:
    """Whether nobody new can have this user name: an account has it, or one that looks like it;
    `invitation` may keep it for whoever holds it.
    """
    if _account_has(name):
        return True
    return invitation is not None and _is_somebody_else(invitation, name)


def _account_has(name: str) -> bool:
    """Whether an account has this name in any capitals, or one that looks like it."""
    alike = Q(username__iexact=name) | Q(skeleton=skeleton(name))
    return User.objects.filter(alike).exists()


def check_admin(by: User) -> None:
    """Refuse who does not run this installation."""
    if not (by.is_superuser and by.is_active):
        raise Refused(_("Only who runs this installation can do that."))


def _make(
    *,
    project: Project | None,
    role: str,
    name: str,
    email: str,
    days: int,
    by: User,
    now: datetime | None,
) -> Link:
    if days not in DAYS:
        raise Refused(_("A link holds for 1 to 30 days."))
    if name and User.objects.filter(username__iexact=name).exists():
        raise Refused(
            _("%(name)s has an account already, and can be added at once.") % {"name": name}
            if project is not None
            else _("%(name)s has an account already.") % {"name": name}
        )
    if name and _account_has(name):
        raise Refused(
            _("An account has a name that looks like %(name)s. Choose another.") % {"name": name}
        )
    now = now or timezone.now()
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            project=project,
            role=role,
            name=name,
            email=_address(email),
            digest=_digest(token),
            created_at=now,
            created_by=by,
            expires_at=now + timedelta(days=days),
        )
        words = "" if project is None else role
        record(
            project=project,
            what="invitation.made",
            about=invitation,
            words=words,
            by=by,
            now=now,
        )
    return Link(invitation, token)


def _locked(token: str, now: datetime) -> Invitation:
    """Return the open invitation, locked, and its project, locked as well."""
    pk = read(token, now=now).pk
    found = Invitation.objects.select_for_update(of=("self",)).get(pk=pk)
    if found.project_id is not None:
        found.project = Project.objects.select_for_update(no_key=True).get(pk=found.project_id)
    _check_open(found, now)
    return found


def _use(found: Invitation, by: User, now: datetime) -> Membership | None:
    if found.name and found.name != by.username:
        raise Refused(
            _("This link is for %(name)s. Sign out, and open it again.") % {"name": found.name}
        )
    member = None
    if found.project is not None:
        if found.project.memberships.active().filter(user=by).exists():
            raise Refused(_("You are in this project already."))
        if _is_somebody_else(found, by.username):
            raise Unfit(
                _(
                    "“%(name)s” is somebody else in this project already. Choose another name, or "
                    "ask for a link that is for this one."
                )
                % {"name": by.username},
                "username",
            )
        member = join(found.project, by, found.role)
    found.accepted_at, found.accepted_by = now, by
    found.save(update_fields=["accepted_at", "accepted_by"])
    record(project=found.project, what="invitation.taken", about=found, by=by, now=now)
    return member


def _is_somebody_else(invitation: Invitation, name: str) -> bool:
    """Whether a file brought someone of this name, whom only a lead can say this person to be."""
    return (
        invitation.project is not None
        and invitation.name != name
        and invitation.project.memberships.filter(name=name, user=None).exists()
    )


def _check_open(found: Invitation, now: datetime) -> None:
    if found.accepted_at is not None:
        raise Stale(_("Somebody has come in by this link already. Ask for another."))
    if found.withdrawn_at is not None:
        raise Stale(_("This link was taken back. Ask for another."))
    if found.expires_at <= now:
        raise Stale(_("This link has expired. Ask for another."))
    if not _may_invite(found.project, found.created_by):
        raise Stale(_("Who made this link cannot let you in any more. Ask for another."))
    if found.project is not None:
        refuse_if_archived(found.project)


def _may_invite(project: Project | None, user: User) -> bool:
    if not user.is_active:
        return False
    if user.is_superuser:
        return True
    return (
        project is not None
        and project.memberships.active().filter(user=user, role=Membership.Role.LEAD).exists()
    )


def _name(name: str) -> str:
    return checked_name(name) if name.strip() else ""


def _address(email: str) -> str:
    email = email.strip().lower()
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            raise Unfit(_("This is no mail address."), "email") from error
    return email


def _address_is_taken(email: str) -> bool:
    return (
        EmailAddress.objects.filter(email=email).exists()
        or User.objects.filter(email__iexact=email).exists()
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
