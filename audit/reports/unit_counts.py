"""Counts of units by pattern of answers, made by the database: no single judgment is fetched.

A unit is a candidate under a narrative version (for reviews one criterion of a narrative version),
a pattern is who gave it which answer. Units with the same pattern are exchangeable for every
coefficient, so a few thousand patterns hold as much as a million judgments. The database writes a
pattern as text ("12:1,40:0", member and value), which works for any number of people.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date
from functools import reduce
from operator import and_, or_
from typing import Any, Literal, NamedTuple

from django.db import connection
from django.db.models import (
    Aggregate,
    Case,
    CharField,
    DateField,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Concat, TruncWeek

from annotate.collection.models import Query
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment, RejudgeRequest, StatementQuerySet
from annotate.pairs.models import Narrative, is_taken_out
from annotate.projects.models import Grade, Membership, Project
from audit.reports.scopes import WHOLE, Period, Scope, narrative_q, periods_of, rubric_of, week_of
from audit.reviews.criteria import Rubric
from audit.reviews.models import Rating, Review
from base.bulk import listed_values

# The answers on one unit: (member, value) in the order of the members.
Pattern = tuple[tuple[int, int], ...]


Patterns = Counter[Pattern]


def joined_answers(member: str, value: Any) -> Aggregate:
    """Return an aggregate that writes the answers on a unit as text: "12:1,40:0"."""
    answer = Concat(Cast(member, CharField()), Value(":"), Cast(value, CharField()))
    return listed_values(answer, ",")


def count_patterns(units: QuerySet[Any, Any], *by: str) -> dict[tuple[Any, ...], Patterns]:
    """Count units (rows with `listed`) by the values of some of their columns, and by pattern."""
    sql, parameters = units.order_by().query.sql_with_params()
    counts: dict[tuple[Any, ...], Patterns] = {}
    read: dict[str, Pattern] = {}
    columns = ", ".join((*by, "listed"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {columns}, COUNT(*) FROM ({sql}) units GROUP BY {columns}",  # noqa: S608 -- ours
            parameters,
        )
        while rows := cursor.fetchmany(10_000):
            for *of, listed, times in rows:
                # The same answers in another order are the same pattern.
                pattern = read.get(listed) or read.setdefault(listed, read_pattern(listed))
                counts.setdefault(tuple(of), Counter())[pattern] += times
    return counts


def read_pattern(listed: str) -> Pattern:
    """Parse "17:1,18:2" into (member, value) pairs in the order of the members."""
    answers = (answer.split(":") for answer in listed.split(",") if answer)
    # An imported file may hold two answers of one person: the largest one counts everywhere.
    of_each = dict(sorted((int(member), int(value)) for member, value in answers))
    return tuple(of_each.items())


class VersionKey(NamedTuple):
    """The narrative version of a judgment, with the fields that a report can be split by."""

    query: str
    pair: str
    category: str
    side: str
    version: int


# The grade that a lead settled for a unit, and its earlier relevance under an altered narrative.
UnitOutcome = tuple[int | None, int | None]


@dataclass(frozen=True)
class Counts:
    """Everything that a report of agreement is computed from.

    Attributes:
        scale: The grades of the project, and any others that were given, ascending.
        names: The members' names by their keys.
        machines: Keys of the machines.
        judgments: Patterns of people and machines, for each narrative version.
        guidelines: Patterns of people for each version of the guidelines; 0 is before the first.
        weeks: Patterns of people by the Monday of the week in which a unit was last judged.
        rubric: The rubric of the reviews; reviews under another one are not counted.
        reviews: Patterns of auditors for each criterion; the worst level is 0, the next 1.
        review_domains: Patterns of auditors for each domain of queries and criterion; empty if
            no query has a domain, and in a scope of one domain.
        reviews_with_machines: The same for people and machines together; empty if no machine
            has reviewed anything.
        reviews_of_categories: Patterns of auditors for each category of instructions.
        outcomes: Patterns of people by what was settled and what was relevant before; empty in a
            scope of the past.
    """

    scale: list[int]
    names: dict[int, str]
    machines: frozenset[int]
    judgments: dict[VersionKey, Patterns]
    guidelines: dict[int, Patterns]
    weeks: dict[date, Patterns]
    rubric: Rubric
    reviews: dict[str, Patterns]
    reviews_with_machines: dict[str, Patterns]
    reviews_of_categories: dict[str, Patterns]
    outcomes: dict[UnitOutcome, Patterns] = field(default_factory=dict)
    review_domains: dict[tuple[str, str], Patterns] = field(default_factory=dict)

    @property
    def with_settled_grades(self) -> Patterns:
        """Patterns of people, each of whom gives the settled grade where a lead has settled; empty
        if nothing is settled.
        """
        if all(settled is None for settled, _prior in self.outcomes):
            return Counter()
        counts: Patterns = Counter()
        for (settled, _prior), patterns in self.outcomes.items():
            for pattern, times in patterns.items():
                grades = [(m, grade if settled is None else settled) for m, grade in pattern]
                counts[tuple(grades)] += times
        return counts

    @property
    def found_changed(self) -> Patterns:
        """Patterns of people on documents that at least one of them found changed: the grade under
        the altered narrative is another one than the earlier relevance.
        """
        changed: Patterns = Counter()
        for (_settled, prior), patterns in self.outcomes.items():
            for pattern, times in patterns.items():
                if prior is not None and any(grade != prior for _, grade in pattern):
                    changed[pattern] += times
        return changed

    @property
    def levels(self) -> dict[str, int]:
        """Levels as an ordered scale, the worst 0, for weighted kappa and ordinal alpha."""
        best = len(self.rubric.levels) - 1
        return {level.value: best - place for place, level in enumerate(self.rubric.levels)}

    @property
    def sha256(self) -> str:
        """The sum of every count with its names: the same rows have the same sum in any database.

        Reviews by category are the same ratings once more, and are not in it.
        """
        sections: list[tuple[str, Iterable[tuple[Any, Patterns]]]] = [
            ("judgments", self.judgments.items()),
            ("guidelines", self.guidelines.items()),
            ("weeks", ((day.isoformat(), patterns) for day, patterns in self.weeks.items())),
            ("reviews", self.reviews.items()),
            ("reviews with machines", self.reviews_with_machines.items()),
            ("settled", self.outcomes.items()),
        ]
        lines = [json.dumps(["scale", self.scale, self.rubric.name, self.levels])]
        for section, groups in sections:
            lines += [
                json.dumps([section, of, self._named(pattern), times])
                for of, patterns in groups
                for pattern, times in patterns.items()
            ]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    def _named(self, pattern: Pattern) -> list[tuple[str, int]]:
        return sorted((self.names[member], value) for member, value in pattern)

    def people(self, patterns: Patterns) -> Patterns:
        """Return the same units with only people's answers."""
        return self._of(patterns, frozenset(self.names) - self.machines)

    def with_machine(self, patterns: Patterns, machine: int) -> Patterns:
        """Return the same units with the answers of people and one machine."""
        return self._of(patterns, frozenset(self.names) - self.machines | {machine})

    def _of(self, patterns: Patterns, raters: frozenset[int]) -> Patterns:
        if not self.machines:
            return patterns
        counts: Patterns = Counter()
        for pattern, times in patterns.items():
            left = tuple((rater, answer) for rater, answer in pattern if rater in raters)
            if left:
                counts[left] += times
        return counts


