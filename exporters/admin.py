"""Exports as rows, to be looked at and never changed."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from exporters.exports.models import Export


@admin.register(Export)
class ExportAdmin(admin.ModelAdmin[Export]):
    """Who asked for which export, and what became of it."""

    list_display = ("pk", "project", "format", "by", "state", "requested_at", "finished_at")
    list_filter = ("state", "format")
    list_select_related = ("project", "by")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Export | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Export | None = None) -> bool:
        return False
