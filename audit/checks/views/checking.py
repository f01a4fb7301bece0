"""Pages where people check labels and settle those on which two checkers differ."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.document_rendering import read_pane
from annotate.judgments.document_names import name_of
from annotate.pairs.marked_words import words_to_mark
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.checks import access, actions
from audit.checks.condition_counts import broken_conditions_of
from audit.checks.forms import CheckForm
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.modes import MODES, checks_in_modes, waiting_by_mode
from audit.checks.queue import next_item, next_to_check, to_check, to_settle
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message

# How long the page offers to undo the last check with one key.
UNDO_OFFERED = timedelta(hours=1)
PAGE_SIZE = 50


@require_GET
def checking(request: PageRequest, pk: int) -> HttpResponse:
    """Redirect to the next label that the reader can check."""
    member, found = access.sample(request.user, pk)
    return _redirect_to_next(request, member, found, None)


@require_GET
def settling(request: PageRequest, pk: int) -> HttpResponse:
    """Redirect to the next label on which two others differ."""
    member, found = access.sample(request.user, pk)
    return _redirect_to_next_to_settle(request, member, found, None)


@require_http_methods(["GET", "POST"])
def check(request: PageRequest, pk: int) -> HttpResponse:
    """Show a document and its narrative, and record the reader's check; then go to the next."""
    member, item = access.item(request.user, pk)
    is_saved, error = _save_answer(request, member, item, actions.check)
    if is_saved:
        return _redirect_to_next(request, member, item.sample, item)
    mine = Check.objects.current().filter(item=item, checker=member).first()
    if mine is None and not to_check(member, item.sample).filter(pk=item.pk).exists():
        messages.info(request, error or _("Two people have checked this one already."))
        return _redirect_to_next(request, member, item.sample, item)
    if mine is not None and mine.place == Check.SETTLES:
        return redirect("audit:settlement", item.pk)
    hidden = mine is None or _still_to_check(member, item)
    context = _shared_context(request, member, item, given=mine, hidden=hidden, error=error)
    context |= _progress_context(member, item)
    status = 422 if error else 200
    return project_page(request, "checks/check.html", member, "checks", status=status, **context)


@require_POST
def check_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw the reader's check of a label, and show the label again."""
    member, item = access.item(request.user, pk)
    with refusal_as_message(request):
        taken = actions.withdraw_check(item=item, by=member)
        if taken is not None:
            messages.success(request, _("Your answer is withdrawn."))
            return _redirect_to_answer(taken)
        messages.info(request, _("You have no answer here to withdraw."))
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
    checks = list(Check.objects.current().filter(item=item).order_by("place"))
    mine = next((one for one in checks if one.checker_id == member.pk), None)
    settled = mine is not None and mine.place == Check.SETTLES
    if not settled and not to_settle(member, item.sample).filter(pk=item.pk).exists():
        messages.info(request, error or _("There is nothing for you to settle in that label."))
        return _redirect_to_next_to_settle(request, member, item.sample, item.pk)
    remaining = to_settle(member, item.sample)
    onward = next_item(remaining, item.pk)
    context = _shared_context(request, member, item, given=mine, hidden=not settled, error=error)
    context |= {
        "settling": True,
        "answers": [one for one in checks if one.place != Check.SETTLES],
        "left": remaining.count(),
        "next_url": reverse("audit:settlement", args=[onward]) if onward else "",
        "last": _last_check(member, item, settled=True),
    }
    status = 422 if error else 200
    return project_page(request, "checks/check.html", member, "checks", status=status, **context)


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


def _still_to_check(member: Membership, item: SampleItem) -> bool:
    """Whether the member can still check another label of this item's document."""
    document = item.candidate.document_id
    return to_check(member).filter(candidate__document=document).exists()


def _cannot_judge_note(request: PageRequest, mine: Check | None) -> str:
    """Return the note of the reader's "cannot judge", sent just now or stored; else ""."""
    if "cannot_judge" in request.POST:
        return str(request.POST.get("words", ""))
    return mine.words if mine is not None and mine.cannot_judge else ""