def counts_of(project: Project, scope: Scope = WHOLE) -> Counts:
    """Count the current answers in a part of a project: a fixed number of queries."""
    members = Membership.objects.filter(project=project)
    rubric = rubric_of(project)
    everybody = list(members.values_list("pk", "name", "is_machine"))
    judgments = _by_narrative(project, scope)
    guidelines = {} if scope.criterion else _by_guideline(project, scope)
    weeks = {} if scope.criterion else _by_week(project, scope)
    values = {
        value for group in judgments.values() for pattern in group for _member, value in pattern
    }
    values |= {value for group in guidelines.values() for pattern in group for _, value in pattern}
    grades = Grade.objects.filter(project=project).values_list("value", flat=True)
    return Counts(
        scale=sorted(values.union(grades)),
        names={pk: name for pk, name, _is_machine in everybody},
        machines=frozenset(pk for pk, _name, is_machine in everybody if is_machine),
        judgments=judgments,
        guidelines=guidelines,
        weeks=weeks,
        rubric=rubric,
        reviews=review_patterns(project, scope, rubric),
        reviews_with_machines=(
            review_patterns(project, scope, rubric, machines=True)
            if Review.objects.submitted().of_machines().filter(auditor__project=project).exists()
            else {}
        ),
        reviews_of_categories=review_patterns(project, scope, rubric, by="category"),
        outcomes=_by_outcome(project, scope),
        review_domains={} if scope.domain else _by_domain(project, scope, rubric),
    )


def judgments_in(
    project: Project, scope: Scope = WHOLE, *, machines: bool = False
) -> QuerySet[Judgment]:
    """Return people's judgments in a scope under current narratives, with `machines` also those of
    machines: the current ones, or in a scope of the past the ones that were current then. Documents
    that were taken out are left out.

    A scope's week selects units, not judgments, so it is not applied here.
    """
    judgments = _all_judgments(project, scope)
    judgments = judgments if machines else judgments.of_people()
    whenever = Period(None, None)
    period = whenever if scope.guideline is None else periods_of(project)[scope.guideline]
    return judgments.filter(_current_in(period, blind=scope.blind))


