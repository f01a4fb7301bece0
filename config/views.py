"""The monitoring endpoints, and the status pages for administrators."""

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
    """Show the glossary."""
    return render(request, "glossary.html")


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Report that this process answers.

    Nothing else is checked: if the database is down, restarting this process would not help.
    """
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Report the state of database, broker and migrations: 200, or 503 if one is not ready.

    Details are only in the log, because anyone may read this.
    """
    found = installation_status.ready()
    return JsonResponse(found._asdict(), status=200 if all(found) else 503)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to a request with the token, or to an administrator."""
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
    """Decorator: raise PermissionDenied unless the user is an administrator."""

    @wraps(page)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not _looks_after(request):
            raise PermissionDenied("Only administrators of this installation can see this page.")
        return page(request, *args, **kwargs)

    return guarded


@require_safe
@for_staff
def status_page(request: PageRequest) -> HttpResponse:
    """Show workers, queues, running jobs and failed jobs."""
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
    """Retry a failed job."""
    job = installation_status.find(label, pk)
    if job is None:
        raise Http404("There is no such job.")
    try:
        installation_status.try_again(job=job, by=request.user)
    except queue.CannotRetry as no:
        messages.error(request, str(no))
    else:
        messages.success(request, _("The job is waiting for a worker."))
    return redirect("status")


@require_safe
@for_staff
def installation_audit_log(request: PageRequest) -> HttpResponse:
    """List the installation's audit log, newest first."""
    listed = audit_log.page_context(
        None, request.GET, table_url=reverse("installation_audit_log_table")
    )
    return render(request, "projects/audit_log.html", listed)


@require_safe
@for_staff
def installation_audit_log_table(request: PageRequest) -> HttpResponseBase:
    """Send the whole filtered audit log as a table, oldest first."""
    form = AuditLogForm(None, request.GET)
    if not form.is_valid():
        return redirect("installation_audit_log")
    return audit_log.table_response(None, form, "audit-log.csv")


def _asked(asked: QueryDict) -> Place | None:
    """Return the place in the list of failed jobs that the query string names, or None."""
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
    """Return the query string that names a place in the list of failed jobs."""
    return urlencode({"before": f"{place.finished_at.isoformat()}~{place.label}~{place.pk}"})
