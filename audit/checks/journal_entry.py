"""The entries of a browser's journal for checks: an answer to a claimed label, or its undoing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.utils import timezone

from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.forms import CheckForm
from audit.checks.models import Check, SampleItem
from base.api.resource import KeyField
from base.errors import Refused


class CheckEntry(JournalEntry):
    """An answer to a label."""

    item = KeyField()
    # The fields of the form on its page.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The answer that the page replaces, or None.
    instead_of = StatementUuidField(default=None, allow_null=True)

    action: ClassVar[Callable[..., Check]] = staticmethod(actions.check)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save the answer; warn if it replaces one that the page did not show."""
        member, item = access.item(by.user, sent["item"])
        form = CheckForm(item.sample.asks, sent["fields"])
        if not form.is_valid():
            raise Refused(form.sentence())
        before = _current(item, member)
        made = self.action(item=item, by=member, **(form.answer() | {"uuid": sent["uuid"]}))
        if before is None or before.uuid in (sent["instead_of"], made.uuid):
            return SavedEntry(made.at)
        return SavedEntry(
            made.at,
            (
                "You had answered this label in another tab or on another device. Both answers "
                "are kept; this one counts."
            ),
        )


class SettlementEntry(CheckEntry):
    """The same by the person who settles a label."""

    action = staticmethod(actions.settle)


class CheckWithdrawalEntry(JournalEntry):
    """The undoing of an answer."""

    item = KeyField()
    undoes = StatementUuidField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Withdraw the answer, unless it was withdrawn already or a newer one counts."""
        undoes = sent["undoes"]
        member, item = access.item(by.user, sent["item"])
        now = timezone.now()
        current = _current(item, member)
        if current is not None and current.uuid == undoes:
            actions.withdraw_check(item=item, by=member, now=now)
        elif not Check.objects.filter(
            uuid=undoes, item=item, checker=member, ended_at__isnull=False
        ).exists():
            raise Refused("This answer is not there, so it cannot be undone. Reload the page.")
        elif current is not None:
            raise Refused("You have given a newer answer to this label. The newer one counts.")
        return SavedEntry(now)


def _current(item: SampleItem, member: Membership) -> Check | None:
    return Check.objects.current().filter(item=item, checker=member).first()


ENTRIES = {
    "check": CheckEntry(),
    "settle": SettlementEntry(),
    "check_withdrawal": CheckWithdrawalEntry(),
}
