"""What people differ on, kind by kind, as rows that can be ordered, cut and counted.

Each kind is a `Source`: one query whose rows say how far apart the answers are (`distance`), what
settling does to the result (`effect`) and since when it stands there (`since`). Settled ones are
rows of their own tables and need no counting of answers.

- Judgments differ when people's current grades of a candidate come to no relevance by the project's
  rule (`annotate.judgments.consensus` says the same of one candidate); verdicts on a condition by
  the same rule. Both under narratives in force only.
- Reviews differ when one auditor rejects a narrative in force on a criterion and another does not.
- Checks differ when the first two of a claimed label do, or one of them cannot judge it.

The effect is 2 where settling decides on a document that was relevant before, or on a whole
instruction, 1 where it decides on another document, 0 where no document's relevance hangs on it:
all answers are on one side of `Project.relevant_from`, or the answer is no relevance in the qrels
(verdicts and checks). In the order of `Order.MEASURE` the effect of a judgment is what settling it
would move a measure by, in millionths, as the newest evaluation of systems found it; of all else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

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
from django.db.models.functions import Abs, Coalesce, Greatest

from annotate.collection.models import Candidate
from annotate.judgments.blindness import not_before_judging
from annotate.judgments.completion import open_assignments
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs.models import Assignment, Condition, Narrative
from annotate.projects.models import Grade, Membership, Project
from audit.checks.models import Check
from audit.reviews.models import Decision, Rating, Review
from base.prepared import Built, prepared
from base.providers import Provider

# Rows with `narrative`, `candidate` and `effect`, a whole number: how far settling a document would
# move a measure of systems.
effects_on_measures: Provider[[Project], QuerySet[Any]] = Provider(
    "How far would settling each disagreement of a project move a measure?"
)


class Kind(StrEnum):
    """What people differ on."""

    JUDGMENT = "judgment"
    VERDICT = "verdict"
    REVIEW = "review"
    CHECK = "check"


class Order(StrEnum):
    """What comes first."""

    DISTANCE = "distance"
    EFFECT = "effect"
    MEASURE = "measure"
    AGE = "age"


@dataclass(frozen=True)
class Wanted:
    """Which disagreements of a project are asked for, in which order."""

    settled: bool = False
    # Of what is not settled: what was sent back and waits for an annotator, or all the rest.
    waiting: bool = False
    kind: Kind | None = None
    query: int | None = None
    # Reviews that differ on this criterion, by its key.
    criterion: str = ""
    # Verdicts on conditions of this name, or with this number.
    condition: str = ""
    # Two memberships who differ from each other.
    people: tuple[int, int] | None = None
    order: Order = Order.DISTANCE

    def of(self, **changes: Any) -> Wanted:
        """The same, but for what is named."""
        return replace(self, **changes)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that can be among them."""
        found = [self.kind] if self.kind else list(Kind)
        if self.criterion:
            found = [kind for kind in found if kind is Kind.REVIEW]
        if self.condition:
            found = [kind for kind in found if kind is Kind.VERDICT]
        if self.waiting and not self.settled:
            found = [kind for kind in found if kind in {Kind.JUDGMENT, Kind.VERDICT}]
        return tuple(found)


class DisagreementKey(NamedTuple):
    """What it is that people differ on, by keys: `candidate` is 0 for reviews; `part` is the
    condition of a verdict, the sample's item of a check, else 0.
    """

    kind: Kind
    narrative: int
    candidate: int
    part: int


