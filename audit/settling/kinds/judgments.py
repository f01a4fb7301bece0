"""Disagreements about the grade of a document."""

from __future__ import annotations

from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from annotate.collection.models import Candidate
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.projects.models import Project
from audit.settling.kinds.frame import Reader, Source
from audit.settling.kinds.groups import GroupExists, GroupSubquery, keep_to_settle, settled_rows
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter
from base.providers import Provider

# Rows with `narrative`, `candidate` and `effect`, a whole number: how far settling a document would
# move a measure of systems.
effects_on_measures: Provider[[Project], QuerySet[Any]] = Provider(
    "How far would settling each disagreement of a project move a measure?"
)


def judgment_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of grade disagreements, open or settled."""
    ids, project = ("narrative_id", "candidate_id"), "narrative__pair__project"
    narratives = reader.narratives(filters, only).values("pk")
    current = Judgment.objects.current().exclude(annotator__in=reader.machines)
    same = {"narrative": OuterRef("narrative_id"), "candidate": OuterRef("candidate_id")}
    if filters.settled:
        rows: QuerySet[Any, Any] = Adjudication.objects.current().filter(
            in_pools(), narrative__in=narratives
        )
        answers = current.filter(**same)
        rows = settled_rows(rows, reader, "narrative__pair", answers, filters, "relevance")
        rows = rows.filter(*(Exists(answers.filter(relevance=grade)) for grade in filters.grades))
        if filters.decides:
            relevant = Q(relevance__gte=reader.project.relevant_from)
            rows = rows.filter(Exists(answers.filter(relevant)), Exists(answers.filter(~relevant)))
        if only is not None:
            rows = rows.filter(candidate=only.candidate)
        return Source(Kind.JUDGMENT, rows, ids, project)
    rows = current.filter(in_pools(), narrative__in=narratives)
    if only is not None:
        rows = rows.filter(candidate=only.candidate)
    grouped = (
        rows.order_by()
        .values("narrative_id", "candidate_id")
        .annotate(
            people=Count("annotator"), low=Min("relevance"), high=Max("relevance"), since=Max("at")
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
    effect: Any = Value(0)
    if filters.order is Order.EFFECT:
        before = Candidate.objects.filter(
            pk=OuterRef("candidate_id"),
            # PostgreSQL may read all that are relevant first; so it reads those of these projects.
            query__project__in=reader.projects,
            prior_relevance__gte=threshold,
        )
        effect = Case(
            When(straddles & Q(GroupExists(before)), then=Value(2)),
            When(straddles, then=Value(1)),
            default=Value(0),
            output_field=IntegerField(),
        )
    elif filters.order is Order.MEASURE:
        moved = effects_on_measures(reader.project).filter(
            narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id")
        )
        effect = Coalesce(GroupSubquery(moved.values("effect")[:1]), Value(0))
    return Source(Kind.JUDGMENT, grouped.annotate(effect=effect), ids, project)


def _no_majority(grouped: Any, grades: list[int]) -> Any:
    for grade in grades:
        saying_it = Count("annotator", filter=Q(relevance=grade))
        grouped = grouped.filter(people__gte=2 * saying_it)
    return grouped
