"""The rewrite page: the original beside the narrative being written, and affected documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.document_rendering import read_pane
from annotate.judgments import assignments
from annotate.judgments.blindness import may_see
from annotate.judgments.document_names import names_for
from annotate.judgments.open_pairs import is_any_open
from annotate.pairs import access
from annotate.pairs.condition_lines import write as write_conditions
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from annotate.rewriting import actions, drafts, sending_back
from annotate.rewriting.actions import go_back, stale_answers
from annotate.rewriting.forms import DraftForm, NarrativeForm, SendBackForm
from annotate.rewriting.kept_and_dropped import outcome
from annotate.rewriting.models import Draft
from annotate.rewriting.rewrite_impact import advise, find_impact, ticked_at_stake
from annotate.rewriting.sending_back import why_sent_back
from base.errors import Refused, Stale, Unconfirmed
from base.pagination import parse_key
from base.requests import PageRequest, refusal_as_message
from base.word_diff import Op, Piece, before_pieces, diff


@dataclass(frozen=True)
class Desk:
    """One side of a pair as a member rewrites it: its source, current version and draft."""

    member: Membership
    pair: InstructionPair
    side: str
    # What it is written from, and its current version, if there is one yet.
    source: Narrative | None
    current: Narrative | None
    draft: Draft | None

    @property
    def version(self) -> int:
        """The number of the current version; 0 while there is none."""
        return self.current.version if self.current else 0

    @property
    def before(self) -> str:
        """The text that changes are shown against."""
        return self.source.text if self.source else ""

    def url(self, name: str) -> str:
        """Return the address of one of the page's routes, on this side."""
        address = reverse(f"annotate:{name}", args=[self.pair.pk])
        return f"{address}?side={self.side}" if self.side != Narrative.Side.ALTERED else address


def _ticks(request: HttpRequest, desk: Desk) -> set[int]:
    """Return the ticked candidates (keys): the draft's, as a page that was sent changes them.

    Ticks on other pages of the list stay as they are.
    """
    shown, ticked = (
        {key for sent in request.POST.getlist(name) if (key := parse_key(sent)) is not None}
        for name in ("shown", "drop")
    )
    return set(desk.draft.drops if desk.draft else []) - shown | ticked


