"""Pages of a project: its creation, rules, kind, schedule, taxonomy, jobs and audit log."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotate.judgments.in_force import is_judged
from annotate.projects import access, actions, audit_log_page, project_jobs, schedule
from annotate.projects.audit_log import AUDIT_EVENTS
from annotate.projects.forms import (
    AuditLogForm,
    CategoryFormSet,
    DueDateForm,
    GradeFormSet,
    NewProjectForm,
    RulesForm,
    filled_in,
)
from annotate.projects.kinds import KINDS, KindGrade, ProjectKind, kind_of
from annotate.projects.models import Membership, Project
from annotate.projects.project_page import project_page
from annotate.projects.taxonomy import (
    TAXONOMIES,
    Kind,
    add_taxonomy,
    set_categories,
    taxonomy_token,
)
from base.csv_output import csv_response
from base.errors import Refused, Stale
from base.pagination import newest_by_key
from base.requests import PageRequest, refusal_as_message, refusal_in


@require_http_methods(["GET", "POST"])
def new_project(request: PageRequest) -> HttpResponse:
    """Create a project led by the person who creates it."""
    form = NewProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "slug"):
            project = actions.create_project(**form.cleaned_data, by=request.user)
            messages.success(
                request, "The project is created, and you lead it. Load a collection next."
            )
            return redirect("annotate:loads", project.slug)
    return render(
        request, "projects/new_project.html", {"form": form}, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "POST"])
def settings(request: PageRequest, slug: str) -> HttpResponse:
    """Show and change the project's rules and grades."""
    member = access.lead(request.user, slug)
    rows = member.project.grades.order_by("value").values("value", "name", "sentence")
    form = RulesForm(request.POST or None, instance=member.project)
    formset = GradeFormSet(request.POST or None, initial=list(rows), prefix="grades")
    judged, token = is_judged(member.project), request.POST.get("token", "")
    if request.method == "POST" and form.is_valid() and formset.is_valid():
        grades = [KindGrade(**row) for row in filled_in(formset)]
        try:
            actions.change_rules(changes=form.cleaned_data, grades=grades, token=token, by=member)
        except Refused as refused:
            form.add_error(None, str(refused))
            token = "" if isinstance(refused, Stale) else token
        else:
            messages.success(request, "Saved. The rules apply from now on.")
            if judged and {"judge_order", "order_seed"} & set(form.changed_data):
                messages.info(
                    request,
                    "Judges get the remaining documents in the new order. Their judgments "
                    "are kept.",
                )
            return redirect("annotate:settings", slug)
    bad = request.method == "POST"
    member.project.refresh_from_db()
    return project_page(
        request,
        "projects/settings.html",
        member,
        section="settings",
        kind=kind_of(member.project.kind),
        form=form,
        grades=formset,
        due_form=DueDateForm(initial={"due_on": member.project.due_on}),
        judged=judged,
        token=token or actions.rules_token(member.project),
        status=422 if bad else 200,
    )


@require_POST
def archiving(request: PageRequest, slug: str) -> HttpResponse:
    """Archive or unarchive the project."""
    member = access.lead(request.user, slug)
    if request.POST.get("archived") == "yes":
        if "sure" not in request.POST:
            messages.error(request, "Nothing was archived. Tick the box if you are sure.")
            return redirect("annotate:settings", slug)
        actions.archive(by=member)
        messages.success(request, "The project is archived. Nothing in it can be changed.")
    else:
        actions.unarchive(by=member)
        messages.success(request, "The project is no longer archived.")
    return redirect("annotate:settings", slug)


@require_http_methods(["GET", "POST"])
def kind(request: PageRequest, slug: str) -> HttpResponse:
    """Show what the kind sets and what the project has changed; `?kind=` previews another one."""
    member = access.lead(request.user, slug)
    if request.method == "POST":
        key, token = request.POST.get("kind", ""), request.POST.get("token", "")
        with refusal_as_message(request):
            actions.change_kind(key=key, token=token, by=member)
            messages.success(request, "Saved. The settings of this kind apply from now on.")
        # After a refusal the page shows what would change now.
        return redirect(f"{reverse('annotate:kind', args=[slug])}?{urlencode({'kind': key})}")
    project = member.project
    now = kind_of(project.kind)
    shown = KINDS.get(request.GET.get("kind", ""), now)
    return project_page(
        request,
        "projects/kind.html",
        member,
        section="settings",
        kinds=list(KINDS.values()),
        now=now,
        shown=shown,
        token=actions.rules_token(project),
        settings=_settings(shown),
        types=TAXONOMIES.get(shown.taxonomy, ()),
        changes=[_row(difference) for difference in actions.differences(project, shown)],
        in_the_way=actions.refusal_reason(project, shown),
    )


def _settings(shown: ProjectKind) -> list[dict[str, Any]]:
    """Return the settings of a kind, with the labels of the settings page."""
    return [
        {"label": _label(field), "value": _words(field, value)}
        for field, value in shown.settings.items()
    ]


