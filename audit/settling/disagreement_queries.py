"""The disagreements of each kind as rows that can be ordered, paged and counted.

Each kind is a `Source`: one query whose rows hold the distance between the answers (`distance`),
the effect of settling on the result (`effect`) and the time of the disagreement (`since`). Settled
ones are rows of the decision tables, so no answers are counted for them.

- Judgments differ when people's current grades of a candidate lead to no relevance by the project's
  rule (`annotate.judgments.consensus` applies it to one candidate); verdicts on a condition differ
  by the same rule. Both only under current narratives.
- Reviews differ when one auditor rejects a current narrative on a criterion and another does not.
- Checks differ when the first two checks of a claimed label do, or one of them is "cannot judge".

The effect is 2 if settling decides on a document that was relevant before, or on a whole
instruction; 1 if it decides on another document; 0 if no document's relevance depends on it: all
answers are on one side of `Project.relevant_from`, or the answer is not a relevance in the qrels
(verdicts and checks). With `Order.MEASURE` the effect of a judgment is how far settling it would
move a measure, in millionths, in the newest evaluation of systems; that of other kinds is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

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
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Abs, Coalesce, Concat, Greatest
from django.db.models.lookups import GreaterThan

from annotate.collection.models import Candidate
from annotate.judgments.blindness import exclude_unjudged
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Project
from audit.checks.models import Check
from audit.reviews.models import Decision, Rating, Review
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter
from audit.settling.reader import Reader
from base.providers import Provider

# Rows with `narrative`, `candidate` and `effect`, a whole number: how far settling a document would
# move a measure of systems.
effects_on_measures: Provider[[Project], QuerySet[Any]] = Provider(
    "How far would settling each disagreement of a project move a measure?"
)


@dataclass(frozen=True)
class Source:
    """The rows of one kind, with `distance`, `effect` and `since`; `ids` are the columns of the
    narrative and, if the kind has them, of the candidate and of the part; `project` is that of the
    project.
    """

    kind: Kind
    rows: QuerySet[Any, Any]
    ids: tuple[str, ...]
    project: str


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
    if not reader.anything_sent_back:
        return grouped.none() if filters.waiting else grouped
    sent_back = RejudgeRequest.objects.open().filter(by__project__in=reader.projects)
    of_group = sent_back.filter(
        judgment__narrative=OuterRef(narrative), judgment__candidate=OuterRef(candidate)
    )
    # Few documents were sent back: a list that is computed once rules out all others.
    among = Q(**{f"{candidate}__in": sent_back.values("judgment__candidate")})
    return grouped.annotate(is_waiting=_case(several & among, GroupExists(of_group))).filter(
        is_waiting=filters.waiting
    )


def _case(when: Q, then: Exists) -> Case:
    return Case(When(when, then=then), default=Value(value=False), output_field=BooleanField())


def settled_rows(
    rows: QuerySet[Any, Any],
    reader: Reader,
    pair: str,
    answers: QuerySet[Any, Any],
    filters: QueueFilter,
    field: str,
    prefix: str = "",
) -> QuerySet[Any, Any]:
    """Return the current decisions that the reader may see, with their times; `answers`: people's
    answers to the same question.
    """
    if filters.cause:
        rows = rows.filter(cause=filters.cause)
    mine = answers.filter(**{f"{prefix}annotator": reader.member})
    rows = exclude_unjudged(rows, reader.to_judge, pair, mine)
    if filters.people is not None:
        first, second = (
            Subquery(answers.filter(**{f"{prefix}annotator": person}).values(field)[:1])
            for person in filters.people
        )
        rows = rows.annotate(first=first, second=second).filter(
            Q(first__gt=F("second")) | Q(first__lt=F("second"))
        )
    dated: QuerySet[Any, Any] = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
    return dated


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
        in_pools(), condition__in=conditions
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


def review_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of review disagreements, open or decided."""
    decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
    # One possible decision is to remove the pair; it can be withdrawn like any other.
    narratives = reader.narratives(filters, only, removed=filters.settled or in_any_state)
    if not in_any_state:
        if reader.to_review:
            mine = Review.objects.submitted().filter(
                narrative=OuterRef("pk"), auditor__in=reader.members
            )
            narratives = narratives.filter(
                ~Q(pair__in=reader.to_review) | Exists(mine) | Q(author__in=reader.members)
            )
        narratives = narratives.filter(Exists(decided) if filters.settled else ~Exists(decided))
    ratings = Rating.objects.of_people().filter(review__submitted_at__isnull=False)
    if filters.criterion:
        ratings = ratings.filter(criterion=filters.criterion)
    of_people = ratings
    if filters.people is not None and not in_any_state:
        of_people = ratings.filter(review__auditor__in=filters.people)
    # Few instructions are rejected: it is quicker to begin with these.
    rejected = of_people.filter(rejects=True).values("review__narrative")
    narratives = narratives.filter(Exists(_contradicted_rejections(of_people)), pk__in=rejected)
    # The largest distance, in levels, between a rejecting and a non-rejecting rating.
    best = _on_same_criterion(ratings).filter(rejects=False).order_by("place").values("place")
    apart = (
        ratings.filter(review__narrative=OuterRef("pk"), rejects=True)
        .annotate(apart=F("place") - Subquery(best[:1]))
        .filter(apart__isnull=False)
        .order_by("-apart")
        .values("apart")
    )
    last = (
        Review.objects.submitted()
        .of_people()
        .filter(narrative=OuterRef("pk"))
        .order_by("-submitted_at")
    )
    since = decided.values("at") if filters.settled else last.values("submitted_at")
    rows = narratives.annotate(
        distance=Coalesce(Subquery(apart[:1]), Value(0)),
        # The decision keeps or drops the instruction with every document relevant under it.
        effect=Value(0 if filters.order is Order.MEASURE else 2),
        since=Subquery(since[:1]),
    )
    return Source(Kind.REVIEW, rows, ("pk",), "pair__project")


