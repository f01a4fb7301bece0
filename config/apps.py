"""The package that knows every room."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Holds the commands that start the whole house."""

    name = "config"
    verbose_name = "Rejudge"
