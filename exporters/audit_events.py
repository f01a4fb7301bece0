"""Audit events of exports, releases and evaluations."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "export.asked": Kind(_("Asked for an export")),
    "export.cancelled": Kind(_("Called an export off")),
    "export.taken": Kind(_("Took the files of an export")),
    "release.asked": Kind(_("Released the project")),
    "release.cancelled": Kind(_("Called a release off")),
    "evaluation.asked": Kind(_("Had systems measured")),
    "publication.changed": Kind(_("Changed how the project is published")),
    "release.taken": Kind(_("Took the files of a release")),
}
