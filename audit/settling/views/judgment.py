"""The page of a disagreement on the grade of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.judgments.models import Adjudication, Verdict
from annotate.pairs.models import Condition
from audit.settling import access, adjudication
from audit.settling.contradictions import warnings_on_grades
from audit.settling.forms import AdjudicationForm
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.statements import Judges, flags_on, judges_of
from audit.settling.views import frame as pages
from audit.settling.views.rejudge import rejudge_context
from base import keymap
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def disagreement(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show every judge's answer on a document, or settle it and go to the next one."""
    found = access.judgment_disagreement(request.user, narrative, candidate)
    return pages.show_or_settle(request, JudgmentPage(found))


@require_POST
def adjudication_withdrawal(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Withdraw a settling decision, and show the disagreement again."""
    found = access.judgment_disagreement(request.user, narrative, candidate)
    return pages.withdraw(request, JudgmentPage(found))


class JudgmentPage(pages.Page):
    """The page of a disagreement between judges about the grade of a document."""

    template = "settling/disagreement.html"
    form = AdjudicationForm

    def __init__(self, disagreement: access.Disagreement) -> None:
        member, narrative, candidate = self.disagreement = disagreement
        key = DisagreementKey(Kind.JUDGMENT, narrative.pk, candidate.pk, 0)
        super().__init__(member, narrative, key)

    def settle(self, given: Mapping[str, Any]) -> str:
        """Settle it by a grade, or by adopting one judge's grade."""
        why = {"cause": given["cause"], "reason": given["reason"], "by": self.member}
        candidate = self.disagreement.candidate
        if given["adopt"] is not None:
            adopted = access.judgment(self.disagreement, given["adopt"])
            made = adjudication.adopt(judgment=adopted, **why)
        else:
            made = adjudication.adjudicate(
                narrative=self.narrative, candidate=candidate, relevance=given["relevance"], **why
            )
        return _("%(doc_id)s is settled as %(relevance)s.") % {
            "doc_id": candidate.document.doc_id,
            "relevance": made.relevance,
        }

    def withdraw(self) -> None:
        """Withdraw the current decision."""
        standing = access.adjudication(self.disagreement)
        adjudication.withdraw_adjudication(adjudication=standing, by=self.member)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the document with every answer, the verdicts, the flags and the decisions."""
        judges = judges_of(self.disagreement, frame["naming"])
        document = pages.document_context(self.disagreement)
        grades = list(self.member.project.grades.order_by("value"))
        labels = {grade.value: grade.name for grade in grades}
        voices = [
            (
                one.relevance,
                labels.get(one.relevance, ""),
                one.pk,
                pages.voice_of(one, judges.names, document, frame),
            )
            for one in judges.people
        ]
        keys = keymap.keys_for(request.user)
        grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
        somebody = _("Somebody")
        decisions = pages.list_decisions(
            Adjudication.objects.filter(
                narrative=self.narrative, candidate=self.disagreement.candidate
            )
        )
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_grades(
                self.disagreement, grades, decision and decision.relevance
            ),
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": pages.group_answers(voices, keys, grade_keys.values()),
            "verdicts": _verdicts(judges),
            **rejudge_context(request, self.disagreement, judges.people, judges.names),
            "machines": judges.machines,
            "flags": [
                {
                    "flag": one,
                    "who": judges.names.get(
                        one.annotator_id, somebody if frame["hidden"] else one.annotator.name
                    ),
                }
                for one in flags_on(self.disagreement)
            ],
            **decisions,
            "causes": pages.list_causes(keys),
        }


def _verdicts(judges: Judges) -> list[dict[str, Any]]:
    """Return each judgment's verdict (or None) on each condition, disputed conditions first."""
    verdicts_on: dict[Condition, dict[int, Verdict]] = {}
    for judgment in judges.people:
        for verdict in judgment.verdicts.all():
            verdicts_on.setdefault(verdict.condition, {})[judgment.pk] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(one.pk) for one in judges.people],
            "names": list(judges.names.values()),
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in sorted(verdicts_on.items(), key=lambda one: one[0].number)
    ]
    return sorted(rows, key=lambda row: not row["differs"])