def _all_judgments(project: Project, scope: Scope) -> StatementQuerySet[Judgment]:
    return Judgment.objects.filter(
        in_pools(), judgment_q(scope), narrative__in=Narrative.objects.in_force([project.pk])
    )


def judgment_q(scope: Scope) -> Q:
    """Filter judgments by a scope: those of its people, and of machines for their tables."""
    of_scope = narrative_q(scope, "narrative__")
    if not scope.people:
        return of_scope
    return of_scope & (Q(annotator__name__in=scope.people) | Q(annotator__is_machine=True))


def _current_in(period: Period, *, blind: bool) -> Q:
    """Filter judgments made in a period and current at its end; with `blind`, made before the
    person could see another's answer, and current until then. Withdrawn judgments, and those of an
    older text of the document, never count.
    """
    made, current = _in_period(period, "at"), Q(ended_at__isnull=True)
    if period.end is not None:
        current |= Q(ended_at__gte=period.end)
    if blind:
        made &= ~could_see("at")
        current |= could_see("ended_at")
    return made & current & Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


def could_see(moment: str) -> Q:
    """Return whether the judge could know of others' answers at a time (a column of the judgment).

    Before one's own answer, pages show nobody's. After it, people see the decision once there is
    one, and a rejudge request tells them that something is wrong; leads see all answers in the
    disagreements.
    """
    unit = {"narrative": OuterRef("narrative"), "candidate": OuterRef("candidate")}
    settled = Adjudication.objects.filter(**unit, at__lte=OuterRef(moment))
    earlier = Judgment.objects.filter(**unit, at__lt=OuterRef(moment))
    own = earlier.filter(annotator=OuterRef("annotator"))
    of_others = earlier.of_people().exclude(annotator=OuterRef("annotator"))
    asked = RejudgeRequest.objects.filter(
        statement__narrative=OuterRef("narrative"),
        statement__candidate=OuterRef("candidate"),
        statement__annotator=OuterRef("annotator"),
        # Requests for a new version of the guidelines do not depend on others' answers.
        guideline__isnull=True,
        at__lte=OuterRef(moment),
    )
    lead = Q(annotator__role=Membership.Role.LEAD) & Q(Exists(own)) & Q(Exists(of_others))
    return Q(Exists(settled)) | Q(Exists(asked)) | lead


def _by_narrative(project: Project, scope: Scope) -> dict[VersionKey, Patterns]:
    if scope.criterion:
        return {}
    units = units_of(judgments_in(project, scope, machines=True), scope)
    counts = count_patterns(units, "narrative_id")
    under = {
        of[0]: VersionKey(*of[1:])
        for of in Narrative.objects.filter(pair__project=project).values_list(
            "pk", "pair__query__query_id", "pair__pair_id", "pair__category", "side", "version"
        )
    }
    return {under[narrative]: patterns for (narrative,), patterns in counts.items()}


def _by_outcome(project: Project, scope: Scope) -> dict[UnitOutcome, Patterns]:
    """Count units by what a lead has settled and by their earlier relevance."""
    if scope.criterion or scope.guideline is not None:
        return {}
    decision = Adjudication.objects.current().filter(
        narrative=OuterRef("narrative"), candidate=OuterRef("candidate")
    )
    of_altered = When(narrative__side=Narrative.Side.ALTERED, then="candidate__prior_relevance")
    judgments = (
        judgments_in(project, scope)
        # Or PostgreSQL reads the candidates of all projects.
        .filter(candidate__query__project=project)
        .annotate(settled=Subquery(decision.values("relevance")[:1]), prior=Case(of_altered))
    )
    counts = count_patterns(units_of(judgments, scope, "settled", "prior"), "settled", "prior")
    # Units without a grade come first.
    outcomes = sorted(counts, key=lambda grades: [(grade is not None, grade) for grade in grades])
    return {(settled, prior): counts[settled, prior] for settled, prior in outcomes}


def _by_guideline(project: Project, scope: Scope) -> dict[int, Patterns]:
    """Count, for each version of the guidelines, the answers current when the next one came."""
    periods = periods_of(project)
    if scope.guideline is not None:
        periods = {scope.guideline: periods[scope.guideline]}
    if set(periods) == {0}:
        return {}
    current = {
        version: _current_in(period, blind=scope.blind) for version, period in periods.items()
    }
    when = [When(condition, then=Value(version)) for version, condition in current.items()]
    judgments = (
        _all_judgments(project, scope)
        .of_people()
        .filter(reduce(or_, current.values()))
        .annotate(guideline=Case(*when, output_field=IntegerField()))
    )
    counts = count_patterns(units_of(judgments, scope, "guideline"), "guideline")
    return {version: counts[version,] for (version,) in sorted(counts)}


