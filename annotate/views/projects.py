"""A project's pages: overview, queries, guidelines, members, rules."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import access
from annotate.actions import guidelines as guideline_actions
from annotate.actions import members as member_actions
from annotate.actions import rewriting, rules
from annotate.errors import Refused
from annotate.forms.project import (
    GradeFormSet,
    GuidelineForm,
    NewMemberForm,
    RoleForm,
    RulesForm,
    grade_rules,
)
from annotate.models import Guideline, InstructionPair, Membership, Narrative, Query
from annotate.narrative_diff import diff
from annotate.overview import Todo, overview
from annotate.pages import Page, page_by_key
from annotate.progress import (
    judgments_wanted,
    my_seats,
    outcome,
    people_progress,
    query_progress,
    task_progress,
)
from annotate.requests import PageRequest
from annotate.views.home import seat_rows, worker


@require_GET
def project(request: PageRequest, slug: str) -> HttpResponse:
    """How far are we, how much do we agree, what needs me."""
    member = access.member(request.user, slug)
    judgments = judgments_wanted(member.project)
    page = page_by_key(member.project.queries.all(), request.GET)
    added = overview(member)
    return render(
        request,
        "annotate/project.html",
        {
            "project": member.project,
            "member": member,
            "section": "overview",
            "judged": judgments.done,
            "wanted": judgments.total,
            "tasks": task_progress(member),
            "seats": seat_rows(member),
            "todo": [*_my_todo(member), *added.todo],
            "rows": _query_rows(member, page),
            "page": page,
            "people": people_progress(member.project) if member.leads else None,
            **worker(),
            **added.context,
        },
    )


@require_GET
def queries(request: PageRequest, slug: str) -> HttpResponse:
    """Progress per query, in pages."""
    member = access.member(request.user, slug)
    page = page_by_key(member.project.queries.all(), request.GET)
    return render(
        request,
        "annotate/queries.html",
        {
            "project": member.project,
            "member": member,
            "section": "queries",
            "rows": _query_rows(member, page),
            "page": page,
            "total": member.project.queries.count(),
        },
    )


@require_GET
def query(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """One query: its narratives and their versions; for leads every document and what was said."""
    member = access.member(request.user, slug)
    found = access.query(member, pk)
    return render(
        request,
        "annotate/query.html",
        {
            "project": member.project,
            "member": member,
            "section": "queries",
            "query": found,
            "pairs": [_pair(member, pair) for pair in _pairs(found)],
            "grades": list(member.project.grades.order_by("value")),
        },
    )


def _pairs(of: Query) -> list[InstructionPair]:
    return list(of.pairs.select_related("project", "query").order_by("pk"))


def _pair(member: Membership, pair: InstructionPair) -> dict[str, Any]:
    """One pair on its query's page."""
    versions = list(pair.narratives.select_related("author").order_by("side", "version"))
    newest = {narrative.side: narrative for narrative in versions}
    original = newest.get(Narrative.Side.ORIGINAL)
    altered = newest.get(Narrative.Side.ALTERED)
    pieces = diff(original.text, altered.text) if original and original.text and altered else None
    return {
        "pair": pair,
        "versions": versions[::-1],
        "original": original,
        "altered": altered,
        "pieces": pieces,
        "seats": list(pair.assignments.select_related("member").order_by("task", "seat")),
        "mine": set(pair.assignments.filter(member=member).values_list("task", flat=True)),
        "outcome": outcome(pair) if member.leads else None,
    }


def _query_rows(member: Membership, page: Page[Query]) -> list[dict[str, Any]]:
    """Queries as lists show them; what judgments come to is for leads alone."""
    return [
        {
            "query": row.query,
            "url": reverse("annotate:query", args=[member.project.slug, row.query.pk]),
            "judged": row.judged,
            "wanted": row.wanted,
            "pairs": row.pairs,
            **(
                {
                    "documents": row.documents,
                    "kept": row.kept,
                    "dropped": row.dropped,
                    "disputed": row.disputed,
                }
                if member.leads
                else {}
            ),
        }
        for row in query_progress(member.project, page.rows)
    ]


def _my_todo(member: Membership) -> list[Todo]:
    begun = len(my_seats(member))
    return [Todo("Seats of yours with work left", begun, reverse("annotate:home"))] if begun else []


