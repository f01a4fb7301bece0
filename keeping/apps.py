"""The package `keeping`."""

from __future__ import annotations

from django.apps import AppConfig


class KeepingConfig(AppConfig):
    """Backup, restore, purge, verify. It has commands and no tables."""

    name = "keeping"
    verbose_name = "Keeping"
