"""The app `jobs`."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Background jobs."""

    name = "jobs"
    verbose_name = "Work in the background"
    default_auto_field = "django.db.models.BigAutoField"
