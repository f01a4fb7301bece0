from __future__ import annotations

from django.apps import AppConfig


class ErrandsConfig(AppConfig):
    """A room for tests only: jobs that do what a test tells them to."""

    name = "tests.errands"
    label = "errands"
    default_auto_field = "django.db.models.BigAutoField"
