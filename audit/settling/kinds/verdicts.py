"""Disagreements between judges about one condition of a document.

They differ by the same rule as about its grade, even if the grades agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.db.models import Case, Count, F, IntegerField, Max, OuterRef, Q, Value, When

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import ConditionAdjudication, Judgment, Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Project
from audit.settling import adjudication
from audit.settling.contradictions import warnings_on_answers
from audit.settling.kinds.base import (
    GivenAnswer,
    Item,
    Source,
    Voice,
    Voices,
    get_answer,
)
from audit.settling.kinds.judgments import (
    DocumentDisagreement,
    JudgmentDisagreement,
    judgments_on,
    keep_to_settle,
    reason_in,
)
from audit.settling.kinds.pages import (
    CauseForm,
    document_context,
    group_answers,
    list_causes,
    number_choices,
    split_decisions,
)
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter, Reader


class VerdictForm(CauseForm):
    """How a disagreement about a condition is settled."""

    answer_field = "answer"

    answer = forms.ChoiceField(choices=Verdict.Answer.choices, required=False)


class VerdictDisagreement(DocumentDisagreement):
    """A disagreement between judges about one condition of a document."""

    kind = Kind.VERDICT
    model, value = ConditionAdjudication, "answer"
    columns: ClassVar = {"condition": "part", "candidate": "candidate"}
    form, template = VerdictForm, "settling/verdict.html"
    # The people who answered a condition are the judges of the document.
    routes = ("verdict_disagreement", "verdict_withdrawal", "reveal_judges")

    def __init__(self, document: JudgmentDisagreement, condition: Condition) -> None:
        super().__init__(document.member, document.narrative, document.candidate)
        self.condition = self.part = condition

    @classmethod
    def source(cls, reader: Reader, filters: QueueFilter, in_any_state: bool) -> Source:
        """Return the source of condition disagreements, open or settled."""
        conditions = Condition.objects.filter(narrative__in=reader.narratives(filters))
        if filters.condition:
            conditions = conditions.filter(_match_condition(filters.condition))
        current = Verdict.objects.current().exclude(statement__annotator__in=reader.machines)
        if filters.settled:
            answers = current.filter(
                condition=OuterRef("condition_id"), statement__candidate=OuterRef("candidate_id")
            )
            asked = Q(condition__in=conditions)
            rows = cls.settled_rows(asked, reader, filters, answers, "statement__")
            ids = ("narrative_id", "candidate_id", "condition_id")
            return Source(cls.kind, rows, ids, "narrative__pair__project")
        ids = ("statement__narrative_id", "statement__candidate_id", "condition_id")
        counts = {answer: f"n_{answer.value}" for answer in Verdict.Answer}
        grouped = (
            current.filter(in_pools("statement__candidate"), condition__in=conditions)
            .order_by()
            .values(*ids)
            .annotate(
                people=Count("pk"),
                since=Max("statement__at"),
                **{name: Count("pk", filter=Q(answer=answer)) for answer, name in counts.items()},
            )
        )
        if reader.project.consensus == Project.Consensus.MAJORITY:
            grouped = grouped.filter(*(Q(people__gte=2 * F(name)) for name in counts.values()))
        else:
            grouped = grouped.filter(*(Q(people__gt=F(name)) for name in counts.values()))
        if not in_any_state:
            settled = ConditionAdjudication.objects.current().filter(
                condition=OuterRef("condition_id"), candidate=OuterRef("statement__candidate_id")
            )
            grouped = keep_to_settle(grouped, reader, filters, settled, "answer", "statement__")
        # Met, can't tell, not met: the first and the last are two apart.
        wide = Q(
            **{f"{counts[Verdict.Answer.MET]}__gt": 0, f"{counts[Verdict.Answer.NOT_MET]}__gt": 0}
        )
        distance = Case(When(wide, then=Value(2)), default=Value(1), output_field=IntegerField())
        rows = grouped.annotate(distance=distance, effect=Value(0))
        return Source(cls.kind, rows, ids, "statement__narrative__pair__project")

    @classmethod
    def read_voices(cls, keys: Sequence[DisagreementKey]) -> dict[DisagreementKey, Voices]:
        """Return the judges' answers to conditions; that of a judge who gave none is empty."""
        of: dict[tuple[int, int], list[DisagreementKey]] = defaultdict(list)
        for key in keys:
            of[key.narrative, key.candidate].append(key)
        voices: dict[DisagreementKey, Voices] = {key: {} for key in keys}
        columns = ("annotator", "annotator__name", "verdicts__condition", "verdicts__answer")
        rows = judgments_on(keys).values_list("narrative", "candidate", *columns)
        for narrative, candidate, member, name, condition, answer in rows:
            for key in of.get((narrative, candidate), ()):
                voices[key].setdefault(member, Voice(name))
                if condition == key.part:
                    voices[key][member] = Voice(name, answer=answer)
        return voices

    @staticmethod
    def compare_voices(item: Item, relevant_from: int) -> None:
        """Leave out judges without an answer, and set the distance between the others."""
        item.voices = [voice for voice in item.voices if voice.answer]
        answers = {voice.answer for voice in item.voices}
        item.distance = 2 if {Verdict.Answer.MET, Verdict.Answer.NOT_MET} <= answers else 1

    @staticmethod
    def key_of(decision: ConditionAdjudication) -> DisagreementKey:
        """Return the disagreement that a decision settles."""
        return DisagreementKey(
            Kind.VERDICT, decision.narrative_id, decision.candidate_id, decision.condition_id
        )

    def answers(self) -> list[GivenAnswer]:
        """Return people's current verdicts, in display order."""
        return [
            self.sign(verdict, judgment.annotator_id)
            for judgment in self.judgments
            if (verdict := self.verdict_in(judgment)) is not None
        ]

    def verdict_in(self, judgment: Judgment) -> Verdict | None:
        """Return the verdict of a judgment on this condition, if it has one."""
        verdicts = (
            verdict
            for verdict in judgment.verdicts.all()
            if verdict.condition_id == self.condition.pk
        )
        return next(verdicts, None)

    def settle(self, fields: Mapping[str, Any]) -> ConditionAdjudication:
        """Settle it by an answer, or by adopting one judge's answer."""
        why = reason_in(fields, self.member)
        if fields.get("adopt") is not None:
            verdicts = Verdict.objects.of_judgments().of_people()
            of_document = verdicts.select_related(
                "condition__narrative", "statement__candidate"
            ).filter(condition=self.condition, statement__candidate=self.candidate)
            adopted = get_answer(of_document, fields["adopt"])
            return adjudication.adopt_verdict(verdict=adopted, **why)
        return adjudication.settle_condition(
            condition=self.condition, candidate=self.candidate, answer=fields["answer"], **why
        )

    def message(self, made: ConditionAdjudication) -> str:
        """Return a message for the lead about a decision just made."""
        return (
            f"Condition {made.condition.number} of {made.candidate.document.doc_id} is settled "
            f"as “{made.get_answer_display()}”."
        )

    def page_context(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the condition and the document with every answer, and the decisions."""
        document = document_context(self, self.candidate)
        decisions = split_decisions(self.decisions())
        decision = decisions["decision"]
        return {
            **document,
            "contradictions": warnings_on_answers(self, decision.answer if decision else ""),
            "grades": list(self.member.project.grades.order_by("value")),
            "condition": self.condition,
            "choices": number_choices(Verdict.Answer.choices),
            "answers": group_answers(
                self.answers(), "answer", dict(Verdict.Answer.choices), item["keys"]
            ),
            **self._rejudge_context(item["asked"]),
            "machines": [
                {"name": judgment.annotator.name, "verdict": verdict}
                for judgment in self.machines
                if (verdict := self.verdict_in(judgment)) is not None
            ],
            **decisions,
            "choice_name": "answer",
            "causes": list_causes(item["keys"]),
        }


def _match_condition(condition: str) -> Q:
    """Match conditions by name, or by number."""
    named = Q(name__iexact=condition)
    number = condition.isascii() and condition.isdecimal() and int(condition) < 2**15
    return named | Q(number=int(condition)) if number else named
