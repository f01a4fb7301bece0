"""The first page: what waits for me, and what I lead."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import access
from annotate.actions import seats
from annotate.actions.projects import create_project
from annotate.errors import Refused
from annotate.forms.project import NewProjectForm
from annotate.models import Assignment, Membership
from annotate.progress import MySeat, ProjectProgress, my_seats, project_progress
from annotate.requests import PageRequest


@dataclass(frozen=True)
class Waiting:
    """One project on my home page."""

    member: Membership
    seats: list[MySeat]
    # (task, its name) of tasks in which a seat is free for me.
    open_tasks: list[tuple[str, str]]
    progress: ProjectProgress | None


@require_GET
def home(request: PageRequest) -> HttpResponse:
    """Show the person's seats with work left, the seats they could take, and the projects they
    lead.
    """
    projects = [
        _waiting(member)
        for member in access.memberships_of(request.user).order_by("project__name", "pk")
    ]
    return render(request, "annotate/home.html", {"projects": projects})


@require_http_methods(["GET", "POST"])
def new_project(request: PageRequest) -> HttpResponse:
    """Make a project, which whoever makes it leads."""
    form = NewProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            project = create_project(
                slug=form.cleaned_data["slug"],
                name=form.cleaned_data["name"],
                grades=form.cleaned_data["grades"],
                by=request.user,
            )
        except Refused as refused:
            form.add_error("slug", str(refused))
        else:
            messages.success(
                request, "The project is made, and you lead it. Load a collection next."
            )
            return redirect("annotate:loads", project.slug)
    return render(
        request, "annotate/new_project.html", {"form": form}, status=422 if form.errors else 200
    )


@require_POST
def take_seat(request: PageRequest, slug: str, task: str) -> HttpResponse:
    """Take the next open seat of a task and go to its work."""
    member = access.member(request.user, slug)
    if task not in Assignment.Task.values:
        messages.error(request, "There is no such task.")
        return redirect("annotate:home")
    try:
        seat = seats.take_next(task=task, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(member.project)
    if seat is None:
        messages.info(request, "Every seat is taken, or there is nothing to do here now.")
        return redirect("annotate:home")
    return redirect(work_url(seat))


@require_POST
def take_pair_seat(request: PageRequest, pk: int, task: str) -> HttpResponse:
    """Take a seat on this very pair and go to its work."""
    member, pair = access.pair(request.user, pk)
    try:
        if task not in Assignment.Task.values:
            raise Refused("There is no such task.")
        seat = seats.take(pair=pair, task=task, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:queries", member.project.slug)
    return redirect(work_url(seat))


@require_POST
def give_back_seat(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Leave a seat in which nothing was done."""
    member = access.member(request.user, slug)
    seat = access.seat(member, pk)
    try:
        seats.give_back(seat=seat, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The seat is free again.")
    return redirect("annotate:home")


def work_url(seat: Assignment) -> str:
    """Where the work of a seat is done."""
    name = {
        Assignment.Task.REWRITE: "annotate:rewrite",
        Assignment.Task.JUDGE: "annotate:judging",
        Assignment.Task.REVIEW: "audit:review",
    }[Assignment.Task(seat.task)]
    return reverse(name, args=[seat.pair_id])


def _waiting(member: Membership) -> Waiting:
    open_tasks = [
        (task.value, str(task.label))
        for task in Assignment.Task
        if seats.open_pairs(task=task, by=member).exists()
    ]
    return Waiting(
        member,
        my_seats(member),
        open_tasks,
        project_progress(member.project) if member.leads else None,
    )
