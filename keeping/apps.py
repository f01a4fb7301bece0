"""The Django app `keeping`."""

from __future__ import annotations

from django.apps import AppConfig


class KeepingConfig(AppConfig):
    """Backup, restore, purge and verification: commands, but no tables."""

    name = "keeping"
    verbose_name = "Keeping"
