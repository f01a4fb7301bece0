"""Audit events of exports, releases and evaluations."""

from __future__ import annotations

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "export.asked": Kind("Requested an export"),
    "export.cancelled": Kind("Cancelled an export"),
    "export.taken": Kind("Downloaded files of an export"),
    "release.asked": Kind("Released the project"),
    "release.cancelled": Kind("Cancelled a release"),
    "release.discarded": Kind("Discarded a failed release"),
    "evaluation.asked": Kind("Requested an evaluation"),
    "evaluation.cancelled": Kind("Cancelled an evaluation"),
    "publication.changed": Kind("Changed the publication settings"),
    "release.taken": Kind("Downloaded files of a release"),
}
