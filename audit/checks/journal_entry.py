"""The entries of a browser's journal for checks: an answer to a claimed label, or its undoing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotate.judging.journal_entries import (
    RegisteredEntry,
    SavedEntry,
    form_field,
    key_field,
    optional_field,
    uuid_field,
)
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.forms import CheckForm
from audit.checks.models import Check, SampleItem
from base.errors import Refused
from base.users import User


@dataclass(frozen=True)
class CheckEntry(RegisteredEntry):
    """An answer to a label: the fields of the form on its page."""

    item: int
    fields: dict[str, str]
    # The answer that the page replaces, or None.
    instead_of: UUID | None

    action = staticmethod(actions.check)

    def save(self, *, by: User) -> SavedEntry:
        """Save the answer; warn if it replaces one that the page did not show."""
        member, item = access.item(by, self.item)
        form = CheckForm(item.sample.asks, self.fields)
        if not form.is_valid():
            raise Refused(form.sentence())
        before = _current(item, member)
        made = self.action(item=item, by=member, **(form.answer() | {"uuid": self.uuid}))
        if before is None or before.uuid in (self.instead_of, made.uuid):
            return SavedEntry(made.at)
        return SavedEntry(
            made.at,
            (
                "You had answered this label in another tab or on another device. Both answers "
                "are kept; this one counts."
            ),
        )


@dataclass(frozen=True)
class SettlementEntry(CheckEntry):
    """The same by the person who settles a label."""

    action = staticmethod(actions.settle)


@dataclass(frozen=True)
class CheckWithdrawalEntry(RegisteredEntry):
    """The undoing of an answer."""

    item: int
    undoes: UUID

    def save(self, *, by: User) -> SavedEntry:
        """Withdraw the answer, unless it was withdrawn already or a newer one counts."""
        member, item = access.item(by, self.item)
        now = timezone.now()
        current = _current(item, member)
        if current is not None and current.uuid == self.undoes:
            actions.withdraw_check(item=item, by=member, now=now)
        elif not Check.objects.filter(
            uuid=self.undoes, item=item, checker=member, superseded_at__isnull=False
        ).exists():
            raise Refused("This answer is not there, so it cannot be undone. Reload the page.")
        elif current is not None:
            raise Refused("You have given a newer answer to this label. The newer one counts.")
        return SavedEntry(now)


def _current(item: SampleItem, member: Membership) -> Check | None:
    return Check.objects.current().filter(item=item, checker=member).first()


def read_check(entry: Mapping[str, Any], origin: dict[str, Any]) -> CheckEntry:
    """Parse a journal entry with an answer to a label."""
    return CheckEntry(**origin, **_answer(entry))


def read_settlement(entry: Mapping[str, Any], origin: dict[str, Any]) -> SettlementEntry:
    """Parse a journal entry with the answer that settles a label."""
    return SettlementEntry(**origin, **_answer(entry))


def read_withdrawal(entry: Mapping[str, Any], origin: dict[str, Any]) -> CheckWithdrawalEntry:
    """Parse a journal entry that undoes an answer to a label."""
    return CheckWithdrawalEntry(
        **origin, item=key_field(entry, "item"), undoes=uuid_field(entry, "undoes")
    )


def _answer(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "item": key_field(entry, "item"),
        "fields": form_field(entry, "fields"),
        "instead_of": optional_field(entry, "instead_of", uuid_field),
    }
