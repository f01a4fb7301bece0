"""The judge page: one document, one key, the next document.

The page's script writes answers to a journal and fetches documents ahead
(`annotate.judging.api.journal`, `documents`); the forms here do the same without JavaScript.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotate.collection.models import Candidate
from annotate.judging import actions, judging_session
from annotate.judging.actions import narrative_for
from annotate.judging.document_view import document_views, session_data
from annotate.judging.forms import (
    BackForm,
    SentFlag,
    SentJudgment,
    first_error,
    posted_fields,
)
from annotate.judging.judging_session import JudgingSession, judging_order, read_judging_session
from annotate.judgments import blindness, open_pairs
from annotate.judgments.models import Flag
from annotate.judgments.repeats import Spot, unmask
from annotate.pairs import access
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects.models import Grade, Guideline, Membership
from base import keymap
from base.errors import ObjectNotFound, Refused
from base.pagination import parse_key
from base.requests import PageRequest
from base.word_diff import diff

# The most documents that are sent at once.
MAX_DOCUMENTS = 50


@require_GET
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def judging(request: PageRequest, pk: int) -> HttpResponse:
    """Redirect to the next document to judge (from `?after=`, if given), or show the end page."""
    member, pair = access.pair(request.user, pk)
    try:
        narrative = narrative_for(member, pair)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")
    session = read_judging_session(narrative=narrative, by=member)
    after = parse_key(request.GET.get("after", ""))
    following = session.next(after=None if after is None else _current_number(after, member))
    if following is None:
        return _render_page(request, member, pair, narrative, None, session=session)
    return redirect("annotate:judge", pair.pk, following)


@require_GET
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def judge(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Show one document of the pool, judged or not."""
    member, pair = access.pair(request.user, pk)
    spot = unmask(candidate_pk, member.pk)
    candidate = access.candidate(pair, spot.candidate)
    if candidate_pk != judging_session.spot_number(spot, member):
        # The number is from before the project had repeats, or from a page that has none.
        return redirect("annotate:judge", pair.pk, judging_session.spot_number(spot, member))
    try:
        narrative = narrative_for(member, pair)
        return _render_page(request, member, pair, narrative, candidate, candidate_pk)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")


@require_GET
@gzip_page
@never_cache
def documents(request: PageRequest, pk: int) -> HttpResponse:
    """Render requested documents (`?candidate=93&candidate=94`) for the script to keep ready."""
    member, pair = access.pair(request.user, pk)
    numbers = [parse_key(value) for value in request.GET.getlist("candidate")[:MAX_DOCUMENTS]]
    try:
        narrative = narrative_for(member, pair)
    except Refused as refused:
        return HttpResponse(str(refused), status=409, content_type="text/plain; charset=utf-8")
    grades = list(pair.project.grades.order_by("value"))
    views = document_views(
        pair=pair,
        narrative=narrative,
        member=member,
        order=read_judging_session(narrative=narrative, by=member).order
        if pair.project.repeat_percent
        else judging_order(pair=pair, by=member),
        numbers=[number for number in numbers if number is not None],
        grades=grades,
    )
    context = {"document_views": views, "grades": grades, "project": pair.project, "pair": pair}
    return render(request, "judging/documents.html", context)


