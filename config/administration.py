"""The Django admin; every change made there is recorded in the audit log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.apps import AdminConfig
from django.db.models import Model, QuerySet
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.admin.models import LogEntry

    Administered = ModelAdmin[Model]
else:
    Administered = ModelAdmin


class AdministrationConfig(AdminConfig):
    """The Django admin with our own site."""

    default_site = "config.administration.AuditedAdminSite"


class AuditedAdmin(Administered):
    """Records additions, changes and deletions in the audit log beside Django's own admin log."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        entry = super().log_addition(request, obj, message)
        _record(request, "admin.added", obj, entry.get_change_message())
        return entry

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        entry = super().log_change(request, obj, message)
        _record(request, "admin.changed", obj, entry.get_change_message())
        return entry

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> Any:
        entries = super().log_deletions(request, queryset)
        for obj in queryset:
            _record(request, "admin.deleted", obj, "")
        return entries


class AuditedAdminSite(AdminSite):
    """An admin site that makes every registered model `AuditedAdmin`."""

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register as Django does, with `AuditedAdmin` added to the admin class."""
        base_class = admin_class or ModelAdmin
        audited_class = type(
            base_class.__name__, (AuditedAdmin, base_class), {"__module__": base_class.__module__}
        )
        super().register(model_or_iterable, audited_class, **options)


def _record(request: HttpRequest, what: str, obj: Model, words: str) -> None:
    # Neither can be imported while Django is still loading the applications.
    from annotate.projects.audit_log import record
    from base.users import User

    assert isinstance(request.user, User)
    named = f"{obj._meta.verbose_name} {obj}"
    record(project=None, what=what, about=obj, named=named, words=words, by=request.user)
