"""The judge page: one document, one key, the next document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotate import access
from annotate.actions import judging as actions
from annotate.actions import seats
from annotate.actions.pool import Sitting, judged_narrative, sitting
from annotate.errors import Refused
from annotate.forms.judging import FlagForm, JudgmentForm
from annotate.models import (
    Assignment,
    Candidate,
    Flag,
    Guideline,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
)
from annotate.narrative_diff import diff
from annotate.requests import PageRequest
from annotate.shown import show

TEMPLATE = "annotate/judge.html"
FRAGMENT = "annotate/judge.html#candidate"


@require_GET
def judging(request: PageRequest, pk: int) -> HttpResponse:
    """Go to where the person stopped: the next document, or the end."""
    member, pair = access.pair(request.user, pk)
    try:
        narrative = _narrative_for(member, pair)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")
    at = sitting(narrative=narrative, by=member)
    following = at.next()
    if following is None:
        return _show(request, member, pair, narrative, None, at=at)
    return redirect("annotate:judge", pair.pk, following)


@require_GET
def judge(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Show one document to be judged, or judged before."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    try:
        return _show(request, member, pair, _narrative_for(member, pair), candidate)
    except Refused as refused:
        messages.error(request, str(refused))
        return _leave(request)


@require_POST
def judgment(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Save one grade and bring the next document."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    form = JudgmentForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(_first_error(form))
        narrative = access.narrative(pair, form.cleaned_data["narrative"])
        saved = actions.judge(
            narrative=narrative,
            candidate=candidate,
            relevance=form.cleaned_data["relevance"],
            note=form.cleaned_data["note"],
            active_ms=form.cleaned_data["active_ms"],
            uuid=form.cleaned_data["uuid"],
            by=member,
        )
    except Refused as refused:
        return _refusal(request, member, pair, candidate, str(refused))
    return _onward(request, member, pair, narrative, candidate, saved.at)


@require_POST
def flag(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Put a flag on a document instead of a grade and bring the next one."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    form = FlagForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(_first_error(form))
        narrative = access.narrative(pair, form.cleaned_data["narrative"])
        saved = actions.flag(
            narrative=narrative,
            candidate=candidate,
            kind=form.cleaned_data["kind"],
            words=form.cleaned_data["words"],
            by=member,
        )
    except Refused as refused:
        return _refusal(request, member, pair, candidate, str(refused))
    return _onward(request, member, pair, narrative, candidate, saved.at)


@require_POST
def undo(request: PageRequest, pk: int) -> HttpResponse:
    """Take the last judgment or flag back and show its document again."""
    member, pair = access.pair(request.user, pk)
    try:
        narrative = _narrative_for(member, pair)
        candidate = actions.undo(narrative=narrative, by=member)
    except Refused as refused:
        messages.info(request, str(refused))
        if request.htmx:
            return _leave(request, to=reverse("annotate:judging", args=[pair.pk]))
        return redirect("annotate:judging", pair.pk)
    if not request.htmx:
        messages.info(request, "Taken back.")
        return redirect("annotate:judge", pair.pk, candidate.pk)
    said = {"saved_at": timezone.now(), "saved_words": "Taken back"}
    return _show(request, member, pair, narrative, candidate, said)


def _show(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: Candidate | None,
    more: Mapping[str, Any] | None = None,
    status: int = 200,
    at: Sitting | None = None,
) -> HttpResponse:
    """Draw the page, or for htmx the part of it that changes, around one document or at the end."""
    at = at or sitting(narrative=narrative, by=member)
    stage = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "narrative": narrative,
        "grades": list(pair.project.grades.order_by("value")),
        "candidate": candidate,
        "done": at.settled,
        "total": at.total,
        "can_undo": bool(at.judged or at.flagged),
        "uuid": uuid4(),
        "swap": bool(request.htmx),
        **(
            _document(member, pair, narrative, candidate, at)
            if candidate
            else _end(member, pair, at)
        ),
        **(more or {}),
    }
    if request.htmx:
        response = render(request, FRAGMENT, stage, status=status)
        response["HX-Push-Url"] = (
            reverse("annotate:judge", args=[pair.pk, candidate.pk])
            if candidate
            else reverse("annotate:judging", args=[pair.pk])
        )
        return response
    return render(request, TEMPLATE, {**stage, **_asked(pair, narrative)}, status=status)


def _asked(pair: InstructionPair, narrative: Narrative) -> dict[str, Any]:
    """What is asked: it stays on the page while the documents change."""
    original = pair.current(Narrative.Side.ORIGINAL)
    altered = original is not None and original.text and original != narrative
    return {
        "query": pair.query,
        "original": original,
        "pieces": diff(original.text, narrative.text) if original and altered else None,
        "guideline": Guideline.objects.latest_of(pair.project),
    }


def _document(
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: Candidate,
    at: Sitting,
) -> dict[str, Any]:
    """One document, what this person said of it, and its neighbours."""
    if candidate.pk not in at.order:
        raise Refused("This document is not among those to be judged for this query.")
    said = {"narrative": narrative, "candidate": candidate, "annotator": member}
    given = Judgment.objects.current().filter(**said).first() if candidate.pk in at.judged else None
    flagged = Flag.objects.current().filter(**said).first() if candidate.pk in at.flagged else None
    shown = show(candidate.document)
    return {
        "document": shown.document,
        "text": shown.text,
        "table": shown.table,
        "prior": candidate.prior_relevance if pair.project.show_prior else None,
        "position": at.order.index(candidate.pk) + 1,
        "given": given,
        "flag": flagged,
        "note": given.note if given else "",
        "previous_url": _judge_url(pair, at.before(candidate.pk)),
        "next_url": _judge_url(pair, at.behind(candidate.pk)),
    }


def _end(member: Membership, pair: InstructionPair, at: Sitting) -> dict[str, Any]:
    """Everything is judged; the ways back and on stay open."""
    return {
        "previous_url": _judge_url(pair, at.order[-1] if at.order else None),
        "set_aside": sum(kind != Flag.Kind.LATER for kind in at.flagged.values()),
        "more": seats.open_pairs(task=Assignment.Task.JUDGE, by=member).exists(),
    }


def _judge_url(pair: InstructionPair, candidate: int | None) -> str | None:
    return None if candidate is None else reverse("annotate:judge", args=[pair.pk, candidate])


def _onward(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: Candidate,
    saved_at: datetime,
) -> HttpResponse:
    """Bring the next document, or the end; what is shown says when the last was saved."""
    at = sitting(narrative=narrative, by=member)
    following = at.next(after=candidate.pk)
    if not request.htmx:
        if following is None:
            return redirect("annotate:judging", pair.pk)
        return redirect("annotate:judge", pair.pk, following)
    found = access.candidate(pair, following) if following is not None else None
    return _show(request, member, pair, narrative, found, {"saved_at": saved_at}, at=at)


def _refusal(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    candidate: Candidate,
    sentence: str,
) -> HttpResponse:
    """Show the document again with why it was refused; what was typed is still there."""
    said = {"error": sentence, "note": request.POST.get("note", "")}
    try:
        narrative = _narrative_for(member, pair)
        if str(narrative.pk) != request.POST.get("narrative") and request.htmx:
            # The words beside the document are the old ones: the whole page comes anew.
            messages.warning(request, sentence)
            return _leave(request, to=reverse("annotate:judge", args=[pair.pk, candidate.pk]))
        return _show(request, member, pair, narrative, candidate, said, status=422)
    except Refused:
        messages.error(request, sentence)
        return _leave(request)


def _leave(request: PageRequest, to: str = "") -> HttpResponse:
    """Go to another page, whoever asked: the browser or htmx."""
    url = to or reverse("annotate:home")
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def _narrative_for(member: Membership, pair: InstructionPair) -> Narrative:
    """Return what is judged under now, to someone who holds a seat here; else refuse."""
    if not seats.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        raise Refused("This is not your seat. Take one from your list, then go on.")
    narrative = judged_narrative(pair)
    if narrative is None:
        raise Refused("There is no narrative to judge under yet.")
    return narrative


def _first_error(form: JudgmentForm | FlagForm) -> str:
    field, errors = next(iter(form.errors.items()))
    return f"{form.fields[field].label or field}: {errors[0]}"
