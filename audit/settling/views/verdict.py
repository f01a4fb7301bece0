"""The page of a disagreement on one condition of a narrative."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotate.judgments.models import ConditionAdjudication, Verdict
from audit.settling.contradictions import warnings_on_answers
from audit.settling.disagreements import VerdictDisagreement
from audit.settling.forms import VerdictForm
from audit.settling.views import frame as pages
from audit.settling.views.rejudge import rejudge_context
from base import keymap
from base.page_request import PageRequest


class VerdictPage(pages.Page):
    """The page of a disagreement between judges about one condition of a document."""

    template = "settling/verdict_disagreement.html"
    form = VerdictForm
    disagreement: VerdictDisagreement

    def message(self, made: ConditionAdjudication) -> str:
        """Return a message for the lead about a decision just made."""
        return _("Condition %(number)s of %(doc_id)s is settled as “%(answer)s”.") % {
            "number": made.condition.number,
            "doc_id": made.candidate.document.doc_id,
            "answer": made.get_answer_display(),
        }

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the condition and the document with every answer, and the decisions."""
        found, keys = self.disagreement, keymap.keys_for(request.user)
        document = pages.document_context(found)
        voices = [
            (
                one.row.answer,
                one.row.get_answer_display(),
                one.row.pk,
                pages.voice_of(one, one.row.judgment, found.narrative, document["text"]),
            )
            for one in found.answers()
        ]
        decisions = pages.split_decisions(found.decisions())
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_answers(found, decision.answer if decision else ""),
            "grades": list(found.member.project.grades.order_by("value")),
            "condition": found.condition,
            "choices": [
                {"value": answer.value, "name": answer.label, "key": str(place)}
                for place, answer in enumerate(Verdict.Answer, start=1)
            ],
            "answers": pages.group_answers(voices, keys, []),
            **rejudge_context(request, found),
            "machines": [
                {"name": one.annotator.name, "verdict": verdict}
                for one in found.machines
                if (verdict := found.verdict_in(one)) is not None
            ],
            **decisions,
            "causes": pages.list_causes(keys),
        }
