"""Checks of claimed labels: samples, their figures, and the pages where people check and settle."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.document_text import show
from annotate.collection.models import Run
from annotate.judgments.document_names import name_of
from annotate.pairs.marked_words import words_to_mark
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.claims import frame, plan
from audit.checks.figures import figures
from audit.checks.forms import BoundForm, CheckForm, SampleForm, SendForm, SuspectsForm
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import SHOWN, following, labels_of, progress, to_check, to_settle
from audit.checks.suspects import Suspect, suspicion
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest
from base.pagination import Page, page_by_key

# For how long the page offers to take the last check back with one key.
UNDO_OFFERED = timedelta(hours=1)
PAGE_SIZE = 50


@require_GET
def checks(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's samples, with what waits in each for the reader."""
    member = annotate_access.member(request.user, slug)
    page = page_by_key(
        Sample.objects.filter(project=member.project).select_related("rater", "created_by"),
        request.GET,
        PAGE_SIZE,
    )
    far = progress(member, page.rows)
    return render(
        request,
        "checks/checks.html",
        {
            "project": member.project,
            "member": member,
            "section": "checks",
            "rows": [{"sample": one, "progress": far[one.pk]} for one in page.rows],
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )


@require_http_methods(["GET", "POST"])
def new_sample(request: PageRequest, slug: str) -> HttpResponse:
    """Choose what is drawn; `preview` shows the strata and draws nothing."""
    member = annotate_access.lead(request.user, slug)
    form = SampleForm(member, request.POST or None)
    shown = None
    if request.method == "POST" and form.is_valid():
        asked, choices = form.asked(), form.choices()
        if "preview" in request.POST:
            shown = plan(frame(member.project, asked), **choices)
        else:
            try:
                made = actions.draw_sample(
                    name=form.cleaned_data["name"],
                    asked=asked,
                    shows_claim=form.cleaned_data["shows_claim"],
                    by=member,
                    **choices,
                )
            except Refused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, _("The sample is drawn. Two people check each label."))
                return redirect(made)
    return render(
        request,
        "checks/new_sample.html",
        {
            "project": member.project,
            "member": member,
            "section": "checks",
            "form": form,
            "plan": shown,
            "strata": [
                {"label": label, "size": size, "taken": shown.taken.get(label)}
                for label, size in shown.sizes.items()
            ]
            if shown
            else [],
        },
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def suspects(request: PageRequest, slug: str) -> HttpResponse:
    """List documents claimed relevant that runs miss; a POST sends them to be looked at."""
    member = annotate_access.lead(request.user, slug)
    runs = list(Run.objects.filter(project=member.project).order_by("name"))
    form = SuspectsForm(member, _asked_suspects(request, runs)) if runs else None
    send = SendForm(request.POST if request.method == "POST" else None)
    found = None
    if form is not None and form.is_valid():
        asked, given = form.asked(), form.cleaned_data
        rule = {name: given[name] for name in ("depth", "at_least", "below")}
        if request.method == "POST" and send.is_valid():
            try:
                made = actions.pick_suspects(
                    asked=asked, runs=list(given["runs"]), by=member, **rule, **send.cleaned_data
                )
            except Refused as refused:
                send.add_error(None, str(refused))
            else:
                messages.success(
                    request, _("They are sent to be looked at: two people check each.")
                )
                return redirect(made)
        found = suspicion(member.project, asked, runs=list(given["runs"]), **rule)
    page = _suspects_page(found.suspects if found else [], request.GET)
    wrong = send.errors or (form.errors if form is not None else not runs)
    return render(
        request,
        "checks/suspects.html",
        {
            "project": member.project,
            "member": member,
            "section": "checks",
            "grades": list(member.project.grades.order_by("value")),
            "runs": runs,
            "form": form,
            "send": send,
            "found": found,
            "rows": page.rows,
            "previous_url": page.previous,
            "next_url": page.next,
        },
        status=422 if request.method == "POST" and wrong else 200,
    )


@require_GET
def sample(request: PageRequest, pk: int) -> HttpResponse:
    """Show what checks come to (leads), or how far the reader is, and the way to go on."""
    member, found = access.sample(request.user, pk)
    context: dict[str, Any] = {
        "project": member.project,
        "member": member,
        "section": "checks",
        "sample": found,
        "progress": progress(member, [found])[found.pk],
    }
    if member.leads:
        bound = BoundForm(request.GET)
        showing = request.GET.get("show", "")
        showing = showing if showing in SHOWN else SHOWN[0]
        page = page_by_key(labels_of(found, showing), request.GET, PAGE_SIZE)
        context |= {
            "grades": list(member.project.grades.order_by("value")),
            "figures": figures(found, bound=bound.share()),
            # Of a number of conditions nothing is relevant or not.
            "kinds": ("grade",) if found.asks == Sample.Asks.COUNT else ("status", "grade"),
            "bound": bound,
            "runs": list(found.runs.order_by("name")),
            "showing": showing,
            "rows": [_row(item) for item in page.rows],
            "previous_url": page.previous,
            "next_url": page.next,
        }
    return render(request, "checks/sample.html", context)


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
    form = CheckForm(request.POST or None)
    error = ""
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused(form.sentence())
            actions.check(item=item, by=member, **form.answer())
        except Refused as refused:
            error = str(refused)
        else:
            return _onward(request, member, item.sample, item.pk)
    mine = Check.objects.current().filter(item=item, checker=member).first()
    if mine is None and not to_check(member, item.sample).filter(pk=item.pk).exists():
        messages.info(request, error or _("Two people have checked this one already."))
        return _onward(request, member, item.sample, item.pk)
    if mine is not None and mine.place == Check.SETTLES:
        return redirect("audit:settlement", item.pk)
    return render(
        request,
        "checks/check.html",
        {
            **_stage(request, member, item, answered=mine is not None),
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


@require_http_methods(["GET", "POST"])
def settlement(request: PageRequest, pk: int) -> HttpResponse:
    """Show what two checkers said to a third person, who settles it; then the next."""
    member, item = access.item(request.user, pk)
    form = CheckForm(request.POST or None)
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
            **_stage(request, member, item, answered=theirs),
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
    request: PageRequest, member: Membership, item: SampleItem, *, answered: bool
) -> dict[str, Any]:
    """What both pages draw: the query, the narrative, the document, and the keys. The document's id
    shows once the reader has `answered`.
    """
    pair = item.narrative.pair
    shown = show(item.candidate.document, words_to_mark(pair, item.narrative))
    grades = list(member.project.grades.order_by("value"))
    conditions = list(item.narrative.conditions.order_by("number"))
    counts = item.sample.asks == Sample.Asks.COUNT
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
        # As on the judge page, whose rows of conditions these are.
        "judging_session": {"conditions": conditions if counts else []},
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


def _place(member: Membership, item: SampleItem) -> dict[str, Any]:
    """How far the reader is in the sample, and where to go from here."""
    left = to_check(member, item.sample)
    onward = following(left, item.pk)
    return {
        "left": left.count(),
        "next_url": reverse("audit:check", args=[onward]) if onward else "",
        "last": _last(member, item, settled=False),
    }


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


def _onward(
    request: PageRequest, member: Membership, found: Sample, after: int | None
) -> HttpResponse:
    onward = following(to_check(member, found), after)
    if onward is not None:
        return redirect("audit:check", onward)
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


def _row(item: Any) -> dict[str, Any]:
    """A label in the list. Leads check and settle as well: what two said stands there once both
    have spoken, and what was claimed once that is checked.
    """
    spoken = item.spoken == 2
    return {
        "item": item,
        "pair": item.narrative.pair,
        "narrative": item.narrative,
        "document": item.candidate.document,
        "spoken": spoken,
        "said": item.spoken,
        "checked": item.outcome is not None,
        "wrong": item.outcome is not None and item.outcome != item.claimed,
    }


def _asked_suspects(request: PageRequest, runs: list[Run]) -> QueryDict:
    """The rule in the address or the form; where there is none, what every run misses."""
    given = request.POST if request.method == "POST" else request.GET
    if "runs" in given or "depth" in given or request.method == "POST":
        return given
    usual = QueryDict(mutable=True)
    usual.setlist("runs", [str(run.pk) for run in runs])
    usual.update({"claims": Sample.Source.PRIOR, "at_least": str(len(runs)), "depth": "100"})
    return usual


def _suspects_page(found: list[Suspect], asked: QueryDict) -> Page[Any]:
    """The part of the list behind the suspect that `?after=` names; all of it was computed."""
    keys = [f"{one.missed}-{one.claim.under.narrative}-{one.claim.candidate}" for one in found]
    after = asked.get("after", "")
    start = keys.index(after) + 1 if after in keys else 0
    rows = found[start : start + PAGE_SIZE]
    end = start + len(rows)
    onward = _with(asked, keys[end - 1]) if end < len(found) else ""
    back = ""
    if start:
        before = start - PAGE_SIZE
        back = _with(asked, keys[before - 1] if before > 0 else "")
    return Page(rows, back, onward)


def _with(asked: QueryDict, after: str) -> str:
    link = asked.copy()
    link["after"] = after
    return "?" + link.urlencode()
