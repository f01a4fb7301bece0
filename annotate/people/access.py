"""Access control for accounts and invitations: the object, or 404 or 403."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.people.models import Invitation
from annotate.projects.access import Person
from annotate.projects.models import Membership
from base.requests import row_or_404
from base.users import User


def invitation(of: Membership, pk: int) -> Invitation:
    """Return an invitation to the member's project, or raise Http404."""
    return row_or_404(
        Invitation.objects.select_related("project").filter(project=of.project_id),
        pk,
        "There is no such link in this project.",
    )


def admin(user: Person) -> User:
    """Return the person if they are an administrator, or raise PermissionDenied."""
    if not isinstance(user, User) or not (user.is_superuser and user.is_active):
        raise PermissionDenied("Only administrators can do that.")
    return user


def account(user: Person, pk: int) -> User:
    """Return any account; administrators only. Raises Http404 or PermissionDenied."""
    admin(user)
    return row_or_404(User.objects.all(), pk, "There is no such account.")


def account_invitation(user: Person, pk: int) -> Invitation:
    """Return an invitation to the installation; administrators only.

    Raises Http404 or PermissionDenied.
    """
    admin(user)
    return row_or_404(Invitation.objects.filter(project=None), pk, "There is no such link.")