def _row(difference: actions.Difference) -> dict[str, Any]:
    return {
        "label": _label(difference.field),
        "before": _words(difference.field, difference.here),
        "after": _words(difference.field, difference.of_kind),
    }


def _label(field: str) -> str:
    return str(RulesForm.base_fields[field].label)


def _words(field: str, value: object) -> str:
    of_field: Any = Project._meta.get_field(field)
    return str(dict(of_field.choices or ()).get(value, value))


@require_POST
def pause(request: PageRequest, slug: str) -> HttpResponse:
    """Pause or resume the project."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        if request.POST.get("paused") == "yes":
            schedule.pause(by=member)
            words = "The project is paused. No new tasks are given out."
        else:
            schedule.resume(by=member)
            words = "The project is resumed. Tasks are given out again."
        messages.success(request, words)
    return redirect("annotate:settings", slug)


@require_POST
def due_date(request: PageRequest, slug: str) -> HttpResponse:
    """Set or remove the due date."""
    member = access.lead(request.user, slug)
    form = DueDateForm(request.POST)
    with refusal_as_message(request):
        if not form.is_valid():
            raise Refused(" ".join(map(str, form.errors["due_on"])))
        schedule.set_due_date(due_on=form.cleaned_data["due_on"], by=member)
        messages.success(request, "The due date is saved.")
    return redirect("annotate:settings", slug)


@require_http_methods(["GET", "POST"])
def categories(request: PageRequest, slug: str) -> HttpResponse:
    """Show and change the types of a project's instructions."""
    member = access.lead(request.user, slug)
    rows = list(
        member.project.categories.order_by("place", "key").values("key", "name", "sentence")
    )
    formset = CategoryFormSet(request.POST or None, initial=rows, prefix="categories")
    error, token = "", request.POST.get("token", "")
    if request.method == "POST" and formset.is_valid():
        try:
            kinds = [Kind(**row) for row in filled_in(formset)]
            set_categories(kinds=kinds, token=token, by=member)
        except Refused as refused:
            error = str(refused)
            token = "" if isinstance(refused, Stale) else token
        else:
            messages.success(request, "Saved.")
            return redirect("annotate:categories", slug)
    pairs = member.project.pairs.alive().exclude(category="")
    used = pairs.order_by().values_list("category")
    counts = dict(used.annotate(n=Count("pk")))
    keys = {row["key"] for row in rows}
    return project_page(
        request,
        "projects/categories.html",
        member,
        section="settings",
        categories=formset,
        error=error,
        token=token or taxonomy_token(member.project),
        unknown=sorted((key, n) for key, n in counts.items() if key not in keys),
        taxonomies=[
            {"name": name, "kinds": kinds}
            for name, kinds in TAXONOMIES.items()
            if not {kind.key for kind in kinds} <= keys
        ],
        status=422 if request.method == "POST" else 200,
    )


@require_POST
def taxonomy(request: PageRequest, slug: str) -> HttpResponse:
    """Add the types of a ready-made taxonomy."""
    member = access.lead(request.user, slug)
    with refusal_as_message(request):
        add_taxonomy(name=request.POST.get("name", ""), by=member)
        messages.success(request, "Added. You can edit the names and sentences.")
    return redirect("annotate:categories", slug)


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


@require_GET
def audit_log(request: PageRequest, slug: str) -> HttpResponse:
    """List audit events, newest first, filtered by the query string: who, what, when."""
    member = access.lead(request.user, slug)
    listed = audit_log_context(
        member, request.GET, table_url=reverse("annotate:audit_log_table", args=[slug])
    )
    frame = {"project": member.project, "member": member, "section": "settings"}
    return render(request, "projects/audit_log.html", listed | frame)


@require_GET
def audit_log_table(request: PageRequest, slug: str) -> HttpResponseBase:
    """Download all events that match the page's filter as a table, oldest first."""
    member = access.lead(request.user, slug)
    form = AuditLogForm(member, request.GET)
    if not form.is_valid():
        return redirect("annotate:audit_log", slug)
    return audit_log_csv(form, f"{slug}-audit-log.csv")


def audit_log_context(
    reader: Membership | None, query: QueryDict, *, table_url: str
) -> dict[str, Any]:
    """Return the template context of an audit log; `reader`: a lead, or None for administrators."""
    form = AuditLogForm(reader, query)
    events = newest_by_key(form.events(), query)
    kept = query.copy()
    for place in ("after", "before"):
        kept.pop(place, None)
    return {
        "form": form,
        "filtered": form.is_filtering,
        "blind": len(form.kinds) < len(AUDIT_EVENTS),
        "lines": audit_log_page.lines(events.rows, form.kinds, RulesForm.Meta.labels),
        "previous_url": events.previous,
        "next_url": events.next,
        "table_url": f"{table_url}?{kept.urlencode()}" if kept else table_url,
    }


def audit_log_csv(form: AuditLogForm, name: str) -> StreamingHttpResponse:
    """Return all events that match a form as a table, with the file name `name`."""
    return csv_response(audit_log_page.table(form.events()), name)
