"""The entries of a browser's journal for settling: a decision on a disagreement, or its undoing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from rest_framework import serializers

from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.pairs.models import InstructionPair
from audit.checks.models import Check
from audit.settling import access
from audit.settling.disagreements import Disagreement
from audit.settling.forms import SETTLING_FORMS
from audit.settling.queue_filters import DisagreementKey
from base.errors import Refused
from base.users import User


class DisagreementField(serializers.Field[DisagreementKey, str, str, Any]):
    """The key of a disagreement."""

    def to_internal_value(self, data: Any) -> DisagreementKey:
        """Parse the key."""
        try:
            return DisagreementKey.parse(str(data))
        except ValueError as error:
            raise serializers.ValidationError("This names no disagreement.") from error


class DecisionEntry(JournalEntry):
    """A decision."""

    disagreement = DisagreementField()
    # The fields of the form on the disagreement's page.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The decision that the page replaces, or None.
    instead_of = StatementUuidField(default=None, allow_null=True)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save the decision in place of the one that the page replaces, if that is the reader's."""
        disagreement = _disagreement(by.user, sent["disagreement"])
        form = SETTLING_FORMS[disagreement.kind](sent["fields"])
        if not form.is_valid():
            raise Refused(str(next(iter(form.errors.values()))[0]))
        decided = form.cleaned_data | {"uuid": sent["uuid"]}
        return SavedEntry(save_decision(disagreement, decided, sent["instead_of"]).at)


class DecisionWithdrawalEntry(JournalEntry):
    """The undoing of a decision."""

    disagreement = DisagreementField()
    undoes = StatementUuidField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Withdraw the decision, unless it was withdrawn already or a newer one counts."""
        disagreement = _disagreement(by.user, sent["disagreement"])
        current = disagreement.decision()
        if current is not None and current.uuid == sent["undoes"]:
            disagreement.withdraw()
        elif not disagreement.decisions().filter(uuid=sent["undoes"]).exists():
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
        # One at a time: a decision that is sent twice at once must not withdraw itself.
        InstructionPair.objects.select_for_update().get(pk=disagreement.narrative.pair_id)
        sent = disagreement.decisions().filter(uuid=given["uuid"]).first()
        if sent is not None:
            return sent
        current = disagreement.decision()
        if current is not None and current.uuid == instead_of:
            decider = current.checker_id if isinstance(current, Check) else current.by_id
            if decider == disagreement.member.pk:
                disagreement.withdraw()
        return disagreement.settle(given)


def _disagreement(by: User, key: DisagreementKey) -> Disagreement:
    try:
        return access.disagreement_of(by, key)
    except PermissionDenied as denied:
        raise Refused(str(denied)) from denied


ENTRIES = {"decision": DecisionEntry(), "decision_withdrawal": DecisionWithdrawalEntry()}
