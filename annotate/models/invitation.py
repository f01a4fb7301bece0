"""Links by which people come in."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.projects.models import Membership, Project
from base.users import User


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Links that were handed out."""

    def open(self, now: datetime | None = None) -> InvitationQuerySet:
        """Those that still let somebody in."""
        return self.filter(
            accepted_at__isnull=True,
            withdrawn_at__isnull=True,
            expires_at__gt=now or timezone.now(),
        )


class Invitation(models.Model):
    """A link that lets one person in: to a project with a role, or to the installation alone.

    The link itself is kept nowhere: `digest` is the SHA-256 of the secret in it.
    """

    # None: an account, and no project.
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    role = models.CharField(
        max_length=10, choices=Membership.Role, default=Membership.Role.ANNOTATOR
    )
    # The user name that whoever comes will have; blank: they choose.
    name = models.CharField(max_length=150, blank=True)
    # Where the link was sent; blank: it was handed over in another way.
    email = models.EmailField(blank=True)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # Each state is a fact with who and when, and a link is used or taken back, never both.
            models.CheckConstraint(
                name="invitation_accepted_by_and_at",
                condition=Q(accepted_at__isnull=True, accepted_by__isnull=True)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False),
            ),
            models.CheckConstraint(
                name="invitation_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
            models.CheckConstraint(
                name="invitation_ends_once",
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(
                name="invitation_expires_after_it_is_made",
                condition=Q(expires_at__gt=F("created_at")),
            ),
            # Without a project there is nothing to lead.
            models.CheckConstraint(
                name="invitation_leads_a_project",
                condition=Q(role="annotator") | Q(project__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email or f"link {self.pk}"
