"""Pages where people check labels and settle those on which two checkers differ."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.projects.models import Guideline, Membership
from annotate.projects.project_page import project_page
from audit.checks import access, actions
from audit.checks.checking_session import (
    CheckingSession,
    read_session,
    session_data,
    waiting_labels,
)
from audit.checks.forms import CheckForm
from audit.checks.label_view import label_views
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.modes import MODES, checks_in_modes, waiting_by_mode
from audit.checks.queue import next_item, next_to_check, to_check, to_settle
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message
from base.pagination import parse_key

# The most labels that are sent at once.
MAX_LABELS = 50

NOTHING_TO_CHECK = "There is nothing more for you to check in this sample."
NOTHING_TO_SETTLE = "There is nothing more for you to settle in this sample."
NOTHING_IN_MODE = "You have no more labels in this mode."


@require_GET
def checking(request: PageRequest, pk: int) -> HttpResponse:
    """Redirect to the next label that the reader can check."""
    member, sample = access.sample(request.user, pk)
    return _redirect_to_next(request, member, sample, None)


@require_GET
def settling(request: PageRequest, pk: int) -> HttpResponse:
    """Redirect to the next label on which two others differ."""
    member, sample = access.sample(request.user, pk)
    return _redirect_to_next_to_settle(request, member, sample, None)


@require_http_methods(["GET", "POST"])
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def check(request: PageRequest, pk: int) -> HttpResponse:
    """Show a document and its narrative, and record the reader's check; then go to the next."""
    member, item = access.item(request.user, pk)
    is_saved, error = _save_answer(request, member, item, actions.check)
    if is_saved:
        return _redirect_to_next(request, member, item.sample, item)
    session = read_session(member, item, settles=False)
    if item.pk not in session.order:
        mine = Check.objects.current().filter(item=item, checker=member).first()
        if mine is not None and mine.place == Check.SETTLES:
            return redirect("audit:settlement", item.pk)
        messages.info(request, error or "Two people have checked this one already.")
        return _redirect_to_next(request, member, item.sample, item)
    return _render_page(request, member, item, session, error)


@require_GET
@gzip_page
@never_cache
def labels(request: PageRequest, pk: int) -> HttpResponse:
    """Render requested labels (`?candidate=93&candidate=94`) for the script to keep ready; with
    `?settles=1` for who settles them.
    """
    member, sample = access.sample(request.user, pk)
    numbers = [parse_key(value) for value in request.GET.getlist("candidate")[:MAX_LABELS]]
    items = access.items_of(sample.project, [number for number in numbers if number is not None])
    settles = "settles" in request.GET
    # They are all of one session; a label of another one is left out.
    session = read_session(member, items[0], settles=settles) if items else None
    views = label_views(member, session, items) if session is not None else []
    context = {"label_views": views, **_page_context(request, member), "settling": settles}
    return render(request, "checks/labels.html", {"project": sample.project, **context})


@require_POST
def check_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw the reader's check of a label, and show the label again."""
    member, item = access.item(request.user, pk)
    with refusal_as_message(request):
        taken = actions.withdraw_check(item=item, by=member)
        if taken is not None:
            messages.success(request, "Your answer is withdrawn.")
            return _redirect_to_answer(taken)
        messages.info(request, "You have no answer here to withdraw.")
    return redirect(item.sample)


@require_POST
def check_reason(request: PageRequest, pk: int) -> HttpResponse:
    """Record that the reader reads the reason, and show it; their answer can no longer change."""
    member, item = access.item(request.user, pk)
    try:
        return _redirect_to_answer(actions.read_reason(item=item, by=member))
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(item.sample)


@require_http_methods(["GET", "POST"])
def settlement(request: PageRequest, pk: int) -> HttpResponse:
    """Show the two checks to a third person and record their answer; then go to the next."""
    member, item = access.item(request.user, pk)
    is_saved, error = _save_answer(request, member, item, actions.settle)
    if is_saved:
        return _redirect_to_next_to_settle(request, member, item.sample, item.pk)
    session = read_session(member, item, settles=True)
    if item.pk not in session.order:
        messages.info(request, error or "There is nothing for you to settle in that label.")
        return _redirect_to_next_to_settle(request, member, item.sample, item.pk)
    return _render_page(request, member, item, session, error)


def _redirect_to_answer(mine: Check) -> HttpResponse:
    settles = mine.place == Check.SETTLES
    return redirect("audit:settlement" if settles else "audit:check", mine.item_id)


def _save_answer(
    request: PageRequest, member: Membership, item: SampleItem, save: Callable[..., Check]
) -> tuple[bool, str]:
    """Save an answer that was sent; return whether it is saved, and why it was refused."""
    if request.method != "POST":
        return False, ""
    form = CheckForm(item.sample.asks, request.POST)
    try:
        if not form.is_valid():
            raise Refused(form.sentence())
        save(item=item, by=member, **form.answer())
    except Refused as refused:
        return False, str(refused)
    return True, ""


