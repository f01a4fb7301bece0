"""What the pages of the four kinds of disagreement share: the frame, the answers, the way on.

The four kinds extend `templates/settling/settle.html` and have the same keys. Names are hidden
until the lead looks them up (`audit.settling.pseudonyms`, `audit.settling.reveals`), unless the
project shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from annotate.collection.document_text import show
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Adjudication, ConditionAdjudication, Flag, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.reviews.models import Decision
from audit.settling import access
from audit.settling.forms import WantedForm
from audit.settling.names import naming
from audit.settling.queue import DisagreementKey, Kind, Wanted, following, is_open, key_of
from audit.settling.views.queue import asked_in, key_in, list_url, url_of, with_asked
from base import keymap
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


def context_of_frame(
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
        "last": last_decision(member),
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


def withdrawal_url(disagreement_key: DisagreementKey) -> str:
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


def context_of_document(disagreement: access.Disagreement) -> dict[str, Any]:
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


def answers_of(
    judgment: Judgment,
    names: Mapping[int, str],
    document: dict[str, Any],
    frame: dict[str, Any],
) -> Voice:
    """Return one person's answer as a page shows it."""
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


def group_answers(
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


def list_flags(
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


def list_causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the causes to choose from, each with its key."""
    return [
        {"value": cause.value, "name": cause.label, "key": keys[f"settle_{cause.value}"]}
        for cause in Adjudication.Cause
    ]


def last_decision(member: Membership) -> dict[str, Any] | None:
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
        found.append((checked.at, key_of_label(checked.item), what, value_of(checked)))
    if not found:
        return None
    at, disagreement_key, what, outcome = max(found, key=lambda one: one[0])
    if judged is not None and judged.batch and disagreement_key.kind is Kind.JUDGMENT:
        # One undo takes back all that was settled with one press.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, judged.batch])
        return {"at": at, "url": url, "what": _("many documents together"), "outcome": ""}
    return {"at": at, "url": withdrawal_url(disagreement_key), "what": what, "outcome": outcome}


def redirect_onward(
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


def redirect_back(
    request: PageRequest, disagreement_key: DisagreementKey, refused: str = ""
) -> HttpResponse:
    """Show what was settled, after its decision was taken back, or could not be."""
    if refused:
        messages.error(request, refused)
    else:
        messages.success(request, _("The decision is withdrawn; people differ here again."))
    return redirect(url_of(disagreement_key, asked_in(request.GET)))


def key_of_label(item: SampleItem) -> DisagreementKey:
    """Return the key of the disagreement on a sampled label."""
    return DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)


def value_of(check: Check) -> int | str:
    """What someone said of a label, in a sentence."""
    return _("not to be judged") if check.relevance is None else check.relevance