def _shared_context(
    request: PageRequest,
    member: Membership,
    item: SampleItem,
    *,
    given: Check | None,
    hidden: bool,
    error: str,
) -> dict[str, Any]:
    """Return the template context that both pages share: query, narrative, document and keys. The
    document's id is `hidden` while the reader has an open answer about it; `given`: their answer.
    """
    pair = item.narrative.pair
    rendered = read_pane(item.candidate.document, words_to_mark(pair, item.narrative))
    grades = list(member.project.grades.order_by("value"))
    conditions = list(item.narrative.conditions.order_by("number"))
    counts = item.sample.asks == Sample.Asks.COUNT
    asks_questions = item.sample.asks == Sample.Asks.QUESTIONS
    keys = keymap.keys_for(request.user)
    of_grade = keymap.grade_keys(grades, keymap.keys_on_page("check", keys))
    for grade in grades:
        grade.key = of_grade[grade.value]
    return {
        "sample": item.sample,
        "item": item,
        "pair": pair,
        "query": pair.query,
        "narrative": item.narrative,
        "conditions": conditions,
        "counts": counts,
        "questions": _question_rows(request, given) if asks_questions else [],
        # The template of conditions is shared with the judge page, which has a session.
        "judging_session": {"conditions": conditions if counts else []},
        "broken": broken_conditions_of(item) if given else None,
        "candidate": item.candidate,
        "document": rendered.document,
        "name": name_of(rendered.document, member.project, hidden=hidden),
        "text": rendered.text,
        "table": rendered.table,
        "marks": rendered.marks,
        "grades": grades,
        "keys": keys,
        "uuid": uuid.uuid4(),
        "given": given,
        "words": request.POST.get("words", given.words if given else ""),
        "unable": _cannot_judge_note(request, given),
        "error": error,
    }


def _question_rows(request: PageRequest, given: Check | None) -> list[dict[str, Any]]:
    """Return the two questions with the reader's replies: those just sent, else the stored ones."""
    return [
        {
            "column": one.column,
            "number": one.number,
            "text": one.sentence,
            "reply": request.POST.get(one.column) or (getattr(given, one.column) if given else ""),
        }
        for one in Question
    ]


def _progress_context(member: Membership, item: SampleItem) -> dict[str, Any]:
    """Return the reader's progress in the sample, and the links to the next and last label."""
    left = _remaining(member, item.sample, item)
    onward = next_to_check(member, left, item.pk)
    waiting = left.count()
    answered = Check.objects.current().filter(checker=member, place__lt=Check.SETTLES)
    if checks_in_modes(member.project):
        answered = answered.filter(
            item__sample__project=member.project, item__narrative__side=item.narrative.side
        )
    else:
        answered = answered.filter(item__sample=item.sample_id)
    mine = answered.count()
    return {
        "left": waiting,
        "done": mine,
        "total": mine + waiting,
        "passes": _mode_links(member, item),
        "next_url": reverse("audit:check", args=[onward]) if onward else "",
        "last": _last_check(member, item, settled=False),
    }


def _mode_links(member: Membership, item: SampleItem) -> list[dict[str, Any]]:
    """Return the modes with how many labels the reader can check in each; an empty list if the kind
    of project has no modes. One query.
    """
    if not checks_in_modes(member.project):
        return []
    waiting = waiting_by_mode(member)
    found = []
    for mode in MODES:
        left, onward = waiting.get(mode, (0, None))
        found.append(
            {
                "mode": mode,
                "left": left,
                "is_here": mode == item.narrative.side,
                "url": reverse("audit:check", args=[onward]) if onward else "",
            }
        )
    return found


def _last_check(member: Membership, item: SampleItem, *, settled: bool) -> Check | None:
    """Return the reader's last check in this sample, if recent enough to offer undo."""
    places = Q(place=Check.SETTLES)
    return (
        Check.objects.current()
        .filter(
            places if settled else ~places,
            checker=member,
            item__sample=item.sample_id,
            at__gt=timezone.now() - UNDO_OFFERED,
        )
        .order_by("-at", "-pk")
        .first()
    )


def _remaining(member: Membership, found: Sample, after: SampleItem | None) -> QuerySet[SampleItem]:
    """Return the labels that the reader can check within the sample; if labels are checked in
    modes, those in the mode of the last label, in any sample.
    """
    if after is not None and checks_in_modes(member.project):
        return to_check(member).filter(narrative__side=after.narrative.side)
    return to_check(member, found)


def _redirect_to_next(
    request: PageRequest, member: Membership, found: Sample, after: SampleItem | None
) -> HttpResponse:
    onward = next_to_check(member, _remaining(member, found, after), after.pk if after else None)
    if onward is not None:
        return redirect("audit:check", onward)
    # The page of a paused project already says that it is paused.
    if member.project.paused_at is None:
        if checks_in_modes(member.project) and waiting_by_mode(member):
            messages.info(
                request, _("You have no more labels in this mode. Continue with another mode.")
            )
            return redirect("audit:checks", member.project.slug)
        messages.info(request, _("There is nothing more for you to check in this sample."))
    return redirect(found)


def _redirect_to_next_to_settle(
    request: PageRequest, member: Membership, found: Sample, after: int | None
) -> HttpResponse:
    onward = next_item(to_settle(member, found), after)
    if onward is not None:
        return redirect("audit:settlement", onward)
    messages.info(request, _("There is nothing more for you to settle in this sample."))
    return redirect(found)


def with_after(query: QueryDict, after: str) -> str:
    """Return the query string with another `after`."""
    link = query.copy()
    link["after"] = after
    return "?" + link.urlencode()
