"""Code shared by the four kinds of disagreement on the work page: what is shown, and the session.

The views of the four kinds extend `templates/settling/_view.html` and have the same keys. Names are
hidden until the lead reveals them (`audit.settling.names`), unless the project shows them.
"""

from __future__ import annotations

import json
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
from annotate.pairs.marked_words import words_to_mark
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership, Project
from audit.checks.models import Check
from audit.settling.disagreements import (
    CheckDisagreement,
    Disagreement,
    DocumentDisagreement,
    GivenAnswer,
)
from audit.settling.queue_filters import DisagreementKey
from audit.settling.settling_session import SettlingSession, value_of
from audit.settling.views.addresses import (
    add_filter,
    disagreement_url,
    filter_in,
    list_url,
    reveal_url,
    withdrawal_url,
)
from audit.settling.views.last_decision import describe_last
from base import keymap
from base.page_request import PageRequest
from base.word_diff import diff

# How many disagreements the browser fetches ahead.
AHEAD_OF_READER = 8


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


def item_context(request: PageRequest, disagreement: Disagreement) -> dict[str, Any]:
    """Return what the page shows of a disagreement of any kind: instruction, names, addresses."""
    narrative, key, naming = disagreement.narrative, disagreement.key, disagreement.naming
    asked = filter_in(request.GET)
    original = narrative.pair.current(Narrative.Side.ORIGINAL)
    marked = original is not None and original.pk != narrative.pk and original.text
    newest = narrative.pair.current(narrative.side)
    return {
        "kind": key.kind.value,
        "disagreement_key": key,
        "pair": narrative.pair,
        "query": narrative.pair.query,
        "narrative": narrative,
        "stale": newest is not None and newest.pk != narrative.pk,
        "change": diff(original.text, narrative.text) if original and marked else None,
        # Independent of the filter, which only selects the next one.
        "differs": disagreement.differs(),
        "asked": add_filter("", asked),
        "settle_url": disagreement_url(key, asked),
        "withdraw_url": withdrawal_url(key),
        "hidden": naming.hidden,
        "reveals": naming.reveals,
        "reveal_url": add_filter(reveal_url(key), asked),
        "keys": keymap.keys_for(request.user),
    }


def session_context(
    request: PageRequest, member: Membership, session: SettlingSession, key: DisagreementKey
) -> dict[str, Any]:
    """Return what the page shows of the session: progress, the neighbours, the last decision."""
    asked, slug = filter_in(request.GET), member.project.slug
    before, following = session.beside(key, -1), session.beside(key, 1)
    listed = list_url(slug, asked)
    documents = add_filter(reverse("audit:disagreement_views", args=[slug]), asked)
    return {
        "thing": "disagreement",
        "answered_by": "a decision",
        "note_title": "Reason",
        "guideline": Guideline.objects.latest_of(member.project),
        "done": len(session.decisions),
        "total": len(session.order),
        "back_url": listed,
        "list_url": listed,
        "previous_url": disagreement_url(before, asked) if before else "",
        "next_url": disagreement_url(following, asked) if following else "",
        "next": str(following) if following else "",
        "count_url": add_filter(reverse("audit:disagreement_count", args=[slug]), asked),
        "last": describe_last(member, session.last),
        "judging_session": {
            "user": member.user_id,
            "task": "decide",
            "candidate": str(key),
            "order": [str(key) for key in session.order],
            "answers": {
                str(key): ["decision", value_of(row), str(row.uuid)]
                for key, row in session.decisions.items()
            },
            "history": [str(key) for key in session.history],
            "grades": [],
            "ahead": AHEAD_OF_READER,
            "addresses": {str(key): disagreement_url(key, asked) for key in session.order},
            "urls": {"documents": documents, "judging": listed},
        },
    }


