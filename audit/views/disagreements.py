"""What people answered differently: the list, and one page for each, where a lead settles it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import access as annotate_access
from annotate import keymap
from annotate.actions import settling
from annotate.errors import Refused
from annotate.models import (
    Adjudication,
    Assignment,
    Condition,
    Flag,
    Judgment,
    Membership,
    Narrative,
    Verdict,
)
from annotate.pure.narrative_diff import diff
from annotate.requests import PageRequest
from annotate.screens.shown import show
from audit import access
from audit.disagreements import (
    PAGE_SIZE,
    Item,
    Key,
    Kind,
    Wanted,
    count,
    following,
    key_of_judgments,
    key_of_reviews,
    page,
)
from audit.forms import AdjudicationForm, DecisionForm, WantedForm
from audit.models import Decision
from audit.reviews import contrasts, passes_of, verdict_of
from audit.views.reviews import decide

# For how long the pages offer to take a decision back with one key; later its own page does.
UNDO_OFFERED = timedelta(hours=1)


@require_GET
def disagreements(request: PageRequest, slug: str) -> HttpResponse:
    """List what a project's people differ on, or what was settled."""
    member = annotate_access.lead(request.user, slug)
    form = WantedForm(member, request.GET)
    wanted = form.wanted()
    after = _key(request.GET.get("after", ""))
    listed = page(member, wanted, after=after, size=PAGE_SIZE)
    asked = _asked(request)
    here = reverse("audit:disagreements", args=[slug])
    other = count(member, Wanted(settled=not wanted.settled))
    return render(
        request,
        "audit/disagreements.html",
        {
            "project": member.project,
            "member": member,
            "section": "disagreements",
            "grades": list(member.project.grades.order_by("value")),
            "form": form,
            "filtered": wanted != Wanted(settled=wanted.settled, order=wanted.order),
            "rows": [_row(item, asked) for item in listed.items],
            "total": listed.total,
            "showing": "settled" if wanted.settled else "open",
            "other": other,
            "open_url": here,
            "settled_url": f"{here}?state=settled",
            "first_url": _with(here, asked) if after else "",
            "next_url": _with(here, {**asked, "after": str(listed.after)}) if listed.after else "",
            "words": f"{len(listed.items)} of {listed.total:,} shown",
            "seated": member.assignments.open().exclude(task=Assignment.Task.REWRITE).exists(),
        },
    )


@require_http_methods(["GET", "POST"])
def disagreement(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show what each judge said of a document, and settle it; then the next one opens."""
    differing = access.judgments_differing(request.user, narrative, candidate)
    form = AdjudicationForm(request.POST or None)
    key = key_of_judgments(differing.narrative, differing.candidate)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle(differing, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("%(doc_id)s is settled as %(relevance)s.")
                % {"doc_id": differing.candidate.document.doc_id, "relevance": made.relevance},
            )
            return redirect(_onward(request, differing.member, key))
    return render(
        request,
        "audit/disagreement.html",
        {
            **_frame(request, differing.member, differing.narrative, key),
            **_answers(differing, keymap.keys_for(request.user)),
            "candidate": differing.candidate,
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def adjudication_withdrawal(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Take a settling decision back and show what is disputed again."""
    differing = access.judgments_differing(request.user, narrative, candidate)
    try:
        settling.withdraw_adjudication(
            adjudication=access.adjudication(differing), by=differing.member
        )
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("The decision is withdrawn; people differ here again."))
    here = reverse("audit:disagreement", args=[narrative, candidate])
    return redirect(_with(here, _asked(request)))


