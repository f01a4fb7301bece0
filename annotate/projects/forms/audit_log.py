"""The filter form of the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from annotate.projects.audit_events import SUBJECTS, WORK, subject_of
from annotate.projects.audit_log_page import EventFilter, kinds, people
from annotate.projects.models import Membership
from base import reader_preferences as personal

# The value of `who` in the address for actions of commands.
COMMAND = "command"


class AuditLogForm(forms.Form):
    """A filter of audit events; every field may be empty."""

    who = forms.ChoiceField(label="Who", required=False)
    what = forms.ChoiceField(label="What", required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput({"type": "date"}))

    def __init__(self, reader: Membership | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: The kinds that the reader may see; queried once.
        self.kinds = kinds(reader)
        self._choose(
            "who",
            [
                ("", "Anyone"),
                *((str(user), name) for user, name in people(reader)),
                (COMMAND, "A command"),
            ],
        )
        self._choose("what", [("", "Everything"), *_grouped(self.kinds)])

    def event_filter(self) -> EventFilter:
        """Return the filter; an empty one if the form has errors."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        who = cleaned.get("who") or ""
        until = cleaned.get("until")
        return EventFilter(
            user=0 if who == COMMAND else int(who) if who else None,
            what=cleaned.get("what") or "",
            since=_start(cleaned.get("since")),
            # The last day is included.
            until=_start(until + timedelta(days=1)) if until and until < date.max else None,
        )

    def _choose(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _grouped(kinds: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the kinds of events by subject, each list by name."""
    by_subject: dict[str, list[tuple[str, str]]] = {subject: [] for subject in (*SUBJECTS, WORK)}
    for key, name in sorted(kinds.items(), key=lambda kind: kind[1].casefold()):
        by_subject[subject_of(key)].append((key, name))
    return [(subject, listed) for subject, listed in by_subject.items() if listed]


def _start(day: date | None) -> datetime | None:
    """Return the start of a day in the reader's time zone, in UTC."""
    if day is None:
        return None
    zone = personal.zone_of_reader() or UTC
    try:
        return datetime.combine(day, time.min, zone).astimezone(UTC)
    except OverflowError:
        # The first or last representable day: no limit is needed.
        return None
