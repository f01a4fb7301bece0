"""Exports in Django's admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from audit.admin import ReadOnlyAdmin
from exporters.exports.models import Export


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    """Exports: who requested them, and their state."""

    list_display = ("pk", "project", "format", "by", "state", "requested_at", "finished_at")
    list_filter = ("state", "format")
    list_select_related = ("project", "by")
