"""The judge page: one document, one key, the next document."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

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
FRAGMENT = "annotate/judge.html#stage"


@require_GET
def judging(request: PageRequest, pk: int) -> HttpResponse:
    """Go to where the person stopped: the next document, or the end."""
    member, pair = access.pair(request.user, pk)
    try:
        _must_hold(pair, member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")
    narrative = judged_narrative(pair)
    if narrative is None:
        messages.info(request, "There is no narrative to judge under yet.")
        return redirect("annotate:home")
    following = sitting(narrative=narrative, by=member).next()
    if following is None:
        return _end(request, member, pair, narrative)
    return redirect("annotate:judge", pair.pk, following)


@require_GET
def judge(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Show one document to be judged, or judged before."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    narrative = judged_narrative(pair)
    try:
        if narrative is None:
            raise Refused("There is no narrative to judge under yet.")
        _must_hold(pair, member)
        stage = _stage(member, pair, narrative, candidate)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")
    return render(request, FRAGMENT if request.htmx else TEMPLATE, stage)


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
    narrative = judged_narrative(pair)
    try:
        if narrative is None:
            raise Refused("There is no narrative to judge under yet.")
        candidate = actions.undo(narrative=narrative, by=member)
    except Refused as refused:
        messages.info(request, str(refused))
        return redirect("annotate:judging", pair.pk)
    messages.info(request, "Taken back.")
    return redirect("annotate:judge", pair.pk, candidate.pk)


def _stage(
    member: Membership, pair: InstructionPair, narrative: Narrative, candidate: Candidate
) -> dict[str, Any]:
    """Everything the judge page shows: the texts of one document and two narratives."""
    at = sitting(narrative=narrative, by=member)
    if candidate.pk not in at.order:
        raise Refused("This document is not among those to be judged for this query.")
    original = pair.current(Narrative.Side.ORIGINAL)
    mine = Judgment.objects.current().filter(
        narrative=narrative, candidate=candidate, annotator=member
    )
    my_flag = Flag.objects.current().filter(
        narrative=narrative, candidate=candidate, annotator=member
    )
    shown = show(candidate.document)
    return {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "query": pair.query,
        "narrative": narrative,
        "original": original if original != narrative else None,
        "pieces": _pieces(original, narrative),
        "candidate": candidate,
        "document": shown.document,
        "text": shown.text,
        "table": shown.table,
        "prior": candidate.prior_relevance if pair.project.show_prior else None,
        "grades": list(pair.project.grades.order_by("value")),
        "mine": mine.first(),
        "my_flag": my_flag.first(),
        "flag_kinds": Flag.Kind.choices,
        "guideline": Guideline.objects.latest_of(pair.project),
        **_places(pair, at, candidate),
    }


def _places(pair: InstructionPair, at: Sitting, candidate: Candidate) -> dict[str, Any]:
    """Where this document stands among the others."""

    def url(pk: int | None) -> str:
        return reverse("annotate:judge", args=[pair.pk, pk]) if pk is not None else ""

    return {
        "sitting": at,
        "position": at.order.index(candidate.pk) + 1,
        "previous_url": url(at.before(candidate.pk)),
        "next_url": url(at.behind(candidate.pk)),
    }


def _pieces(original: Narrative | None, narrative: Narrative) -> Any:
    if original is None or original == narrative or not original.text:
        return None
    return diff(original.text, narrative.text)


def _onward(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: Candidate,
    saved_at: Any,
) -> HttpResponse:
    """Bring the next document, or the end; what is rendered says what was saved."""
    following = sitting(narrative=narrative, by=member).next(after=candidate.pk)
    if not request.htmx:
        if following is None:
            return redirect("annotate:judging", pair.pk)
        return redirect("annotate:judge", pair.pk, following)
    if following is None:
        return _end(request, member, pair, narrative)
    stage = _stage(member, pair, narrative, access.candidate(pair, following))
    response = render(request, FRAGMENT, {**stage, "saved_at": saved_at})
    response["HX-Push-Url"] = reverse("annotate:judge", args=[pair.pk, following])
    return response


def _end(
    request: PageRequest, member: Membership, pair: InstructionPair, narrative: Narrative
) -> HttpResponse:
    """Say that everything here is judged, with a list to go over once more."""
    at = sitting(narrative=narrative, by=member)
    documents = {
        candidate.pk: candidate
        for candidate in Candidate.objects.select_related("document").filter(pk__in=at.order)
    }
    rows = [
        {
            "candidate": documents[pk],
            "relevance": at.judged.get(pk),
            "flag": at.flagged.get(pk),
            "url": reverse("annotate:judge", args=[pair.pk, pk]),
        }
        for pk in at.order
    ]
    response = render(
        request,
        "annotate/judged.html#stage" if request.htmx else "annotate/judged.html",
        {
            "project": pair.project,
            "member": member,
            "pair": pair,
            "query": pair.query,
            "narrative": narrative,
            "sitting": at,
            "rows": rows,
            "grades": list(pair.project.grades.order_by("value")),
            "saved_at": timezone.now() if request.method == "POST" else None,
            "more": seats.open_pairs(task=Assignment.Task.JUDGE, by=member).exists(),
        },
    )
    if request.htmx:
        response["HX-Push-Url"] = reverse("annotate:judging", args=[pair.pk])
    return response


def _refusal(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    candidate: Candidate,
    sentence: str,
) -> HttpResponse:
    """Show the document again with what was refused; what was typed is still there."""
    narrative = judged_narrative(pair)
    try:
        if narrative is None:
            raise Refused(sentence)
        _must_hold(pair, member)
        stage = _stage(member, pair, narrative, candidate)
    except Refused:
        messages.error(request, sentence)
        if request.htmx:
            response = HttpResponse(status=204)
            response["HX-Redirect"] = reverse("annotate:home")
            return response
        return redirect("annotate:home")
    typed = {
        "refused": sentence,
        "note": request.POST.get("note", ""),
        "words": request.POST.get("words", ""),
    }
    return render(request, FRAGMENT if request.htmx else TEMPLATE, {**stage, **typed}, status=422)


def _must_hold(pair: InstructionPair, member: Membership) -> None:
    if not seats.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        raise Refused("This is not your seat. Take one from your list, then go on.")


def _first_error(form: Any) -> str:
    field, errors = next(iter(form.errors.items()))
    return f"{field}: {errors[0]}"
