"""What people did day by day, how long what is left will take, and where each person is.

Days are the reader's: moments are counted by the quarter of an hour in the database, and put
together to days here, because a day begins on a quarter everywhere and nowhere at the same moment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from django.db.models import Count, F, Func, IntegerField, Max, QuerySet, Sum
from django.utils import timezone

from annotate.actions.pool import in_scope, judgments_in_force, narratives_in_force, pairs_with_pool
from annotate.models import (
    Assignment,
    Candidate,
    Flag,
    Judgment,
    Membership,
    Narrative,
    Project,
)
from annotate.pure.pace import Estimate, Unknown, estimate

# How far back the charts go, and the pace that an end is counted by.
WEEKS = 8
SHOWN = timedelta(weeks=WEEKS)
PACES = (7, 14, 28)
_QUARTER = 900


class Quarter(Func):
    """The number of the quarter of an hour since 1970 in which a moment lies."""

    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) / 900"
        return super().as_sqlite(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "FLOOR(EXTRACT(EPOCH FROM %(expressions)s) / 900)::bigint"
        return self.as_sql(compiler, connection, template=template, **extra)


@dataclass
class Day:
    """What was done on one day of the reader's: judgments that count now, and others.

    The others were judged again, taken back, or made under a narrative that was rewritten since.
    """

    on: date
    counting: int = 0
    other: int = 0
    # Time with documents before the eyes, in seconds, and the judgments it is known of.
    active: float = 0.0
    timed: int = 0

    @property
    def made(self) -> int:
        """All judgments of the day."""
        return self.counting + self.other


@dataclass(frozen=True)
class Workload:
    """How many judgments are asked for, made and left. All under the narratives in force."""

    wanted: int
    judged: int
    # Flagged for good, "cannot judge" or "problem": nobody waits for a grade there.
    flagged: int
    left: int


@dataclass(frozen=True)
class Effort:
    """Time with documents before the eyes, in seconds, over judgments whose time is known."""

    seconds: float
    judgments: int

    @property
    def each(self) -> float | None:
        """Seconds for one judgment; None where no time is known."""
        return self.seconds / self.judgments if self.judgments else None

    def for_(self, count: int) -> float | None:
        """Seconds for so many judgments at this pace."""
        return None if self.each is None else self.each * count


@dataclass
class PersonPace:
    """What one person has done."""

    member: Membership
    # Judgments that count now, wherever they came from.
    judged: int = 0
    last_at: datetime | None = None
    effort: Effort = field(default_factory=lambda: Effort(0.0, 0))
    days: list[Day] = field(default_factory=list)
    flags: int = 0

    def lately(self, days: int) -> int:
        """What they judged on the last so many whole days, of what counts now."""
        return sum(day.counting for day in self.days[-days - 1 : -1])


@dataclass(frozen=True)
class TaskPace:
    """How far one task is in seats, and what was done of it on the last whole days."""

    task: str
    name: str
    done: int
    total: int
    lately: int
    outlook: Estimate | Unknown


def today(zone: tzinfo, now: datetime | None = None) -> date:
    """The reader's day."""
    return (now or timezone.now()).astimezone(zone).date()


def empty_days(zone: tzinfo, now: datetime | None = None) -> list[Day]:
    """The days of the charts, oldest first; the last one is today."""
    last = today(zone, now)
    return [Day(last - timedelta(days=back)) for back in range(SHOWN.days - 1, -1, -1)]


