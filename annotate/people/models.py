"""API tokens and invitations."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotate.projects.models import Membership, Project
from base.constraints import at_and_by
from base.users import Scope, User


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens of people."""

    def valid(self, now: datetime) -> TokenQuerySet:
        """Exclude ended and expired tokens, and tokens of closed accounts."""
        return self.filter(ended_at__isnull=True, expires_at__gt=now, user__is_active=True)


class Token(models.Model):
    """A token that lets a program act as a person within scopes; only its digest is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    # The first characters, by which its owner recognizes it; not secret.
    start = models.CharField(max_length=12)
    # SHA-256 of the token, in hexadecimal. It has 256 random bits, so no salt is needed.
    digest = models.CharField(max_length=64, unique=True)
    # Whether the token has the scope.
    may_judge = models.BooleanField(default=False)
    may_lead = models.BooleanField(default=False)
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    # To the hour, so that not every request writes it.
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
        """Return the token's scopes; reading is always one of them."""
        further = {Scope.JUDGE: self.may_judge, Scope.LEAD: self.may_lead}
        return [Scope.READ.value, *(scope.value for scope, may in further.items() if may)]

    def is_valid(self, now: datetime) -> bool:
        """Return whether the token has neither ended nor expired; its owner is not checked."""
        return self.ended_at is None and self.expires_at > now


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Invitation links."""

    def open(self, now: datetime | None = None) -> InvitationQuerySet:
        """Return the links that can still be used, as their creators could still make them."""
        leading = Membership.objects.active().filter(
            project=OuterRef("project"), user=OuterRef("created_by"), role=Membership.Role.LEAD
        )
        return self.filter(
            Q(created_by__is_superuser=True) | Exists(leading),
            created_by__is_active=True,
            accepted_at__isnull=True,
            withdrawn_at__isnull=True,
            expires_at__gt=now or timezone.now(),
        )


class Invitation(models.Model):
    """A link that lets one person join a project with a role, or only create an account.

    The link itself is not stored: `digest` is the SHA-256 of its secret. A link to several projects
    has one row for each, with the same digest.
    """

    # None: an account without a project.
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    role = models.CharField(
        max_length=10, choices=Membership.Role, default=Membership.Role.ANNOTATOR
    )
    # The user name that the invited person will have; blank: they choose.
    name = models.CharField(max_length=150, blank=True)
    # The address that the link was sent to; blank: it was handed over in another way.
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
            # Who ended a link and when: both or neither. A link is used or withdrawn, never both.
            at_and_by("invitation_accepted_by_and_at", "accepted"),
            at_and_by("invitation_withdrawn_by_and_at", "withdrawn"),
            models.CheckConstraint(
                name="invitation_ends_once",
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(
                name="invitation_expires_after_it_is_made",
                condition=Q(expires_at__gt=F("created_at")),
            ),
            # Leads need a project.
            models.CheckConstraint(
                name="invitation_leads_a_project",
                condition=Q(role="annotator") | Q(project__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email or f"link {self.pk}"