@require_http_methods(["GET", "POST"])
def review_disagreement(request: PageRequest, narrative: int) -> HttpResponse:
    """Show auditors' reviews side by side where they straddle poor, and decide; then the next."""
    member, version = access.reviews_differing(request.user, narrative)
    form = DecisionForm(request.POST or None)
    key = key_of_reviews(version)
    if request.method == "POST" and decide(request, member, version, form):
        return redirect(_onward(request, member, key))
    passes = passes_of([version])[version.pk]
    return render(
        request,
        "audit/review_disagreement.html",
        {
            **_frame(request, member, version, key),
            "passes": passes,
            "contrasts": contrasts(passes),
            "verdict": verdict_of(passes, member.project.overlap_review),
            "decision": Decision.objects.current()
            .select_related("by")
            .filter(narrative=version)
            .first(),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


def _settle(differing: access.Differing, form: AdjudicationForm) -> Adjudication:
    given = form.cleaned_data
    if given["adopt"] is not None:
        return settling.adopt(
            judgment=access.judgment(differing, given["adopt"]),
            cause=given["cause"],
            reason=given["reason"],
            by=differing.member,
        )
    return settling.adjudicate(
        narrative=differing.narrative,
        candidate=differing.candidate,
        relevance=given["relevance"],
        cause=given["cause"],
        reason=given["reason"],
        by=differing.member,
    )


def _frame(
    request: HttpRequest, member: Membership, narrative: Narrative, key: Key | None
) -> dict[str, Any]:
    """What both kinds of page have: where they stand, what it is about, and where to go on."""
    asked = _asked(request)
    wanted = WantedForm(member, asked).wanted()
    onward = following(member, wanted, key)
    original = narrative.pair.current(Narrative.Side.ORIGINAL)
    marked = original is not None and original.pk != narrative.pk and original.text
    newest = narrative.pair.current(narrative.side)
    return {
        "project": member.project,
        "member": member,
        "section": "disagreements",
        "pair": narrative.pair,
        "query": narrative.pair.query,
        "narrative": narrative,
        "stale": newest is not None and newest.pk != narrative.pk,
        "original": original,
        "pieces": diff(original.text, narrative.text) if original and marked else None,
        "differs": key is not None,
        "asked": _with("", asked),
        "list_url": _with(reverse("audit:disagreements", args=[member.project.slug]), asked),
        "next_url": _url(onward, asked) if onward and onward[2:] != (key or ())[2:] else "",
        "pending": count(member, Wanted()),
        "last": _last(member),
    }


def _answers(differing: access.Differing, keys: Mapping[str, str]) -> dict[str, Any]:
    """What people and machines said of the document, and the document."""
    about = {"narrative": differing.narrative, "candidate": differing.candidate}
    judgments = list(
        Judgment.objects.current()
        .filter(**about)
        .select_related("annotator")
        .order_by("annotator__name")
    )
    people = [one for one in judgments if not one.annotator.is_machine]
    shown = show(differing.candidate.document)
    grades = list(differing.member.project.grades.order_by("value"))
    taken = keymap.on_page("settle", keys)
    grade_keys = keymap.grade_keys(grades, taken)
    # An answer is adopted with a letter that nothing else on the page has, by its place.
    adopting = dict(enumerate(keymap.free([*taken, *grade_keys.values()])))
    decisions = list(
        Adjudication.objects.filter(**about)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    )
    return {
        "document": shown.document,
        "text": shown.text,
        "table": shown.table,
        "prior": differing.candidate.prior_relevance,
        "grades": grades,
        "grade_keys": grade_keys,
        "answers": [
            {
                "judgment": one,
                "key": adopting.get(place, ""),
                "evidence": _quoted(one.evidence, shown.text),
                "clauses": _quoted(one.clauses, differing.narrative.text),
                "seconds": None if one.active_ms is None else one.active_ms / 1_000,
                "mine": one.annotator_id == differing.member.pk,
            }
            for place, one in enumerate(people)
        ],
        "verdicts": _verdicts(people),
        "machines": [one for one in judgments if one.annotator.is_machine],
        "flags": list(
            Flag.objects.current()
            .filter(**about)
            .select_related("annotator")
            .order_by("annotator__name")
        ),
        "adjudication": next((one for one in decisions if one.withdrawn_at is None), None),
        "withdrawn": [one for one in decisions if one.withdrawn_at is not None],
        "causes": [
            {"value": cause.value, "name": cause.label, "key": keys[f"settle_{cause.value}"]}
            for cause in Adjudication.Cause
        ],
    }


def _quoted(spans: list[dict[str, int]], text: str | None) -> list[dict[str, Any]]:
    """What a judge marked of a text: each span with its words."""
    return [{**span, "text": text[span["start"] : span["end"]]} for span in spans] if text else []


def _verdicts(judgments: list[Judgment]) -> list[dict[str, Any]]:
    """What each judgment says of each condition (None: nothing), those they differ on first."""
    said: dict[Condition, dict[int, Verdict]] = {}
    found = Verdict.objects.filter(judgment__in=judgments).select_related("condition")
    for verdict in found.order_by("condition__number"):
        said.setdefault(verdict.condition, {})[verdict.judgment_id] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(one.pk) for one in judgments],
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in said.items()
    ]
    return sorted(rows, key=lambda row: not row["differs"])


def _last(member: Membership) -> Adjudication | None:
    """What this lead settled last, if that is not long ago: one key takes it back."""
    return (
        Adjudication.objects.current()
        .filter(by=member, at__gt=timezone.now() - UNDO_OFFERED)
        .select_related("narrative__pair", "candidate__document")
        .order_by("-at", "-pk")
        .first()
    )


def _row(item: Item, asked: dict[str, str]) -> dict[str, Any]:
    return {
        "url": _url(item.key, asked),
        "kind": item.key.kind.value,
        "pair": item.narrative.pair,
        "query": item.narrative.pair.query,
        "narrative": item.narrative,
        "candidate": item.candidate,
        "distance": item.key.distance,
        "at": item.key.at,
        "answers": item.voices,
        "settled": item.settled,
    }


def _onward(request: HttpRequest, member: Membership, key: Key | None) -> str:
    """Where to go after settling: the next one of those asked for, or the list at its end."""
    asked = _asked(request)
    onward = following(member, WantedForm(member, asked).wanted(), key)
    if onward is not None:
        return _url(onward, asked)
    return _with(reverse("audit:disagreements", args=[member.project.slug]), asked)


def _url(key: Key, asked: dict[str, str]) -> str:
    if key.kind is Kind.REVIEW:
        return _with(reverse("audit:review_disagreement", args=[key.narrative]), asked)
    return _with(reverse("audit:disagreement", args=[key.narrative, key.candidate]), asked)


def _asked(request: HttpRequest) -> dict[str, str]:
    """The filter in the address, to be carried along."""
    names = WantedForm.base_fields.keys() | {"one", "other"}
    return {name: request.GET[name] for name in request.GET if name in names and request.GET[name]}


def _with(url: str, asked: dict[str, str]) -> str:
    return f"{url}?{urlencode(asked)}" if asked else url


def _key(text: str) -> Key | None:
    """A place in the list from the address; what is none is as if it were not there."""
    try:
        return Key.parse(text)
    except ValueError:
        return None
