"""Audit events of exports, releases and evaluations."""

from __future__ import annotations

from annotate.projects.audit_log import EventKind

AUDIT_EVENTS = {
    "export.taken": EventKind("Downloaded files of an export"),
    "release.asked": EventKind("Released the project"),
    "release.discarded": EventKind("Discarded a failed release"),
    "publication.changed": EventKind("Changed the publication settings"),
    "release.taken": EventKind("Downloaded files of a release"),
}
