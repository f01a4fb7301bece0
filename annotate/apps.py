"""The room `annotate`."""

from __future__ import annotations

from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """First pass."""

    name = "annotate"
    verbose_name = "First pass"
    default_auto_field = "django.db.models.BigAutoField"
