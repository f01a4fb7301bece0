"""Queries for the audit log's pages and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import QuerySet
from django.utils.text import Truncator, capfirst

from annotate.judgments.blindness import must_answer_first
from annotate.projects.audit_log import AUDIT_EVENTS
from annotate.projects.models import AuditEvent, Membership
from base.users import User

# The maximum length of a changed value on a page; the table has all of it.
SHOWN = 120
COLUMNS = ("uuid", "at", "who", "what", "about", "kind", "key", "words", "changes")


class Change(NamedTuple):
    """A changed field in words."""

    name: str
    before: str
    after: str


class Line(NamedTuple):
    """One audit event as the page shows it."""

    audit_event: AuditEvent
    what: str
    changes: list[Change]


def kinds(reader: Membership | None) -> dict[str, str]:
    """Return the kinds of audit events that the reader may see, with their names.

    A lead who still has to judge or review does not see kinds that reveal others' judgments.
    `reader`: None for an administrator.
    """
    blind = reader is not None and must_answer_first(reader)
    return {
        key: str(kind.name)
        for key, kind in AUDIT_EVENTS.items()
        if not (blind and kind.reveals_judgments)
    }


def people(reader: Membership | None) -> list[tuple[int, str]]:
    """Return the people who may appear as actors: keys of accounts, and names."""
    if reader is not None:
        members = reader.project.memberships.filter(user__isnull=False).order_by("name")
        return [(user, name) for user, name in members.values_list("user", "name") if user]
    acted = (
        AuditEvent.objects.filter(project=None, user__isnull=False).order_by("user").values("user")
    )
    return list(
        User.objects.filter(pk__in=acted.distinct())
        .order_by("username")
        .values_list("pk", "username")
    )


def lines(found: list[AuditEvent], known: dict[str, str], labels: Mapping[str, str]) -> list[Line]:
    """Return audit events as the page shows them; a kind that no longer exists shows its key.

    `labels` has the words of forms for changed fields.
    """
    return [
        Line(
            audit_event,
            known.get(audit_event.what, audit_event.what),
            [
                Change(
                    capfirst(str(labels.get(name, name.replace("_", " ")))),
                    *_words_of_change(
                        _choice(audit_event.kind, name, before),
                        _choice(audit_event.kind, name, after),
                    ),
                )
                # Sorted, because databases order the keys of a JSON value differently.
                for name, (before, after) in sorted(audit_event.changes.items())
            ],
        )
        for audit_event in found
    ]


def table(found: QuerySet[AuditEvent]) -> Iterator[list[str]]:
    """Yield the rows of the table: the header, then the events, oldest first."""
    yield list(COLUMNS)
    for audit_event in found.order_by("pk").iterator():
        yield [
            str(audit_event.uuid),
            audit_event.at.isoformat(),
            audit_event.name,
            audit_event.what,
            audit_event.about,
            audit_event.kind,
            "" if audit_event.key is None else str(audit_event.key),
            audit_event.words,
            json.dumps(audit_event.changes, ensure_ascii=False, sort_keys=True)
            if audit_event.changes
            else "",
        ]


def _choice(kind: str, name: str, value: Any) -> Any:
    """Return the words of a stored choice of a field of a model, or the value."""
    try:
        field = apps.get_model(kind)._meta.get_field(name)
    except (LookupError, ValueError, FieldDoesNotExist):
        # Not a row, a model that is gone, or a name that is no field.
        return value
    choices = dict(getattr(field, "flatchoices", ()))
    return str(choices[value]) if isinstance(value, str) and value in choices else value


def _words_of_change(before: Any, after: Any) -> tuple[str, str]:
    """Return both values in words.

    Of grades and types, only those that differ are given: by key and name, and with their sentences
    if nothing but sentences differs.
    """
    if not (_is_table(before) and _is_table(after)):
        return _words(before), _words(after)
    rows = [row for row in before if row not in after], [row for row in after if row not in before]
    if not any(rows):
        # Only their order differs.
        rows = before, after
    names = [[row[:2] for row in side] for side in rows]
    left, right = rows if names[0] == names[1] else names
    return _words(left), _words(right)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) for row in value)


def _words(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_table(value):
        rows = [": ".join(filter(None, (f"{row[0]} {row[1]}", *row[2:3]))) for row in value]
        value = (" · " if any(row[2:] for row in value) else ", ").join(rows)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    if isinstance(value, str):
        value = " · ".join(value.splitlines())
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return str(Truncator(text).chars(SHOWN))
