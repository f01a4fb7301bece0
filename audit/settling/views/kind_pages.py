"""The page of each kind of disagreement: what it shows, and the form that settles it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotate.judgments.models import Adjudication, ConditionAdjudication, Verdict
from annotate.pairs.models import Condition
from audit.checks.models import Check, Sample
from audit.checks.queue import to_settle
from audit.reviews.forms import OUTCOMES
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts
from audit.reviews.views.reviews import decision_message
from audit.settling.contradictions import warnings_on_answers, warnings_on_grades
from audit.settling.disagreements import (
    CheckDisagreement,
    JudgmentDisagreement,
    ReviewDisagreement,
    VerdictDisagreement,
)
from audit.settling.queue_filters import Kind
from audit.settling.views import frame as pages
from audit.settling.views.last_decision import outcome_of
from audit.settling.views.rejudge import rejudge_context


class JudgmentPage(pages.Page):
    """The page of a disagreement between judges about the grade of a document."""

    template = "settling/judgment.html"
    disagreement: JudgmentDisagreement

    def message(self, made: Adjudication) -> str:
        """Return a message for the lead about a decision just made."""
        return f"{made.candidate.document.doc_id} is settled as {made.relevance}."

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the document with every answer, the verdicts, the flags and the decisions."""
        disagreement = self.disagreement
        document = pages.document_context(disagreement)
        voices = [
            pages.voice_of(answer, answer.row, disagreement.narrative, document["text"])
            for answer in disagreement.answers()
        ]
        grades = pages.grades_context(disagreement.member.project, voices, keys)
        decisions = pages.split_decisions(disagreement.decisions())
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
            "flags": disagreement.flags(),
            **decisions,
            "own_answer": decision and decision.relevance,
            "causes": pages.list_causes(keys),
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


class VerdictPage(pages.Page):
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
        document = pages.document_context(disagreement)
        voices = [
            (
                answer.row.answer,
                answer.row.get_answer_display(),
                answer.row.pk,
                pages.voice_of(
                    answer, answer.row.statement, disagreement.narrative, document["text"]
                ),
            )
            for answer in disagreement.answers()
        ]
        decisions = pages.split_decisions(disagreement.decisions())
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_answers(
                disagreement, decision.answer if decision else ""
            ),
            "grades": list(disagreement.member.project.grades.order_by("value")),
            "condition": disagreement.condition,
            "choices": [
                {"value": answer.value, "name": answer.label, "key": str(place)}
                for place, answer in enumerate(Verdict.Answer, start=1)
            ],
            "answers": pages.group_answers(voices, keys, []),
            **rejudge_context(disagreement, item["asked"]),
            "machines": [
                {"name": judgment.annotator.name, "verdict": verdict}
                for judgment in disagreement.machines
                if (verdict := disagreement.verdict_in(judgment)) is not None
            ],
            **decisions,
            "choice_name": "answer",
            "own_answer": decision and decision.answer,
            "causes": pages.list_causes(keys),
        }


class ReviewPage(pages.Page):
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
            "passes": disagreement.passes,
            "names": disagreement.names,
            "contrasts": contrasts(disagreement.passes),
            "machines": disagreement.machines,
            "machine_contrasts": contrasts(disagreement.machines),
            "verdict": disagreement.verdict(),
            "decision": decision,
            "choices": [
                {"value": value, "name": name, "key": str(place)}
                for place, (value, name) in enumerate(OUTCOMES, start=1)
            ],
            "choice_name": "outcome",
            "own_answer": decision and decision.outcome,
        }


class CheckPage(pages.Page):
    """The page of a disagreement between two checkers of a label."""

    template = "settling/check.html"
    disagreement: CheckDisagreement

    def message(self, made: Check) -> str:
        """Return a message for the lead about a decision just made."""
        return f"{made.item.candidate.document.doc_id} is settled as {outcome_of(made)}."

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return False for the two checkers. A claim on an older narrative can be settled."""
        return not context["own_check"]

    def other_page_url(self) -> str:
        """Return the address of the page with conditions or questions, if the sample has them."""
        item, sample = self.disagreement.item, self.disagreement.item.sample
        if sample.asks != Sample.Asks.GRADE and to_settle(self.disagreement.member, sample).filter(
            pk=item.pk
        ):
            return reverse("audit:settlement", args=[item.pk])
        return ""

    def context(self, keys: Mapping[str, str], item: dict[str, Any]) -> dict[str, Any]:
        """Return the document, the two answers, the claim if it may be seen, and the decision."""
        disagreement = self.disagreement
        member, third, answers = disagreement.member, disagreement.third, disagreement.answers()
        voices = [
            pages.Voice(answer.who, answer.mine, answer.row.at, answer.row, words=answer.row.words)
            for answer in answers
        ]
        document = pages.document_context(disagreement)
        # The prior relevance may be the claim.
        shows_claim = disagreement.shows_claim(differs=item["differs"])
        return {
            **document,
            "sample": disagreement.item.sample,
            "item": disagreement.item,
            "conditions": list(disagreement.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            **pages.grades_context(member.project, voices, keys),
            "decision": third,
            "own_answer": third and third.relevance,
            "reason_optional": True,
            "own_check": any(answer.mine for answer in answers),
        }


PAGES: dict[Kind, type[pages.Page]] = {
    Kind.JUDGMENT: JudgmentPage,
    Kind.VERDICT: VerdictPage,
    Kind.REVIEW: ReviewPage,
    Kind.CHECK: CheckPage,
}