class Reader:
    """A lead who looks at what people differ on, with what is asked again and again read once."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.project = member.project

    @classmethod
    def knowing(cls, member: Membership, *, machines: list[int], grades: list[int]) -> Reader:
        """A lead without an assignment in a project where nothing was sent back: reads nothing."""
        reader = cls(member)
        reader.machines, reader.grades = machines, grades
        reader.anything_sent_back, reader._assignments = False, []
        return reader

    @cached_property
    def machines(self) -> list[int]:
        """The machines of the project, who never differ from people."""
        return [machine for (machine,) in _machines.rows(project=self.project.pk)]

    @cached_property
    def grades(self) -> list[int]:
        """The grades that judges may give."""
        return [grade for (grade,) in _grades.rows(project=self.project.pk)]

    @cached_property
    def anything_sent_back(self) -> bool:
        """Whether any answer of the project was sent back to its author and waits."""
        return bool(_sent_back.rows(project=self.project.pk))

    @cached_property
    def _assignments(self) -> list[tuple[str, int]]:
        held = open_assignments(self.member, Assignment.Task.JUDGE, Assignment.Task.REVIEW)
        return [(assignment.task, assignment.pair_id) for assignment in held]

    @property
    def has_assignments(self) -> bool:
        """Whether the lead has work left in an assignment to judge or to review."""
        return bool(self._assignments)

    @property
    def to_judge(self) -> list[int]:
        """The pairs in whose judge assignments the lead sits: there they judge first."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.JUDGE]

    @property
    def to_review(self) -> list[int]:
        """The pairs in whose review assignments the lead sits."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.REVIEW]

    def narratives(
        self, wanted: Wanted, only: DisagreementKey | None, *, removed: bool = False
    ) -> QuerySet[Narrative]:
        """The narratives in force, of every side: an export writes the qrels of each. `removed`:
        also those of pairs that were removed.
        """
        found = Narrative.objects.current().filter(pair__project=self.project)
        if not removed:
            found = found.filter(pair__removed_at__isnull=True)
        if only is not None:
            found = found.filter(pk=only.narrative)
        return found if wanted.query is None else found.filter(pair__query=wanted.query)


@prepared("project")
def _machines(project: int) -> Built:
    return Membership.objects.filter(project=project, is_machine=True).values_list("pk")


@prepared("project")
def _grades(project: int) -> Built:
    return Grade.objects.filter(project=project).values_list("value")


@prepared("project")
def _sent_back(project: int) -> Built:
    return RejudgeRequest.objects.open().filter(by__project=project).values_list("pk")[:1]


@dataclass(frozen=True)
class Source:
    """The rows of one kind, with `distance`, `effect` and `since`; `ids` are the columns of the
    narrative and, where the kind has them, of the candidate and of the part.
    """

    kind: Kind
    rows: QuerySet[Any, Any]
    ids: tuple[str, ...]


def source(
    kind: Kind,
    reader: Reader,
    wanted: Wanted,
    *,
    only: DisagreementKey | None = None,
    in_any_state: bool = False,
) -> Source:
    """Return what of one kind is wanted. `only`: that one disagreement, if it is among them;
    `in_any_state`: with what is settled and what the reader could not settle.
    """
    return _SOURCES[kind](reader, wanted, only, in_any_state)


# --- judgments ------------------------------------------------------------------------------------


def _judgments(
    reader: Reader, wanted: Wanted, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    ids = ("narrative_id", "candidate_id")
    narratives = reader.narratives(wanted, only).values("pk")
    current = Judgment.objects.current().exclude(annotator__in=reader.machines)
    same = {"narrative": OuterRef("narrative_id"), "candidate": OuterRef("candidate_id")}
    if wanted.settled:
        rows: QuerySet[Any, Any] = Adjudication.objects.current().filter(
            in_pools(), narrative__in=narratives
        )
        said = current.filter(**same)
        rows = _settled_rows(rows, reader, "narrative__pair", said, wanted, "relevance")
        if only is not None:
            rows = rows.filter(candidate=only.candidate)
        return Source(Kind.JUDGMENT, rows, ids)
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
        # No grade has more than half. A count for each grade costs one walk through the rows, a
        # subquery for each candidate would cost ten times as much.
        grouped = _no_majority(grouped, reader.grades)
    if wanted.people is not None and not in_any_state:
        grouped = _apart(grouped, "relevance", "annotator", wanted.people)
    if not in_any_state:
        settled = Adjudication.objects.current().filter(**same)
        grouped = _still_open(grouped, reader, wanted, settled, "narrative_id", "candidate_id")
        if reader.to_judge:
            grouped = grouped.annotate(mine=_count_of("annotator", reader.member)).filter(
                Q(mine__gt=0) | ~Q(narrative__in=_of_pairs(reader.to_judge))
            )
    effect: Any = Value(0)
    if wanted.order is Order.EFFECT:
        threshold = reader.project.relevant_from
        straddles = Q(low__lt=threshold, high__gte=threshold)
        before = Candidate.objects.filter(
            pk=OuterRef("candidate_id"), prior_relevance__gte=threshold
        )
        effect = Case(
            When(straddles & Q(_OfGroup(before)), then=Value(2)),
            When(straddles, then=Value(1)),
            default=Value(0),
            output_field=IntegerField(),
        )
    elif wanted.order is Order.MEASURE:
        moved = effects_on_measures(reader.project).filter(
            narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id")
        )
        effect = Coalesce(_ValueOfGroup(moved.values("effect")[:1]), Value(0))
    return Source(Kind.JUDGMENT, grouped.annotate(effect=effect), ids)


# --- verdicts -------------------------------------------------------------------------------------


def _verdicts(
    reader: Reader, wanted: Wanted, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    conditions = Condition.objects.filter(narrative__in=reader.narratives(wanted, only))
    if only is not None:
        conditions = conditions.filter(pk=only.part)
    if wanted.condition:
        conditions = conditions.filter(_called(wanted.condition))
    current = Verdict.objects.filter(
        judgment__superseded_at__isnull=True, judgment__text_replaced_at__isnull=True
    ).exclude(judgment__annotator__in=reader.machines)
    if wanted.settled:
        rows: QuerySet[Any, Any] = ConditionAdjudication.objects.current().filter(
            condition__in=conditions
        )
        said = current.filter(
            condition=OuterRef("condition_id"), judgment__candidate=OuterRef("candidate_id")
        )
        rows = _settled_rows(
            rows, reader, "condition__narrative__pair", said, wanted, "answer", "judgment__"
        )
        if only is not None:
            rows = rows.filter(candidate=only.candidate)
        return Source(
            Kind.VERDICT, rows, ("condition__narrative_id", "candidate_id", "condition_id")
        )
    rows = current.filter(in_pools("judgment__candidate"), condition__in=conditions)
    if only is not None:
        rows = rows.filter(judgment__candidate=only.candidate)
    ids = ("judgment__narrative_id", "judgment__candidate_id", "condition_id")
    given = {answer: f"n_{answer.value}" for answer in Verdict.Answer}
    grouped = (
        rows.order_by()
        .values(*ids)
        .annotate(
            people=Count("pk"),
            since=Max("judgment__at"),
            **{name: Count("pk", filter=Q(answer=answer)) for answer, name in given.items()},
        )
    )
    if reader.project.consensus == Project.Consensus.MAJORITY:
        grouped = grouped.filter(*(Q(people__gte=2 * F(name)) for name in given.values()))
    else:
        grouped = grouped.filter(*(Q(people__gt=F(name)) for name in given.values()))
    if wanted.people is not None and not in_any_state:
        grouped = _apart(grouped, "answer", "judgment__annotator", wanted.people)
    if not in_any_state:
        settled = ConditionAdjudication.objects.current().filter(
            condition=OuterRef("condition_id"), candidate=OuterRef("judgment__candidate_id")
        )
        grouped = _still_open(
            grouped, reader, wanted, settled, "judgment__narrative_id", "judgment__candidate_id"
        )
        if reader.to_judge:
            mine = _count_of("judgment__annotator", reader.member)
            grouped = grouped.annotate(mine=mine).filter(
                Q(mine__gt=0) | ~Q(judgment__narrative__in=_of_pairs(reader.to_judge))
            )
    # Met, can't tell, not met: the first and the last are two apart.
    wide = Q(**{f"{given[Verdict.Answer.MET]}__gt": 0, f"{given[Verdict.Answer.NOT_MET]}__gt": 0})
    distance = Case(When(wide, then=Value(2)), default=Value(1), output_field=IntegerField())
    return Source(Kind.VERDICT, grouped.annotate(distance=distance, effect=Value(0)), ids)


def _called(condition: str) -> Q:
    """The conditions of a name, or with a number."""
    named = Q(name__iexact=condition)
    number = condition.isascii() and condition.isdecimal() and int(condition) < 2**15
    return named | Q(number=int(condition)) if number else named


# --- reviews --------------------------------------------------------------------------------------


def _reviews(
    reader: Reader, wanted: Wanted, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
    # One way to settle is to remove the pair, which can be taken back like any other.
    found = reader.narratives(wanted, only, removed=wanted.settled or in_any_state)
    if not in_any_state:
        if reader.to_review:
            mine = Review.objects.submitted().filter(
                narrative=OuterRef("pk"), auditor=reader.member
            )
            found = found.filter(
                ~Q(pair__in=reader.to_review) | Exists(mine) | Q(author=reader.member)
            )
        found = found.filter(Exists(decided) if wanted.settled else ~Exists(decided))
    ratings = Rating.objects.of_people().filter(review__submitted_at__isnull=False)
    if wanted.criterion:
        ratings = ratings.filter(criterion=wanted.criterion)
    of_people = ratings
    if wanted.people is not None and not in_any_state:
        of_people = ratings.filter(review__auditor__in=wanted.people)
    found = found.filter(Exists(_straddling(of_people)))
    # How many levels apart they are at most where they straddle.
    best = _on_the_same(ratings).filter(rejects=False).order_by("place").values("place")
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
    since = decided.values("at") if wanted.settled else last.values("submitted_at")
    rows = found.annotate(
        distance=Coalesce(Subquery(apart[:1]), Value(0)),
        # Whether the instruction is kept at all, with every document relevant under it.
        effect=Value(0 if wanted.order is Order.MEASURE else 2),
        since=Subquery(since[:1]),
    )
    return Source(Kind.REVIEW, rows, ("pk",))


def _on_the_same(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """What others said of the same narrative on the same criterion."""
    return ratings.filter(
        review__narrative=OuterRef("review__narrative"), criterion=OuterRef("criterion")
    )


def _straddling(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """The rejecting answers of a narrative beside which another does not reject."""
    other = _on_the_same(ratings).filter(rejects=False)
    return ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True)


# --- checks ---------------------------------------------------------------------------------------


def _checks(
    reader: Reader, wanted: Wanted, only: DisagreementKey | None, in_any_state: bool
) -> Source:
    ids = ("item__narrative_id", "item__candidate_id", "item_id")
    place = Check.SETTLES if wanted.settled else 1
    rows: QuerySet[Any, Any] = Check.objects.current().filter(
        in_pools("item__candidate"), place=place, item__sample__project=reader.project
    )
    if only is not None:
        rows = rows.filter(item=only.part)
    if wanted.query is not None:
        rows = rows.filter(item__narrative__pair__query=wanted.query)
    said = Check.objects.current().filter(item=OuterRef("item_id"))
    if wanted.people is not None and not in_any_state:
        both = said.filter(checker__in=wanted.people)
        rows = rows.filter(Exists(both.filter(place=1)), Exists(both.filter(place=2)))
    if wanted.settled:
        rows = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
        return Source(Kind.CHECK, rows, ids)
    second = said.filter(place=2)
    rows = rows.annotate(
        second=Subquery(second.values("relevance")[:1]),
        second_at=Subquery(second.values("at")[:1]),
        second_cannot=Subquery(second.values("cannot_judge")[:1]),
    ).filter(
        Q(second__lt=F("relevance"))
        | Q(second__gt=F("relevance"))
        | Q(cannot_judge=True, second_at__isnull=False)
        | Q(second_cannot=True)
    )
    if not in_any_state:
        # A third person settles.
        rows = rows.filter(~Exists(said.filter(place=Check.SETTLES))).exclude(
            Exists(said.filter(checker=reader.member))
        )
    rows = rows.annotate(
        # Who cannot judge is nowhere on the scale: as far as the nearest other answer.
        distance=Coalesce(Abs(F("relevance") - F("second")), 1),
        effect=Value(0),
        since=Greatest("at", "second_at"),
    )
    return Source(Kind.CHECK, rows, ids)


_SOURCES: Mapping[Kind, Callable[[Reader, Wanted, DisagreementKey | None, bool], Source]] = {
    Kind.JUDGMENT: _judgments,
    Kind.VERDICT: _verdicts,
    Kind.REVIEW: _reviews,
    Kind.CHECK: _checks,
}


# --- what several of them need --------------------------------------------------------------------


def _no_majority(grouped: Any, grades: list[int]) -> Any:
    for grade in grades:
        saying_it = Count("annotator", filter=Q(relevance=grade))
        grouped = grouped.filter(people__gte=2 * saying_it)
    return grouped


def _apart(grouped: Any, field: str, person: str, people: tuple[int, int]) -> Any:
    """Keep what these two people answered differently."""
    first, second = people
    return grouped.annotate(
        first=Max(field, filter=Q(**{person: first})),
        second=Max(field, filter=Q(**{person: second})),
    ).filter(Q(first__gt=F("second")) | Q(first__lt=F("second")))


class _OfGroup(Exists):
    """Whether there is a row for a group, by the columns that it is grouped by: looked for once a
    group is found to differ, not for every row of it.
    """

    def get_group_by_cols(self) -> list[Any]:
        """Nothing more to group by: what it looks at is grouped by already."""
        return []


class _ValueOfGroup(Subquery):
    """A value for a group, by the columns that it is grouped by, as `_OfGroup`."""

    def get_group_by_cols(self) -> list[Any]:
        """Nothing more to group by: what it looks at is grouped by already."""
        return []


def _still_open(
    grouped: Any,
    reader: Reader,
    wanted: Wanted,
    settled: QuerySet[Any, Any],
    narrative: str,
    candidate: str,
) -> Any:
    """Keep what has no decision that stands, and waits for an answer that was sent back, or not.

    What is asked of a group stands within a Case: the database would else ask before it groups.
    """
    several = Q(people__gt=1)
    grouped = grouped.annotate(is_settled=_case(several, _OfGroup(settled))).filter(
        is_settled=False
    )
    if not reader.anything_sent_back:
        return grouped.none() if wanted.waiting else grouped
    sent_back = RejudgeRequest.objects.open().filter(by__project=reader.project)
    of_group = sent_back.filter(
        judgment__narrative=OuterRef(narrative), judgment__candidate=OuterRef(candidate)
    )
    # Few documents are among them: the others are told apart by a list that is made once.
    among = Q(**{f"{candidate}__in": sent_back.values("judgment__candidate")})
    return grouped.annotate(is_waiting=_case(several & among, _OfGroup(of_group))).filter(
        is_waiting=wanted.waiting
    )


def _case(when: Q, then: Exists) -> Case:
    return Case(When(when, then=then), default=Value(value=False), output_field=BooleanField())


def _count_of(person: str, member: Membership) -> Count:
    return Count(person, filter=Q(**{person: member.pk}))


def _of_pairs(pairs: list[int]) -> QuerySet[Narrative, Any]:
    return Narrative.objects.filter(pair__in=pairs).values("pk")


def _settled_rows(
    rows: QuerySet[Any, Any],
    reader: Reader,
    pair: str,
    said: QuerySet[Any, Any],
    wanted: Wanted,
    field: str,
    prefix: str = "",
) -> QuerySet[Any, Any]:
    """Decisions that stand, with the moment of each; `said` is what people said of the same."""
    mine = said.filter(**{f"{prefix}annotator": reader.member})
    rows = not_before_judging(rows, reader.to_judge, pair, mine)
    if wanted.people is not None:
        first, second = (
            Subquery(said.filter(**{f"{prefix}annotator": one}).values(field)[:1])
            for one in wanted.people
        )
        rows = rows.annotate(first=first, second=second).filter(
            Q(first__gt=F("second")) | Q(first__lt=F("second"))
        )
    found: QuerySet[Any, Any] = rows.annotate(distance=Value(0), effect=Value(0), since=F("at"))
    return found
