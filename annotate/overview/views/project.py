"""A project's pages: overview, queries, members, rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import F, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.models import Query
from annotate.judgments import completion
from annotate.judgments.assignments import free_seats, hides_figures
from annotate.judgments.document_names import names_to, neutral_order
from annotate.judgments.models import Assignment, Judgment
from annotate.overview.contributions import Todo, overview
from annotate.overview.progress import (
    blind_pairs,
    my_seats,
    pair_seats,
    people_progress,
    query_progress,
    said_of,
    task_progress,
)
from annotate.overview.views.home import seat_rows, work_url, worker
from annotate.pairs.models import InstructionPair, Narrative
from annotate.people import invitations
from annotate.people import members as member_actions
from annotate.people.forms.people import MemberForm
from annotate.people.invitations import Link
from annotate.people.views.accounts import invited
from annotate.projects import access, rules
from annotate.projects.forms.project import GradeFormSet, RulesForm, grade_rules
from annotate.projects.models import Membership
from base.errors import Refused, Unfit
from base.page_request import PageRequest
from base.pagination import Page, page_by_key, page_in_order
from base.users import User
from base.word_diff import diff


@require_GET
def project(request: PageRequest, slug: str) -> HttpResponse:
    """How far are we, how much do we agree, what needs me."""
    member = access.member(request.user, slug)
    judgments = completion.judging(member.project)
    page = page_by_key(member.project.queries.all(), request.GET)
    added = overview(member)
    tasks = task_progress(member, judgments)
    free = [task for task in tasks if task.free]
    people = _people(member, added.context.get("reviewed_by", {}))
    return render(
        request,
        "annotate/project.html",
        {
            "project": member.project,
            "member": member,
            "section": "overview",
            "judging": judgments,
            "judging_begun": completion.has_judging_begun(member.project, judgments),
            "tasks": tasks,
            # What would hide the project's figures from a lead stands apart.
            "offered": [one for one in free if not hides_figures(task=one.task, by=member)],
            "hiding": [one for one in free if hides_figures(task=one.task, by=member)],
            "seats": seat_rows(member),
            "todo": [*_my_todo(member), *added.todo],
            "rows": _query_rows(member, page),
            "previous_url": page.previous,
            "next_url": page.next,
            "people": people,
            "any_imported": any(one["imported"] for one in people or ()),
            **worker(),
            **added.context,
        },
    )


@require_GET
def queries(request: PageRequest, slug: str) -> HttpResponse:
    """Progress per query, in pages; `?search=` finds queries by id or by words of the title."""
    member = access.member(request.user, slug)
    search = request.GET.get("search", "").strip()[:200]
    found = member.project.queries.all()
    if search:
        found = found.filter(Q(query_id__contains=search) | Q(title__icontains=search))
    page = page_by_key(found, request.GET)
    return render(
        request,
        "annotate/queries.html",
        {
            "project": member.project,
            "member": member,
            "section": "queries",
            "rows": _query_rows(member, page),
            "search": search,
            "found": found.count(),
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )


@require_GET
def query(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """One query: its narratives, and its pool with what was said (annotators: by themselves)."""
    member = access.member(request.user, slug)
    project = member.project
    found = access.query(member, pk)
    pairs = list(found.pairs.select_related("project", "query").order_by("pk"))
    pool = found.candidates.select_related("document")
    if member.leads:
        page = page_by_key(pool, request.GET)
    else:
        page = page_in_order(pool, neutral_order(found, project), request.GET)
    return render(
        request,
        "annotate/query.html",
        {
            "project": project,
            "member": member,
            "section": "queries",
            "query": found,
            "pairs": [_pair(member, pair) for pair in pairs],
            "candidates": said_of(member, page.rows),
            "names": names_to(member, page.rows),
            "several_pairs": len(pairs) > 1,
            "grades": list(project.grades.order_by("value")),
            # Who still judges here is blind to what was said before, leads too.
            "show_prior": project.show_prior
            or (member.leads and blind_pairs(member).isdisjoint(pair.pk for pair in pairs)),
            "pool": found.candidates.count(),
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )


def _pair(member: Membership, pair: InstructionPair) -> dict[str, Any]:
    """One pair on its query's page: its narratives, and the way to work on it."""
    original = pair.current(Narrative.Side.ORIGINAL)
    altered = pair.current(Narrative.Side.ALTERED)
    before = original.text if original else ""
    seats = {seat.task: seat for seat in pair.assignments.filter(member=member)}
    return {
        "pair": pair,
        "original": original,
        "altered": altered,
        "pieces": diff(before, altered.text) if altered else None,
        "seats": pair_seats(pair),
        "tasks": [
            {
                "task": task.value,
                "name": task.label,
                "url": work_url(seats[task]) if task in seats else None,
                "free": free_seats(pair, task, member),
            }
            for task in Assignment.Task
        ],
        "rewrite_url": reverse("annotate:rewrite", args=[pair.pk]) if member.leads else None,
    }