@require_POST
def judgment(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Save one grade and go to the next document."""
    sent = request.POST.copy()
    if "text_version" in request.GET:
        # In the list, each row's button names the text version of its document.
        sent.setdefault("text_version", request.GET["text_version"])
    return _record(request, pk, candidate_pk, SentJudgment, sent)


@require_POST
def flag(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Put a flag on a document instead of a grade and go to the next one."""
    return _record(request, pk, candidate_pk, SentFlag, request.POST)


@require_POST
def undo(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw the latest judgment or flag and show its document again."""
    member, pair = access.pair(request.user, pk)
    try:
        narrative = narrative_for(member, pair)
        row = actions.undo(narrative=narrative, by=member)
    except Refused as refused:
        messages.info(request, str(refused))
        if request.POST.get("back") == BackForm.LIST:
            return redirect("annotate:listing", pair.pk)
        return redirect("annotate:judging", pair.pk)
    messages.info(request, "Taken back.")
    spot = Spot(row.candidate_id, row.repeat)
    if request.POST.get("back") == BackForm.LIST and not spot.again:
        return redirect(_list_url(pair, judging_session.spot_number(spot, member)))
    return redirect("annotate:judge", pair.pk, judging_session.spot_number(spot, member))


def _record(
    request: PageRequest,
    pk: int,
    number: int,
    statement: type[SentJudgment] | type[SentFlag],
    post: QueryDict,
) -> HttpResponse:
    """Record the answer of a page's form, and go onward.

    If it is refused, show the document again.
    """
    member, pair = access.pair(request.user, pk)
    back = BackForm(post)
    try:
        fields = {"uuid": str(uuid4()), **posted_fields(post, statement), "candidate": number}
        form = statement(data=fields)
        if not form.is_valid():
            raise Refused(first_error(form.errors))
        if not back.is_valid():
            raise Refused(first_error(back.errors))
        actions.record_sent(form.validated_data, pair=pair, by=member)
    except ObjectNotFound as not_here:
        raise Http404(str(not_here)) from not_here
    except Refused as refused:
        return _render_refusal(request, member, pair, number, str(refused))
    return _redirect_onward(pair, number, back.cleaned_data["back"])


def _render_page(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: Candidate | None,
    number: int | None = None,
    more: Mapping[str, Any] | None = None,
    status: int = 200,
    session: JudgingSession | None = None,
) -> HttpResponse:
    """Render the page for the document with this number, or the end page for None."""
    session = session or read_judging_session(narrative=narrative, by=member)
    grades = list(pair.project.grades.order_by("value"))
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("work", keys))
    for grade in grades:
        grade.key = grade_keys[grade.value]
    question = question_context(member, pair, narrative)
    context = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        **question,
        "narrative": narrative,
        "unit": "query" if pair.pair_id == pair.query.query_id else "instruction",
        "grades": grades,
        "candidate": candidate,
        "keys": keys,
        "judging_session": session_data(
            member=member,
            pair=pair,
            narrative=narrative,
            number=number,
            session=session,
            grades=grades,
            keys=grade_keys,
            guideline=question["guideline"],
        ),
        "done": session.settled,
        "total": session.total,
        "at_end": number is None,
        "can_undo": bool(session.history),
        "finished": summarize(pair, session, grades),
        "kinds": Flag.Kind,
        "more": open_pairs.is_any_open(task=Assignment.Task.JUDGE, by=member),
        "hides_figures": blindness.hides_figures(task=Assignment.Task.JUDGE, by=member),
        "uuid": uuid4(),
        **(
            _document_context(member, pair, narrative, number, session, grades)
            if number is not None
            else _end_context(pair, session)
        ),
        **(more or {}),
    }
    return render(request, "judging/judge.html", context, status=status)


def question_context(
    member: Membership, pair: InstructionPair, narrative: Narrative
) -> dict[str, Any]:
    """Return the context of the pair's texts, which stay on the page as documents change."""
    original = pair.current(Narrative.Side.ORIGINAL)
    is_altered = original is not None and original.text and original != narrative
    earlier = actions.judged_earlier_version(member, narrative)
    return {
        "query": pair.query,
        "original": original,
        "pieces": diff(original.text, narrative.text) if original and is_altered else None,
        "earlier": earlier,
        "earlier_pieces": diff(earlier.text, narrative.text) if earlier else None,
        "guideline": Guideline.objects.latest_of(pair.project),
    }


def _document_context(
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    number: int,
    session: JudgingSession,
    grades: list[Any],
) -> dict[str, Any]:
    """Return the context of one document: its view, this judge's answer and its neighbours."""
    if number not in session.order:
        raise Refused("This document is not among those to be judged for this query.")
    (document_view,) = document_views(
        pair=pair,
        narrative=narrative,
        member=member,
        order=session.order,
        numbers=[number],
        grades=grades,
    )
    given = document_view.given
    return {
        "document_view": document_view,
        "position": document_view.position,
        "given": given,
        "note": given.note if given and not given.flag else "",
        "saved_at": given.at if given else None,
        "previous_url": _judge_url(pair, session.before(number)),
        "next_url": _judge_url(pair, session.following(number)),
    }


def _end_context(pair: InstructionPair, session: JudgingSession) -> dict[str, Any]:
    """Return the context of the end page: a link back to the last document."""
    return {
        "previous_url": _judge_url(pair, session.order[-1] if session.order else None),
    }


def _judge_url(pair: InstructionPair, number: int | None) -> str | None:
    return None if number is None else reverse("annotate:judge", args=[pair.pk, number])


def _current_number(number: int, member: Membership) -> int:
    """Return the judge's current number of a document, given one that may be outdated."""
    try:
        return judging_session.spot_number(unmask(number, member.pk), member)
    except ValueError:
        # Not a valid number: it is in no order, and no document is found by it.
        return number


def _redirect_onward(pair: InstructionPair, number: int, back: str) -> HttpResponse:
    """Redirect to the next document or the end, or back to the document's row in the list."""
    if back == BackForm.LIST:
        return redirect(_list_url(pair, number))
    return redirect(f"{reverse('annotate:judging', args=[pair.pk])}?after={number}")


def _list_url(pair: InstructionPair, number: int) -> str:
    """Return the URL of the document's row in the list."""
    url = reverse("annotate:listing", args=[pair.pk])
    return f"{url}?at={number}#row-{number}"


def _render_refusal(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    number: int,
    sentence: str,
) -> HttpResponse:
    """Show the document again with the reason for the refusal and the text that was typed."""
    number = _current_number(number, member)
    candidate = access.candidate(pair, unmask(number, member.pk).candidate)
    typed = {
        "error": sentence,
        "note": _printable(request.POST.get("note", "")),
        "typed_kind": request.POST.get("kind", ""),
        "typed_words": _printable(request.POST.get("words", "")),
    }
    try:
        narrative = narrative_for(member, pair)
        return _render_page(request, member, pair, narrative, candidate, number, typed, status=422)
    except Refused:
        messages.error(request, sentence)
        return redirect("annotate:home")


def _printable(text: str) -> str:
    """Return typed text that a page can encode: lone surrogates are replaced."""
    return text.encode(errors="replace").decode()


@dataclass(frozen=True)
class SessionSummary:
    """The summary of a judge's answers to a pair's documents."""

    # The number of documents with each grade.
    grades: list[tuple[Grade, int]]
    # Notes and flags: the key the script uses, the name on screen, and the documents, each as its
    # position in the judge's order and its URL.
    places: list[tuple[str, str, list[tuple[int, str]]]]
    seconds: float


def summarize(
    pair: InstructionPair, session: JudgingSession, grades: Sequence[Grade]
) -> SessionSummary:
    """Summarize a judging session; runs no query."""
    counts = Counter(session.judged.get(number) for number in session.order)
    url = reverse("annotate:judge", args=[pair.pk, 0]).removesuffix("0/")

    def links(numbers: Collection[int]) -> list[tuple[int, str]]:
        return [
            (position, f"{url}{number}/")
            for position, number in enumerate(session.order, start=1)
            if number in numbers
        ]

    flagged: dict[str, set[int]] = defaultdict(set)
    for number, kind in session.flagged.items():
        flagged[kind].add(number)
    return SessionSummary(
        grades=[(grade, counts[grade.value]) for grade in grades],
        places=[
            ("noted", "With a note", links(session.noted)),
            *(
                (f"flag {kind.value}", str(kind.label), links(flagged[kind]))
                for kind in (Flag.Kind.CANNOT_JUDGE, Flag.Kind.PROBLEM)
            ),
        ],
        seconds=session.seconds,
    )
