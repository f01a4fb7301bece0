"""What whoever watches over the installation asks, and the page of those who look after it."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from annotate.projects.forms.audit_log import AuditLogForm
from annotate.projects.views import audit_log
from base.page_request import PageRequest
from base.pagination import parse_key
from config import installation_status
from config.installation_status import Place
from config.metrics import exposition
from jobs import queue, status

Page = Callable[..., HttpResponseBase]


@require_safe
def glossary(request: PageRequest) -> HttpResponse:
    """Say what the words of the pages mean."""
    return render(request, "glossary.html")


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say that this process answers. Nothing else is looked at: where the database is away, another
    process would be no better.
    """
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say of database, broker and migrations whether they are there: 200, or 503 where one is not.

    What is wrong with it stands in the log: this is for everybody to read.
    """
    found = installation_status.ready()
    return JsonResponse(found._asdict(), status=200 if all(found) else 503)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the figures out to who brings the token, or looks after the installation."""
    if not (_brings_token(request) or _looks_after(request)):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _brings_token(request: HttpRequest) -> bool:
    wanted = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "")
    return bool(wanted) and hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode())


def _looks_after(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


def for_staff(page: Page) -> Page:
    """Let only those in who look after the installation; anybody else is told so."""

    @wraps(page)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not _looks_after(request):
            raise PermissionDenied("Only who looks after this installation sees this page.")
        return page(request, *args, **kwargs)

    return guarded


@require_safe
@for_staff
def status_page(request: PageRequest) -> HttpResponse:
    """Show workers, what waits, what runs and what failed."""
    failed, more = installation_status.failed(before=_asked(request.GET))
    return render(
        request,
        "status.html",
        {
            "messages_waiting": installation_status.messages(),
            "unapplied": installation_status.unapplied(),
            "worker": status.worker_status(),
            "workers": status.workers(),
            "queues": installation_status.queues(),
            "running": installation_status.running(),
            "failed": failed,
            "next_url": f"?{_address(more)}" if more else None,
            "first_url": request.path if "before" in request.GET else None,
        },
    )


@require_POST
@for_staff
def status_retry(request: PageRequest, label: str, pk: int) -> HttpResponse:
    """Let a job that failed be done again."""
    job = installation_status.find(label, pk)
    if job is None:
        raise Http404("There is no such job.")
    try:
        installation_status.try_again(job=job, by=request.user)
    except queue.CannotRetry as no:
        messages.error(request, str(no))
    else:
        messages.success(request, _("It waits for a worker."))
    return redirect("status")


@require_safe
@for_staff
def installation_audit_log(request: PageRequest) -> HttpResponse:
    """List what was done to the installation, newest first."""
    listed = audit_log.page_context(
        None, request.GET, table_url=reverse("installation_audit_log_table")
    )
    return render(request, "projects/audit_log.html", listed)


@require_safe
@for_staff
def installation_audit_log_table(request: PageRequest) -> HttpResponseBase:
    """Send all of what that page lists as a table, oldest first."""
    form = AuditLogForm(None, request.GET)
    if not form.is_valid():
        return redirect("installation_audit_log")
    return audit_log.table_response(None, form, "audit-log.csv")


def _asked(asked: QueryDict) -> Place | None:
    """The place in the list of failed jobs that the address names; None: it names none."""
    at, _tilde, rest = asked.get("before", "").partition("~")
    label, _tilde, pk = rest.partition("~")
    number = parse_key(pk)
    try:
        moment = parse_datetime(at)
    except ValueError:
        return None
    if moment is None or moment.tzinfo is None or number is None:
        return None
    return Place(moment, label, number)


def _address(place: Place) -> str:
    """The query string that names a place in the list of failed jobs."""
    return urlencode({"before": f"{place.finished_at.isoformat()}~{place.label}~{place.pk}"})
