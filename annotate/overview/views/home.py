"""The home page, the notices and the tour: a person's work in each project; taking and releasing
tasks; what a newcomer needs to know, in a minute, with one document to judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import assignments, blindness, completion, open_pairs
from annotate.judgments.assignments import my_assignments, read_assignments
from annotate.judgments.completion import WorkLeft
from annotate.judgments.models import Judgment, Statement
from annotate.overview.contributions import overviews
from annotate.overview.notices import (
    in_use_first,
    mark_read,
    new_among,
    notices_in,
    projects_with_notices,
    seen_until,
)
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment, Narrative
from annotate.people.preferences import change_preferences
from annotate.projects import access, schedule
from annotate.projects.models import Grade, Membership
from annotate.projects.project_page import project_page
from base.errors import Refused
from base.reader_preferences import preferences, zone_of_reader
from base.requests import PageRequest, refusal_as_message
from base.word_diff import diff
from jobs.status import worker_status

PROJECTS_ON_A_PAGE = 30


@require_GET
def home(request: PageRequest) -> HttpResponse:
    """Show the person's work in each project.

    That is: their tasks with work left, the tasks they could take, what else waits for them, and
    the project's progress if they lead it. `?page=2` has the next projects.
    """
    every = in_use_first(access.projects_of(request.user))
    active = [member for member in every if member.project.archived_at is None]
    page = Paginator(active, PROJECTS_ON_A_PAGE).get_page(request.GET.get("page"))
    members = list(page)
    read_assignments(members)
    completion.prefetch_left(members)
    today = judged_today(members)
    added = overviews(members)
    offers = offers_of(members)
    held = {member.pk: my_assignments(member) for member in members}
    at_quota = open_pairs.with_quota_reached(members)
    # Projects with work come first, in each half by name.
    members.sort(
        key=lambda member: (
            not (held[member.pk] or _offered(offers[member.pk]) or added[member.pk].todo),
            member.project.name,
        )
    )
    judging = completion.judging_of(
        [membership.project for membership in members if membership.leads]
    )
    roles = {value: str(words) for value, words in Membership.Role.choices}
    name_next_documents([offer for member in members for offer in _offered(offers[member.pk])])
    rows: list[dict[str, Any]] = [
        {
            "project": member.project,
            "role": roles[member.role],
            "leads": member.leads,
            "today": today.get(member.pk, 0),
            "today_words": _counted(today[member.pk], "judgment", "today")
            if member.pk in today
            else "",
            "assignments": assignment_rows(held[member.pk]),
            "offers": _offered(offers[member.pk]),
            "hiding": [offer for offer in offers[member.pk] if offer["hides_figures"]],
            "at_quota": member.pk in at_quota,
            "todo": added[member.pk].todo,
            "due": schedule.due(member.project),
            "judging": judging.get(member.project_id),
        }
        for member in members
    ]
    return render(
        request,
        "overview/home.html",
        {
            "rows": rows,
            "page": page,
            "wants_tour": preferences(request.user).wants_tour,
            "new_notices": len(new_among(notices_in(members), seen_until(request.user))),
            "archived": [
                membership
                for membership in every
                if membership.leads and membership.project.archived_at is not None
            ],
            **(worker() if any(member.leads for member in members) else {}),
        },
    )


def _offered(offers: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tasks that are offered openly: those that hide no figures from a lead."""
    return [offer for offer in offers if not offer["hides_figures"]]


