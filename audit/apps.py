"""The room `audit`."""

from __future__ import annotations

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Second pass."""

    name = "audit"
    verbose_name = "Second pass"
    default_auto_field = "django.db.models.BigAutoField"
