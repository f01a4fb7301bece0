"""The page of a disagreement on the grade of a document."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotate.judgments.models import Adjudication, Verdict
from annotate.pairs.models import Condition
from audit.settling.contradictions import warnings_on_grades
from audit.settling.disagreements import JudgmentDisagreement
from audit.settling.forms import AdjudicationForm
from audit.settling.views import frame as pages
from audit.settling.views.rejudge import rejudge_context
from base import keymap
from base.page_request import PageRequest


class JudgmentPage(pages.Page):
    """The page of a disagreement between judges about the grade of a document."""

    template = "settling/disagreement.html"
    form = AdjudicationForm
    disagreement: JudgmentDisagreement

    def message(self, made: Adjudication) -> str:
        """Return a message for the lead about a decision just made."""
        return _("%(doc_id)s is settled as %(relevance)s.") % {
            "doc_id": made.candidate.document.doc_id,
            "relevance": made.relevance,
        }

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the document with every answer, the verdicts, the flags and the decisions."""
        found, keys = self.disagreement, keymap.keys_for(request.user)
        document = pages.document_context(found)
        voices = [
            pages.voice_of(one, one.row, found.narrative, document["text"])
            for one in found.answers()
        ]
        grades = pages.grades_context(found.member.project, voices, keys)
        decisions = pages.split_decisions(found.decisions())
        decision = decisions["decision"]
        return {
            **document,
            **grades,
            "contradictions": warnings_on_grades(
                found, grades["grades"], decision and decision.relevance
            ),
            "verdicts": _verdicts(found),
            **rejudge_context(request, found),
            "machines": found.machines,
            "flags": found.flags(),
            **decisions,
            "causes": pages.list_causes(keys),
        }


def _verdicts(found: JudgmentDisagreement) -> list[dict[str, Any]]:
    """Return each judgment's verdict (or None) on each condition, disputed conditions first."""
    verdicts_on: dict[Condition, dict[int, Verdict]] = {}
    for judgment in found.judgments:
        for verdict in judgment.verdicts.all():
            verdicts_on.setdefault(verdict.condition, {})[judgment.pk] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(one.pk) for one in found.judgments],
            "names": list(found.names.values()),
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in sorted(verdicts_on.items(), key=lambda one: one[0].number)
    ]
    return sorted(rows, key=lambda row: not row["differs"])
