from __future__ import annotations

from django.apps import AppConfig


class ErrandsConfig(AppConfig):
    """An app for tests only: jobs that do what a test needs."""

    name = "tests.errands"
    label = "errands"
    default_auto_field = "django.db.models.BigAutoField"