def days_of_people(
    project: Project,
    zone: tzinfo,
    *,
    of: Membership | None = None,
    now: datetime | None = None,
) -> dict[int, list[Day]]:
    """What each person (by key of the membership) judged here day by day: two queries.

    Judgments from files have no place in it: nobody made them here.
    """
    first = empty_days(zone, now)[0].on
    since = datetime.combine(first, time.min, zone)
    made = Judgment.objects.of_people().filter(annotator__project=project)
    counting = judgments_in_force(project)
    found: dict[int, dict[date, Day]] = defaultdict(
        lambda: {day.on: day for day in empty_days(zone, now)}
    )
    for annotator, on, count, active, timed in _by_day(made, since, zone, of):
        if day := found[annotator].get(on):
            day.other += count
            day.active += active / 1_000
            day.timed += timed
    for annotator, on, count, _, _ in _by_day(counting, since, zone, of):
        if day := found[annotator].get(on):
            day.counting += count
            day.other -= count
    return {annotator: list(days.values()) for annotator, days in found.items()}


def _by_day(
    judgments: QuerySet[Judgment], since: datetime, zone: tzinfo, of: Membership | None
) -> Iterable[tuple[int, date, int, int, int]]:
    rows = judgments.filter(source=Judgment.Source.PAGE, at__gte=since)
    if of is not None:
        rows = rows.filter(annotator=of)
    grouped = (
        rows.order_by()
        .values_list("annotator_id", Quarter(F("at")))
        .annotate(count=Count("pk"), active=Sum("active_ms"), timed=Count("active_ms"))
    )
    for annotator, quarter, count, active, timed in grouped:
        yield annotator, _day(quarter, zone), count, active or 0, timed


def _day(quarter: int, zone: tzinfo) -> date:
    return datetime.fromtimestamp(quarter * _QUARTER, UTC).astimezone(zone).date()


def together(each: Iterable[Sequence[Day]], zone: tzinfo, now: datetime | None = None) -> list[Day]:
    """Several people's days as one."""
    sums = empty_days(zone, now)
    for days in each:
        for total, day in zip(sums, days, strict=True):
            total.counting += day.counting
            total.other += day.other
            total.active += day.active
            total.timed += day.timed
    return sums


def whole_days(days: Sequence[Day], pace: int) -> list[int]:
    """What was done on each of the last `pace` whole days, of what counts now.

    Today is not over. Days before the first piece of work say nothing of its pace.
    """
    counts = [day.counting for day in days[:-1]]
    begun = next((place for place, day in enumerate(days[:-1]) if day.made), len(counts))
    return counts[max(begun, len(counts) - pace) :]


def workload(project: Project) -> Workload:
    """How many judgments are left: six queries.

    A document that more people judged than were asked leaves no less to do elsewhere.
    """
    overlap = project.overlap_judge
    per_query = dict(pairs_with_pool(project).values_list("query_id").annotate(n=Count("pk")))
    sizes = in_scope(project, Candidate.objects.filter(query__in=list(per_query)))
    wanted = overlap * sum(
        size * per_query[query]
        for query, size in sizes.values_list("query_id").annotate(n=Count("pk"))
    )
    said = judgments_in_force(project)
    judged = said.count()
    ready = said.filter(narrative__pair__in=pairs_with_pool(project).values("pk"))
    each = ready.order_by().values("narrative", "candidate").annotate(n=Count("pk"))
    # Of documents that more people judged than were asked, what is beyond that.
    beyond = each.filter(n__gt=overlap).aggregate(n=Sum(F("n") - overlap))["n"] or 0
    enough = ready.count() - beyond
    put_by = list(
        final_flags(project)
        .filter(narrative__pair__in=pairs_with_pool(project).values("pk"))
        .order_by()
        .values_list("narrative", "candidate")
        .annotate(n=Count("pk"))
    )
    flagged_ones = {(narrative, candidate) for narrative, candidate, _ in put_by}
    graded = {
        (row["narrative"], row["candidate"]): row["n"]
        for row in each.filter(candidate__in={candidate for _, candidate in flagged_ones})
        if (row["narrative"], row["candidate"]) in flagged_ones
    }
    nobody_waits = sum(
        min(count, max(overlap - graded.get((narrative, candidate), 0), 0))
        for narrative, candidate, count in put_by
    )
    left = max(wanted - enough - nobody_waits, 0)
    return Workload(wanted, judged, sum(count for *_, count in put_by), left)


