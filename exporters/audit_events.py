"""Audit events of exports, releases and evaluations."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "export.asked": Kind(_("Requested an export")),
    "export.cancelled": Kind(_("Cancelled an export")),
    "export.taken": Kind(_("Downloaded files of an export")),
    "release.asked": Kind(_("Released the project")),
    "release.cancelled": Kind(_("Cancelled a release")),
    "evaluation.asked": Kind(_("Requested an evaluation")),
    "evaluation.cancelled": Kind(_("Cancelled an evaluation")),
    "publication.changed": Kind(_("Changed the publication settings")),
    "release.taken": Kind(_("Downloaded files of a release")),
}