@require_http_methods(["GET", "POST"])
def guidelines(request: PageRequest, slug: str) -> HttpResponse:
    """Read the guidelines; leads write a new version, everybody may read the old ones."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    versions = list(
        member.project.guidelines.select_related("author").defer("text").order_by("-version")
    )
    latest = Guideline.objects.latest_of(member.project)
    asked = request.GET.get("version", "")
    shown = access.guideline(member, int(asked)) if asked.isdecimal() and len(asked) < 9 else latest
    form = GuidelineForm(
        request.POST or None,
        initial={
            "text": latest.text if latest else "",
            "based_on": latest.version if latest else 0,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            saved = guideline_actions.write_guideline(
                text=form.cleaned_data["text"], based_on=form.cleaned_data["based_on"], by=member
            )
        except Refused as refused:
            form.add_error("text", str(refused))
        else:
            messages.success(request, f"Version {saved.version} is in force.")
            return redirect("annotate:guidelines", slug)
    return render(
        request,
        "annotate/guidelines.html",
        {
            "project": member.project,
            "member": member,
            "section": "guidelines",
            "versions": versions,
            "latest": latest,
            "shown": shown,
            "editing": member.leads and ("edit" in request.GET or request.method == "POST"),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def members(request: PageRequest, slug: str) -> HttpResponse:
    """Who is in the project; leads let people in."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    form = NewMemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            invited = member_actions.add_member(
                username=form.cleaned_data["username"], role=form.cleaned_data["role"], by=member
            )
        except Refused as refused:
            form.add_error("username", str(refused))
        else:
            messages.success(request, _welcome(invited))
            return redirect("annotate:members", slug)
    people = member.project.memberships.select_related("user").order_by(
        "left_at", "is_machine", "name"
    )
    return render(
        request,
        "annotate/members.html",
        {
            "project": member.project,
            "member": member,
            "section": "members",
            "people": people,
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def member_role(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Make a member annotator or lead."""
    by = access.lead(request.user, slug)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused("There is no such role.")
        changed = member_actions.change_role(
            member=access.fellow(by, pk), role=form.cleaned_data["role"], by=by
        )
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"{changed.name} is now {changed.get_role_display().lower()}.")
    return redirect("annotate:members", slug)


@require_POST
def member_leaving(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Close the project to a member; what they said stays."""
    by = access.lead(request.user, slug)
    try:
        gone = member_actions.remove_member(member=access.fellow(by, pk), by=by)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:members", slug)
    messages.success(request, f"{gone.name} has left the project. What they said stays.")
    return redirect(
        "annotate:home" if gone.pk == by.pk else "annotate:members",
        *([] if gone.pk == by.pk else [slug]),
    )


@require_http_methods(["GET", "POST"])
def settings(request: PageRequest, slug: str) -> HttpResponse:
    """The project's rules and grades."""
    member = access.lead(request.user, slug)
    grades = member.project.grades.order_by("value").values("value", "name", "sentence")
    form = RulesForm(request.POST or None, instance=member.project)
    formset = GradeFormSet(request.POST or None, initial=list(grades), prefix="grades")
    if request.method == "POST" and form.is_valid() and formset.is_valid():
        try:
            rules.change_rules(changes=form.cleaned_data, grades=grade_rules(formset), by=member)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Saved. The rules hold from now on.")
            return redirect("annotate:settings", slug)
    bad = request.method == "POST"
    member.project.refresh_from_db()
    return render(
        request,
        "annotate/settings.html",
        {
            "project": member.project,
            "member": member,
            "section": "settings",
            "form": form,
            "grades": formset,
        },
        status=422 if bad else 200,
    )


@require_POST
def archiving(request: PageRequest, slug: str) -> HttpResponse:
    """Put the project away, or bring it back."""
    member = access.lead(request.user, slug)
    if request.POST.get("archived") == "yes":
        rules.archive(by=member)
        messages.success(request, "The project is archived. Nothing in it changes any more.")
    else:
        rules.unarchive(by=member)
        messages.success(request, "The project is back.")
    return redirect("annotate:settings", slug)


@require_POST
def pair_state(request: PageRequest, pk: int) -> HttpResponse:
    """Send a narrative back to be written anew, remove a pair, or undo either."""
    member, pair = access.pair_as_lead(request.user, pk)
    action = {
        "send-back": rewriting.send_back,
        "remove": rewriting.remove,
        "undo": rewriting.take_back_decision,
    }.get(request.POST.get("do", ""))
    try:
        if action is None:
            raise Refused("There is no such thing to do with a pair.")
        action(pair=pair, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("annotate:query", member.project.slug, pair.query_id)


def _welcome(invited: member_actions.Invited) -> str:
    name = invited.member.name
    if invited.password is None:
        return f"{name} is in the project, and signs in as before."
    return (
        f"{name} is in the project. First password: {invited.password} "
        "Hand it over now: it is not shown again."
    )
