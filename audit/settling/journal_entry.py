"""The entries of a browser's journal for settling: a decision on a disagreement, or its undoing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from annotate.judging.journal_entries import (
    RegisteredEntry,
    SavedEntry,
    form_field,
    optional_field,
    text_field,
    uuid_field,
)
from audit.checks.models import Check
from audit.settling import access
from audit.settling.disagreements import Disagreement
from audit.settling.forms import SETTLING_FORMS
from audit.settling.queue_filters import DisagreementKey
from base.errors import Refused
from base.users import User


@dataclass(frozen=True)
class DecisionEntry(RegisteredEntry):
    """A decision: the fields of the form on the disagreement's page."""

    disagreement: DisagreementKey
    fields: dict[str, str]
    # The decision that the page replaces, or None.
    instead_of: UUID | None

    def save(self, *, by: User) -> SavedEntry:
        """Save the decision in place of the one that the page replaces, if that is the reader's."""
        found = _disagreement(by, self.disagreement)
        form = SETTLING_FORMS[found.kind](self.fields)
        if not form.is_valid():
            raise Refused(str(next(iter(form.errors.values()))[0]))
        given = form.cleaned_data | {"uuid": self.uuid}
        return SavedEntry(save_decision(found, given, self.instead_of).at)


@dataclass(frozen=True)
class DecisionWithdrawalEntry(RegisteredEntry):
    """The undoing of a decision."""

    disagreement: DisagreementKey
    undoes: UUID

    def save(self, *, by: User) -> SavedEntry:
        """Withdraw the decision, unless it was withdrawn already or a newer one counts."""
        found = _disagreement(by, self.disagreement)
        current = found.decision()
        if current is not None and current.uuid == self.undoes:
            found.withdraw()
        elif not found.decisions().filter(uuid=self.undoes).exists():
            raise Refused("This decision is not there, so it cannot be undone. Reload the page.")
        elif current is not None:
            raise Refused("There is a newer decision on this. The newer one counts.")
        return SavedEntry(timezone.now())


def save_decision(
    disagreement: Disagreement, given: Mapping[str, Any], instead_of: UUID | None
) -> Any:
    """Settle a disagreement, withdrawing the reader's own decision `instead_of` first.

    A decision with the UUID in `given` changes nothing if there is one already.
    """
    with transaction.atomic():
        sent = disagreement.decisions().filter(uuid=given["uuid"]).first()
        if sent is not None:
            return sent
        current = disagreement.decision()
        if current is not None and current.uuid == instead_of:
            decider = current.checker_id if isinstance(current, Check) else current.by_id
            if decider == disagreement.member.pk:
                disagreement.withdraw()
        return disagreement.settle(given)


def read_decision(entry: Mapping[str, Any], origin: dict[str, Any]) -> DecisionEntry:
    """Parse a journal entry with a decision."""
    return DecisionEntry(
        **origin,
        disagreement=_key(entry),
        fields=form_field(entry, "fields"),
        instead_of=optional_field(entry, "instead_of", uuid_field),
    )


def read_withdrawal(entry: Mapping[str, Any], origin: dict[str, Any]) -> DecisionWithdrawalEntry:
    """Parse a journal entry that undoes a decision."""
    return DecisionWithdrawalEntry(
        **origin, disagreement=_key(entry), undoes=uuid_field(entry, "undoes")
    )


def _key(entry: Mapping[str, Any]) -> DisagreementKey:
    try:
        return DisagreementKey.parse(text_field(entry, "disagreement"))
    except ValueError:
        raise Refused("The field “disagreement” names no disagreement.") from None


def _disagreement(by: User, key: DisagreementKey) -> Disagreement:
    try:
        return access.disagreement_of(by, key)
    except PermissionDenied as denied:
        raise Refused(str(denied)) from denied
