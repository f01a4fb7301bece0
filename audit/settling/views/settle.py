"""One disagreement at a time: what each said, and the decision; then the next one opens.

The four kinds share a frame (`templates/settling/settle.html`) and their keys. Names are hidden
until
the lead reveals them (`audit.settling.pseudonyms`, `audit.settling.reveals`), unless the project
shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.collection.document_text import show
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Adjudication, ConditionAdjudication, Flag, Judgment, Verdict
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership
from audit.checks import actions as check_actions
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import to_settle
from audit.reviews import access as reviews_access
from audit.reviews import actions
from audit.reviews.forms import DecisionForm
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts, passes_of, verdict_of
from audit.reviews.views.reviews import decide
from audit.settling import access, adjudication
from audit.settling.forms import AdjudicationForm, ThirdCheckForm, VerdictForm, WantedForm
from audit.settling.names import naming
from audit.settling.queue import DisagreementKey, Kind, Wanted, following, is_open, key_of
from audit.settling.reveals import reveal_names
from audit.settling.views.queue import asked_in, key_in, list_url, url_of, with_asked
from audit.settling.views.rejudge import sending_back
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest
from base.word_diff import diff

# For how long the pages offer to take a decision back with one key; later its own page does.
UNDO_OFFERED = timedelta(hours=1)


@dataclass
class Voice:
    """What one person said: `said` is what the rows of its kind hold."""

    who: str
    mine: bool
    at: datetime
    said: Judgment | Check
    words: str = ""
    seconds: float | None = None
    evidence: list[dict[str, Any]] = field(default_factory=list)
    clauses: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Answer:
    """One answer with everybody who gave it; `adopt` is the key of the row that is adopted."""

    # None: they cannot judge it.
    value: int | str | None
    label: str | Promise
    adopt: int
    key: str = ""
    voices: list[Voice] = field(default_factory=list)

    @property
    def who(self) -> str:
        """Everybody who gave it."""
        return ", ".join(voice.who for voice in self.voices)


# --- judgments ------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def disagreement(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show what each judge said of a document, and settle it; then the next one opens."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    disagreement_key = DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0)
    form = AdjudicationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_judgments(disagreement, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("%(doc_id)s is settled as %(relevance)s.")
                % {"doc_id": disagreement.candidate.document.doc_id, "relevance": made.relevance},
            )
            return _onward(request, disagreement.member, disagreement_key)
    about = {"narrative": disagreement.narrative, "candidate": disagreement.candidate}
    frame = _frame(request, disagreement.member, disagreement.narrative, disagreement_key)
    judgments = list(
        Judgment.objects.current()
        .filter(**about)
        .select_related("annotator")
        .order_by("annotator__name")
    )
    people = [one for one in judgments if not one.annotator.is_machine]
    document = _document(disagreement)
    names = frame["naming"].of({one.annotator_id: one.annotator.name for one in people})
    people.sort(key=lambda one: list(names).index(one.annotator_id))
    grades = list(disagreement.member.project.grades.order_by("value"))
    labels = {grade.value: grade.name for grade in grades}
    voices = [
        (
            one.relevance,
            labels.get(one.relevance, ""),
            one.pk,
            _said(one, names, document, frame),
        )
        for one in people
    ]
    decisions = list(
        Adjudication.objects.filter(**about)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    )
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.on_page("settle", keys))
    return render(
        request,
        "settling/disagreement.html",
        {
            **frame,
            **document,
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": _grouped(voices, keys, grade_keys.values()),
            "verdicts": _verdicts(people, names),
            **sending_back(request, disagreement, people, names),
            "machines": [one for one in judgments if one.annotator.is_machine],
            "flags": _flags(about, frame, names),
            "decision": next((one for one in decisions if one.withdrawn_at is None), None),
            "withdrawn": [one for one in decisions if one.withdrawn_at is not None],
            "withdraw_url": _withdrawal(disagreement_key),
            "causes": _causes(keys),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def adjudication_withdrawal(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Take a settling decision back and show what is disputed again."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    try:
        adjudication.withdraw_adjudication(
            adjudication=access.adjudication(disagreement), by=disagreement.member
        )
    except Refused as refused:
        return _back(request, DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0), str(refused))
    return _back(request, DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0))


def _settle_judgments(disagreement: access.Disagreement, form: AdjudicationForm) -> Adjudication:
    given = form.cleaned_data
    if given["adopt"] is not None:
        return adjudication.adopt(
            judgment=access.judgment(disagreement, given["adopt"]),
            cause=given["cause"],
            reason=given["reason"],
            by=disagreement.member,
        )
    return adjudication.adjudicate(
        narrative=disagreement.narrative,
        candidate=disagreement.candidate,
        relevance=given["relevance"],
        cause=given["cause"],
        reason=given["reason"],
        by=disagreement.member,
    )


def _verdicts(judgments: list[Judgment], names: Mapping[int, str]) -> list[dict[str, Any]]:
    """What each judgment says of each condition (None: nothing), those they differ on first."""
    said: dict[Condition, dict[int, Verdict]] = {}
    found = Verdict.objects.filter(judgment__in=judgments).select_related("condition")
    for verdict in found.order_by("condition__number"):
        said.setdefault(verdict.condition, {})[verdict.judgment_id] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(one.pk) for one in judgments],
            "names": [names[one.annotator_id] for one in judgments],
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in said.items()
    ]
    return sorted(rows, key=lambda row: not row["differs"])


# --- verdicts -------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def verdict_disagreement(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Show what each judge said of one condition, and settle it; then the next one opens."""
    disagreement, asked_of = access.verdict_disagreement(request.user, condition, candidate)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, disagreement.narrative.pk, candidate, condition
    )
    form = VerdictForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_verdicts(disagreement, asked_of, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            about = {
                "number": asked_of.number,
                "doc_id": disagreement.candidate.document.doc_id,
                "answer": made.get_answer_display(),
            }
            messages.success(
                request,
                _("Condition %(number)s of %(doc_id)s is settled as “%(answer)s”.") % about,
            )
            return _onward(request, disagreement.member, disagreement_key)
    frame = _frame(request, disagreement.member, disagreement.narrative, disagreement_key)
    verdicts = {
        one.judgment_id: one
        for one in Verdict.objects.filter(
            condition=asked_of,
            judgment__candidate=disagreement.candidate,
            judgment__superseded_at=None,
            judgment__text_replaced_at=None,
        )
    }
    judgments = list(
        Judgment.objects.current()
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .select_related("annotator")
        .order_by("annotator__name")
    )
    people = [one for one in judgments if not one.annotator.is_machine]
    names = frame["naming"].of({one.annotator_id: one.annotator.name for one in people})
    people.sort(key=lambda one: list(names).index(one.annotator_id))
    document = _document(disagreement)
    voices = [
        (
            verdicts[one.pk].answer,
            verdicts[one.pk].get_answer_display(),
            verdicts[one.pk].pk,
            _said(one, names, document, frame),
        )
        for one in people
        if one.pk in verdicts
    ]
    decisions = list(
        ConditionAdjudication.objects.filter(condition=asked_of, candidate=disagreement.candidate)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    )
    keys = keymap.keys_for(request.user)
    return render(
        request,
        "settling/verdict_disagreement.html",
        {
            **frame,
            **document,
            "grades": list(disagreement.member.project.grades.order_by("value")),
            "condition": asked_of,
            "choices": [
                {"value": answer.value, "name": answer.label, "key": str(place)}
                for place, answer in enumerate(Verdict.Answer, start=1)
            ],
            "answers": _grouped(voices, keys, []),
            **sending_back(request, disagreement, people, names),
            "machines": [
                {"name": one.annotator.name, "verdict": verdicts[one.pk]}
                for one in judgments
                if one.annotator.is_machine and one.pk in verdicts
            ],
            "decision": next((one for one in decisions if one.withdrawn_at is None), None),
            "withdrawn": [one for one in decisions if one.withdrawn_at is not None],
            "withdraw_url": _withdrawal(disagreement_key),
            "causes": _causes(keys),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def verdict_withdrawal(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Take the settling decision on a condition back and show what is disputed again."""
    disagreement, asked_of = access.verdict_disagreement(request.user, condition, candidate)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, disagreement.narrative.pk, candidate, condition
    )
    try:
        adjudication.withdraw_condition_adjudication(
            adjudication=access.condition_adjudication(asked_of, disagreement.candidate),
            by=disagreement.member,
        )
    except Refused as refused:
        return _back(request, disagreement_key, str(refused))
    return _back(request, disagreement_key)


def _settle_verdicts(
    disagreement: access.Disagreement, condition: Condition, form: VerdictForm
) -> ConditionAdjudication:
    given = form.cleaned_data
    if given["adopt"] is not None:
        return adjudication.adopt_verdict(
            verdict=access.verdict(disagreement, condition, given["adopt"]),
            cause=given["cause"],
            reason=given["reason"],
            by=disagreement.member,
        )
    return adjudication.settle_condition(
        condition=condition,
        candidate=disagreement.candidate,
        answer=given["answer"],
        cause=given["cause"],
        reason=given["reason"],
        by=disagreement.member,
    )


# --- reviews --------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def review_disagreement(request: PageRequest, narrative: int) -> HttpResponse:
    """Show auditors' reviews side by side where they straddle poor, and decide; then the next."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative, 0, 0)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and decide(request, member, version, form):
        return _onward(request, member, disagreement_key)
    frame = _frame(request, member, version, disagreement_key)
    passes = passes_of([version])[version.pk]
    machines = passes_of([version], machines=True)[version.pk]
    names = frame["naming"].of({one.review.auditor_id: one.review.auditor.name for one in passes})
    passes.sort(key=lambda one: list(names).index(one.review.auditor_id))
    return render(
        request,
        "settling/review_disagreement.html",
        {
            **frame,
            "passes": passes,
            "names": names,
            "contrasts": contrasts(passes),
            "machines": machines,
            "machine_contrasts": contrasts(machines),
            "verdict": verdict_of(passes, member.project.overlap_review),
            "decision": Decision.objects.current()
            .select_related("by")
            .filter(narrative=version)
            .first(),
            "withdraw_url": _withdrawal(disagreement_key),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def review_withdrawal(request: PageRequest, narrative: int) -> HttpResponse:
    """Take the decision on an instruction back and show what auditors differ on again."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative, 0, 0)
    try:
        actions.withdraw_decision(decision=reviews_access.decision(version), by=member)
    except Refused as refused:
        return _back(request, disagreement_key, str(refused))
    return _back(request, disagreement_key)


# --- checks ---------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def check_disagreement(request: PageRequest, pk: int) -> HttpResponse:
    """Show what two checkers said of a label; a third person settles it, and the next one opens."""
    disagreement, item = access.check_disagreement(request.user, pk)
    member = disagreement.member
    disagreement_key = _of_label(item)
    form = ThirdCheckForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_checks(member, item, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("%(doc_id)s is settled as %(relevance)s.")
                % {"doc_id": item.candidate.document.doc_id, "relevance": _shown(made)},
            )
            return _onward(request, member, disagreement_key)
    if item.sample.asks == Sample.Asks.COUNT and to_settle(member, item.sample).filter(pk=item.pk):
        # Where each condition is answered.
        return redirect("audit:settlement", item.pk)
    frame = _frame(request, member, disagreement.narrative, disagreement_key)
    said = list(
        Check.objects.current().filter(item=item).select_related("checker").order_by("place")
    )
    first_two = [one for one in said if one.place != Check.SETTLES]
    third = next((one for one in said if one.place == Check.SETTLES), None)
    document = _document(disagreement)
    names = frame["naming"].of({one.checker_id: one.checker.name for one in first_two})
    first_two.sort(key=lambda one: list(names).index(one.checker_id))
    grades = list(member.project.grades.order_by("value"))
    labels = {grade.value: grade.name for grade in grades}
    voices = [
        (
            one.relevance,
            "" if one.relevance is None else labels.get(one.relevance, ""),
            one.pk,
            Voice(names[one.checker_id], one.checker_id == member.pk, one.at, one, words=one.words),
        )
        for one in first_two
    ]
    # What it came with may be what is claimed: who settles is as blind as who checked.
    shows_claim = item.sample.shows_claim or third is not None or not frame["differs"]
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.on_page("settle", keys))
    answers = _grouped(voices, keys, grade_keys.values())
    return render(
        request,
        "settling/check_disagreement.html",
        {
            **frame,
            **document,
            "sample": item.sample,
            "item": item,
            "conditions": list(item.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": answers,
            "decision": third,
            "own_check": any(voice.mine for answer in answers for voice in answer.voices),
            "own_decision": third is not None and third.checker_id == member.pk,
            "withdraw_url": _withdrawal(disagreement_key),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def check_disagreement_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Take back how the reader settled a label, and show what two checkers differ on again."""
    disagreement, item = access.check_disagreement(request.user, pk)
    disagreement_key = _of_label(item)
    mine = Check.objects.current().filter(
        item=item, checker=disagreement.member, place=Check.SETTLES
    )
    if not mine.exists():
        return _back(request, disagreement_key, _("There is nothing of yours to take back here."))
    try:
        check_actions.take_back(item=item, by=disagreement.member)
    except Refused as refused:
        return _back(request, disagreement_key, str(refused))
    return _back(request, disagreement_key)


def _of_label(item: SampleItem) -> DisagreementKey:
    return DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)


def _settle_checks(member: Membership, item: SampleItem, form: ThirdCheckForm) -> Check:
    given = form.cleaned_data
    if given["adopt"] is None:
        return check_actions.settle(
            item=item, relevance=given["relevance"], words=given["reason"], by=member
        )
    adopted = access.check(item, given["adopt"])
    if not adopted.cannot_judge:
        return check_actions.settle(
            item=item, relevance=adopted.relevance, words=given["reason"], by=member
        )
    # It needs words, and who adopts an answer adopts its words.
    words = given["reason"] or adopted.words
    return check_actions.settle(item=item, cannot_judge=True, words=words, by=member)


def _shown(check: Check) -> int | str:
    """What someone said of a label, in a sentence."""
    return _("not to be judged") if check.relevance is None else check.relevance


# --- revealing ------------------------------------------------------------------------------------


@require_POST
def reveal_judges(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show the lead who judged a document; that they looked is kept."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    return _reveal(
        request,
        disagreement.member,
        narrative=disagreement.narrative,
        candidate=disagreement.candidate,
    )


@require_POST
def reveal_auditors(request: PageRequest, narrative: int) -> HttpResponse:
    """Show the lead who reviewed an instruction; that they looked is kept."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    return _reveal(request, member, narrative=version)


@require_POST
def reveal_checkers(request: PageRequest, pk: int) -> HttpResponse:
    """Show the lead who checked a label; that they looked is kept."""
    disagreement, item = access.check_disagreement(request.user, pk)
    return _reveal(request, disagreement.member, narrative=disagreement.narrative, item=item)


def _reveal(request: PageRequest, member: Membership, **about: Any) -> HttpResponse:
    """Keep it, and go back to the page it was asked on."""
    try:
        revealed = reveal_names(by=member, **about)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(list_url(member.project.slug, asked_in(request.GET)))
    messages.info(request, _("The names are shown to you. That you looked is kept."))
    candidate = revealed.candidate_id or 0
    if revealed.item_id is not None:
        disagreement_key = DisagreementKey(
            Kind.CHECK, revealed.narrative_id, candidate, revealed.item_id
        )
    elif not candidate:
        disagreement_key = DisagreementKey(Kind.REVIEW, revealed.narrative_id, 0, 0)
    else:
        disagreement_key = DisagreementKey(Kind.JUDGMENT, revealed.narrative_id, candidate, 0)
        of = Condition.objects.filter(narrative=revealed.narrative_id)
        asked = request.POST.get("condition", "")
        # Of a document's judgments, or of one condition of it.
        if asked.isdecimal() and len(asked) < 19 and (found := of.filter(pk=asked).first()):
            disagreement_key = DisagreementKey(
                Kind.VERDICT, revealed.narrative_id, candidate, found.pk
            )
    return redirect(url_of(disagreement_key, asked_in(request.GET)))


# --- what the four share --------------------------------------------------------------------------


def _frame(
    request: PageRequest,
    member: Membership,
    narrative: Narrative,
    disagreement_key: DisagreementKey,
) -> dict[str, Any]:
    """Where they stand, what it is about, whether names are hidden, and where to go on."""
    asked = asked_in(request.GET)
    wanted = WantedForm(member, asked).wanted()
    key = key_of(member, wanted, disagreement_key)
    onward = following(member, wanted, key)
    original = narrative.pair.current(Narrative.Side.ORIGINAL)
    marked = original is not None and original.pk != narrative.pk and original.text
    newest = narrative.pair.current(narrative.side)
    named = naming(member, disagreement_key)
    is_next = onward is not None and onward.disagreement_key != disagreement_key
    return {
        "project": member.project,
        "member": member,
        "section": "disagreements",
        "kind": disagreement_key.kind.value,
        "disagreement_key": disagreement_key,
        "pair": narrative.pair,
        "query": narrative.pair.query,
        "narrative": narrative,
        "stale": newest is not None and newest.pk != narrative.pk,
        "pieces": diff(original.text, narrative.text) if original and marked else None,
        # Whatever the filter is: it says where to go on, not what is true of this one.
        "differs": key is not None or key_of(member, Wanted(), disagreement_key) is not None,
        "asked": with_asked("", asked),
        "list_url": list_url(member.project.slug, asked),
        "next_url": url_of(onward.disagreement_key, asked) if onward and is_next else "",
        "next": str(onward) if is_next else "",
        "count_url": with_asked(
            reverse("audit:disagreement_count", args=[member.project.slug]), asked
        ),
        "last": _last(member),
        "naming": named,
        "hidden": named.hidden,
        "reveals": named.reveals,
        "reveal_url": with_asked(_reveal_url(disagreement_key), asked),
    }


def _reveal_url(disagreement_key: DisagreementKey) -> str:
    if disagreement_key.kind is Kind.CHECK:
        return reverse("audit:reveal_checkers", args=[disagreement_key.part])
    if disagreement_key.kind is Kind.REVIEW:
        return reverse("audit:reveal_auditors", args=[disagreement_key.narrative])
    return reverse(
        "audit:reveal_judges", args=[disagreement_key.narrative, disagreement_key.candidate]
    )


def _withdrawal(disagreement_key: DisagreementKey) -> str:
    """Where a decision is taken back."""
    if disagreement_key.kind is Kind.CHECK:
        return reverse("audit:check_disagreement_withdrawal", args=[disagreement_key.part])
    if disagreement_key.kind is Kind.REVIEW:
        return reverse("audit:review_withdrawal", args=[disagreement_key.narrative])
    if disagreement_key.kind is Kind.VERDICT:
        return reverse(
            "audit:verdict_withdrawal", args=[disagreement_key.part, disagreement_key.candidate]
        )
    return reverse(
        "audit:adjudication_withdrawal",
        args=[disagreement_key.narrative, disagreement_key.candidate],
    )


def _document(disagreement: access.Disagreement) -> dict[str, Any]:
    """The document, as its component wants it."""
    shown = show(disagreement.candidate.document)
    return {
        "candidate": disagreement.candidate,
        "document": shown.document,
        # A lead reads what others said here: nobody does who still has to answer.
        "name": name_of(shown.document, disagreement.member.project, hidden=False),
        "text": shown.text,
        "table": shown.table,
        "prior": disagreement.candidate.prior_relevance,
    }


def _said(
    judgment: Judgment,
    names: Mapping[int, str],
    document: dict[str, Any],
    frame: dict[str, Any],
) -> Voice:
    return Voice(
        names[judgment.annotator_id],
        judgment.annotator_id == frame["member"].pk,
        judgment.at,
        judgment,
        words=judgment.note,
        seconds=None if judgment.active_ms is None else judgment.active_ms / 1_000,
        evidence=_quoted(judgment.evidence, document["text"]),
        clauses=_quoted(judgment.clauses, frame["narrative"].text),
    )


def _quoted(spans: list[dict[str, int]], text: str | None) -> list[dict[str, Any]]:
    """What a judge marked of a text: each span with its words."""
    return [{**span, "text": text[span["start"] : span["end"]]} for span in spans] if text else []


def _grouped(
    voices: Sequence[tuple[Any, str | Promise, int, Voice]],
    keys: Mapping[str, str],
    taken: Iterable[str],
) -> list[Answer]:
    """The same answers as one, each with a letter that adopts it and is free on the page."""
    found: dict[Any, Answer] = {}
    free = keymap.free([*keymap.on_page("settle", keys), *taken])
    for value, label, pk, voice in voices:
        if value not in found:
            key = free[len(found)] if len(found) < len(free) else ""
            found[value] = Answer(value, label, pk, key)
        found[value].voices.append(voice)
    return list(found.values())


def _flags(
    about: dict[str, Any], frame: dict[str, Any], names: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Standing flags, in no order that gives names away: who only flagged has no letter."""
    flags = Flag.objects.current().filter(**about).select_related("annotator").order_by("uuid")
    return [
        {
            "flag": one,
            "who": names.get(
                one.annotator_id, _("Somebody") if frame["hidden"] else one.annotator.name
            ),
        }
        for one in flags
    ]


def _causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"value": cause.value, "name": cause.label, "key": keys[f"settle_{cause.value}"]}
        for cause in Adjudication.Cause
    ]


def _last(member: Membership) -> dict[str, Any] | None:
    """What this lead settled last, if that is not long ago: one key takes it back."""
    recent = {"at__gt": timezone.now() - UNDO_OFFERED}
    found: list[tuple[datetime, DisagreementKey, str, Any]] = []
    judged = (
        Adjudication.objects.current()
        .filter(by=member, **recent)
        .select_related("narrative__pair", "candidate__document")
        .order_by("-at", "-pk")
        .first()
    )
    if judged is not None:
        disagreement_key = DisagreementKey(
            Kind.JUDGMENT, judged.narrative_id, judged.candidate_id, 0
        )
        what = f"{judged.candidate.document.doc_id} · {judged.narrative.pair.pair_id}"
        found.append((judged.at, disagreement_key, what, judged.relevance))
    answered = (
        ConditionAdjudication.objects.current()
        .filter(by=member, **recent)
        .select_related("condition__narrative__pair", "candidate__document")
        .order_by("-at", "-pk")
        .first()
    )
    if answered is not None:
        disagreement_key = DisagreementKey(
            Kind.VERDICT,
            answered.condition.narrative_id,
            answered.candidate_id,
            answered.condition_id,
        )
        what = f"{answered.candidate.document.doc_id} · {answered.condition.narrative.pair.pair_id}"
        found.append((answered.at, disagreement_key, what, answered.get_answer_display()))
    decided = (
        Decision.objects.current()
        .filter(by=member, **recent)
        .select_related("narrative__pair")
        .order_by("-at", "-pk")
        .first()
    )
    if decided is not None:
        disagreement_key = DisagreementKey(Kind.REVIEW, decided.narrative_id, 0, 0)
        what = decided.narrative.pair.pair_id
        found.append((decided.at, disagreement_key, what, decided.get_outcome_display()))
    checked = (
        Check.objects.current()
        .filter(checker=member, place=Check.SETTLES, **recent)
        .select_related("item__narrative__pair", "item__candidate__document")
        .order_by("-at", "-pk")
        .first()
    )
    if checked is not None:
        what = f"{checked.item.candidate.document.doc_id} · {checked.item.narrative.pair.pair_id}"
        found.append((checked.at, _of_label(checked.item), what, _shown(checked)))
    if not found:
        return None
    at, disagreement_key, what, outcome = max(found, key=lambda one: one[0])
    if judged is not None and judged.batch and disagreement_key.kind is Kind.JUDGMENT:
        # One undo takes back all that was settled with one press.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, judged.batch])
        return {"at": at, "url": url, "what": _("many documents together"), "outcome": ""}
    return {"at": at, "url": _withdrawal(disagreement_key), "what": what, "outcome": outcome}


def _onward(
    request: PageRequest, member: Membership, disagreement_key: DisagreementKey
) -> HttpResponse:
    """Go on after settling: to the next one of those asked for, or to the list at its end."""
    asked = asked_in(request.GET)
    # What the page offered as the next one, if nobody has settled it meanwhile: to look for it anew
    # is to go through everything that people said.
    offered = key_in(request.POST.get("next", ""))
    if offered is not None and is_open(member, offered.disagreement_key):
        return redirect(url_of(offered.disagreement_key, asked))
    wanted = WantedForm(member, asked).wanted()
    onward = following(member, wanted, key_of(member, wanted, disagreement_key))
    if onward is not None and onward.disagreement_key != disagreement_key:
        return redirect(url_of(onward.disagreement_key, asked))
    return redirect(list_url(member.project.slug, asked))


def _back(
    request: PageRequest, disagreement_key: DisagreementKey, refused: str = ""
) -> HttpResponse:
    """Show what was settled, after its decision was taken back, or could not be."""
    if refused:
        messages.error(request, refused)
    else:
        messages.success(request, _("The decision is withdrawn; people differ here again."))
    return redirect(url_of(disagreement_key, asked_in(request.GET)))
