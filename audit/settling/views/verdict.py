"""The page of a disagreement on one condition of a narrative."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.judgments.models import ConditionAdjudication, Verdict
from annotate.pairs.models import Condition
from audit.settling import access, adjudication
from audit.settling.contradictions import warnings_on_answers
from audit.settling.forms import VerdictForm
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.statements import judges_of
from audit.settling.views import frame as pages
from audit.settling.views.rejudge import rejudge_context
from base import keymap
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def verdict_disagreement(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Show every judge's answer to one condition, or settle it and go to the next one."""
    found = access.verdict_disagreement(request.user, condition, candidate)
    return pages.show_or_settle(request, VerdictPage(*found))


@require_POST
def verdict_withdrawal(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Withdraw the settling decision on a condition, and show the disagreement again."""
    found = access.verdict_disagreement(request.user, condition, candidate)
    return pages.withdraw(request, VerdictPage(*found))


class VerdictPage(pages.Page):
    """The page of a disagreement between judges about one condition of a document."""

    template = "settling/verdict_disagreement.html"
    form = VerdictForm

    def __init__(self, disagreement: access.Disagreement, condition: Condition) -> None:
        member, narrative, candidate = self.disagreement = disagreement
        self.condition = condition
        key = DisagreementKey(Kind.VERDICT, narrative.pk, candidate.pk, condition.pk)
        super().__init__(member, narrative, key)

    def settle(self, given: Mapping[str, Any]) -> str:
        """Settle it by an answer, or by adopting one judge's answer."""
        why = {"cause": given["cause"], "reason": given["reason"], "by": self.member}
        candidate = self.disagreement.candidate
        if given["adopt"] is not None:
            adopted = access.verdict(self.disagreement, self.condition, given["adopt"])
            made = adjudication.adopt_verdict(verdict=adopted, **why)
        else:
            made = adjudication.settle_condition(
                condition=self.condition, candidate=candidate, answer=given["answer"], **why
            )
        return _("Condition %(number)s of %(doc_id)s is settled as “%(answer)s”.") % {
            "number": self.condition.number,
            "doc_id": candidate.document.doc_id,
            "answer": made.get_answer_display(),
        }

    def withdraw(self) -> None:
        """Withdraw the current decision."""
        standing = access.condition_adjudication(self.condition, self.disagreement.candidate)
        adjudication.withdraw_adjudication(adjudication=standing, by=self.member)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the condition and the document with every answer, and the decisions."""
        judges = judges_of(self.disagreement, frame["naming"])
        document = pages.document_context(self.disagreement)
        verdicts = {
            verdict.judgment_id: verdict
            for one in (*judges.people, *judges.machines)
            for verdict in one.verdicts.all()
            if verdict.condition_id == self.condition.pk
        }
        voices = [
            (
                verdicts[one.pk].answer,
                verdicts[one.pk].get_answer_display(),
                verdicts[one.pk].pk,
                pages.voice_of(one, judges.names, document, frame),
            )
            for one in judges.people
            if one.pk in verdicts
        ]
        keys = keymap.keys_for(request.user)
        decisions = pages.list_decisions(
            ConditionAdjudication.objects.filter(
                condition=self.condition, candidate=self.disagreement.candidate
            )
        )
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_answers(
                self.disagreement,
                self.condition,
                judges.people,
                decision.answer if decision else "",
            ),
            "grades": list(self.member.project.grades.order_by("value")),
            "condition": self.condition,
            "choices": [
                {"value": answer.value, "name": answer.label, "key": str(place)}
                for place, answer in enumerate(Verdict.Answer, start=1)
            ],
            "answers": pages.group_answers(voices, keys, []),
            **rejudge_context(request, self.disagreement, judges.people, judges.names),
            "machines": [
                {"name": one.annotator.name, "verdict": verdicts[one.pk]}
                for one in judges.machines
                if one.pk in verdicts
            ],
            **decisions,
            "causes": pages.list_causes(keys),
        }
