"""The room `exporters`."""

from __future__ import annotations

from django.apps import AppConfig


class ExportersConfig(AppConfig):
    """What goes out."""

    name = "exporters"
    verbose_name = "What goes out"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add to the home and project pages."""
        from annotate import deeds
        from annotate.screens import overview as pages
        from exporters.audit_events import DEEDS
        from exporters.releases import overview

        deeds.register(DEEDS)
        pages.register(overview.contribution)