def _on_same_criterion(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the ratings of the same narrative on the same criterion."""
    return ratings.filter(
        review__narrative=OuterRef("review__narrative"), criterion=OuterRef("criterion")
    )


def _contradicted_rejections(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the rejecting ratings of a narrative that another rating contradicts."""
    other = _on_same_criterion(ratings).filter(rejects=False)
    return ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True)


def check_source(
    reader: Reader, filters: QueueFilter, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    """Return the source of check disagreements, open or settled by a third person."""
    ids = ("item__narrative_id", "item__candidate_id", "item_id")
    place = Check.SETTLES if filters.settled else 1
    rows: QuerySet[Any, Any] = Check.objects.current().filter(
        in_pools("item__candidate"),
        place=place,
        item__sample__project__in=reader.projects,
        item__narrative__pair__removed_at=None,
    )
    if only is not None:
        rows = rows.filter(item=only.part)
    if filters.query is not None:
        rows = rows.filter(item__narrative__pair__query=filters.query)
    answers = Check.objects.current().filter(item=OuterRef("item_id"))
    if filters.people is not None and not in_any_state:
        both = answers.filter(checker__in=filters.people)
        rows = rows.filter(Exists(both.filter(place=1)), Exists(both.filter(place=2)))
    first_two = answers.exclude(place=Check.SETTLES)
    rows = rows.filter(*(Exists(first_two.filter(relevance=grade)) for grade in filters.grades))
    if filters.settled:
        rows = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
        return Source(Kind.CHECK, rows, ids, "item__sample__project")
    second = answers.filter(place=2)
    rows = rows.annotate(
        second=Subquery(second.values("relevance")[:1]),
        second_at=Subquery(second.values("at")[:1]),
        second_cannot=Subquery(second.values("cannot_judge")[:1]),
        answers=_join_answers(),
        second_answers=Subquery(second.annotate(both=_join_answers()).values("both")[:1]),
    ).filter(
        Q(second__lt=F("relevance"))
        | Q(second__gt=F("relevance"))
        # Different answers may lead to the same grade.
        | Q(second_answers__lt=F("answers"))
        | Q(second_answers__gt=F("answers"))
        | Q(cannot_judge=True, second_at__isnull=False)
        | Q(second_cannot=True)
    )
    if not in_any_state:
        # A third person settles: not one who has checked the label.
        rows = rows.filter(~Exists(answers.filter(place=Check.SETTLES))).exclude(
            Exists(answers.filter(checker__in=reader.members))
        )
    rows = rows.annotate(
        # "Cannot judge" has no place on the scale and counts as one step from any grade.
        distance=Greatest(Coalesce(Abs(F("relevance") - F("second")), 1), 1),
        effect=Value(0),
        since=Greatest("at", "second_at"),
    )
    return Source(Kind.CHECK, rows, ids, "item__sample__project")


def _join_answers() -> Concat:
    """Join the answers to the two questions: "yesno", or "" if they are not asked."""
    return Concat("on_topic", "meets_constraint")


def build_source(
    kind: Kind,
    reader: Reader,
    filters: QueueFilter,
    *,
    only: DisagreementKey | None = None,
    in_any_state: bool = False,
) -> Source:
    """Return the wanted disagreements of one kind. `only`: just this one, if it is among them;
    `in_any_state`: also those that are settled, or that the reader cannot settle.
    """
    source = _SOURCES[kind](reader, filters, only, in_any_state)
    if kind not in filters.replaced(kind=kind).kinds:
        return replace(source, rows=source.rows.none())
    if filters.document:
        document = f"{source.ids[1].removesuffix('_id')}__document__doc_id"
        source = replace(source, rows=source.rows.filter(**{document: filters.document}))
    if filters.only:
        keys = [key for key in filters.only if key.kind is kind]
        either = reduce(or_, (_match_key(source, key) for key in keys))
        source = replace(source, rows=source.rows.filter(either))
    return source


def _match_key(source: Source, key: DisagreementKey) -> Q:
    """Return the condition for the row of one disagreement."""
    return Q(**dict(zip(source.ids, key[1:], strict=False)))


_SOURCES: Mapping[Kind, Callable[[Reader, QueueFilter, DisagreementKey | None, bool], Source]] = {
    Kind.JUDGMENT: judgment_source,
    Kind.VERDICT: verdict_source,
    Kind.REVIEW: review_source,
    Kind.CHECK: check_source,
}
