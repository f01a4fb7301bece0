"""Configuration of the app `exporters`."""

from __future__ import annotations

from django.apps import AppConfig


class ExportersConfig(AppConfig):
    """Exports, releases and evaluations."""

    name = "exporters"
    verbose_name = "Exports, releases and evaluations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register releases as append-only, audit events, the overview and effects on measures."""
        from annotate.overview import contributions
        from annotate.pools import replacing
        from annotate.projects.audit_log import EventKind, register
        from audit.settling.kinds.judgments import effects_on_measures
        from base import constraints
        from exporters.evaluations import queue_effects
        from exporters.releases import project_since_release
        from exporters.releases.models import Release

        constraints.make_append_only(Release)
        register(
            {
                "export.taken": EventKind("Downloaded files of an export"),
                "release.asked": EventKind("Released the project"),
                "release.discarded": EventKind("Discarded a failed release"),
                "publication.changed": EventKind("Changed the publication settings"),
                "release.taken": EventKind("Downloaded files of a release"),
            }
        )
        contributions.register(project_since_release.contribution)
        effects_on_measures.register(queue_effects.newest_effects)
        replacing.releases_of.register(project_since_release.releases_made)