def _page_context(request: PageRequest, member: Membership) -> dict[str, Any]:
    """Return what the page shows beside the label: the grades with their keys, and the key map."""
    grades = list(member.project.grades.order_by("value"))
    keys = keymap.keys_for(request.user)
    of_grade = keymap.grade_keys(grades, keymap.keys_on_page("work", keys))
    for grade in grades:
        grade.key = of_grade[grade.value]
    return {"grades": grades, "grade_keys": of_grade, "keys": keys}


def _render_page(
    request: PageRequest,
    member: Membership,
    item: SampleItem,
    session: CheckingSession,
    error: str,
) -> HttpResponse:
    """Render the page of a label; `error`: why the answer that was just sent is refused."""
    context = _page_context(request, member)
    (view,) = label_views(member, session, [item])
    answer = view.answer
    unable = (
        answer is not None and answer.cannot_judge and not answer.verdicts and not answer.on_topic
    )
    stored = answer.words if answer is not None else ""
    words = request.POST.get("words", stored)
    modes = [] if session.settles else _mode_links(member, item)
    context |= {
        "view": view,
        "sample": item.sample,
        "name": item.sample.name_for(member),
        "item": item,
        "answer": answer,
        "questions": _question_rows(request, answer) if view.questions else [],
        "saved_at": answer.at if answer is not None else None,
        "guideline": Guideline.objects.latest_of(member.project),
        "judging_session": session_data(
            member, item, session, context["grades"], context["grade_keys"]
        ),
        "settling": session.settles,
        "session": session,
        "note": "" if unable or "cannot_judge" in request.POST else words,
        "unable": words if unable or "cannot_judge" in request.POST else "",
        "end_title": _end_title(session, modes),
        "modes": modes,
        "other_modes": [mode for mode in modes if mode["url"] and not mode["is_here"]],
        "previous_url": _label_url(session, session.beside(item.pk, -1)),
        "next_url": _label_url(session, session.beside(item.pk, 1)),
        "uuid": uuid.uuid4(),
        "error": error,
    }
    status = 422 if error else 200
    return project_page(request, "checks/check.html", member, "checks", status=status, **context)


def _end_title(session: CheckingSession, modes: list[dict[str, Any]]) -> str:
    """Return the heading of the card after the last label."""
    if session.settles:
        return NOTHING_TO_SETTLE
    return NOTHING_IN_MODE if modes else NOTHING_TO_CHECK


def _question_rows(request: PageRequest, answer: Check | None) -> list[dict[str, Any]]:
    """Return the two questions with the reader's replies: those just sent, else the stored ones."""
    return [
        {
            "id": question.column,
            "number": question.number,
            "text": question.sentence,
            "answer": request.POST.get(question.column)
            or (getattr(answer, question.column) if answer else ""),
        }
        for question in Question
    ]


def _label_url(session: CheckingSession, item: int | None) -> str:
    if item is None:
        return ""
    return reverse("audit:settlement" if session.settles else "audit:check", args=[item])


def _mode_links(member: Membership, item: SampleItem) -> list[dict[str, Any]]:
    """Return the modes with how many labels the reader can check in each; an empty list if the kind
    of project has no modes. One query.
    """
    if not checks_in_modes(member.project):
        return []
    waiting = waiting_by_mode(member)
    links = []
    for mode in MODES:
        left, onward = waiting.get(mode, (0, None))
        links.append(
            {
                "mode": mode,
                "left": left,
                "is_here": mode == item.narrative.side,
                "url": reverse("audit:check", args=[onward]) if onward else "",
            }
        )
    return links


def _waiting(member: Membership, sample: Sample, after: SampleItem | None) -> QuerySet[SampleItem]:
    return waiting_labels(member, after) if after is not None else to_check(member, sample)


def _redirect_to_next(
    request: PageRequest, member: Membership, sample: Sample, after: SampleItem | None
) -> HttpResponse:
    onward = next_to_check(member, _waiting(member, sample, after), after.pk if after else None)
    if onward is not None:
        return redirect("audit:check", onward)
    # The page of a paused project already says that it is paused.
    if member.project.paused_at is None:
        if checks_in_modes(member.project) and waiting_by_mode(member):
            messages.info(request, f"{NOTHING_IN_MODE} Continue with another mode.")
            return redirect("audit:checks", member.project.slug)
        messages.info(request, NOTHING_TO_CHECK)
    return redirect(sample)


def _redirect_to_next_to_settle(
    request: PageRequest, member: Membership, sample: Sample, after: int | None
) -> HttpResponse:
    onward = next_item(to_settle(member, sample), after)
    if onward is not None:
        return redirect("audit:settlement", onward)
    messages.info(request, NOTHING_TO_SETTLE)
    return redirect(sample)
