"""API addresses of projects, under /api/v1/."""

from __future__ import annotations

from annotate.projects.api import audit_log, jobs, kinds, projects, schedule, taxonomy
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"

urlpatterns = [
    route("projects/", projects.Projects, "api_projects"),
    route("kinds/", kinds.Kinds, "api_kinds"),
    route(f"{PROJECT}kind/", kinds.KindOfProject, "api_kind"),
    route(PROJECT, projects.OneProject, "api_project"),
    route(f"{PROJECT}archiving/", projects.Archiving, "api_archiving"),
    route(
        f"{PROJECT}jobs/<int:job>/cancellation/",
        jobs.JobCancellation,
        "api_job_cancellation",
    ),
    route(f"{PROJECT}pause/", schedule.Pause, "api_pause"),
    route(f"{PROJECT}due-date/", schedule.DueDate, "api_due_date"),
    route(f"{PROJECT}categories/", taxonomy.Categories, "api_categories"),
    route(f"{PROJECT}categories/taking/", taxonomy.Taxonomy, "api_taxonomy"),
    route(f"{PROJECT}audit-log/", audit_log.AuditLog, "api_audit_log"),
    route(f"{PROJECT}audit-log/table/", audit_log.AuditLogTable, "api_audit_log_table"),
]