@require_POST
def assignment(request: PageRequest, slug: str) -> HttpResponse:
    """Take the next open task of a kind and go to its work."""
    member = access.member(request.user, slug)
    try:
        taken = assignments.take_next(
            task=_task(request.POST.get("task", "")),
            by=member,
            become_blind=confirmed(request),
        )
    except assignments.LeadMustConfirm:
        return confirm_assignment(request, member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(member.project)
    if taken is None:
        messages.info(request, "No task is free: every task is taken or done.")
        return redirect("annotate:home")
    return redirect(work_url(taken))


@require_POST
def pair_assignment(request: PageRequest, pk: int) -> HttpResponse:
    """Take an assignment on this pair and go to its work."""
    member, pair = pairs_access.pair(request.user, pk)
    try:
        taken = assignments.take(
            pair=pair,
            task=_task(request.POST.get("task", "")),
            by=member,
            become_blind=confirmed(request),
        )
    except assignments.LeadMustConfirm:
        return confirm_assignment(request, member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:queries", member.project.slug)
    return redirect(work_url(taken))


@require_POST
def give_back_assignment(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Give back an assignment in which nothing was done."""
    member = access.member(request.user, slug)
    with refusal_as_message(request):
        assignments.give_back(assignment=pairs_access.assignment(member, pk), by=member)
        messages.success(request, "The task is free again.")
    return redirect("annotate:home")


def work_url(assignment: Assignment) -> str:
    """Return the address of the page where an assignment is worked on."""
    name = {
        Assignment.Task.REWRITE: "annotate:rewrite",
        Assignment.Task.JUDGE: "annotate:judging",
        Assignment.Task.REVIEW: "audit:review",
    }[Assignment.Task(assignment.task)]
    return reverse(name, args=[assignment.pair_id])


def assignment_rows(assignments: Iterable[WorkLeft]) -> list[dict[str, Any]]:
    """Return assignments with work left, as the pages list them.

    If two would read the same, as for two instructions of one query, each names its instruction.
    """
    rows = list(assignments)
    alike = Counter(_task_and_title(mine.assignment) for mine in rows)
    return [
        {
            "title": _title_of(mine.assignment, alone=alike[_task_and_title(mine.assignment)] == 1),
            "task": mine.assignment.get_task_display(),
            "done": mine.done,
            "total": mine.total,
            "again": mine.again,
            "sent_back": mine.is_sent_back,
            "url": work_url(mine.assignment),
            "give_back_url": reverse(
                "annotate:give_back_assignment",
                args=[mine.assignment.pair.project.slug, mine.assignment.pk],
            )
            if mine.assignment.touched_at is None
            else None,
        }
        for mine in rows
    ]


def _task_and_title(assignment: Assignment) -> tuple[str, str]:
    return assignment.task, assignment.pair.query.title


def _title_of(assignment: Assignment, *, alone: bool) -> str:
    """Return the title of an assignment; `alone`: no other one has the title of its query."""
    pair = assignment.pair
    if not pair.query.title:
        return pair.pair_id
    return pair.query.title if alone else f"{pair.query.title} ({pair.pair_id})"


def worker() -> dict[str, Any]:
    """Return the state of the background worker, as components/_worker.html expects it."""
    status = worker_status()
    return {"heartbeat": status.last_seen, "worker_alive": status.alive, "worker_known": True}


def offers_of(members: Sequence[Membership]) -> dict[int, list[dict[str, Any]]]:
    """Return the tasks that each of these members could take now: three queries.

    The members are one person's, in different projects. Each offer has the pair that comes next.
    """
    offers: dict[int, list[dict[str, Any]]] = {member.pk: [] for member in members}
    for task in Assignment.Task:
        work = open_pairs.open_work_of(task=task, members=members)
        name = str(task.label)
        for member in members:
            if open_ones := work[member.pk]:
                offers[member.pk].append(
                    {
                        "project": member.project,
                        "member": member,
                        "task": task.value,
                        "task_name": name,
                        "url": reverse("annotate:assignment", args=[member.project.slug]),
                        "free_words": _counted(len(open_ones), "task", "open"),
                        "next": open_ones[0],
                        "hides_figures": blindness.hides_figures(task=task, by=member),
                    }
                )
    return offers


def _counted(number: int, noun: str, words: str) -> str:
    return f"{number:,} {noun if number == 1 else f'{noun}s'} {words}"


def name_next_documents(offers: Sequence[dict[str, Any]]) -> None:
    """Add to each offer to judge how many documents of its next pair are left: one query.

    The member may have answered some of them without a task, in a file.
    """
    judging = [offer for offer in offers if offer["task"] == Assignment.Task.JUDGE]
    if not judging:
        return
    mine = {
        "candidate": OuterRef("pk"),
        "annotator__in": [offer["member"].pk for offer in judging],
        "narrative__in": [offer["next"].narrative for offer in judging],
    }
    left = ~Exists(Statement.objects.current().final().filter(**mine))
    narratives = [offer["next"].narrative for offer in judging]
    own = Narrative.objects.filter(pair=OuterRef("made_for"), pk__in=narratives)
    counts = (
        Candidate.objects.filter(query__in=[offer["next"].query for offer in judging])
        .filter(shown_to_judges(*(offer["member"].project for offer in judging)), left)
        .filter(Q(made_for__isnull=True) | Exists(own))
        .values("query")
        .annotate(documents_left=Count("pk"))
    )
    documents_left: dict[int, int] = {int(row["query"]): row["documents_left"] for row in counts}
    for offer in judging:
        offer["documents"] = documents_left.get(offer["next"].query, 0)


def judged_today(members: Sequence[Membership]) -> dict[int, int]:
    """Return how many judgments each of these members gave today on their tasks: one query.

    It reads only the judgments of today, in the reader's time zone. Call `read_assignments` first.
    """
    now = timezone.now().astimezone(zone_of_reader() or UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    pairs = {
        member.pk: {assignment.pair_id for assignment in completion.held_by(member)}
        for member in members
    }
    judged: Counter[int] = Counter()
    rows = (
        Judgment.objects.current()
        .filter(annotator__in=pairs, source=Judgment.Source.PAGE, at__gte=midnight)
        .order_by()
        .values_list("annotator_id", "narrative__pair_id")
        .annotate(n=Count("pk"))
    )
    for member, pair, number in rows:
        judged[member] += number if pair in pairs[member] else 0
    return judged


def confirmed(request: PageRequest) -> bool:
    """Return whether a lead has confirmed taking an assignment that hides figures from them."""
    return request.POST.get("become_blind") == "yes"


def confirm_assignment(request: PageRequest, member: Membership) -> HttpResponse:
    """Ask a lead to confirm the assignment, and say what it hides: the same form again."""
    return project_page(
        request,
        "overview/become_blind.html",
        member,
        task=request.POST.get("task", ""),
    )


def _task(name: str) -> str:
    if name not in Assignment.Task.values:
        raise Refused("There is no such task.")
    return name


@require_http_methods(["GET", "POST"])
def notices(request: PageRequest) -> HttpResponse:
    """List the reader's notices, new ones first; a POST marks all as read. Pages as on home."""
    if request.method == "POST":
        until = _parse_time(request.POST.get("until", ""))
        if until is not None:
            mark_read(until=until, by=request.user)
        return redirect("annotate:notices")
    now = timezone.now()
    page = projects_with_notices(request.user).get_page(request.GET.get("page"))
    # They are in the order of their times, so that the new ones come first.
    shown = notices_in(list(page))
    new = new_among(shown, seen_until(request.user))
    return render(
        request,
        "overview/notices.html",
        {
            "new": new,
            "seen": shown[len(new) :],
            "until": now.isoformat(),
            "page": page,
        },
    )


def _parse_time(typed: str) -> datetime | None:
    """Parse a time with its zone; return None for anything else."""
    try:
        moment = parse_datetime(typed)
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


ORIGINAL = "A relevant document names a tidal power plant that is planned or in use."
ALTERED = "A relevant document names a tidal power plant that is in use."
GRADES = [
    Grade(value=0, name="Not relevant"),
    Grade(value=1, name="Relevant"),
    Grade(value=2, name="Highly relevant"),
]


@require_http_methods(["GET", "POST"])
def tour(request: PageRequest) -> HttpResponse:
    """Show a step of the tour (`?step=2`); a POST ends the tour, or skips it.

    In the second step the reader grades a document (`?relevance=0`), and the third says what most
    people would have answered. The last step is only for people who lead a project or are in none
    yet.
    """
    if request.method == "POST":
        change_preferences(wants_tour=False, by=request.user)
        return redirect("annotate:home")
    members = access.projects_of(request.user)
    last = 5 if not members or any(member.leads for member in members) else 4
    step = _number(request.GET.get("step", "")) or 1
    return render(
        request,
        "overview/tour.html",
        {
            "step": min(step, last),
            "last": last,
            "original": ORIGINAL,
            "altered": diff(ORIGINAL, ALTERED),
            "grades": GRADES,
            "relevance": _number(request.GET.get("relevance", "")),
        },
    )


def _number(typed: str) -> int | None:
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) == 1 else None
