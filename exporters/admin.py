"""Exports in Django's admin, read-only."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from exporters.exports.models import Export


@admin.register(Export)
class ExportAdmin(admin.ModelAdmin[Export]):
    """Read-only list of exports: who requested them, and their state."""

    list_display = ("pk", "project", "format", "by", "state", "requested_at", "finished_at")
    list_filter = ("state", "format")
    list_select_related = ("project", "by")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Export | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Export | None = None) -> bool:
        return False
