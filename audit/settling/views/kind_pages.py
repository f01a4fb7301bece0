"""What the work page shows of each kind of disagreement, and of the session.

The views of the four kinds extend `templates/settling/_view.html` and have the same keys. Names are
hidden until the lead reveals them (`audit.settling.names`), unless the project shows them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.forms import Form
from django.urls import reverse
from django.utils import timezone

from annotate.collection.document_rendering import read_pane
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Adjudication, ConditionAdjudication, Statement, Verdict
from annotate.pairs.models import Condition, Narrative
from annotate.pairs.pool import judged_narrative, words_to_mark
from annotate.projects.models import Guideline, Membership, Project
from audit.checks.models import Check, Sample
from audit.checks.queue import to_settle
from audit.reviews.forms import OUTCOMES
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts
from audit.reviews.views import decision_message
from audit.settling.contradictions import warnings_on_answers, warnings_on_grades
from audit.settling.kinds import (
    KINDS,
    CheckDisagreement,
    Disagreement,
    JudgmentDisagreement,
    ReviewDisagreement,
    VerdictDisagreement,
    current_decisions,
    key_of,
    kind_of,
)
from audit.settling.kinds.base import GivenAnswer
from audit.settling.kinds.judgments import DocumentDisagreement
from audit.settling.queue import keys_after
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.views.addresses import (
    add_filter,
    disagreement_url,
    filter_in,
    list_url,
    reveal_url,
    withdrawal_url,
)
from base import keymap
from base.requests import PageRequest
from base.word_diff import diff

# For how long one key undoes a decision; later it is withdrawn on its own page.
UNDO_OFFERED = timedelta(hours=1)
# How many disagreements the page knows ahead.
AHEAD = 50
# How many of them the browser fetches ahead.
AHEAD_OF_READER = 8


def describe_last(member: Membership, last: Any) -> dict[str, Any] | None:
    """Return what a lead's latest decision settled, and the address that withdraws it."""
    if last is None:
        return None
    if isinstance(last, Adjudication) and last.batch:
        # One undo withdraws the whole batch.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, last.batch])
        return {"at": last.at, "url": url, "what": "many documents together", "outcome": ""}
    about = last.item if isinstance(last, Check) else last
    of = last.condition.narrative if isinstance(last, ConditionAdjudication) else about.narrative
    documents = [about.candidate.document.doc_id] if hasattr(about, "candidate") else []
    what = " · ".join([*documents, of.pair.pair_id])
    url = withdrawal_url(key_of(last))
    return {"at": last.at, "url": url, "what": what, "outcome": kind_of(last).words_of(last)}


@dataclass
class Answer:
    """One answer with everybody who gave it; `adopt` is the key of the row to adopt."""

    # None: they cannot judge it.
    value: int | str | None
    label: str
    adopt: int
    key: str = ""
    voices: list[GivenAnswer] = field(default_factory=list)

    @property
    def who(self) -> str:
        """The names of everybody who gave it."""
        return ", ".join(voice.who for voice in self.voices)


