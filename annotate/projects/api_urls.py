"""API addresses of projects, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.projects.api import audit_log, kinds, projects, schedule, taxonomy

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    path("projects/", projects.Projects.as_view(), name="api_projects"),
    path("kinds/", kinds.Kinds.as_view(), name="api_kinds"),
    path(f"{PROJECT}kind/", kinds.KindOfProject.as_view(), name="api_kind"),
    path(PROJECT, projects.OneProject.as_view(), name="api_project"),
    path(f"{PROJECT}archiving/", projects.Archiving.as_view(), name="api_archiving"),
    path(f"{PROJECT}pause/", schedule.Pause.as_view(), name="api_pause"),
    path(f"{PROJECT}due-date/", schedule.DueDate.as_view(), name="api_due_date"),
    path(f"{PROJECT}categories/", taxonomy.Categories.as_view(), name="api_categories"),
    path(f"{PROJECT}categories/taking/", taxonomy.Taxonomy.as_view(), name="api_taxonomy"),
    path(f"{PROJECT}audit-log/", audit_log.AuditLog.as_view(), name="api_audit_log"),
    path(
        f"{PROJECT}audit-log/table/", audit_log.AuditLogTable.as_view(), name="api_audit_log_table"
    ),
]