def final_flags(project: Project) -> QuerySet[Flag]:
    """Flags of people that stand instead of a grade, under the narratives in force."""
    flags = Flag.objects.current().filter(
        annotator__is_machine=False, narrative__in=narratives_in_force(project)
    )
    if project.judge_scope == Project.Scope.RELEVANT:
        flags = flags.filter(candidate__prior_relevance__gte=project.relevant_from)
    return flags.exclude(kind=Flag.Kind.LATER)


def efforts(
    project: Project, *, of: Membership | None = None
) -> dict[int, tuple[int, datetime | None, Effort]]:
    """Of each person by key (or of one alone): judgments that count, the last one's moment, and
    the time they took: one query.
    """
    said = judgments_in_force(project)
    rows = (
        (said if of is None else said.filter(annotator=of))
        .order_by()
        .values_list("annotator_id")
        .annotate(n=Count("pk"), last=Max("at"), active=Sum("active_ms"), timed=Count("active_ms"))
    )
    return {
        annotator: (count, last, Effort((active or 0) / 1_000, timed))
        for annotator, count, last, active, timed in rows
    }


def effort_of_all(each: Iterable[Effort]) -> Effort:
    """Several people's efforts as one."""
    found = list(each)
    return Effort(sum(one.seconds for one in found), sum(one.judgments for one in found))


def people_pace(
    project: Project, days: Mapping[int, list[Day]], zone: tzinfo, now: datetime | None = None
) -> list[PersonPace]:
    """Where everyone is who has not left, by name: three queries."""
    said = efforts(project)
    flags = dict(
        Flag.objects.current()
        .filter(narrative__in=narratives_in_force(project))
        .order_by()
        .values_list("annotator_id")
        .annotate(n=Count("pk"))
    )
    found = []
    for member in project.memberships.active().people().order_by("name"):
        judged, last_at, effort = said.get(member.pk, (0, None, Effort(0.0, 0)))
        own = days.get(member.pk) or empty_days(zone, now)
        found.append(
            PersonPace(member, judged, last_at, effort, own, flags.get(member.pk, 0)),
        )
    return found


def tasks_pace(
    project: Project,
    seats: Iterable[tuple[str, str, int, int]],
    zone: tzinfo,
    pace: int,
    now: datetime | None = None,
) -> list[TaskPace]:
    """When each task will be done, counted in seats (value, name, done, total): two queries.

    Rewriting needs no seat that ends: a pair is done once its altered narrative is written.
    """
    days = empty_days(zone, now)
    since = datetime.combine(days[0].on, time.min, zone)
    ended: dict[str, dict[date, int]] = defaultdict(lambda: dict.fromkeys((d.on for d in days), 0))
    seats_done = (
        Assignment.objects.filter(pair__project=project, pair__removed_at=None, done_at__gte=since)
        .exclude(task=Assignment.Task.REWRITE)
        .order_by()
        .values_list("task", Quarter(F("done_at")))
        .annotate(n=Count("pk"))
    )
    written = (
        Narrative.objects.filter(
            pair__project=project,
            pair__removed_at=None,
            side=Narrative.Side.ALTERED,
            version=1,
            author__isnull=False,
            created_at__gte=since,
        )
        .order_by()
        .values_list(Quarter(F("created_at")))
        .annotate(n=Count("pk"))
    )
    rewriting = Assignment.Task.REWRITE.value
    for task, quarter, count in [*seats_done, *((rewriting, *row) for row in written)]:
        on = _day(quarter, zone)
        if on in ended[task]:
            ended[task][on] += count
    found = []
    for task, name, done, total in seats:
        counted = [Day(on, count) for on, count in ended[task].items()]
        lately = whole_days(counted, pace)
        outlook = estimate(total - done, lately, days[-1].on, asked=total > 0)
        found.append(TaskPace(task, name, done, total, sum(lately), outlook))
    return found