def item_context(request: PageRequest, disagreement: Disagreement) -> dict[str, Any]:
    """Return what the page shows of a disagreement of any kind: instruction, names, addresses."""
    narrative, key, naming = disagreement.narrative, disagreement.key, disagreement.naming
    candidate = disagreement.candidate
    asked = filter_in(request.GET)
    narrative.pair.read_current()
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
        "taken_out": bool(narrative.pair.removed_at or (candidate and candidate.removed_at)),
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
    request: PageRequest, disagreement: Disagreement, filters: QueueFilter, decision: Any
) -> dict[str, Any]:
    """Return what the page shows of the session: what the reader has just settled, this
    disagreement with its `decision` (or None) and those that follow it in the filtered list.
    """
    member, key = disagreement.member, disagreement.key
    asked, slug = filter_in(request.GET), member.project.slug
    recent = recent_decisions(member)
    alone = {key_of(row): row for row in recent if getattr(row, "batch", None) is None}
    following = keys_after(member, filters, key, AHEAD)
    before = [other for other in alone if other not in {key, *following}]
    order = [*before, key, *following]
    decisions = {other: alone[other] for other in before}
    if decision is not None:
        decisions[key] = decision
    if filters.settled:
        decisions |= current_decisions(member.project_id, following)
    url = {other: disagreement_url(other, asked) for other in order}
    listed = list_url(slug, asked)
    documents = add_filter(reverse("audit:disagreement_views", args=[slug]), asked)
    return {
        "thing": "disagreement",
        "answered_by": "a decision",
        "note_title": "Reason",
        "guideline": Guideline.objects.latest_of(member.project),
        "done": len(decisions),
        "total": len(order),
        "back_url": listed,
        "list_url": listed,
        "previous_url": url[before[-1]] if before else "",
        "next_url": url[following[0]] if following else "",
        "next": str(following[0]) if following else "",
        "count_url": add_filter(reverse("audit:disagreement_count", args=[slug]), asked),
        "last": describe_last(member, recent[-1] if recent else None),
        "judging_session": {
            "user": member.user_id,
            "task": "decide",
            "candidate": str(key),
            "order": [str(other) for other in order],
            "answers": {
                str(other): ["decision", kind_of(row).value_of(row), str(row.uuid)]
                for other, row in decisions.items()
            },
            # What the reader settled last and can undo by a key, the latest at the end.
            "history": [str(other) for other in alone if other in decisions],
            "grades": [],
            "ahead": AHEAD_OF_READER,
            "addresses": {str(other): address for other, address in url.items()},
            "urls": {"documents": documents, "judging": listed},
        },
    }


def recent_decisions(member: Membership) -> list[Any]:
    """Return the reader's current decisions of the last hour that can be undone, the latest at the
    end: four queries.
    """
    since = timezone.now() - UNDO_OFFERED
    decisions: list[Any] = []
    for kind in KINDS.values():
        rows = kind.current_decisions(member.project_id).filter(kind.undoable)
        rows = rows.filter(**{kind.decided_by: member})
        decisions += rows.filter(at__gt=since).order_by("-at", "-pk")[:AHEAD]
    return sorted(decisions, key=lambda row: row.at)


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


def group_answers(
    answers: Sequence[GivenAnswer],
    column: str,
    labels: Mapping[Any, str],
    keys: Mapping[str, str],
    taken: Iterable[str] = (),
) -> list[Answer]:
    """Group answers that are equal in a column of their rows, each with the key that adopts it.

    An answer to a condition has its own key on every page. The first three grades have the keys of
    the three answers to a condition, further ones keys that are free here.
    """
    groups: dict[Any, Answer] = {}
    free = [keys["met"], keys["not_met"], keys["cant_tell"]]
    free += keymap.free_keys([*keymap.keys_on_page("settle", keys), *taken])
    for answer in answers:
        value = getattr(answer.row, column)
        if value not in groups:
            key = keys.get(value) or (free[len(groups)] if len(groups) < len(free) else "")
            groups[value] = Answer(value, labels.get(value, ""), answer.row.pk, key)
        groups[value].voices.append(answer)
    return list(groups.values())


def grades_context(
    project: Project, answers: Sequence[GivenAnswer], keys: Mapping[str, str]
) -> dict[str, Any]:
    """Return the grades with their keys, and the answers grouped by grade."""
    grades = list(project.grades.order_by("value"))
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
    for grade in grades:
        grade.key = grade_keys[grade.value]
    names = {grade.value: grade.name for grade in grades}
    return {
        "grades": grades,
        "grade_keys": grade_keys,
        "answers": group_answers(answers, "relevance", names, keys, grade_keys.values()),
    }


