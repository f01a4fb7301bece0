"""Addresses of the project pages."""

from __future__ import annotations

from django.urls import path

from annotate.projects.views import audit_log, jobs, kind, project, schedule, taxonomy

urlpatterns = [
    path("projects/", project.new_project, name="new_project"),
    path("projects/<slug:slug>/settings/", project.settings, name="settings"),
    path("projects/<slug:slug>/kind/", kind.kind, name="kind"),
    path("projects/<slug:slug>/categories/", taxonomy.categories, name="categories"),
    path("projects/<slug:slug>/categories/taking/", taxonomy.taxonomy, name="taxonomy"),
    path("projects/<slug:slug>/audit-log/", audit_log.audit_log, name="audit_log"),
    path("projects/<slug:slug>/audit-log/table/", audit_log.table, name="audit_log_table"),
    path("projects/<slug:slug>/archiving/", project.archiving, name="archiving"),
    path("projects/<slug:slug>/jobs/<int:pk>/", jobs.job, name="job"),
    path(
        "projects/<slug:slug>/jobs/<int:pk>/cancellation/",
        jobs.cancellation,
        name="job_cancellation",
    ),
    path("projects/<slug:slug>/pause/", schedule.pause, name="pause"),
    path("projects/<slug:slug>/due-date/", schedule.due_date, name="due_date"),
]
