"""Disagreements between judges about the grade of a document.

They differ when people's current grades lead to no relevance by the project's rule
(`annotate.judgments.consensus` applies it to one candidate), under current narratives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan
from django.http import Http404
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.judgments.blindness import exclude_unjudged
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import (
    Adjudication,
    Flag,
    Judgment,
    RejudgeRequest,
    Statement,
    Verdict,
)
from annotate.pairs.models import Condition, Narrative
from annotate.pairs.pool import judged_narrative
from annotate.projects.models import Membership, Project
from audit.settling import adjudication
from audit.settling.contradictions import warnings_on_grades
from audit.settling.kinds.base import (
    Disagreement,
    GivenAnswer,
    Item,
    Source,
    Voice,
    Voices,
    get_answer,
)
from audit.settling.kinds.pages import (
    CauseForm,
    GradeForm,
    document_context,
    grades_context,
    list_causes,
    split_decisions,
)
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter, Reader
from base.providers import Provider

# Rows with `narrative`, `candidate` and `effect`, a whole number: how far settling a document would
# move a measure of systems.
effects_on_measures: Provider[[Project], QuerySet[Any]] = Provider(
    "How far would settling each disagreement of a project move a measure?"
)


def keep_to_settle(
    grouped: Any,
    reader: Reader,
    filters: QueueFilter,
    settled: QuerySet[Any, Any],
    field: str,
    prefix: str = "",
) -> Any:
    """Keep the groups that the reader may settle: without a current decision (`settled`), answered
    differently (in `field`) by the people of the filter, and judged by the reader if they must.
    """
    person, narrative = f"{prefix}annotator", f"{prefix}narrative"
    if filters.people is not None:
        grouped = _keep_differing(grouped, field, person, filters.people)
    grouped = _keep_open(
        grouped, reader, filters, settled, f"{narrative}_id", f"{prefix}candidate_id"
    )
    if not reader.to_judge:
        return grouped
    mine = Count(person, filter=Q(**{f"{person}__in": reader.members}))
    unjudged = Narrative.objects.filter(pair__in=reader.to_judge).values("pk")
    return grouped.annotate(mine=mine).filter(Q(mine__gt=0) | ~Q(**{f"{narrative}__in": unjudged}))


def _keep_differing(grouped: Any, field: str, person: str, people: tuple[int, int]) -> Any:
    """Keep the groups that these two people answered differently."""
    first, second = people
    return grouped.annotate(
        first=Max(field, filter=Q(**{person: first})),
        second=Max(field, filter=Q(**{person: second})),
    ).filter(Q(first__gt=F("second")) | Q(first__lt=F("second")))


class GroupExists(Exists):
    """An EXISTS for a group, by its grouping columns: evaluated once per group that is found to
    differ, not for each of its rows.
    """

    def get_group_by_cols(self) -> list[Any]:
        """Return no columns: those it refers to are grouped by already."""
        return []


class GroupSubquery(Subquery):
    """A subquery for a value of a group, by its grouping columns, like `GroupExists`."""

    def get_group_by_cols(self) -> list[Any]:
        """Return no columns: those it refers to are grouped by already."""
        return []


def _keep_open(
    grouped: Any,
    reader: Reader,
    filters: QueueFilter,
    settled: QuerySet[Any, Any],
    narrative: str,
    candidate: str,
) -> Any:
    """Keep the groups without a current decision: those sent back to an annotator if
    `filters.waiting`, else the others.

    The subqueries are wrapped in a Case; without it the database evaluates them before grouping.
    """
    several = Q(people__gt=1)
    grouped = grouped.annotate(is_settled=_case(several, GroupExists(settled))).filter(
        is_settled=False
    )
    if not reader.sent_back:
        return grouped.none() if filters.waiting else grouped
    sent_back = RejudgeRequest.objects.open().filter(by__project__in=reader.projects)
    of_group = sent_back.filter(
        statement__narrative=OuterRef(narrative), statement__candidate=OuterRef(candidate)
    )
    # Few documents were sent back: a list that is computed once rules out all others.
    among = Q(**{f"{candidate}__in": sent_back.values("statement__candidate")})
    return grouped.annotate(is_waiting=_case(several & among, GroupExists(of_group))).filter(
        is_waiting=filters.waiting
    )


def _case(when: Q, then: Exists) -> Case:
    return Case(When(when, then=then), default=Value(value=False), output_field=BooleanField())


def _effect(reader: Reader, order: Order, straddles: Q) -> Any:
    """Return the effect of settling a group; `straddles`: its answers are on both sides."""
    if order is Order.EFFECT:
        before = Candidate.objects.filter(
            pk=OuterRef("candidate_id"),
            # PostgreSQL may read all that are relevant first; so it reads those of these projects.
            query__project__in=reader.projects,
            prior_relevance__gte=reader.project.relevant_from,
        )
        return Case(
            When(straddles & Q(GroupExists(before)), then=Value(2)),
            When(straddles, then=Value(1)),
            default=Value(0),
            output_field=IntegerField(),
        )
    if order is Order.MEASURE:
        moved = effects_on_measures(reader.project).filter(
            narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id")
        )
        return Coalesce(GroupSubquery(moved.values("effect")[:1]), Value(0))
    return Value(0)


def _no_majority(grouped: Any, grades: list[int]) -> Any:
    for grade in grades:
        saying_it = Count("annotator", filter=Q(relevance=grade))
        grouped = grouped.filter(people__gte=2 * saying_it)
    return grouped


def judgments_on(keys: Sequence[DisagreementKey]) -> QuerySet[Judgment]:
    """Return people's current judgments of the documents of these disagreements, and of some others
    under the same narratives.
    """
    return (
        Judgment.objects.current()
        .of_people()
        .filter(
            narrative__in={key.narrative for key in keys},
            candidate__in={key.candidate for key in keys},
        )
    )


class GivenFlag(NamedTuple):
    """A current flag; `who` is None if the name is hidden."""

    flag: Flag
    who: str | None


class DocumentDisagreement(Disagreement):
    """A disagreement between the judges of a document: about its grade, or one condition."""

    candidate: Candidate

    @classmethod
    def settled_rows(
        cls,
        questions: Q,
        reader: Reader,
        filters: QueueFilter,
        answers: QuerySet[Any, Any],
        prefix: str = "",
    ) -> QuerySet[Any, Any]:
        """Return the current decisions on `questions` that the reader may see, with their times;
        `answers`: people's answers to the same question.
        """
        rows: QuerySet[Any, Any] = cls.model.objects.current().filter(in_pools(), questions)
        if filters.cause:
            rows = rows.filter(cause=filters.cause)
        mine = answers.filter(**{f"{prefix}annotator": reader.member})
        rows = exclude_unjudged(rows, reader.to_judge, "narrative__pair", mine)
        if filters.people is not None:
            first, second = (
                Subquery(answers.filter(**{f"{prefix}annotator": person}).values(cls.value)[:1])
                for person in filters.people
            )
            rows = rows.annotate(first=first, second=second).filter(
                Q(first__gt=F("second")) | Q(first__lt=F("second"))
            )
        dated: QuerySet[Any, Any] = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
        return dated

    @cached_property
    def _current(self) -> list[Judgment]:
        """The current judgments, with their verdicts and conditions."""
        return list(
            Judgment.objects.current()
            .filter(narrative=self.narrative, candidate=self.candidate)
            .with_time()
            .select_related("annotator")
            .prefetch_related(Prefetch("verdicts", Verdict.objects.select_related("condition")))
            .order_by("annotator__name")
        )

    @cached_property
    def names(self) -> dict[int, str]:
        """The displayed names of the judges, by the key of the membership, in display order."""
        return self.naming.displayed(
            {
                judgment.annotator_id: judgment.annotator.name
                for judgment in self._current
                if not judgment.annotator.is_machine
            }
        )

    @property
    def judgments(self) -> list[Judgment]:
        """People's current judgments, in display order."""
        by_judge = {judgment.annotator_id: judgment for judgment in self._current}
        return [by_judge[member] for member in self.names]

    @property
    def machines(self) -> list[Judgment]:
        """The current judgments of machines."""
        return [judgment for judgment in self._current if judgment.annotator.is_machine]

    def sign(self, row: Judgment | Verdict, judge: int) -> GivenAnswer:
        """Return the answer of a judge (a key) with their displayed name."""
        return GivenAnswer(row, self.names[judge], judge == self.member.pk)

    def name_of(self, judge: Membership) -> str | None:
        """Return the displayed name of a judge; None if names are hidden and they have no
        pseudonym, as people who only flagged.
        """
        return self.names.get(judge.pk, None if self.naming.hidden else judge.name)

    @cached_property
    def flags(self) -> list[GivenFlag]:
        """The current flags, in an order that reveals no names."""
        flags = Flag.objects.current().filter(narrative=self.narrative, candidate=self.candidate)
        return [
            GivenFlag(flag, self.name_of(flag.annotator))
            for flag in flags.select_related("annotator").order_by("uuid")
        ]

    def answer(self, pk: int) -> Statement:
        """Return one person's judgment or flag, current or not, or raise Http404."""
        answers = Statement.objects.of_people().filter(repeat=False)
        of_document = answers.filter(narrative=self.narrative, candidate=self.candidate)
        return get_answer(of_document.select_related("annotator", "narrative", "candidate"), pk)

    def rejudge_requests(self) -> QuerySet[RejudgeRequest]:
        """Return the document's rejudge requests that are not withdrawn, the oldest first."""
        return (
            RejudgeRequest.objects.not_withdrawn()
            .filter(statement__narrative=self.narrative, statement__candidate=self.candidate)
            .select_related("statement__annotator", "by")
            .order_by("at", "pk")
        )

    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Http404."""
        if (decision := self.decision()) is None:
            raise Http404("This disagreement has no decision.")
        adjudication.withdraw_adjudication(adjudication=decision, by=self.member)

    def _rejudge_context(self, asked: str) -> dict[str, Any]:
        """Return what the page shows of rejudge requests: who was asked, the answers, and who can
        be asked. `asked`: the filter of the list as a query string.
        """
        names = self.names
        requests = self.rejudge_requests().select_related("guideline")
        rejudge_requests = list(requests.defer("guideline__text"))
        statements = [rejudge_request.statement for rejudge_request in rejudge_requests]
        answers = {
            answer.replaces_id: answer
            for answer in Statement.objects.filter(replaces__in=statements)
        }
        # The list of flags names their authors: a pseudonym or a grade beside a flag would reveal
        # whose it is.
        hidden = {statement.pk for statement in statements if statement.flag and self.naming.hidden}
        waiting = {statement.pk for statement in statements if statement.is_current}
        askable: list[tuple[Statement, str]] = [
            *((judgment, names[judgment.annotator_id]) for judgment in self.judgments),
            *(
                (flag, who or "Somebody")
                for flag, who in self.flags
                if flag.is_final and not flag.annotator.is_machine
            ),
        ]
        judged = judged_narrative(self.narrative.pair)
        if judged is None or judged.pk != self.narrative.pk:
            # Nobody judges under this side of the pair any more, or yet.
            askable = []
        keys = [self.narrative.pk, self.candidate.pk]
        guidelines = reverse("annotate:guidelines", args=[self.member.project.slug])
        return {
            "rejudge_requests": [
                {
                    "rejudge_request": rejudge_request,
                    "who": None
                    if rejudge_request.statement_id in hidden
                    else self.name_of(rejudge_request.statement.annotator),
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


class AdjudicationForm(GradeForm, CauseForm):
    """How a disagreement about the grade of a document is settled."""


class JudgmentDisagreement(DocumentDisagreement):
    """A disagreement between judges about the grade of a document."""

    kind = Kind.JUDGMENT
    model, value = Adjudication, "relevance"
    columns: ClassVar = {"narrative": "narrative", "candidate": "candidate"}
    form, template = AdjudicationForm, "settling/judgment.html"
    routes = ("disagreement", "adjudication_withdrawal", "reveal_judges")

    @classmethod
    def source(cls, reader: Reader, filters: QueueFilter, in_any_state: bool) -> Source:
        """Return the source of grade disagreements, open or settled."""
        ids, project = ("narrative_id", "candidate_id"), "narrative__pair__project"
        narratives = reader.narratives(filters).values("pk")
        current = Judgment.objects.current().exclude(annotator__in=reader.machines)
        same = {"narrative": OuterRef("narrative_id"), "candidate": OuterRef("candidate_id")}
        if filters.settled:
            answers = current.filter(**same)
            rows = cls.settled_rows(Q(narrative__in=narratives), reader, filters, answers).filter(
                *(Exists(answers.filter(relevance=grade)) for grade in filters.grades)
            )
            if filters.decides:
                relevant = Q(relevance__gte=reader.project.relevant_from)
                rows = rows.filter(
                    Exists(answers.filter(relevant)), Exists(answers.filter(~relevant))
                )
            return Source(cls.kind, rows, ids, project)
        grouped = (
            current.filter(in_pools(), narrative__in=narratives)
            .order_by()
            .values("narrative_id", "candidate_id")
            .annotate(
                people=Count("annotator"),
                low=Min("relevance"),
                high=Max("relevance"),
                since=Max("at"),
            )
            .annotate(distance=F("high") - F("low"))
            .filter(distance__gt=0)
        )
        if reader.project.consensus == Project.Consensus.MAJORITY:
            # No grade has more than half. A count for each grade costs one pass over the rows; a
            # subquery for each candidate would cost ten times as much.
            grouped = _no_majority(grouped, reader.grades)
        if filters.grades:
            counts = [Count("annotator", filter=Q(relevance=grade)) for grade in filters.grades]
            grouped = grouped.filter(*(GreaterThan(count, 0) for count in counts))
        threshold = reader.project.relevant_from
        straddles = Q(low__lt=threshold, high__gte=threshold)
        if filters.decides:
            grouped = grouped.filter(straddles)
        if not in_any_state:
            settled = Adjudication.objects.current().filter(**same)
            grouped = keep_to_settle(grouped, reader, filters, settled, "relevance")
        effect = _effect(reader, filters.order, straddles)
        return Source(cls.kind, grouped.annotate(effect=effect), ids, project)

    @classmethod
    def read_voices(cls, keys: Sequence[DisagreementKey]) -> dict[DisagreementKey, Voices]:
        """Return the judges' grades of documents."""
        of = {(key.narrative, key.candidate): key for key in keys}
        voices: dict[DisagreementKey, Voices] = {key: {} for key in keys}
        for narrative, candidate, member, name, relevance in judgments_on(keys).values_list(
            "narrative", "candidate", "annotator", "annotator__name", "relevance"
        ):
            if key := of.get((narrative, candidate)):
                voices[key][member] = Voice(name, relevance=relevance)
        return voices

    @staticmethod
    def compare_voices(item: Item, relevant_from: int) -> None:
        """Set the distance between the grades, and whether settling decides."""
        if grades := [voice.relevance for voice in item.voices if voice.relevance is not None]:
            item.distance = max(grades) - min(grades)
            item.decides = min(grades) < relevant_from <= max(grades)

    @staticmethod
    def key_of(decision: Adjudication) -> DisagreementKey:
        """Return the disagreement that a decision settles."""
        return DisagreementKey(Kind.JUDGMENT, decision.narrative_id, decision.candidate_id, 0)

    def answers(self) -> list[GivenAnswer]:
        """Return people's current judgments, in display order."""
        return [self.sign(judgment, judgment.annotator_id) for judgment in self.judgments]

    def judgment(self, pk: int) -> Judgment:
        """Return one person's judgment, current or not, or raise Http404."""
        judgments = Judgment.objects.of_people().select_related(
            "annotator", "narrative", "candidate"
        )
        return get_answer(judgments.filter(narrative=self.narrative, candidate=self.candidate), pk)

    def settle(self, fields: Mapping[str, Any]) -> Adjudication:
        """Settle it by a grade, or by adopting one judge's grade."""
        why = reason_in(fields, self.member)
        if fields.get("adopt") is not None:
            return adjudication.adopt(judgment=self.judgment(fields["adopt"]), **why)
        return adjudication.adjudicate(
            narrative=self.narrative,
            candidate=self.candidate,
            relevance=fields["relevance"],
            **why,
        )

    def page_context(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document with every answer, the verdicts, the flags and the decisions."""
        document = document_context(self, self.candidate)
        grades = grades_context(self.member.project, self.answers(), item["keys"])
        decisions = split_decisions(self.decisions())
        decision = decisions["decision"]
        return {
            **document,
            **grades,
            "contradictions": warnings_on_grades(
                self, grades["grades"], decision and decision.relevance
            ),
            "verdicts": self._verdicts(),
            **self._rejudge_context(item["asked"]),
            "machines": self.machines,
            "flags": self.flags,
            **decisions,
            "causes": list_causes(item["keys"]),
        }

    def _verdicts(self) -> list[dict[str, Any]]:
        """Return each judgment's verdict (or None) on each condition, disputed conditions first."""
        verdicts_on: dict[Condition, dict[int, Verdict]] = {}
        for judgment in self.judgments:
            for verdict in judgment.verdicts.all():
                verdicts_on.setdefault(verdict.condition, {})[judgment.pk] = verdict
        rows = [
            {
                "condition": condition,
                "answers": [verdicts.get(judgment.pk) for judgment in self.judgments],
                "names": list(self.names.values()),
                "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
            }
            for condition, verdicts in sorted(verdicts_on.items(), key=lambda row: row[0].number)
        ]
        return sorted(rows, key=lambda row: not row["differs"])


def reason_in(fields: Mapping[str, Any], by: Membership) -> dict[str, Any]:
    """Return why and by whom it is settled, as the actions of settling take it."""
    reason = fields.get("reason", "")
    return {"cause": fields["cause"], "reason": reason, "uuid": fields.get("uuid"), "by": by}
