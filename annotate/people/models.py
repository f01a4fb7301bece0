"""What programs show instead of a password, and the answers kept for when they ask twice."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.projects.models import Membership, Project
from base.api.scopes import Scope
from base.users import User


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens of people."""

    def valid(self, now: datetime) -> TokenQuerySet:
        """Leave out what was ended or has run out, and what is of people who may not sign in."""
        return self.filter(ended_at__isnull=True, expires_at__gt=now, user__is_active=True)


class Token(models.Model):
    """Lets a program act as a person, within scopes, until a day. Only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    # The first characters, by which its owner knows it again; no secret.
    start = models.CharField(max_length=12)
    # SHA-256 of the token, in hexadecimal. It has 256 bits of chance, so no salt is needed.
    digest = models.CharField(max_length=64, unique=True)
    # Of each scope whether it is in.
    may_judge = models.BooleanField(default=False)
    may_lead = models.BooleanField(default=False)
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    # To the hour: it is not written at every request.
    last_used_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="token_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="token_expires_after_it_is_made", condition=Q(expires_at__gt=F("made_at"))
            ),
        ]

    def __str__(self) -> str:
        return self.start

    @property
    def scopes(self) -> list[str]:
        """What it is good for; reading always."""
        further = {Scope.JUDGE: self.may_judge, Scope.LEAD: self.may_lead}
        return [Scope.READ.value, *(scope.value for scope, may in further.items() if may)]

    def is_valid(self, now: datetime) -> bool:
        """Whether it is still good at this moment; of its person nothing is asked."""
        return self.ended_at is None and self.expires_at > now


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

    The link itself is kept nowhere: `digest` is the SHA-256 of the secret in it. A link to several
    projects is one row for each, with the same digest.
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
    digest = models.CharField(max_length=64)
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
            # A link leads to each project once, or to the installation; it is found by its digest.
            models.UniqueConstraint(
                name="invitation_once_per_project", fields=["digest", "project"]
            ),
            models.UniqueConstraint(
                name="invitation_once_to_installation",
                fields=["digest"],
                condition=Q(project__isnull=True),
            ),
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
