"""Users, their preferences, and what their tokens permit."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any, ClassVar

from confusable_homoglyphs.utils import load  # type: ignore[import-untyped]
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q, TextChoices

# Longer skeletons are cut off; a user name has at most 150 characters.
LONGEST_SKELETON = 300


def skeleton(name: str) -> str:
    """Return a key that is equal for all names that look like `name`, ignoring case.

    Compatible characters are unified (NFKC), then each is replaced by the prototype it looks like:
    a Cyrillic "а" by "a", a "1" by "l", an "m" by "rn".
    """
    folded = unicodedata.normalize("NFKC", name).translate(_prototypes()).casefold()
    return unicodedata.normalize("NFKC", folded)[:LONGEST_SKELETON]


@cache
def _prototypes() -> dict[int, str]:
    """Map each confusable character to the prototype of its group.

    Only the package's data is read: its module would use twenty times as much memory. In the data a
    prototype lists its whole group, and every other character lists its prototype.
    """
    table: dict[str, list[dict[str, str]]] = load("confusables.json")
    prototypes = {}
    for character, alike in table.items():
        if len(character) != 1 or len(alike) != 1:
            continue
        other = alike[0]["c"]
        if len(other) == 1 and len(table.get(other, ())) <= 1:
            # A group of two: each lists the other.
            other = min(character, other)
        prototypes[ord(character)] = other
    return prototypes


class Scope(TextChoices):
    """What a token permits; never more than its owner may do."""

    READ = "read", "Read what you can read"
    JUDGE = "judge", "Take tasks, rewrite, judge, review and check"
    LEAD = "lead", "Everything that leads do: people, rules, files, settling, exports"


class User(AbstractUser):
    """A person with an account; a closed account cannot sign in, its judgments are kept."""

    deactivated_at = models.DateTimeField(null=True, blank=True, editable=False)
    deactivated_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
    )
    # Equal for all names that look like this one. NULL for an account created before look-alike
    # names were refused, if there is another that looks like it.
    skeleton = models.CharField(max_length=LONGEST_SKELETON, null=True, unique=True, editable=False)  # noqa: DJ001

    class Meta(AbstractUser.Meta):
        app_label = "annotate"  # keeps the table's old name
        constraints: ClassVar = [
            # Who closed an account and when: both, or neither if it was not recorded.
            models.CheckConstraint(
                name="user_deactivated_by_and_at",
                condition=Q(deactivated_at__isnull=True, deactivated_by__isnull=True)
                | Q(is_active=False, deactivated_at__isnull=False, deactivated_by__isnull=False),
            ),
        ]

    def clean(self) -> None:
        """Raise ValidationError for a new name that looks like another account's."""
        super().clean()
        stored_name = (
            type(self).objects.filter(pk=self.pk).values_list("username", flat=True).first()
        )
        if self.username != stored_name:
            self._take_skeleton()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the account; raise ValidationError if a new one's name looks like another's."""
        if self._state.adding and self.skeleton is None:
            self._take_skeleton()
        super().save(*args, **kwargs)

    def _take_skeleton(self) -> None:
        self.skeleton = skeleton(self.username)
        if type(self).objects.filter(skeleton=self.skeleton).exclude(pk=self.pk).exists():
            raise ValidationError(
                {"username": "Another account has a name that looks like this one."}
            )


def find_account(name: str, among: models.QuerySet[User] | None = None) -> User | None:
    """Return the account with a user name or None; as at sign-in, capital letters do not count."""
    accounts = (User.objects.all() if among is None else among).filter(username__iexact=name)
    # Accounts from before look-alike names were refused may differ in capital letters only.
    return min(accounts, key=lambda user: (user.username != name, user.pk), default=None)


class Preferences(models.Model):
    """One person's preferences: keys, light or dark theme, time zone, notices, the tour."""

    class Theme(models.TextChoices):
        """Light or dark; blank: follow the operating system."""

        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="preferences")
    # Only keys that differ from base.keymap: {"undo": "u"}.
    keys = models.JSONField(default=dict, blank=True)
    theme = models.CharField(max_length=10, choices=Theme, blank=True)
    # An IANA name; blank: the browser's time zone.
    time_zone = models.CharField(max_length=64, blank=True)
    # Notices whose cause is later than this are new; null: all are.
    notices_seen_at = models.DateTimeField(null=True, blank=True)
    # Whether new notices are mailed, at most once a day, and when they were last mailed.
    mail_digest = models.BooleanField(default=False)
    digest_sent_at = models.DateTimeField(null=True, blank=True)
    # Whether the home page offers the tour: until it was taken or skipped.
    wants_tour = models.BooleanField(default=True)

    class Meta:
        app_label = "annotate"  # keeps the table's old name

    def __str__(self) -> str:
        return f"preferences of user {self.user_id}"
