"""The progress of a job of a project, of any kind, and its cancellation."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotate.projects import access, project_jobs
from base.page_request import PageRequest


@require_GET
def job(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a job on the page that polls it; redirect others to the job's page."""
    member = access.lead(request.user, slug)
    row = project_jobs.job_of(member, pk)
    if not request.htmx:
        return redirect(row)
    if row.is_over:
        # It has ended since the last poll, so the whole page has changed.
        return HttpResponseClientRefresh()
    return render(request, "components/_job.html", {"project": member.project, "job": row})


@require_POST
def cancellation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Cancel a job; one that has ended is left unchanged."""
    member = access.lead(request.user, slug)
    row = project_jobs.job_of(member, pk)
    project_jobs.cancel_job(job=row, by=member)
    return redirect(row)