def number_choices(choices: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the answers to choose from, each with its number as its key."""
    return [
        {"value": value, "name": name, "key": str(number)}
        for number, (value, name) in enumerate(choices, start=1)
    ]


def split_decisions(decisions: QuerySet[Any]) -> dict[str, Any]:
    """Return the current decision, and the earlier ones in the same order."""
    rows = list(decisions)
    current = next((row for row in rows if not (row.withdrawn_at or row.text_replaced_at)), None)
    return {"decision": current, "earlier": [row for row in rows if row is not current]}


def list_causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the causes to choose from, each with its key."""
    actions = {
        cause: "problem" if cause == Adjudication.Cause.AMBIGUOUS else f"settle_{cause}"
        for cause in Adjudication.Cause
    }
    return [
        {"value": cause.value, "name": cause.label, "key": keys[action]}
        for cause, action in actions.items()
    ]


class Page(ABC):
    """What is shown of one disagreement, which a lead settles or whose decision they withdraw."""

    template: ClassVar[str]

    def __init__(self, disagreement: Any) -> None:
        self.disagreement = disagreement

    def message(self, made: Any) -> str:
        """Return a message for the lead about a decision just made."""
        document, words = self.disagreement.candidate.document, self.disagreement.words_of(made)
        return f"{document.doc_id} is settled as {words}."

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
        mine = decision is not None and decision.by_id == self.disagreement.member.pk
        elsewhere = self.other_page_url()
        open_now = context["differs"] and self.can_settle(context) and not elsewhere
        reason = getattr(decision, self.disagreement.reason, "")
        return context | {
            "own_decision": mine,
            "own_answer": decision and getattr(decision, self.disagreement.value),
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


class JudgmentPage(Page):
    """The page of a disagreement between judges about the grade of a document."""

    template = "settling/judgment.html"
    disagreement: JudgmentDisagreement

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the document with every answer, the verdicts, the flags and the decisions."""
        disagreement = self.disagreement
        document = document_context(disagreement)
        grades = grades_context(disagreement.member.project, disagreement.answers(), keys)
        decisions = split_decisions(disagreement.decisions())
        decision = decisions["decision"]
        return {
            **document,
            **grades,
            "contradictions": warnings_on_grades(
                disagreement, grades["grades"], decision and decision.relevance
            ),
            "verdicts": _verdicts(disagreement),
            **rejudge_context(disagreement, item["asked"]),
            "machines": disagreement.machines,
            "flags": disagreement.flags,
            **decisions,
            "causes": list_causes(keys),
        }


def _verdicts(disagreement: JudgmentDisagreement) -> list[dict[str, Any]]:
    """Return each judgment's verdict (or None) on each condition, disputed conditions first."""
    verdicts_on: dict[Condition, dict[int, Verdict]] = {}
    for judgment in disagreement.judgments:
        for verdict in judgment.verdicts.all():
            verdicts_on.setdefault(verdict.condition, {})[judgment.pk] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(judgment.pk) for judgment in disagreement.judgments],
            "names": list(disagreement.names.values()),
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in sorted(verdicts_on.items(), key=lambda row: row[0].number)
    ]
    return sorted(rows, key=lambda row: not row["differs"])


class VerdictPage(Page):
    """The page of a disagreement between judges about one condition of a document."""

    template = "settling/verdict.html"
    disagreement: VerdictDisagreement

    def message(self, made: ConditionAdjudication) -> str:
        """Return a message for the lead about a decision just made."""
        return (
            f"Condition {made.condition.number} of {made.candidate.document.doc_id} is settled "
            f"as “{made.get_answer_display()}”."
        )

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the condition and the document with every answer, and the decisions."""
        disagreement = self.disagreement
        document = document_context(disagreement)
        decisions = split_decisions(disagreement.decisions())
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_answers(
                disagreement, decision.answer if decision else ""
            ),
            "grades": list(disagreement.member.project.grades.order_by("value")),
            "condition": disagreement.condition,
            "choices": number_choices(Verdict.Answer.choices),
            "answers": group_answers(
                disagreement.answers(), "answer", dict(Verdict.Answer.choices), keys
            ),
            **rejudge_context(disagreement, item["asked"]),
            "machines": [
                {"name": judgment.annotator.name, "verdict": verdict}
                for judgment in disagreement.machines
                if (verdict := disagreement.verdict_in(judgment)) is not None
            ],
            **decisions,
            "choice_name": "answer",
            "causes": list_causes(keys),
        }


class ReviewPage(Page):
    """The page of a disagreement between auditors about an instruction."""

    template = "settling/review.html"
    disagreement: ReviewDisagreement

    def message(self, made: Decision) -> str:
        """Return a message for the lead about a decision just made."""
        return decision_message(made)

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the reviews of people and machines, and the decision."""
        disagreement = self.disagreement
        decision = disagreement.decision()
        return {
            "reviews": disagreement.reviews(),
            "contrasts": contrasts(disagreement.passes),
            "machine_reviews": disagreement.machine_reviews(),
            "machine_contrasts": contrasts(disagreement.machines),
            "verdict": disagreement.verdict(),
            "decision": decision,
            "choices": number_choices(OUTCOMES),
            "choice_name": "outcome",
        }


