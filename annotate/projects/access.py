"""Access control: every row for a request is fetched here, or the request gets 404 or 403.

A stranger gets 404, as if the row did not exist; a member who lacks the right gets 403 and a
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404

from annotate.projects.models import Guideline, Membership, MembershipQuerySet, Project
from base.errors import Refused
from base.requests import first_or_404
from base.users import User

Person = User | AnonymousUser


def memberships_of(user: Person) -> MembershipQuerySet:
    """Return a person's active memberships with their projects, without archived projects."""
    return projects_of(user).filter(project__archived_at__isnull=True)


def memberships_to_name(user: Person) -> MembershipQuerySet:
    """Return the memberships with which a person can agree to be named, or has agreed.

    So an agreement can also be withdrawn in an archived project, or after leaving.
    """
    current = Q(left_at__isnull=True, project__archived_at__isnull=True)
    return Membership.objects.filter(
        current | Q(named_at__isnull=False), user_id=user_key(user)
    ).select_related("project")


def projects_of(user: Person) -> MembershipQuerySet:
    """Return a person's active memberships with their projects, including archived projects."""
    return Membership.objects.active().filter(user_id=user_key(user)).select_related("project")


def archived_projects(user: Person) -> MembershipQuerySet:
    """Return the archived projects that a person leads and can unarchive."""
    return projects_of(user).filter(role=Membership.Role.LEAD, project__archived_at__isnull=False)


def member(user: Person, slug: str) -> Membership:
    """Return the person's membership of the project called `slug`, or raise Http404."""
    members = Membership.objects.active().filter(user_id=user_key(user), project__slug=slug)
    membership = members.select_related("project", "user").first()
    if membership is None:
        raise Http404("You have no project with this name.")
    return membership


def past_or_present_member(user: Person, slug: str) -> Membership:
    """Return the person's membership of a project, even if they have left, or raise Http404."""
    memberships = Membership.objects.filter(user_id=user_key(user), project__slug=slug)
    return first_or_404(memberships, "You have no project with this name.")


def lead(user: Person, slug: str) -> Membership:
    """Return the person's membership if they lead the project.

    Raises Http404 for a stranger and PermissionDenied for an annotator.
    """
    return _require_lead(member(user, slug))


@contextmanager
def not_found_as(sentence: str) -> Iterator[None]:
    """Replace the message of an Http404 by `sentence`.

    A stranger to the project then gets the same answer as for an object that does not exist.
    """
    try:
        yield
    except Http404:
        raise Http404(sentence) from None


def guideline(of: Membership, version: int) -> Guideline:
    """Return a version of the project's guidelines, or raise Http404."""
    return first_or_404(
        Guideline.objects.select_related("author").filter(project=of.project_id, version=version),
        "There is no such version of the guidelines.",
    )


def member_of_project(of: Membership, pk: int) -> Membership:
    """Return another member of the member's project, or raise Http404."""
    memberships = Membership.objects.select_related("user", "project").filter(
        pk=pk, project=of.project_id
    )
    if (membership := memberships.first()) is None:
        raise Http404("There is no such member in this project.")
    return membership


def _require_lead(who: Membership) -> Membership:
    if not who.leads:
        raise PermissionDenied("Only leads of this project can do that.")
    return who


def user_key(user: Person) -> int:
    """Return the person's primary key, or 0 for a visitor.

    No user has key 0; NULL would match raters without a login.
    """
    return user.pk or 0


def lock_project(
    pk: int, by: Membership | None, refusal: str = "Only leads of this project can do that."
) -> Project:
    """Return a project, locked until the end of the transaction, for a change by a lead.

    `by` is None for a command. Refused: a person who does not lead it, an archived project.
    """
    if by is not None and not (by.leads and by.project_id == pk):
        raise Refused(refusal)
    project = Project.objects.select_for_update(no_key=True).get(pk=pk)
    refuse_if_archived(project)
    return project


def refuse_if_archived(project: Project) -> None:
    """Refuse changes in an archived project."""
    if project.archived_at is not None:
        raise Refused(
            "This project is archived. Nothing can be changed until a lead brings it back."
        )