def document_context(disagreement: DocumentDisagreement | CheckDisagreement) -> dict[str, Any]:
    """Return what the document component needs."""
    narrative = disagreement.narrative
    words = words_to_mark(narrative.pair, narrative)
    shown = read_pane(disagreement.candidate.document, words)
    return {
        "candidate": disagreement.candidate,
        "document": shown.document,
        # No need to hide the name: nobody who still has to judge it sees this page.
        "name": name_of(shown.document, disagreement.member.project, hidden=False),
        "text": shown.text,
        "table": shown.table,
        "marks": shown.marks,
        "prior": disagreement.candidate.prior_relevance,
    }


def voice_of(
    answer: GivenAnswer, judgment: Judgment, narrative: Narrative, text: str | None
) -> Voice:
    """Return one person's answer as a page shows it; `text`: that of the document."""
    return Voice(
        answer.who,
        answer.mine,
        judgment.at,
        judgment,
        words=judgment.note,
        seconds=judgment.seconds,
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
    answers: dict[Any, Answer] = {}
    free = keymap.free_keys([*keymap.keys_on_page("settle", keys), *taken])
    for value, label, pk, voice in voices:
        if value not in answers:
            key = free[len(answers)] if len(answers) < len(free) else ""
            answers[value] = Answer(value, label, pk, key)
        answers[value].voices.append(voice)
    return list(answers.values())


def grades_context(
    project: Project, voices: Sequence[Voice], keys: Mapping[str, str]
) -> dict[str, Any]:
    """Return the grades with their keys, and the answers grouped by grade."""
    grades = list(project.grades.order_by("value"))
    labels: dict[int | None, str] = {grade.value: grade.name for grade in grades}
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
    for grade in grades:
        grade.key = grade_keys[grade.value]
    by_grade = [
        (voice.row.relevance, labels.get(voice.row.relevance, ""), voice.row.pk, voice)
        for voice in voices
    ]
    return {
        "grades": grades,
        "grade_keys": grade_keys,
        "answers": group_answers(by_grade, keys, grade_keys.values()),
    }


def split_decisions(decisions: QuerySet[Any]) -> dict[str, Any]:
    """Return the current decision, and the withdrawn ones in the same order."""
    rows = list(decisions)
    return {
        "decision": next((row for row in rows if row.withdrawn_at is None), None),
        "withdrawn": [row for row in rows if row.withdrawn_at is not None],
    }


def list_causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the causes to choose from, each with its key."""
    return [
        {"value": cause.value, "name": cause.label, "key": keys[f"settle_{cause.value}"]}
        for cause in Adjudication.Cause
    ]


class Page(ABC):
    """What is shown of one disagreement, which a lead settles or whose decision they withdraw."""

    template: ClassVar[str]

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
    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return what the template needs in addition to `item_context`, and the `decision`."""

    def view(self, request: PageRequest, form: Form) -> dict[str, Any]:
        """Return everything that the template needs."""
        item = item_context(request, self.disagreement)
        context = item | self.context(item["keys"], item) | {"form": form}
        decision = context["decision"]
        by = None
        if decision is not None:
            by = decision.checker_id if isinstance(decision, Check) else decision.by_id
        mine = by == self.disagreement.member.pk
        elsewhere = self.other_page_url()
        open_now = context["differs"] and self.can_settle(context) and not elsewhere
        reason = getattr(decision, "words", "") or getattr(decision, "reason", "")
        return context | {
            "own_decision": mine,
            "elsewhere_url": elsewhere,
            # The reader's own decision may be replaced by another one.
            "adoptable": open_now and (decision is None or mine),
            "note": reason if mine else "",
            "answer_json": json.dumps(_answer_data(decision, reason)),
        }


def _answer_data(decision: Any, reason: str) -> dict[str, Any]:
    """Return a decision for the page's script: the fields of the form that gives it."""
    if decision is None:
        return {}
    fields = {"cause": getattr(decision, "cause", "")}
    return {"kind": "decision", "uuid": str(decision.uuid), "note": reason, "fields": fields}