class CheckPage(Page):
    """The page of a disagreement between two checkers of a label."""

    template = "settling/check.html"
    disagreement: CheckDisagreement

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return False for the two checkers. A claim on an older narrative can be settled."""
        return not context["own_check"]

    def other_page_url(self) -> str:
        """Return the address of the page with the conditions or questions of the sample, if it has
        them: there the lead settles the label, or changes their own settlement.
        """
        member, label = self.disagreement.member, self.disagreement.item
        if label.sample.asks == Sample.Asks.GRADE:
            return ""
        third = self.disagreement.third
        is_own = third is not None and third.checker_id == member.pk
        if is_own or to_settle(member, label.sample).filter(pk=label.pk).exists():
            return reverse("audit:settlement", args=[label.pk])
        return ""

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the document, the two answers, the claim if it may be seen, and the decision."""
        disagreement = self.disagreement
        member, third, answers = disagreement.member, disagreement.third, disagreement.answers()
        document = document_context(disagreement)
        # The prior relevance may be the claim.
        shows_claim = disagreement.shows_claim(differs=item["differs"])
        return {
            **document,
            "sample": disagreement.item.sample,
            "item": disagreement.item,
            "conditions": list(disagreement.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            **grades_context(member.project, answers, keys),
            "decision": third,
            "reason_optional": True,
            "own_check": any(answer.mine for answer in answers),
        }


def rejudge_context(disagreement: DocumentDisagreement, asked: str) -> dict[str, Any]:
    """Return what a disagreement's page shows of rejudge requests: who was asked, the answers, and
    who can be asked. `asked`: the filter of the list as a query string.
    """
    names = disagreement.names
    requests = disagreement.rejudge_requests().select_related("guideline")
    rejudge_requests = list(requests.defer("guideline__text"))
    statements = [rejudge_request.statement for rejudge_request in rejudge_requests]
    answers = {
        answer.replaces_id: answer for answer in Statement.objects.filter(replaces__in=statements)
    }
    # The list of flags names their authors: a pseudonym or a grade beside a flag would reveal whose
    # it is.
    hidden = {
        statement.pk for statement in statements if statement.flag and disagreement.naming.hidden
    }
    waiting = {statement.pk for statement in statements if statement.is_current}
    askable: list[tuple[Statement, str]] = [
        *((judgment, names[judgment.annotator_id]) for judgment in disagreement.judgments),
        *(
            (flag, who or "Somebody")
            for flag, who in disagreement.flags
            if flag.is_final and not flag.annotator.is_machine
        ),
    ]
    judged = judged_narrative(disagreement.narrative.pair)
    if judged is None or judged.pk != disagreement.narrative.pk:
        # Nobody judges under this side of the pair any more, or yet.
        askable = []
    keys = [disagreement.narrative.pk, disagreement.candidate.pk]
    guidelines = reverse("annotate:guidelines", args=[disagreement.member.project.slug])
    return {
        "rejudge_requests": [
            {
                "rejudge_request": rejudge_request,
                "who": None
                if rejudge_request.statement_id in hidden
                else disagreement.name_of(rejudge_request.statement.annotator),
                "waits": rejudge_request.statement_id in waiting,
                "answer": None
                if rejudge_request.statement_id in hidden
                else answers.get(rejudge_request.statement_id),
            }
            for rejudge_request in rejudge_requests
        ],
        "askable": [(answer, who) for answer, who in askable if answer.pk not in waiting],
        "rejudge_request_url": reverse("audit:rejudge_request", args=keys) + asked,
        "rejudge_request_withdrawal_url": reverse("audit:rejudge_request_withdrawal", args=keys)
        + asked,
        "case_url": f"{guidelines}?edit=1&case={keys[0]}-{keys[1]}",
    }


PAGES: dict[Kind, type[Page]] = {
    Kind.JUDGMENT: JudgmentPage,
    Kind.VERDICT: VerdictPage,
    Kind.REVIEW: ReviewPage,
    Kind.CHECK: CheckPage,
}
