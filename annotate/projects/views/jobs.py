"""Cancel a job of a project, of any kind."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotate.projects import access, project_jobs
from base.page_request import PageRequest


@require_POST
def cancellation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Cancel a job; one that has ended is left unchanged."""
    member = access.lead(request.user, slug)
    job = project_jobs.job_of(member, pk)
    project_jobs.cancel_job(job=job, by=member)
    return redirect(job)
