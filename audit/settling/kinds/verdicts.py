"""Disagreements about one condition of a document."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Count, F, IntegerField, Max, OuterRef, Q, QuerySet, Value, When

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import ConditionAdjudication, Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Project
from audit.settling.kinds.frame import Reader, Source
from audit.settling.kinds.groups import keep_to_settle, settled_rows
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter


def verdict_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of condition disagreements, open or settled."""
    conditions = Condition.objects.filter(narrative__in=reader.narratives(filters, only))
    if only is not None:
        conditions = conditions.filter(pk=only.part)
    if filters.condition:
        conditions = conditions.filter(_match_condition(filters.condition))
    current = Verdict.objects.current().exclude(statement__annotator__in=reader.machines)
    if filters.settled:
        return _settled(reader, filters, only, conditions, current)
    rows = current.filter(in_pools("statement__candidate"), condition__in=conditions)
    if only is not None:
        rows = rows.filter(statement__candidate=only.candidate)
    ids = ("statement__narrative_id", "statement__candidate_id", "condition_id")
    counts = {answer: f"n_{answer.value}" for answer in Verdict.Answer}
    grouped = (
        rows.order_by()
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
    wide = Q(**{f"{counts[Verdict.Answer.MET]}__gt": 0, f"{counts[Verdict.Answer.NOT_MET]}__gt": 0})
    distance = Case(When(wide, then=Value(2)), default=Value(1), output_field=IntegerField())
    rows = grouped.annotate(distance=distance, effect=Value(0))
    return Source(Kind.VERDICT, rows, ids, "statement__narrative__pair__project")


def _settled(
    reader: Reader,
    filters: QueueFilter,
    only: DisagreementKey | None,
    conditions: QuerySet[Condition],
    current: QuerySet[Verdict],
) -> Source:
    """Return the settled ones; `current` holds people's current verdicts."""
    rows: QuerySet[Any, Any] = ConditionAdjudication.objects.current().filter(
        condition__in=conditions
    )
    answers = current.filter(
        condition=OuterRef("condition_id"), statement__candidate=OuterRef("candidate_id")
    )
    rows = settled_rows(
        rows, reader, "condition__narrative__pair", answers, filters, "answer", "statement__"
    )
    if only is not None:
        rows = rows.filter(candidate=only.candidate)
    ids = ("condition__narrative_id", "candidate_id", "condition_id")
    return Source(Kind.VERDICT, rows, ids, "condition__narrative__pair__project")


def _match_condition(condition: str) -> Q:
    """Match conditions by name, or by number."""
    named = Q(name__iexact=condition)
    number = condition.isascii() and condition.isdecimal() and int(condition) < 2**15
    return named | Q(number=int(condition)) if number else named
