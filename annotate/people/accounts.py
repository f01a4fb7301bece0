"""Close and reopen accounts, end their sessions, change their rights. Judgments are always kept."""

from __future__ import annotations

from datetime import datetime

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotate.people.invitations import check_admin
from annotate.people.members import free_assignments, has_other_lead
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.users import User


def find_accounts(search: str = "", *, closed: bool = False) -> QuerySet[User]:
    """Return the accounts with this text in the name or the address, each with its `projects`.

    `closed`: only closed ones. `projects` is the number of projects that the person is in.
    """
    accounts = User.objects.annotate(
        projects=Count("memberships", filter=Q(memberships__left_at__isnull=True))
    )
    if search:
        accounts = accounts.filter(Q(username__icontains=search) | Q(email__icontains=search))
    return accounts.filter(is_active=False) if closed else accounts


def deactivate(*, user: User, by: User, now: datetime | None = None) -> User:
    """Close an account: sign it out everywhere, end its tokens, and prevent it from signing in.

    The person's judgments and memberships are kept; assignments they never began are freed. Closing
    twice changes nothing. Refused: one's own account, and the only lead of a project.
    """
    with transaction.atomic():
        user, by = _locked(user, by)
        if user.pk == by.pk:
            raise Refused("You cannot close your own account. Ask another administrator.")
        if not user.is_active:
            return user
        _refuse_only_lead(user)
        free_assignments(Membership.objects.filter(user=user))
        end_sessions(user=user)
        now = now or timezone.now()
        user.tokens.filter(ended_at__isnull=True).update(ended_at=now)
        user.is_active = False
        user.deactivated_at, user.deactivated_by = now, by
        user.save(update_fields=["is_active", "deactivated_at", "deactivated_by"])
        record(project=None, what="account.closed", about=user, by=by, now=now)
    return user


def reactivate(*, user: User, by: User) -> User:
    """Reopen an account: the person can sign in as before. Reopening twice changes nothing."""
    with transaction.atomic():
        user, by = _locked(user, by)
        if user.is_active:
            return user
        user.is_active = True
        user.deactivated_at = user.deactivated_by = None
        user.save(update_fields=["is_active", "deactivated_at", "deactivated_by"])
        record(project=None, what="account.opened", about=user, by=by)
    return user


def grant_administration(*, user: User, by: User) -> User:
    """Make an account an administrator. Doing so twice changes nothing."""
    return _set_administration(user, by, runs=True)


def revoke_administration(*, user: User, by: User) -> User:
    """Remove an account's administrator rights.

    Refused: one's own rights, so that there is always an administrator.
    """
    return _set_administration(user, by, runs=False)


def _set_administration(user: User, by: User, *, runs: bool) -> User:
    with transaction.atomic():
        user, by = _locked(user, by)
        if user.pk == by.pk:
            raise Refused("You cannot change your own rights. Ask another administrator.")
        if runs and not user.is_active:
            raise Refused(f"The account of {user.username} is closed.")
        before = user.is_superuser
        user.is_superuser = user.is_staff = runs
        user.save(update_fields=["is_superuser", "is_staff"])
        if before != runs:
            changes = {"is_superuser": (before, runs)}
            record(project=None, what="account.rights", about=user, changes=changes, by=by)
    return user


def sign_out(*, user: User, by: User) -> int:
    """End every session of an account, as an administrator; return their number."""
    check_admin(by)
    with transaction.atomic():
        ended = end_sessions(user=user)
        record(project=None, what="account.sessions", about=user, words=str(ended), by=by)
    return ended


def password_key(*, user: User, by: User) -> str:
    """Return the secret of a link for setting a new password, as a mail would contain it.

    For people without a mail address. The link is valid once, for three days.
    """
    with transaction.atomic():
        user, by = _locked(user, by)
        if not user.is_active:
            raise Refused("This account is closed. Reopen it first.")
        record(project=None, what="account.password", about=user, by=by)
    return f"{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}"


def remove_second_factor(*, user: User, by: User) -> int:
    """Remove the second factor of a person who has lost their app and their recovery codes.

    Returns the number of removed factors.
    """
    with transaction.atomic():
        user, by = _locked(user, by)
        dropped: int = Authenticator.objects.filter(user=user).delete()[0]
        if dropped:
            record(project=None, what="account.changed", about=user, words="second factor", by=by)
    return int(dropped)


def end_sessions(*, user: User) -> int:
    """End every session of an account, without checking rights; return their number."""
    sessions = list(UserSession.objects.filter(user=user))
    for session in sessions:
        session.end()
    return len(sessions)


def _locked(user: User, by: User) -> tuple[User, User]:
    """Return both accounts, reloaded and locked, so that two administrators cannot close each
    other's.
    """
    accounts = User.objects.filter(Q(pk=user.pk) | Q(pk=by.pk))
    users = {user.pk: user for user in accounts.select_for_update().order_by("pk")}
    check_admin(users[by.pk])
    return users[user.pk], users[by.pk]


def _refuse_only_lead(user: User) -> None:
    """Refuse to leave a project without a lead who can sign in."""
    led = Membership.objects.active().filter(user=user, role=Membership.Role.LEAD)
    projects = Project.objects.filter(
        archived_at__isnull=True, pk__in=led.values("project")
    ).order_by("pk")
    locked = {project.pk: project for project in projects.select_for_update()}
    alone = [
        locked[member.project_id].name
        for member in led.filter(project__in=locked)
        if not has_other_lead(member)
    ]
    if alone:
        raise Refused(
            f"{user.username} is the only lead of {', '.join(sorted(alone))}. Make somebody else a "
            f"lead there first: under Members, or with {settings.COMMAND} lead."
        )
