"""The audit log's content in its hash chain."""

from __future__ import annotations

import json
from collections.abc import Iterator

from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import AuditEvent, Project

KIND = "audit event"


def content(audit_event: AuditEvent) -> Content:
    """Return the hashed values of an audit event, in order; primary keys are not included."""
    return (
        audit_event.what,
        audit_event.name,
        audit_event.about,
        audit_event.kind,
        audit_event.words,
        json.dumps(audit_event.changes, sort_keys=True),
        hashed_time(audit_event.at),
    )


def _read(project: Project | None) -> Iterator[Row]:
    for audit_event in AuditEvent.objects.filter(project=project).order_by("uuid").iterator():
        yield Row(audit_event.uuid, content(audit_event))


def _label(what: Content) -> str:
    return f"the audit event “{what[0]}” of {what[1] or '-'} about {what[2]}"


AUDIT_EVENTS = Kind(_read, _label)