def _by_week(project: Project, scope: Scope) -> dict[date, Patterns]:
    """Count units by the week of their last judgment, when people's agreement was complete."""
    monday = Cast(TruncWeek(Max("at"), tzinfo=UTC), DateField())
    units = units_of(judgments_in(project, scope), scope).annotate(monday=monday)
    counts = count_patterns(units, "monday")
    return {
        # SQLite has no type for dates.
        date.fromisoformat(day) if isinstance(day, str) else day: counts[day,]
        for (day,) in sorted(counts)
    }


def ratings_in(
    project: Project, scope: Scope, rubric: Rubric, *, machines: bool = False
) -> QuerySet[Rating]:
    """Return the ratings that count in a scope: people's, with `machines` also those of machines,
    in submitted reviews under a rubric, of every version of the narratives of pairs that are not
    taken out.
    """
    ratings = Rating.objects.filter(
        narrative_q(scope, "review__narrative__"),
        ~is_taken_out("review__narrative__pair__"),
        review__auditor__project=project,
        review__submitted_at__isnull=False,
        review__rubric=rubric.name,
    )
    if not machines:
        ratings = ratings.of_people()
    if scope.criterion:
        ratings = ratings.filter(criterion=scope.criterion)
    if scope.people:
        of_scope = Q(review__auditor__name__in=scope.people)
        ratings = ratings.filter(of_scope | Q(review__auditor__is_machine=True))
    return ratings.filter(period_q(project, scope, "review__submitted_at"))


def review_patterns(
    project: Project,
    scope: Scope,
    rubric: Rubric,
    *,
    machines: bool = False,
    by: Literal["criterion", "category"] = "criterion",
) -> dict[str, Patterns]:
    """Count the ratings of a scope by pattern, for each criterion or category of instructions."""
    ratings = ratings_in(project, scope, rubric, machines=machines)
    units = _rated_units_of(ratings, rubric, category=F("review__narrative__pair__category"))
    return {of: patterns for (of,), patterns in count_patterns(units, by).items()}


def _rated_units_of(ratings: QuerySet[Rating], rubric: Rubric, **columns: F) -> QuerySet[Any, Any]:
    """Group ratings by unit, and by more `columns`; the worst level is 0."""
    from_worst = Value(len(rubric.levels) - 1) - F("place")
    units: QuerySet[Any, Any] = ratings.values("review__narrative_id", "criterion", **columns)
    listed: QuerySet[Any, Any] = units.annotate(
        listed=joined_answers("review__auditor_id", from_worst)
    )
    return listed


def _by_domain(project: Project, scope: Scope, rubric: Rubric) -> dict[tuple[str, str], Patterns]:
    """Count by domain and criterion; queries without a domain count under ""."""
    if not Query.objects.filter(project=project).exclude(domain="").exists():
        return {}
    ratings = ratings_in(project, scope, rubric)
    units = _rated_units_of(ratings, rubric, domain=F("review__narrative__pair__query__domain"))
    counts = count_patterns(units, "domain", "criterion")
    order = {key: place for place, key in enumerate(rubric.keys)}
    return {
        (domain, criterion): counts[domain, criterion]
        for domain, criterion in sorted(
            counts, key=lambda key: (key[0], order.get(key[1], len(order)), key[1])
        )
    }


def period_q(project: Project, scope: Scope, moment: str) -> Q:
    """Filter rows by whether a time (`moment`, a column) is in the periods of a scope."""
    periods = [] if scope.guideline is None else [periods_of(project)[scope.guideline]]
    if scope.week is not None:
        periods.append(week_of(scope.week))
    return reduce(and_, (_in_period(period, moment) for period in periods), Q())


def _in_period(period: Period, moment: str) -> Q:
    condition = Q() if period.start is None else Q(**{f"{moment}__gte": period.start})
    return condition if period.end is None else condition & Q(**{f"{moment}__lt": period.end})


def units_of(judgments: QuerySet[Judgment], scope: Scope, *columns: str) -> QuerySet[Any, Any]:
    """Group judgments by unit, and by more `columns`, in the week of the scope."""
    units: QuerySet[Any, Any] = judgments.values("narrative_id", "candidate_id", *columns)
    units = units.annotate(listed=joined_answers("annotator_id", "relevance"))
    if scope.week is None:
        return units
    start, end = week_of(scope.week)
    of_people = Max("at", filter=Q(annotator__is_machine=False))
    dated: QuerySet[Any, Any] = units.annotate(until=of_people)
    return dated.filter(until__gte=start, until__lt=end)
