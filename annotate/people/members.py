"""Members of a project, their roles, and their consent to be named."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotate.pairs.models import Assignment
from annotate.projects.access import lock_project, refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.users import User, find_account

# The task limits that a lead may set for a member.
QUOTAS = range(10_001)


def free_assignments(members: QuerySet[Membership]) -> None:
    """Delete the assignments that these departing members never began."""
    Assignment.objects.filter(member__in=members, touched_at__isnull=True).delete()


def add_member(
    *, username: str, role: str, by: Membership, now: datetime | None = None
) -> Membership:
    """Add an account to the project that `by` leads; people without one are invited by a link.

    A former member gets the old membership back. A rater of this name from a file becomes this
    person, including the judgments from the file.
    """
    username = valid_user_name(username)
    check_role(role)
    with transaction.atomic():
        project = lock_project(by.project_id, by)
        user = find_account(username)
        if user is None:
            raise Refused(f"{username} has no account. Invite them with a link.")
        _refuse_closed(user)
        if project.memberships.active().filter(user=user).exists():
            raise Refused(f"{user.username} is already in this project.")
        member = join(project, user, role, now=now)
        record(project=project, what="member.added", about=member, words=role, by=by, now=now)
        return member


def add_rater(*, name: str, by: Membership, now: datetime | None = None) -> Membership:
    """Add a rater who is known only by name and does not sign in; return an existing one."""
    name = valid_user_name(name)
    with transaction.atomic():
        project = lock_project(by.project_id, by)
        membership = project.memberships.named(name).first()
        if membership is not None:
            return membership
        now = now or timezone.now()
        member = Membership.objects.create(project=project, name=name, joined_at=now)
        record(
            project=project, what="member.added", about=member, words=member.role, by=by, now=now
        )
    return member


def appoint_lead(*, project: Project, user: User) -> Membership:
    """Make an account a lead of a project, on behalf of an administrator.

    Also of an archived one, which nobody else could bring back if its leads are gone. Refused: a
    closed account. A second call changes nothing.
    """
    _refuse_closed(user)
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        leads = project.memberships.active().filter(role=Membership.Role.LEAD)
        if lead := leads.filter(user=user).first():
            return lead
        member = join(project, user, Membership.Role.LEAD)
        record(project=project, what="member.added", about=member, words=member.role, by=None)
        return member


def _refuse_closed(user: User) -> None:
    if not user.is_active:
        raise Refused(f"The account of {user.get_username()} is closed.")


def valid_user_name(username: str) -> str:
    """Return the user name without surrounding blanks; refuse an invalid one."""
    username = username.strip()
    try:
        MaxLengthValidator(150)(username)
        UnicodeUsernameValidator()(username)
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from error
    return username


def check_role(role: str) -> None:
    """Refuse an unknown role."""
    if role not in Membership.Role.values:
        raise Refused(f"“{role}” is not a role.")


def join(project: Project, user: User, role: str, *, now: datetime | None = None) -> Membership:
    """Make `user` a member of the locked project, reusing their earlier membership if any."""
    membership = (
        project.memberships.filter(user=user).first()
        or project.memberships.named(user.username).filter(user=None).first()
        or Membership(project=project, name=user.username, joined_at=now or timezone.now())
    )
    if membership.is_machine:
        raise Refused(
            f"“{membership.name}” is the name of a machine in this project. Choose another name."
        )
    membership.user, membership.role, membership.left_at = user, role, None
    membership.save()
    return membership


def change_role(*, member: Membership, role: str, by: Membership) -> Membership:
    """Make a member an annotator or a lead. Refused: the only lead."""
    check_role(role)
    with transaction.atomic():
        lock_project(by.project_id, by)
        member = _member_of(by, member)
        if member.user_id is None:
            raise Refused(f"{member.name} has no account, so there is no role to change.")
        if role != Membership.Role.LEAD:
            _refuse_only_lead(member)
        before, member.role = member.role, role
        member.save(update_fields=["role"])
        if before != role:
            changes = {"role": (before, role)}
            record(project=by.project, what="member.role", about=member, changes=changes, by=by)
    return member


def set_quota(*, member: Membership, most_tasks: int | None, by: Membership) -> Membership:
    """Limit the number of a member's tasks, including those already taken; None: no limit.

    Tasks beyond the limit that they already have are kept.
    """
    if most_tasks is not None and most_tasks not in QUOTAS:
        raise Refused(
            f"Write a number of tasks from 0 to {QUOTAS.stop - 1}, or nothing for no limit."
        )
    with transaction.atomic():
        lock_project(by.project_id, by)
        member = _member_of(by, member)
        if member.user_id is None:
            raise Refused(f"{member.name} has no account, so they cannot take tasks.")
        before, member.most_tasks = member.most_tasks, most_tasks
        member.save(update_fields=["most_tasks"])
        if before != most_tasks:
            changes = {"most_tasks": (before, most_tasks)}
            record(project=by.project, what="member.quota", about=member, changes=changes, by=by)
    return member


def remove_member(*, member: Membership, by: Membership, now: datetime | None = None) -> Membership:
    """Remove a member. Their judgments are kept; assignments they never began are freed."""
    now = now or timezone.now()
    with transaction.atomic():
        lock_project(by.project_id, by)
        member = _member_of(by, member)
        if member.user_id is None:
            raise Refused(f"{member.name} has no account, so there is nobody to remove.")
        _refuse_only_lead(member)
        free_assignments(Membership.objects.filter(pk=member.pk))
        if member.left_at is None:
            member.left_at = max(now, member.joined_at)
            member.save(update_fields=["left_at"])
            record(project=by.project, what="member.removed", about=member, by=by, now=now)
    return member


def check_lead(by: Membership) -> None:
    """Refuse anyone but leads, and everybody in an archived project."""
    refuse_if_archived(by.project)
    if not by.leads:
        raise Refused("Only leads of this project can do that.")


def _member_of(by: Membership, member: Membership) -> Membership:
    membership = Membership.objects.filter(pk=member.pk, project=by.project_id).first()
    if membership is None:
        raise Refused("There is no such member in this project.")
    return membership


def has_other_lead(member: Membership) -> bool:
    """Return whether the member's project has another lead who can sign in."""
    leads = Membership.objects.who_can_sign_in().filter(
        project=member.project_id, role=Membership.Role.LEAD
    )
    return leads.exclude(pk=member.pk).exists()


def _refuse_only_lead(member: Membership) -> None:
    if member.leads and not has_other_lead(member):
        raise Refused(f"{member.name} is the only lead. Make someone else a lead first.")


def set_named(*, named: bool, by: Membership, now: datetime | None = None) -> Membership:
    """Record that `by` agrees to be named in what their project publishes, or withdraws that.

    Only the person can do so. The same answer again changes nothing. Earlier publications stay as
    they are. Refused: a rater without an account.
    """
    if by.user_id is None:
        raise Refused("Only people who sign in can agree to be named.")
    now = now or timezone.now()
    with transaction.atomic():
        member = Membership.objects.select_for_update(no_key=True).get(pk=by.pk)
        if (member.named_at is not None) == named:
            return member
        member.named_at = now if named else None
        member.save(update_fields=["named_at"])
        what = "member.named" if named else "member.unnamed"
        record(project=member.project, what=what, about=member, by=member, now=now)
    return member
