"""The app that may import every other app."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The app with the management commands that start Rejudge."""

    name = "config"
    verbose_name = "Rejudge"