def _query_rows(member: Membership, page: Page[Query]) -> list[dict[str, Any]]:
    """Queries as lists show them; what judgments come to is for leads alone."""
    return [
        {
            "query": row.query,
            "url": reverse("annotate:query", args=[member.project.slug, row.query.pk]),
            "answered": row.answered,
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
        for row in query_progress(member, page.rows)
    ]


def _people(member: Membership, reviewed: Mapping[int, int]) -> list[dict[str, Any]] | None:
    """Who is where, for leads; how much each reviewed is known to the room of reviews."""
    if not member.leads:
        return None
    return [
        {
            "member": person.member,
            "answered": person.answered,
            "imported": person.imported,
            "reviewed": reviewed.get(person.member.pk, 0),
            "where": person.where,
            "last_at": person.last_at,
        }
        for person in people_progress(member.project)
    ]


def _my_todo(member: Membership) -> list[Todo]:
    begun = len(my_seats(member))
    return (
        [Todo(_("Seats of yours with work left"), begun, reverse("annotate:home"))] if begun else []
    )


@require_http_methods(["GET", "POST"])
def members(request: PageRequest, slug: str) -> HttpResponse:
    """Who is in the project; leads let people in."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    form = MemberForm(request.POST if request.method == "POST" else None)
    shown = None
    if request.method == "POST" and form.is_valid():
        try:
            link = _let_in(member, form.cleaned_data)
        except Unfit as refused:
            form.add_error(refused.field, str(refused))
        except Refused as refused:
            form.add_error("username", str(refused))
        else:
            if link is None:
                messages.success(
                    request,
                    _("%(name)s is in the project, and signs in as before.")
                    % {"name": form.cleaned_data["username"]},
                )
                return redirect("annotate:members", slug)
            # Shown in the answer itself, so that it is kept nowhere.
            shown, form = invited(request, link), MemberForm()
    people = member.project.memberships.select_related("user").order_by(
        F("left_at").asc(nulls_first=True), "is_machine", "name"
    )
    response = render(
        request,
        "annotate/members.html",
        {
            "project": member.project,
            "member": member,
            "section": "members",
            "members": people,
            "invited": shown,
            "open": member.project.invitations.open().select_related("created_by").order_by("pk")
            if member.leads
            else None,
            "form": form if member.leads else None,
        },
        status=422 if form.errors else 200,
    )
    if shown:
        response["Cache-Control"] = "no-store"
    return response


def _let_in(member: Membership, asked: Mapping[str, Any]) -> Link | None:
    """Let someone in at once if they have an account (None), else make the link that lets them."""
    name, role = asked["username"].strip(), asked["role"]
    if name and User.objects.filter(username=name).exists():
        member_actions.add_member(username=name, role=role, by=member)
        return None
    return invitations.invite(
        role=role, name=name, email=asked["email"], days=asked["days"], by=member
    )


@require_POST
def fellow(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Make a member annotator or lead, let them go, or take them back in."""
    by = access.lead(request.user, slug)
    found = access.fellow(by, pk)
    change = request.POST.get("change", "")
    try:
        if change == "leave":
            member_actions.remove_member(member=found, by=by)
            said = f"{found.name} has left the project. What they said stays."
        elif change == "return" and found.user is not None:
            member_actions.add_member(username=found.user.username, role=found.role, by=by)
            said = f"{found.name} is back."
        else:
            changed = member_actions.change_role(member=found, role=change, by=by)
            said = f"{changed.name} is now {changed.get_role_display().lower()}."
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, said)
    return redirect("annotate:members", slug)


@require_http_methods(["GET", "POST"])
def settings(request: PageRequest, slug: str) -> HttpResponse:
    """The project's rules and grades."""
    member = access.lead(request.user, slug)
    grades = member.project.grades.order_by("value").values("value", "name", "sentence")
    form = RulesForm(request.POST or None, instance=member.project)
    formset = GradeFormSet(request.POST or None, initial=list(grades), prefix="grades")
    judged = Judgment.objects.filter(annotator__project=member.project_id).exists()
    if request.method == "POST" and form.is_valid() and formset.is_valid():
        try:
            rules.change_rules(changes=form.cleaned_data, grades=grade_rules(formset), by=member)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, _("Saved. The rules hold from now on."))
            if judged and {"judge_order", "order_seed"} & set(form.changed_data):
                messages.info(
                    request,
                    _(
                        "The documents that are left come to judges in the new order. "
                        "What they said stays."
                    ),
                )
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
            "judged": judged,
        },
        status=422 if bad else 200,
    )


@require_POST
def archiving(request: PageRequest, slug: str) -> HttpResponse:
    """Put the project away, or bring it back."""
    member = access.lead(request.user, slug)
    if request.POST.get("archived") == "yes":
        if "sure" not in request.POST:
            messages.error(request, _("Nothing was archived. Tick the box if you are sure."))
            return redirect("annotate:settings", slug)
        rules.archive(by=member)
        messages.success(request, _("The project is archived. Nothing in it changes any more."))
    else:
        rules.unarchive(by=member)
        messages.success(request, _("The project is back."))
    return redirect("annotate:settings", slug)
