"""What leads and administrators did, and the chain that tells whether what people said is still
what they said. Neither table is ever changed: triggers (migration 0010) refuse it.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.projects.models import Project
from base.users import User


class Deed(models.Model):
    """One thing that somebody did who leads a project or runs the installation.

    It says that something was done and to what, never what people said of a document.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    # Null: it is of the installation, or of a project that is there no longer.
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="deeds"
    )
    # Null: a command, which knows nobody.
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # As they were called at that moment.
    name = models.CharField(max_length=150, blank=True)
    # A key of annotate.projects.audit_events.DEEDS.
    what = models.CharField(max_length=40)
    # What it was done to: its name then, and which row that is ("annotate.membership", 7).
    about = models.TextField(blank=True)
    kind = models.CharField(max_length=80, blank=True)
    key = models.BigIntegerField(null=True, blank=True)
    # In the words of who did it: a reason, a note.
    words = models.TextField(blank=True)
    # What was otherwise before: {"overlap_judge": [2, 3]}.
    changes: models.JSONField[dict[str, list[Any]], dict[str, list[Any]]] = models.JSONField(
        default=dict, blank=True
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="deed_says_what", condition=~Q(what="")),
            models.CheckConstraint(
                name="deed_of_someone_names_them", condition=Q(user__isnull=True) | ~Q(name="")
            ),
        ]
        indexes: ClassVar = [
            # A page of the trail, by who and by what.
            models.Index(fields=["project", "-id"], name="deed_newest"),
            models.Index(fields=["project", "user", "-id"], name="deed_newest_of"),
            models.Index(fields=["project", "what", "-id"], name="deed_newest_what"),
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.about}"


class Link(models.Model):
    """One link of a chain: what was said, or whether it stands, as a sum with that of the link
    before. `annotate.projects.chain` says of what.

    Nothing in it is a key of a row, so that it holds in whatever installation the rows are.
    """

    class Event(models.IntegerChoices):
        """What the digest is of."""

        SAID = 1, "what was said"
        STANDS = 2, "since when it no longer stands"

    # Null: of the installation.
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    chain = models.UUIDField()
    # Its place in the chain, from 1.
    number = models.PositiveBigIntegerField()
    event = models.PositiveSmallIntegerField(choices=Event)
    # What it is of: a key of `annotate.projects.chain`, as "judgment", and that row's own UUID.
    kind = models.CharField(max_length=20)
    name = models.UUIDField()
    # SHA-256 of what it is of, and of that with the sum of the link before.
    digest = models.BinaryField(max_length=32)
    sum = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            # No two links have one place, and the last one of a chain is quickly found.
            models.UniqueConstraint(name="link_number_once", fields=["project", "chain", "number"]),
            models.UniqueConstraint(
                name="link_number_once_of_all",
                fields=["chain", "number"],
                condition=Q(project__isnull=True),
            ),
            models.CheckConstraint(name="link_numbers_from_1", condition=Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return f"link {self.number} of {self.chain}"
