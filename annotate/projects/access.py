"""The only door from a request to a row: the row, if the person may have it, else 404 or 403.

A stranger gets 404, as if there were nothing; a member who lacks the right gets 403 and a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotate.collection.models import Candidate, Query
from annotate.judgments.models import Assignment
from annotate.models.invitation import Invitation
from annotate.models.load import Load
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Guideline, Membership, MembershipQuerySet, Project
from base.raw_sql import LARGEST_KEY, columns, first
from base.users import User

Person = User | AnonymousUser


def memberships_of(user: Person) -> MembershipQuerySet:
    """The projects a person is in now, each with its project; archived ones left out."""
    return (
        Membership.objects.active()
        .filter(user_id=_id(user), project__archived_at__isnull=True)
        .select_related("project")
    )


def archived_projects(user: Person) -> MembershipQuerySet:
    """The projects a person leads that are put away: they can bring them back."""
    return (
        Membership.objects.active()
        .filter(user_id=_id(user), role=Membership.Role.LEAD, project__archived_at__isnull=False)
        .select_related("project")
    )


def member(user: Person, slug: str) -> Membership:
    """Return the person's membership of the project called `slug`, or raise Http404."""
    found = (
        Membership.objects.active()
        .select_related("project", "user")
        .filter(user_id=_id(user), project__slug=slug)
        .first()
    )
    if found is None:
        raise Http404("There is no project of this name among yours.")
    return found


def lead(user: Person, slug: str) -> Membership:
    """Return the person's membership if they lead the project; a stranger gets Http404, an
    annotator PermissionDenied.
    """
    return _leading(member(user, slug))


@contextmanager
def told_alike(sentence: str) -> Iterator[None]:
    """Tell a stranger to the project of a thing what is told where there is no such thing: not even
    that it is somewhere.
    """
    try:
        yield
    except Http404:
        raise Http404(sentence) from None


def pair(user: Person, pk: int) -> tuple[Membership, InstructionPair]:
    """Return a pair with its query and project, and who the person is there, or raise Http404: one
    query.
    """
    sql = f"""
        SELECT {columns(InstructionPair, "p")}, {columns(Query, "q")},
            {columns(Project, "r")}, {columns(Membership, "m")}
        FROM annotate_instructionpair p
        JOIN annotate_query q ON q.id = p.query_id
        JOIN annotate_project r ON r.id = p.project_id
        JOIN annotate_membership m ON m.project_id = r.id
        WHERE p.id = %(pair)s AND m.user_id = %(user)s AND m.left_at IS NULL
    """  # noqa: S608 (the columns of our own tables)
    asked = {"pair": min(pk, LARGEST_KEY), "user": _id(user)}
    row = first(sql, asked, InstructionPair, Query, Project, Membership)
    if row is None:
        raise Http404("There is no such pair among yours.")
    found, query, project, reader = row
    found.query, found.project = query, project
    query.project = reader.project = project
    if isinstance(user, User):
        reader.user = user
    return reader, found


def candidate(of: InstructionPair, pk: int) -> Candidate:
    """Return a candidate of the pair's query with its document (not the text), or raise Http404."""
    found = Candidate.objects.select_related("document").filter(pk=pk, query=of.query_id).first()
    if found is None:
        raise Http404("There is no such document in this pool.")
    return found


def load(user: Person, slug: str, pk: int) -> tuple[Membership, Load]:
    """Return an upload of a project that the person leads, or raise Http404 or PermissionDenied."""
    who = lead(user, slug)
    found = (
        Load.objects.select_related("project", "preview")
        .filter(pk=pk, project=who.project_id)
        .first()
    )
    if found is None:
        raise Http404("There is no such upload in this project.")
    return who, found


def seat(of: Membership, pk: int) -> Assignment:
    """Return a seat of the member's project, or raise Http404."""
    found = (
        Assignment.objects.select_related("pair", "member")
        .filter(pk=pk, member__project=of.project_id)
        .first()
    )
    if found is None:
        raise Http404("There is no such seat in this project.")
    return found


def query(of: Membership, pk: int) -> Query:
    """Return a query of the member's project, or raise Http404."""
    found = Query.objects.select_related("project").filter(pk=pk, project=of.project_id).first()
    if found is None:
        raise Http404("There is no such query in this project.")
    return found


def narrative(of: InstructionPair, pk: int) -> Narrative:
    """Return a version of one of the pair's narratives, or raise Http404."""
    found = (
        Narrative.objects.select_related("pair__project", "pair__query")
        .filter(pk=pk, pair=of)
        .first()
    )
    if found is None:
        raise Http404("There is no such narrative of this pair.")
    return found


def guideline(of: Membership, version: int) -> Guideline:
    """Return a version of the project's guidelines, or raise Http404."""
    found = (
        Guideline.objects.select_related("author")
        .filter(project=of.project_id, version=version)
        .first()
    )
    if found is None:
        raise Http404("There is no such version of the guidelines.")
    return found


def fellow(of: Membership, pk: int) -> Membership:
    """Return another member of the member's project, or raise Http404."""
    found = Membership.objects.select_related("user", "project").filter(
        pk=pk, project=of.project_id
    )
    if (one := found.first()) is None:
        raise Http404("There is no such member in this project.")
    return one


def invitation(of: Membership, pk: int) -> Invitation:
    """Return a link to the member's project, or raise Http404."""
    found = (
        Invitation.objects.select_related("project").filter(pk=pk, project=of.project_id).first()
    )
    if found is None:
        raise Http404("There is no such link in this project.")
    return found


def admin(user: Person) -> User:
    """Return the person if they run this installation, or raise PermissionDenied."""
    if not isinstance(user, User) or not (user.is_superuser and user.is_active):
        raise PermissionDenied("Only who runs this installation can do that.")
    return user


def account(user: Person, pk: int) -> User:
    """Return anybody's account, for who runs this installation: Http404 or PermissionDenied."""
    admin(user)
    found = User.objects.filter(pk=pk).first()
    if found is None:
        raise Http404("There is no such account.")
    return found


def account_invitation(user: Person, pk: int) -> Invitation:
    """Return a link to the installation, for who runs it: Http404 or PermissionDenied."""
    admin(user)
    found = Invitation.objects.filter(pk=pk, project=None).first()
    if found is None:
        raise Http404("There is no such link.")
    return found


def _leading(who: Membership) -> Membership:
    if not who.leads:
        raise PermissionDenied("Only leads of this project can do that.")
    return who


def _id(user: Person) -> int:
    """The person's key; 0, which nobody has, for a visitor (a null would match the raters
    without a login).
    """
    return user.pk or 0
