"""What a lead looks for in the audit log, checked before anything is read."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.projects.audit_log_page import Asked, kinds, people
from annotate.projects.models import Membership
from base import reader_preferences as personal

# In the address, for what a command did.
COMMAND = "command"


class AuditLogForm(forms.Form):
    """Which audit events are shown; everything may be left open."""

    who = forms.ChoiceField(label=_lazy("Who"), required=False)
    what = forms.ChoiceField(label=_lazy("What"), required=False)
    since = forms.DateField(
        label=_lazy("From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=_lazy("To"), required=False, widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, reader: Membership | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: The kinds that the reader may know of: read once, here.
        self.kinds = kinds(reader)
        self._choose(
            "who",
            [
                ("", _("Anyone")),
                *((str(user), name) for user, name in people(reader)),
                (COMMAND, _("A command")),
            ],
        )
        listed = sorted(self.kinds.items(), key=lambda kind: kind[1].casefold())
        self._choose("what", [("", _("Everything")), *listed])

    def asked(self) -> Asked:
        """Return what was asked for; nothing in particular while the form has errors."""
        given = self.cleaned_data if self.is_valid() else {}
        who = given.get("who") or ""
        until = given.get("until")
        return Asked(
            user=0 if who == COMMAND else int(who) if who else None,
            what=given.get("what") or "",
            since=_start(given.get("since")),
            # The last day is one of them.
            until=_start(until + timedelta(days=1)) if until and until < date.max else None,
        )

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _start(day: date | None) -> datetime | None:
    """The first moment of a day where the reader is."""
    if day is None:
        return None
    zone = personal.zone_of_reader() or UTC
    try:
        return datetime.combine(day, time.min, zone).astimezone(UTC)
    except OverflowError:
        # The first and the last day of all: nothing is before or behind them.
        return None
