"""The page of a job whose content a lead who is still blind may not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRefresh

from annotate.judgments.blindness import must_answer_first
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.page_request import PageRequest
from jobs.models import Job


def job_page(
    request: PageRequest,
    template: str,
    member: Membership,
    section: str,
    job: Job,
    *,
    content: Callable[[], dict[str, Any]],
    blind: str,
    **before: Any,
) -> HttpResponse:
    """Render the progress of a job and, once it is done, its `content` instead of `before`.

    A lead who is still blind gets the sentence `blind` instead. The context names the job after its
    model.
    """
    if request.htmx and job.is_over:
        # The poll of a job that has ended: the whole page has changed.
        return HttpResponseClientRefresh()
    context = before | {
        str(job._meta.model_name): job,
        "seconds_left": job.seconds_left(timezone.now()),
        "blind": "",
    }
    if job.state == Job.State.DONE:
        context |= {"blind": blind} if must_answer_first(member) else content()
    fragment = "#job" if request.htmx else ""
    return project_page(request, f"{template}{fragment}", member, section, **context)
