"""The room `exporters`."""

from __future__ import annotations

from django.apps import AppConfig


class ExportersConfig(AppConfig):
    """What goes out."""

    name = "exporters"
    verbose_name = "What goes out"
    default_auto_field = "django.db.models.BigAutoField"
