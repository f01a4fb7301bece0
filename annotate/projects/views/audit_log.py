"""The audit log's page and its download."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotate.projects import access, audit_log_page
from annotate.projects.audit_events import AUDIT_EVENTS
from annotate.projects.audit_log_page import EventFilter
from annotate.projects.forms.audit_log import AuditLogForm
from annotate.projects.forms.project import RulesForm
from annotate.projects.models import Membership
from base.csv_output import csv_response
from base.page_request import PageRequest
from base.pagination import newest_by_key


@require_GET
def audit_log(request: PageRequest, slug: str) -> HttpResponse:
    """List audit events, newest first, filtered by the query string: who, what, when."""
    member = access.lead(request.user, slug)
    listed = page_context(
        member, request.GET, table_url=reverse("annotate:audit_log_table", args=[slug])
    )
    frame = {"project": member.project, "member": member, "section": "settings"}
    return render(request, "projects/audit_log.html", listed | frame)


@require_GET
def table(request: PageRequest, slug: str) -> HttpResponseBase:
    """Download all events that match the page's filter as a table, oldest first."""
    member = access.lead(request.user, slug)
    form = AuditLogForm(member, request.GET)
    if not form.is_valid():
        return redirect("annotate:audit_log", slug)
    return table_response(member, form, f"{slug}-audit-log.csv")


def page_context(reader: Membership | None, query: QueryDict, *, table_url: str) -> dict[str, Any]:
    """Return the template context of an audit log; `reader`: a lead, or None for administrators."""
    form = AuditLogForm(reader, query)
    event_filter = form.event_filter()
    events = newest_by_key(audit_log_page.audit_events(reader, form.kinds, event_filter), query)
    kept = query.copy()
    for place in ("after", "before"):
        kept.pop(place, None)
    return {
        "form": form,
        "filtered": event_filter != EventFilter(),
        "blind": len(form.kinds) < len(AUDIT_EVENTS),
        "lines": audit_log_page.lines(events.rows, form.kinds, RulesForm.Meta.labels),
        "previous_url": events.previous,
        "next_url": events.next,
        "table_url": f"{table_url}?{kept.urlencode()}" if kept else table_url,
    }


def table_response(
    reader: Membership | None, form: AuditLogForm, name: str
) -> StreamingHttpResponse:
    """Return all events that match a form as a table, with the file name `name`."""
    return csv_response(
        audit_log_page.table(audit_log_page.audit_events(reader, form.kinds, form.event_filter())),
        name,
    )
