"""The URLs of all pages; each app has its own."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path, re_path

from config import views
from config.api import (
    Examples,
    InstallationAuditLog,
    InstallationAuditLogTable,
    InstallationStatus,
    JobRetry,
    Schema,
    schema_page,
)
from config.views import examples, help_page

# The admin must use our sign-in: its own has no rate limits and no second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("audit.urls")),
    path("", include("exporters.urls")),
    path("accounts/", include("config.account_urls")),
    path("glossary/", views.glossary, name="glossary"),
    re_path(r"^help/(?P<path>.+)?$", help_page, name="help"),
    path("examples/", examples, name="examples"),
    path("api/v1/examples/", Examples.as_view(), name="api_examples"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.metrics, name="metrics"),
    path("status/", views.status_page, name="status"),
    path("status/jobs/<int:pk>/retry/", views.status_retry, name="status_retry"),
    path("status/audit-log/", views.installation_audit_log, name="installation_audit_log"),
    path(
        "status/audit-log/table/",
        views.installation_audit_log_table,
        name="installation_audit_log_table",
    ),
    path("api/v1/status/", InstallationStatus.as_view(), name="api_status"),
    path("api/v1/status/jobs/<int:job>/retry/", JobRetry.as_view(), name="api_status_retry"),
    path(
        "api/v1/status/audit-log/",
        InstallationAuditLog.as_view(),
        name="api_installation_audit_log",
    ),
    path(
        "api/v1/status/audit-log/table/",
        InstallationAuditLogTable.as_view(),
        name="api_installation_audit_log_table",
    ),
    path("api/v1/schema/", Schema.as_view(), name="api_schema"),
    path("api/v1/", schema_page, name="api_page"),
    path("admin/", admin.site.urls),
]

# Problem JSON for the API, a page for people.
handler400 = "base.api.problems.bad_request"
handler404 = "base.api.problems.not_found"
handler500 = "base.api.problems.server_error"
