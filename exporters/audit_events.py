"""Audit events of exports, releases and evaluations."""

from __future__ import annotations

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "export.taken": Kind("Downloaded files of an export"),
    "release.asked": Kind("Released the project"),
    "release.discarded": Kind("Discarded a failed release"),
    "publication.changed": Kind("Changed the publication settings"),
    "release.taken": Kind("Downloaded files of a release"),
}
