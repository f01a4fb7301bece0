"""Code shared by the pages of the four kinds of disagreement: frame, answers, next page.

The four kinds extend `templates/settling/settle.html` and have the same keys. Names are hidden
until the lead reveals them (`audit.settling.pseudonyms`, `audit.settling.reveals`), unless the
project shows them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.forms import Form
from django.urls import reverse

from annotate.collection.document_rendering import read_pane
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.checks.models import Check
from audit.settling.disagreements import (
    CheckDisagreement,
    Disagreement,
    DocumentDisagreement,
    GivenAnswer,
)
from audit.settling.forms import QueueFilterForm
from audit.settling.queue import next_disagreement, position_of
from audit.settling.views.addresses import (
    add_filter,
    disagreement_url,
    filter_in,
    list_url,
    reveal_url,
    withdrawal_url,
)
from audit.settling.views.last_decision import last_decision
from base import keymap
from base.page_request import PageRequest
from base.word_diff import diff


@dataclass
class Voice:
    """One person's answer; `row` is its row."""

    who: str
    mine: bool
    at: datetime
    row: Judgment | Check
    words: str = ""
    seconds: float | None = None
    evidence: list[dict[str, Any]] = field(default_factory=list)
    clauses: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Answer:
    """One answer with everybody who gave it; `adopt` is the key of the row to adopt."""

    # None: they cannot judge it.
    value: int | str | None
    label: str
    adopt: int
    key: str = ""
    voices: list[Voice] = field(default_factory=list)

    @property
    def who(self) -> str:
        """The names of everybody who gave it."""
        return ", ".join(voice.who for voice in self.voices)


def frame_context(request: PageRequest, disagreement: Disagreement) -> dict[str, Any]:
    """Return what every page shows: the instruction, the filter, names, and the next page."""
    member, narrative = disagreement.member, disagreement.narrative
    disagreement_key, naming = disagreement.key, disagreement.naming
    asked = filter_in(request.GET)
    filters = QueueFilterForm(member, asked).queue_filter()
    key = position_of(member, filters, disagreement_key)
    onward = next_disagreement(member, filters, key)
    original = narrative.pair.current(Narrative.Side.ORIGINAL)
    marked = original is not None and original.pk != narrative.pk and original.text
    newest = narrative.pair.current(narrative.side)
    is_next = onward is not None and onward.disagreement_key != disagreement_key
    return {
        "kind": disagreement_key.kind.value,
        "disagreement_key": disagreement_key,
        "pair": narrative.pair,
        "query": narrative.pair.query,
        "narrative": narrative,
        "stale": newest is not None and newest.pk != narrative.pk,
        "pieces": diff(original.text, narrative.text) if original and marked else None,
        # Independent of the filter, which only selects the next one.
        "differs": key is not None or disagreement.differs(),
        "asked": add_filter("", asked),
        "list_url": list_url(member.project.slug, asked),
        "next_url": disagreement_url(onward.disagreement_key, asked) if onward and is_next else "",
        "next": str(onward) if is_next else "",
        "count_url": add_filter(
            reverse("audit:disagreement_count", args=[member.project.slug]), asked
        ),
        "last": last_decision(member),
        "settle_url": disagreement_url(disagreement_key, asked),
        "withdraw_url": withdrawal_url(disagreement_key),
        "hidden": naming.hidden,
        "reveals": naming.reveals,
        "reveal_url": add_filter(reveal_url(disagreement_key), asked),
    }


def document_context(disagreement: DocumentDisagreement | CheckDisagreement) -> dict[str, Any]:
    """Return what the document component needs."""
    shown = read_pane(disagreement.candidate.document)
    return {
        "candidate": disagreement.candidate,
        "document": shown.document,
        # No need to hide the name: nobody who still has to judge it sees this page.
        "name": name_of(shown.document, disagreement.member.project, hidden=False),
        "text": shown.text,
        "table": shown.table,
        "prior": disagreement.candidate.prior_relevance,
    }


def voice_of(
    given: GivenAnswer, judgment: Judgment, narrative: Narrative, text: str | None
) -> Voice:
    """Return one person's answer as a page shows it; `text`: that of the document."""
    return Voice(
        given.who,
        given.mine,
        judgment.at,
        judgment,
        words=judgment.note,
        seconds=None if judgment.active_ms is None else judgment.active_ms / 1_000,
        evidence=_quote_spans(judgment.evidence, text),
        clauses=_quote_spans(judgment.clauses, narrative.text),
    )


def _quote_spans(spans: list[dict[str, int]], text: str | None) -> list[dict[str, Any]]:
    """Return the spans that a judge marked in a text, each with its words."""
    return [{**span, "text": text[span["start"] : span["end"]]} for span in spans] if text else []


def group_answers(
    voices: Sequence[tuple[Any, str, int, Voice]],
    keys: Mapping[str, str],
    taken: Iterable[str],
) -> list[Answer]:
    """Group equal answers, each with a key that adopts it and is free on the page."""
    found: dict[Any, Answer] = {}
    free = keymap.free_keys([*keymap.keys_on_page("settle", keys), *taken])
    for value, label, pk, voice in voices:
        if value not in found:
            key = free[len(found)] if len(found) < len(free) else ""
            found[value] = Answer(value, label, pk, key)
        found[value].voices.append(voice)
    return list(found.values())


def grades_context(
    project: Project, voices: Sequence[Voice], keys: Mapping[str, str]
) -> dict[str, Any]:
    """Return the grades with their keys, and the answers grouped by grade."""
    grades = list(project.grades.order_by("value"))
    labels: dict[int | None, str] = {grade.value: grade.name for grade in grades}
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
    by_grade = [
        (one.row.relevance, labels.get(one.row.relevance, ""), one.row.pk, one) for one in voices
    ]
    return {
        "grades": grades,
        "grade_keys": grade_keys,
        "answers": group_answers(by_grade, keys, grade_keys.values()),
    }


def split_decisions(decisions: QuerySet[Any]) -> dict[str, Any]:
    """Return the current decision, and the withdrawn ones in the same order."""
    found = list(decisions)
    return {
        "decision": next((one for one in found if one.withdrawn_at is None), None),
        "withdrawn": [one for one in found if one.withdrawn_at is not None],
    }


def list_causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the causes to choose from, each with its key."""
    return [
        {"value": cause.value, "name": cause.label, "key": keys[f"settle_{cause.value}"]}
        for cause in Adjudication.Cause
    ]


class Page(ABC):
    """The page of one disagreement, where a lead settles it or withdraws the decision."""

    template: ClassVar[str]
    form: ClassVar[type[Form]]

    def __init__(self, disagreement: Any) -> None:
        self.disagreement = disagreement

    @abstractmethod
    def message(self, made: Any) -> str:
        """Return a message for the lead about a decision just made."""

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return whether the lead can settle it now, provided that it is open."""
        return not context["stale"]

    def other_page_url(self) -> str:
        """Return the address of the page that settles it instead of this one, if any."""
        return ""

    @abstractmethod
    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return what the template needs in addition to the frame."""