def _impact_context(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """Return a page of the affected documents, with their ticks."""
    project = desk.pair.project
    rewrite_impact = find_impact(desk.pair, request.GET, desk.member)
    return {
        "project": project,
        "member": desk.member,
        "pair": desk.pair,
        "query": desk.pair.query,
        "side": desk.side,
        "here": desk.url("rewrite"),
        "draft_url": desk.url("draft"),
        "advice_url": desk.url("advice"),
        "rewrite_impact": rewrite_impact,
        "names": names_for(desk.member, rewrite_impact.page.rows),
        "drops": ticked_at_stake(desk.pair, _ticks(request, desk)),
        "grades": list(project.grades.order_by("value")),
        "show_prior": project.show_prior or desk.member.leads,
    }


def _advice_context(desk: Desk, written: Mapping[str, Any], *, in_texts: bool) -> dict[str, Any]:
    """Return the advice on the typed text."""
    checks = advise(
        desk.pair,
        side=desk.side,
        before=desk.before,
        after=str(written.get("text") or ""),
        conditions=str(written.get("conditions") or ""),
        in_texts=in_texts,
        reader=desk.member,
    )
    return {
        "side": desk.side,
        "checks": checks,
        "passed": [check for check in checks if check.good],
        "advice_url": desk.url("advice"),
    }


def _changed_conditions(older: Narrative | None, found: Narrative) -> list[tuple[Op, str, str]]:
    """Return the conditions of a version, then those of the previous one that are gone."""
    now = found.condition_lines()
    # A first version starts without conditions: those of its source do not count.
    before = older.condition_lines() if older and older.side == found.side else []
    return [
        *((Op.KEPT if condition in before else Op.ADDED, *condition) for condition in now),
        *((Op.REMOVED, *condition) for condition in before if condition not in now),
    ]


TEMPLATE = "rewriting/rewrite.html"


@require_http_methods(["GET", "POST"])
def rewrite(request: PageRequest, pk: int) -> HttpResponse:
    """Write the next version of a pair's altered (with `?side=reversed`: reversed) narrative."""
    member, pair = access.pair(request.user, pk)
    if (refusal := _refuse_without_assignment(request, member, pair)) is not None:
        return refusal
    desk = _desk(request, member, pair)
    if request.htmx and request.method == "GET":
        return render(request, f"{TEMPLATE}#rewrite_impact", _impact_context(request, desk))
    form = NarrativeForm(request.POST or None, initial=_initial_values(desk))
    if request.method == "POST" and form.is_valid():
        try:
            saved = actions.rewrite_narrative(
                pair=pair, side=desk.side, **form.cleaned_data, by=member
            )
        except Stale as stale:
            # Their text stays; the next save is based on the version that the error names.
            form = NarrativeForm({**request.POST.dict(), "based_on": desk.version})
            form.add_error("text", str(stale))
        except Unconfirmed as unconfirmed:
            if stale_answers(desk.current, member):
                words = "Tick the box if this is what you want, then save again."
                form.add_error("confirmed", words)
            else:
                # Without answers there is no box any more.
                form.add_error(None, str(unconfirmed))
        except actions.ConditionsRefused as refused:
            form.add_error("conditions", str(refused))
        except Refused as refused:
            form.add_error("text", str(refused))
        else:
            is_judged = desk.side == Narrative.Side.ALTERED and pair.project.overlap_judge
            words = "It can be judged now." if is_judged else ""
            messages.success(request, f"Version {saved.version} is saved. {words}".strip())
            return redirect(desk.url("rewrite"))
    return _render_page(request, desk, form, status=422 if form.errors else 200)


@require_http_methods(["PUT", "POST"])
def draft(request: PageRequest, pk: int) -> HttpResponse:
    """Store what is on the page as a draft.

    A script sends PUT while someone types, and is answered in JSON. A button of the page sends
    POST; it may also discard the draft, or take or discard overtaken words.
    """
    member, pair = access.pair(request.user, pk)
    desk = _desk(request, member, pair)
    if request.method == "PUT":
        return _put_draft(request, desk)
    if (refusal := _refuse_without_assignment(request, member, pair)) is not None:
        return refusal
    target: dict[str, Any] = {"pair": pair, "side": desk.side, "by": member}
    if "discard" in request.POST:
        with refusal_as_message(request):
            drafts.discard_draft(**target)
            messages.info(request, "The draft is discarded. This is the current version.")
        return redirect(desk.url("rewrite"))
    form = DraftForm(_draft_data(request, desk))
    message = "The draft is saved."
    try:
        if not form.is_valid():
            raise Refused(_first_error(form))
        drafts.save_draft(**target, writing=form.writing())
        if which := request.POST.get("take"):
            drafts.take_overtaken(**target, which=which)
            message = "This text is your draft now; the one before it is kept."
        elif which := request.POST.get("forget"):
            drafts.drop_overtaken(**target, which=which)
            message = "The other text is discarded."
    except Refused as refused:
        page = NarrativeForm(request.POST)
        page.is_valid()
        page.add_error(None, str(refused))
        return _render_page(request, desk, page, status=422)
    messages.success(request, message)
    return redirect(desk.url("rewrite"))


@require_POST
def advice(request: PageRequest, pk: int) -> HttpResponse:
    """Show advice on what is typed, compared also with the documents' texts. Saves nothing."""
    member, pair = access.pair(request.user, pk)
    if (refusal := _refuse_without_assignment(request, member, pair)) is not None:
        return refusal
    desk = _desk(request, member, pair)
    if request.htmx:
        return render(
            request, "rewriting/_advice.html", _advice_context(desk, request.POST, in_texts=True)
        )
    form = NarrativeForm(initial={**_initial_values(desk), **request.POST.dict()})
    return _render_page(request, desk, form, in_texts=True)


@require_GET
def narrative(request: PageRequest, pk: int, narrative: int) -> HttpResponse:
    """Show one version of a narrative: what changed in it, and its conditions."""
    member, pair = access.pair(request.user, pk)
    version = access.narrative(pair, narrative)
    same_side = pair.narratives.filter(side=version.side, version__lt=version.version)
    older = same_side.order_by("-version").first()
    current = pair.current(version.side)
    to_return = (
        member.leads
        and pair.removed_at is None
        and version.side != Narrative.Side.ORIGINAL
        and version != current
    )
    if older is None and version.side != Narrative.Side.ORIGINAL:
        older = pair.written_from(version.side)
    return render(
        request,
        "rewriting/narrative.html#version" if request.htmx else "rewriting/narrative.html",
        {
            "project": pair.project,
            "member": member,
            "pair": pair,
            "query": pair.query,
            "narrative": version,
            "older": older,
            "pieces": diff(older.text, version.text) if older else [Piece(Op.KEPT, version.text)],
            "conditions": _changed_conditions(older, version),
            "current": current,
            "to_return": to_return,
            "knows_answers": to_return and may_see(member, pair),
            "stale": stale_answers(current, member) if to_return else "",
            "counted_again": stale_answers(version, member) if to_return else "",
        },
    )


@require_POST
def make_current(request: PageRequest, pk: int, narrative: int) -> HttpResponse:
    """Go back to a version of a narrative."""
    member, pair = access.led_pair(request.user, pk)
    version = access.narrative(pair, narrative)
    try:
        go_back(narrative=version, confirmed=request.POST.get("confirmed", ""), by=member)
    except Unconfirmed:
        messages.warning(request, "Other answers become stale than this page said. Look again.")
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Version {version.version} is the current version again.")
        return redirect(_desk(request, member, pair, version.side).url("rewrite"))
    return redirect("annotate:narrative", pk, narrative)


@require_POST
def send_back(request: PageRequest, pk: int) -> HttpResponse:
    """Send the altered narrative back to its writer, with a reason."""
    member, pair = access.led_pair(request.user, pk)
    desk = _desk(request, member, pair)
    form = SendBackForm(request.POST)
    if form.is_valid():
        try:
            sending_back.send_back(pair=pair, **form.cleaned_data, by=member)
        except Stale as stale:
            # The page shows the version that the error names, so that one is sent back next.
            form = SendBackForm({**request.POST.dict(), "version": desk.version})
            form.add_error("reason", str(stale))
        except Refused as refused:
            form.add_error("reason", str(refused))
        else:
            messages.success(request, "It is sent back. Its writer finds it among their tasks.")
            return redirect("annotate:rewrite", pk)
    page = NarrativeForm(initial=_initial_values(desk))
    return _render_page(request, desk, page, sending=form, status=422)


@require_POST
def take_back(request: PageRequest, pk: int) -> HttpResponse:
    """Take back that a narrative was sent back."""
    member, pair = access.led_pair(request.user, pk)
    with refusal_as_message(request):
        sending_back.take_back(pair=pair, by=member)
        messages.success(request, "Taken back: the version counts again as before.")
    return redirect("annotate:rewrite", pk)


@require_GET
def document(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Show one document of a pair, to read beside the narrative."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    shown = read_pane(candidate.document)
    return render(
        request,
        "rewriting/document.html#document" if request.htmx else "rewriting/document.html",
        {
            "project": pair.project,
            "member": member,
            "pair": pair,
            "query": pair.query,
            "candidate": candidate,
            "name": names_for(member, [candidate])[candidate.pk],
            "document": shown.document,
            "text": shown.text,
            "table": shown.table,
        },
    )


def _desk(request: HttpRequest, member: Membership, pair: InstructionPair, side: str = "") -> Desk:
    asked = side or request.GET.get("side")
    side = asked if asked == Narrative.Side.REVERSED else Narrative.Side.ALTERED
    return Desk(
        member,
        pair,
        side,
        pair.written_from(side),
        pair.current(side),
        Draft.objects.filter(pair=pair, side=side, member=member).first(),
    )


def _refuse_without_assignment(
    request: PageRequest, member: Membership, pair: InstructionPair
) -> HttpResponse | None:
    """Refuse a member who may not rewrite the pair; words that they sent stay on the page."""
    if member.leads or assignments.holds(pair=pair, task=Assignment.Task.REWRITE, by=member):
        return None
    if request.htmx:
        # A page whose task ended keeps its list and advice; its draft line says why.
        return HttpResponse(status=204)
    if not request.POST.get("text"):
        messages.error(request, assignments.NOT_YOURS)
        return redirect("annotate:home")
    context = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "query": pair.query,
        "sentence": assignments.NOT_YOURS,
        "form": NarrativeForm(request.POST),
    }
    return render(request, "rewriting/not_saved.html", context, status=422)


def _current_values(desk: Desk) -> dict[str, Any]:
    """Return what the fields hold if there is no draft."""
    starting = desk.current or desk.source
    conditions = desk.current.condition_lines() if desk.current else []
    return {
        "text": starting.text if starting else "",
        "conditions": write_conditions(conditions),
        "note": "",
        "based_on": desk.version,
    }


def _initial_values(desk: Desk) -> dict[str, Any]:
    """Return what the fields hold when the page opens: the draft, or the current version."""
    if desk.draft is None:
        return _current_values(desk)
    return {name: getattr(desk.draft, name) for name in ("text", "conditions", "note", "based_on")}


def _put_draft(request: HttpRequest, desk: Desk) -> JsonResponse:
    """Store what a script sends, and answer which words count now."""
    try:
        sent = json.loads(request.body)
    except RequestDataTooBig:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        sentence = f"This draft is too long: at most {most:,} bytes are allowed."
        return JsonResponse({"sentence": sentence}, status=413)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        return JsonResponse({"sentence": "This is not a draft and was not saved."}, status=422)
    form = DraftForm(sent)
    try:
        if not form.is_valid():
            raise Refused(_first_error(form))
        writing = form.writing()
        kept = drafts.save_draft(pair=desk.pair, side=desk.side, writing=writing, by=desk.member)
    except Refused as refused:
        return JsonResponse({"sentence": str(refused)}, status=422)
    return JsonResponse(
        {
            "saved_at": kept.saved_at if kept else timezone.now(),
            # False: newer words of the same person count, and these are stored as overtaken.
            "counts": kept is None or kept.place == writing.place,
            "seen": {kept.place: kept.turn} if kept else {},
            "overtaken": len(kept.overtaken) if kept else 0,
        }
    )


def _draft_data(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """Return what a button of the page sent, in the shape of a draft."""
    sent = request.POST.dict()
    return {
        "place": str(uuid4()),
        **sent,
        "drops": sent.get("drops") or sorted(_ticks(request, desk)),
        "turn": int(timezone.now().timestamp() * 1000),
    }


def _first_error(form: DraftForm) -> str:
    field, errors = next(iter(form.errors.items()))
    return f"{form.fields[field].label or field}: {errors[0]}"


def _render_page(
    request: PageRequest,
    desk: Desk,
    form: NarrativeForm,
    *,
    in_texts: bool = False,
    sending: SendBackForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page with what is typed."""
    pair, member = desk.pair, desk.member
    altered = desk.current if desk.side == Narrative.Side.ALTERED else None
    pieces = diff(desk.before, desk.current.text if desk.current else desk.before)
    # Nobody judges a version that was sent back.
    judging = (
        altered is not None
        and altered.sent_back_at is None
        and assignments.holds(pair=pair, task=Assignment.Task.JUDGE, by=member)
    )
    versions = pair.narratives.filter(side=desk.side).select_related("author").defer("text")
    written = form.data if form.is_bound else form.initial
    page = {
        "form": form,
        "source": desk.source,
        "current": desk.current,
        "draft": desk.draft,
        "behind": desk.draft is not None and desk.draft.based_on < desk.version,
        "overtaken": desk.draft.overtaken if desk.draft else [],
        "seen": json.dumps({desk.draft.place: desk.draft.turn} if desk.draft else {}),
        "place": str(uuid4()),
        "served": _current_values(desk) if desk.draft else None,
        "has_reversed": has_reversed(desk.side, pair),
        "pieces": pieces,
        "before_pieces": before_pieces(pieces),
        "versions": list(versions.order_by("-version")),
        "stale": stale_answers(desk.current, member),
        "outcome": outcome(pair, altered, member) if altered and may_see(member, pair) else None,
        "judge_free": altered is not None
        and is_any_open(task=Assignment.Task.JUDGE, by=member, pair=pair),
        # Whether another narrative waits, once this one is written.
        "next_free": desk.current is not None
        and desk.draft is None
        and is_any_open(task=Assignment.Task.REWRITE, by=member),
        "judge_url": reverse("annotate:judging", args=[pair.pk]) if judging else None,
        "sent_back": why_sent_back(pair, member) if altered else None,
        "can_take_back": member.leads and altered is not None and bool(altered.sent_back_reason),
        "sending": sending or _sending_form(desk, altered),
        **_advice_context(desk, written, in_texts=in_texts),
        **_impact_context(request, desk),
    }
    return render(request, TEMPLATE, page, status=status)


def _sending_form(desk: Desk, altered: Narrative | None) -> SendBackForm | None:
    """Return the form to send the altered narrative back, for a lead who can."""
    if not desk.member.leads or altered is None or altered.sent_back_at is not None:
        return None
    if desk.pair.removed_at is not None:
        return None
    return SendBackForm(initial={"version": desk.version})


def has_reversed(side: str, pair: InstructionPair) -> bool:
    """Return whether a pair has a reversed narrative, or its kind of project asks for one.

    A project without a method may have one for every pair.
    """
    kind = kind_of(pair.project.kind)
    return (
        kind.key == "own"
        or Narrative.Side.REVERSED in (side, *kind.sides)
        or pair.current(Narrative.Side.REVERSED) is not None
    )
