"""How much people agree: the newest report, asking for another, its figures as JSON."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotate import access as annotate_access
from annotate.errors import Refused
from annotate.requests import PageRequest
from audit import access, actions
from audit.figures import tables
from audit.models import AgreementReport
from audit.reliability import Since, since
from jobs.queue import cancel


@require_http_methods(["GET", "POST"])
def agreement(request: PageRequest, slug: str) -> HttpResponse:
    """Show the newest figures and what they were computed on; a POST asks for new ones."""
    member = annotate_access.lead(request.user, slug)
    if request.method == "POST":
        try:
            actions.request_agreement(project=member.project, by=member)
        except Refused as refused:
            messages.error(request, str(refused))
        return redirect("audit:agreement", slug)
    reports = AgreementReport.objects.of("").filter(project=member.project).order_by("-pk")
    report = reports.defer("figures").first()
    context: dict[str, Any] = {
        "project": member.project,
        "member": member,
        "section": "agreement",
        "report": report,
        "seconds_left": _seconds_left(report),
    }
    if request.htmx:
        if report is None or report.is_over:
            return HttpResponseClientRefresh()
        return render(request, "audit/agreement.html#job", context)
    computed = reports.computed().first()
    figures = computed.figures if computed is not None else None
    if computed is not None and figures is not None:
        context |= {
            "computed": computed,
            "figures": figures,
            "stale_words": _stale_words(since(computed)),
            "tables": tables(figures),
        }
    return render(request, "audit/agreement.html", context)


@require_POST
def agreement_cancellation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Call the computing off."""
    _, report = access.report(request.user, slug, pk)
    cancel(report)
    return redirect("audit:agreement", slug)


@require_GET
def agreement_report(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Send a report's figures as JSON, with what they were computed on."""
    _, report = access.report(request.user, slug, pk)
    response = JsonResponse(
        {
            "report": report.pk,
            "state": report.state,
            "code_version": report.code_version,
            "figures": report.figures,
        },
        json_dumps_params={"indent": 2, "ensure_ascii": False},
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-agreement-{report.pk}.json"'
    return response


def _seconds_left(report: AgreementReport | None) -> float | None:
    """An estimate from the pace so far."""
    if report is None or report.started_at is None or not report.total or not report.done:
        return None
    spent = (timezone.now() - report.started_at).total_seconds()
    return spent / report.done * (report.total - report.done)


def _stale_words(come: Since) -> str:
    """A sentence about what the figures do not know of; empty where they are up to date."""
    said = [
        (come.judgments, "judgment has come", "judgments have come"),
        (come.taken_back, "was taken back", "were taken back"),
        (come.reviews, "review has come", "reviews have come"),
        (come.narratives, "narrative was rewritten", "narratives were rewritten"),
    ]
    parts = [f"{number:,} {one if number == 1 else many}" for number, one, many in said if number]
    return f"{', '.join(parts)} since." if parts else ""
