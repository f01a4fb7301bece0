"""The pages where people check labels and settle what two said of one."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.document_rendering import read_pane
from annotate.judgments.document_names import name_of
from annotate.pairs.marked_words import words_to_mark
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.condition_counts import Broken, broken_conditions
from audit.checks.forms import CheckForm
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.modes import MODES, has_passes, waiting_in
from audit.checks.queue import following, next_to_check, to_check, to_settle, with_checks
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest

# For how long the page offers to take the last check back with one key.
UNDO_OFFERED = timedelta(hours=1)
PAGE_SIZE = 50


@require_GET
def checking(request: PageRequest, pk: int) -> HttpResponse:
    """Go to the next label that the reader could check."""
    member, found = access.sample(request.user, pk)
    return _onward(request, member, found, None)


@require_GET
def settling(request: PageRequest, pk: int) -> HttpResponse:
    """Go to the next label on which two others differ."""
    member, found = access.sample(request.user, pk)
    return _settle_onward(request, member, found, None)


@require_http_methods(["GET", "POST"])
def check(request: PageRequest, pk: int) -> HttpResponse:
    """Show one document and its narrative, and keep what the reader says of it; then the next."""
    member, item = access.item(request.user, pk)
    form = CheckForm(item.sample.asks, request.POST or None)
    error = ""
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused(form.sentence())
            actions.check(item=item, by=member, **form.answer())
        except Refused as refused:
            error = str(refused)
        else:
            return _onward(request, member, item.sample, item)
    mine = Check.objects.current().filter(item=item, checker=member).first()
    if mine is None and not to_check(member, item.sample).filter(pk=item.pk).exists():
        messages.info(request, error or _("Two people have checked this one already."))
        return _onward(request, member, item.sample, item)
    if mine is not None and mine.place == Check.SETTLES:
        return redirect("audit:settlement", item.pk)
    return render(
        request,
        "checks/check.html",
        {
            **_stage(request, member, item, answered=mine is not None, given=mine),
            **_place(member, item),
            "given": mine,
            "words": request.POST.get("words", mine.words if mine else ""),
            "unable": _unable(request, mine),
            "error": error,
        },
        status=422 if error else 200,
    )


@require_POST
def check_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Take back what the reader said of a label, and show it again."""
    member, item = access.item(request.user, pk)
    try:
        taken = actions.take_back(item=item, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(item.sample)
    if taken is None:
        messages.info(request, _("There is nothing of yours to take back here."))
        return redirect(item.sample)
    messages.success(request, _("Taken back."))
    settled = taken.place == Check.SETTLES
    return redirect("audit:settlement" if settled else "audit:check", item.pk)


@require_POST
def check_reason(request: PageRequest, pk: int) -> HttpResponse:
    """Show why a document violates its instruction to who has answered; the answer stays then."""
    member, item = access.item(request.user, pk)
    try:
        mine = actions.read_reason(item=item, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(item.sample)
    settled = mine.place == Check.SETTLES
    return redirect("audit:settlement" if settled else "audit:check", item.pk)


@require_http_methods(["GET", "POST"])
def settlement(request: PageRequest, pk: int) -> HttpResponse:
    """Show what two checkers said to a third person, who settles it; then the next."""
    member, item = access.item(request.user, pk)
    form = CheckForm(item.sample.asks, request.POST or None)
    error = ""
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused(form.sentence())
            actions.settle(item=item, by=member, **form.answer())
        except Refused as refused:
            error = str(refused)
        else:
            return _settle_onward(request, member, item.sample, item.pk)
    said = list(Check.objects.current().filter(item=item).order_by("place"))
    mine = next((one for one in said if one.checker_id == member.pk), None)
    theirs = mine is not None and mine.place == Check.SETTLES
    if not theirs and not to_settle(member, item.sample).filter(pk=item.pk).exists():
        messages.info(request, error or _("There is nothing for you to settle there."))
        return _settle_onward(request, member, item.sample, item.pk)
    remaining = to_settle(member, item.sample)
    onward = following(remaining, item.pk)
    return render(
        request,
        "checks/check.html",
        {
            **_stage(request, member, item, answered=theirs, given=mine),
            "settling": True,
            "said": [one for one in said if one.place != Check.SETTLES],
            "left": remaining.count(),
            "next_url": reverse("audit:settlement", args=[onward]) if onward else "",
            "last": _last(member, item, settled=True),
            "given": mine,
            "words": request.POST.get("words", mine.words if mine else ""),
            "unable": _unable(request, mine),
            "error": error,
        },
        status=422 if error else 200,
    )


def _unable(request: PageRequest, mine: Check | None) -> str:
    """The words with which the reader said that they cannot judge it, or was about to."""
    if "cannot_judge" in request.POST:
        return str(request.POST.get("words", ""))
    return mine.words if mine is not None and mine.cannot_judge else ""


def _stage(
    request: PageRequest,
    member: Membership,
    item: SampleItem,
    *,
    answered: bool,
    given: Check | None,
) -> dict[str, Any]:
    """What both pages draw: the query, the narrative, the document, and the keys. The document's id
    shows once the reader has `answered`.
    """
    pair = item.narrative.pair
    shown = read_pane(item.candidate.document, words_to_mark(pair, item.narrative))
    grades = list(member.project.grades.order_by("value"))
    conditions = list(item.narrative.conditions.order_by("number"))
    counts = item.sample.asks == Sample.Asks.COUNT
    asks_questions = item.sample.asks == Sample.Asks.QUESTIONS
    keys = keymap.keys_for(request.user)
    of_grade = keymap.grade_keys(grades, keymap.on_page("check", keys))
    for grade in grades:
        grade.key = of_grade[grade.value]
    return {
        "project": member.project,
        "member": member,
        "section": "checks",
        "sample": item.sample,
        "item": item,
        "pair": pair,
        "query": pair.query,
        "narrative": item.narrative,
        "conditions": conditions,
        "counts": counts,
        "questions": _questions(request, given) if asks_questions else [],
        # As on the judge page, whose rows of conditions these are.
        "judging_session": {"conditions": conditions if counts else []},
        "broken": _broken(item) if answered else None,
        "candidate": item.candidate,
        "document": shown.document,
        "name": name_of(shown.document, member.project, hidden=not answered),
        "text": shown.text,
        "table": shown.table,
        "marks": shown.marks,
        "grades": grades,
        "keys": keys,
        "uuid": uuid.uuid4(),
    }


def _questions(request: PageRequest, given: Check | None) -> list[dict[str, Any]]:
    """The two questions with what the reader answers: just now, else what stands of them."""
    return [
        {
            "column": one.column,
            "number": one.number,
            "text": one.sentence,
            "reply": request.POST.get(one.column) or (getattr(given, one.column) if given else ""),
        }
        for one in Question
    ]


def _broken(item: SampleItem) -> Broken | None:
    """Return which conditions are claimed to be broken, once the label is checked."""
    if item.sample.asks != Sample.Asks.COUNT:
        return None
    rows = list(with_checks(SampleItem.objects.filter(pk=item.pk)))
    return broken_conditions(item.sample, rows).get(item.pk)


def _place(member: Membership, item: SampleItem) -> dict[str, Any]:
    """How far the reader is in the sample, and where to go from here."""
    left = _left(member, item.sample, item)
    onward = next_to_check(member, left, item.pk)
    waiting = left.count()
    answered = Check.objects.current().filter(checker=member, place__lt=Check.SETTLES)
    if has_passes(member.project):
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
        "passes": _passes(member, item),
        "next_url": reverse("audit:check", args=[onward]) if onward else "",
        "last": _last(member, item, settled=False),
    }


def _passes(member: Membership, item: SampleItem) -> list[dict[str, Any]]:
    """The modes in which labels are checked, with how many wait for the reader in each; none where
    the kind of project has no modes: one query.
    """
    if not has_passes(member.project):
        return []
    waiting = waiting_in(member)
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


def _last(member: Membership, item: SampleItem, *, settled: bool) -> Check | None:
    """What the reader said last in this sample, if that is not long ago: one key takes it back."""
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


def _left(member: Membership, found: Sample, after: SampleItem | None) -> QuerySet[SampleItem]:
    """What the reader could check without leaving the sample; where labels are checked in modes,
    without leaving the mode of the last label, whichever samples it is in.
    """
    if after is not None and has_passes(member.project):
        return to_check(member).filter(narrative__side=after.narrative.side)
    return to_check(member, found)


def _onward(
    request: PageRequest, member: Membership, found: Sample, after: SampleItem | None
) -> HttpResponse:
    onward = next_to_check(member, _left(member, found, after), after.pk if after else None)
    if onward is not None:
        return redirect("audit:check", onward)
    # The page of a paused project says so itself.
    if member.project.paused_at is None:
        if has_passes(member.project) and waiting_in(member):
            messages.info(request, _("Nothing more waits for you here. Go on with another mode."))
            return redirect("audit:checks", member.project.slug)
        messages.info(request, _("There is nothing more for you to check in this sample."))
    return redirect(found)


def _settle_onward(
    request: PageRequest, member: Membership, found: Sample, after: int | None
) -> HttpResponse:
    onward = following(to_settle(member, found), after)
    if onward is not None:
        return redirect("audit:settlement", onward)
    messages.info(request, _("There is nothing more for you to settle in this sample."))
    return redirect(found)


def with_query(asked: QueryDict, after: str) -> str:
    """Return the filter of an address with another place to go on from."""
    link = asked.copy()
    link["after"] = after
    return "?" + link.urlencode()
