"""Pages of the guidelines, their cases, and rejudge requests for older answers.

Every member reads the guidelines; leads write them.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotate.guidelines import actions, rejudge_requests
from annotate.guidelines.actions import cases_for_editor, cases_of, parse_case
from annotate.guidelines.forms import GuidelineForm, RejudgeForm, SelectionForm
from annotate.projects import access
from annotate.projects.models import Guideline, Membership
from annotate.projects.project_page import project_page
from base.errors import Refused, Stale
from base.requests import PageRequest, refusal_as_message, refusal_in
from base.word_diff import diff


@require_http_methods(["GET", "POST"])
def guidelines(request: PageRequest, slug: str) -> HttpResponse:
    """Show a version of the guidelines; for leads, save a new one.

    `?edit=1` opens the editor, with the text of `?version=` if there is one, and `?case=12-93` with
    a case ticked; `?changes=1` shows the changes.
    """
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    in_force = Guideline.objects.latest_of(member.project)
    shown = _version_shown(member, request, in_force)
    starting = {
        "text": shown.text if shown else "",
        "based_on": in_force.version if in_force else 0,
    }
    form = GuidelineForm(request.POST or None, initial=starting)
    if request.method == "POST" and form.is_valid():
        try:
            saved = actions.write_guideline(**form.cleaned_data, cases=_cases(request), by=member)
        except Stale as stale:
            # The next save is based on the version that the error names.
            form = GuidelineForm({**request.POST.dict(), "based_on": starting["based_on"]})
            form.add_error("text", str(stale))
        except Refused as refused:
            form.add_error("text", str(refused))
        else:
            messages.success(request, f"Version {saved.version} is now current.")
            return redirect("annotate:guidelines", slug)
    editing = member.leads and ("edit" in request.GET or request.method == "POST")
    return project_page(
        request,
        "guidelines/guidelines.html",
        member,
        section="guidelines",
        in_force=in_force,
        form=form if member.leads else None,
        editing=editing,
        **_editor_context(member, request) if editing else _version_context(member, request, shown),
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def rejudge_older(request: PageRequest, slug: str, version: int) -> HttpResponse:
    """Select older answers and ask for them again under a version of the guidelines."""
    member = access.lead(request.user, slug)
    guideline = access.guideline(member, version)
    in_force = Guideline.objects.latest_of(member.project) == guideline
    selection = SelectionForm(member, request.GET)
    form = RejudgeForm(
        request.POST or None,
        initial={"words": "The guidelines have changed. Judge this once more by the new ones."},
    )
    if request.method == "POST" and selection.is_valid() and form.is_valid():
        with refusal_in(form):
            asked = rejudge_requests.ask_older(
                guideline=guideline,
                selection=selection.selection(),
                **form.cleaned_data,
                by=member,
            )
            answers = "answer is" if asked == 1 else "answers are"
            messages.success(request, f"{asked:,} {answers} asked for again.")
            return redirect("annotate:guideline_rejudge_requests", slug, version)
    count = (
        rejudge_requests.count_older(guideline, selection.selection())
        if in_force and selection.is_valid()
        else None
    )
    return project_page(
        request,
        "guidelines/rejudge_requests.html",
        member,
        section="guidelines",
        guideline=guideline,
        in_force=in_force,
        selection=selection,
        form=form,
        found=count,
        filtered=bool(request.GET.urlencode()),
        asked=rejudge_requests.count_requests(guideline),
        here=request.get_full_path(),
        status=422 if form.errors else 200,
    )


@require_POST
def rejudge_requests_withdrawal(request: PageRequest, slug: str, version: int) -> HttpResponse:
    """Withdraw all open rejudge requests for a version."""
    member = access.lead(request.user, slug)
    guideline = access.guideline(member, version)
    with refusal_as_message(request):
        count = rejudge_requests.withdraw_older(guideline=guideline, by=member)
        answers = "answer is" if count == 1 else "answers are"
        messages.success(request, f"{count:,} {answers} no longer asked for.")
    return redirect("annotate:guideline_rejudge_requests", slug, version)


def _cases(request: PageRequest) -> list[actions.Case]:
    """Return the cases that are ticked or named in the URL; invalid ones are ignored."""
    keys = (request.POST if request.method == "POST" else request.GET).getlist("case")
    cases = (parse_case(key) for key in keys[: actions.MAX_CASES])
    return list(dict.fromkeys(case for case in cases if case is not None))


def _editor_context(member: Membership, request: PageRequest) -> dict[str, Any]:
    """Return the context of the cases beside the editor."""
    shown, more = cases_for_editor(member, _cases(request))
    return {
        "cases": shown,
        "more_cases": more,
        "grades": list(member.project.grades.order_by("value")),
    }


def _version_shown(
    member: Membership, request: PageRequest, in_force: Guideline | None
) -> Guideline | None:
    """Return the version that the URL names, else the newest one."""
    version = request.GET.get("version", "")
    is_number = version.isdecimal() and len(version) < 9
    return access.guideline(member, int(version)) if is_number else in_force


def _version_context(
    member: Membership, request: PageRequest, shown: Guideline | None
) -> dict[str, Any]:
    """Return the context of one version and of the list of versions."""
    versions = list(
        member.project.guidelines.select_related("author")
        .defer("text")
        .annotate(cases_linked=Count("cases"))
        .order_by("-version")
    )
    before = (
        member.project.guidelines.filter(version=shown.version - 1).first()
        if shown is not None and "changes" in request.GET
        else None
    )
    context = {
        "guideline": shown,
        "versions": versions,
        "before": before,
        "pieces": diff(before.text, shown.text) if before and shown else None,
    }
    if shown is None or not member.leads:
        return context
    return {
        **context,
        "cases": cases_of(member, shown),
        "waiting": actions.cases_waiting(member.project).count(),
        "asked": rejudge_requests.count_requests(shown),
        "grades": list(member.project.grades.order_by("value")),
        "rejudge_requests_url": reverse(
            "annotate:guideline_rejudge_requests", args=[member.project.slug, shown.version]
        ),
    }
