"""Pages of no project: monitoring endpoints, documentation, examples, status for administrators."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, SuspiciousFileOperation
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils._os import safe_join
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.static import serve
from prometheus_client import CONTENT_TYPE_LATEST

from annotate.projects.forms import AuditLogForm
from annotate.projects.kinds import KINDS
from annotate.projects.views import audit_log_context, audit_log_csv
from base.pagination import parse_key
from base.requests import PageRequest, refusal_in
from config import installation_status
from config.examples.making import make_example, read_examples
from config.installation_status import ListPosition
from config.metrics import exposition
from jobs import queue

View = Callable[..., HttpResponseBase]


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
    readiness = installation_status.check_readiness()
    return JsonResponse(readiness._asdict(), status=200 if all(readiness) else 503)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to a request with the token, or to an administrator."""
    if not (_has_metrics_token(request) or _is_administrator(request)):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _has_metrics_token(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    header = request.headers.get("Authorization", "")
    return bool(token) and hmac.compare_digest(header.encode(), f"Bearer {token}".encode())


def _is_administrator(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


def staff_only(view: View) -> View:
    """Decorator: raise PermissionDenied unless the user is an administrator."""

    @wraps(view)
    def check_staff(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not _is_administrator(request):
            raise PermissionDenied("Only administrators of this installation can see this page.")
        return view(request, *args, **kwargs)

    return check_staff


@require_safe
@staff_only
def status_page(request: PageRequest) -> HttpResponse:
    """Show workers, queues, running jobs and failed jobs."""
    status = installation_status.read_status(before=_parse_position(request.GET))
    last = status.last_failed
    return render(
        request,
        "status.html",
        {
            "status": status,
            "next_url": f"?{_position_query(last)}" if last else None,
            "first_url": request.path if "before" in request.GET else None,
        },
    )


@require_POST
@staff_only
def status_retry(request: PageRequest, pk: int) -> HttpResponse:
    """Retry a failed job."""
    job = installation_status.find_job(pk)
    if job is None:
        raise Http404("There is no such job.")
    try:
        installation_status.retry_job(job=job, by=request.user)
    except queue.CannotRetry as no:
        messages.error(request, str(no))
    else:
        messages.success(request, "The job is waiting for a worker.")
    return redirect("status")


@require_safe
@staff_only
def installation_audit_log(request: PageRequest) -> HttpResponse:
    """List the installation's audit log, newest first."""
    table_url = reverse("installation_audit_log_table")
    context = audit_log_context(None, request.GET, table_url=table_url)
    return render(request, "projects/audit_log.html", context)


@require_safe
@staff_only
def installation_audit_log_table(request: PageRequest) -> HttpResponseBase:
    """Send the whole filtered audit log as a table, oldest first."""
    form = AuditLogForm(None, request.GET)
    if not form.is_valid():
        return redirect("installation_audit_log")
    return audit_log_csv(form, "audit-log.csv")


def _parse_position(parameters: QueryDict) -> ListPosition | None:
    """Return the place in the list of failed jobs that the query string names, or None."""
    at, _tilde, pk = parameters.get("before", "").partition("~")
    number = parse_key(pk)
    try:
        finished_at = parse_datetime(at)
    except ValueError:
        return None
    if finished_at is None or finished_at.tzinfo is None or number is None:
        return None
    return ListPosition(finished_at, number)


def _position_query(position: ListPosition) -> str:
    """Return the query string that names a place in the list of failed jobs."""
    return urlencode({"before": f"{position.finished_at.isoformat()}~{position.pk}"})


@login_not_required
@require_safe
def help_page(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Send a page or a file of the documentation, to anybody: it has nothing of any project."""
    if not (settings.HELP / "index.html").exists():
        return render(request, "help_missing.html", status=404)
    try:
        is_folder = Path(safe_join(settings.HELP, path)).is_dir()
    except SuspiciousFileOperation as outside:
        raise Http404("There is no such page of the documentation.") from outside
    if is_folder and path and not path.endswith("/"):
        return HttpResponseRedirect(f"{request.path}/")
    path += "index.html" if is_folder else ""
    return serve(request, path, document_root=str(settings.HELP))


def _choices() -> list[tuple[str, str]]:
    return [
        (
            example.kind,
            format_html(
                "<strong>{}</strong>: {}. {}",
                KINDS[example.kind].name,
                example.name,
                example.description,
            ),
        )
        for example in read_examples()
    ]


class ExampleForm(forms.Form):
    """The kind of the example to make."""

    kind = forms.ChoiceField(label="Kind", choices=_choices, widget=forms.RadioSelect)


@require_http_methods(["GET", "POST"])
def examples(request: PageRequest) -> HttpResponse:
    """Make an example project that the reader leads."""
    form = ExampleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "kind"):
            project = make_example(kind=form.cleaned_data["kind"], by=request.user)
            messages.success(request, "The example project is ready. You are its lead.")
            return redirect("annotate:project", project.slug)
    return render(request, "examples.html", {"form": form}, status=422 if form.errors else 200)
