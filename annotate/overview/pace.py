"""Answers by day, the time that the work left will take, and the pace of each person.

Days are days of the reader's time zone. The database counts by the hour, and hours are added up to
days here: in most zones a day begins on a full hour of UTC, in all of them on a quarter hour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Annotated

from django.db.models import (
    Count,
    F,
    Q,
)
from django.utils import timezone

from annotate.judgments import completion
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import JudgingProgress
from annotate.judgments.flags import visible_flags
from annotate.judgments.in_force import final_flags
from annotate.overview.activity import Slot, activities
from annotate.overview.finish_date import Estimate, Unknown, estimate
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Membership, Project

# How far back the charts go, and the numbers of days that a pace can be measured over.
WEEKS = 8
SHOWN = timedelta(weeks=WEEKS)
PACES = (7, 14, 28)
ZERO = timedelta()


@dataclass(frozen=True)
class Calendar:
    """The days of the charts in a reader's time zone; the last one is today."""

    zone: tzinfo
    today: date

    @classmethod
    def of(cls, zone: tzinfo, now: datetime | None = None) -> Calendar:
        """Return the calendar of a time zone at `now`, by default the current time."""
        return cls(zone, (now or timezone.now()).astimezone(zone).date())

    @property
    def first(self) -> date:
        """The first day that is shown."""
        return self.today - SHOWN + timedelta(days=1)

    @property
    def since(self) -> datetime:
        """The time at which the first day begins."""
        return datetime.combine(self.first, time.min, self.zone)

    @property
    def slot(self) -> int:
        """Seconds of a slot: an hour, or a quarter of one if the zone is off the full hour."""
        begins = (datetime.combine(day.on, time.min, self.zone) for day in self.days())
        whole = all((at.utcoffset() or timedelta()) % timedelta(hours=1) == ZERO for at in begins)
        return 3_600 if whole else 900

    def days(self) -> list[Day]:
        """Return the days, oldest first, with nothing counted on them yet."""
        return [Day(self.first + timedelta(days=ahead)) for ahead in range(SHOWN.days)]

    def day(self, slot: int, seconds: int) -> date:
        """Return the day on which a slot lies."""
        return datetime.fromtimestamp(slot * seconds, UTC).astimezone(self.zone).date()


@dataclass
class Day:
    """Answers of one day in the reader's time zone: those that count now, and others.

    The others were judged again or withdrawn, or their narrative was rewritten since.
    """

    on: date
    counting: Annotated[int, "Answers that count now."] = 0
    other: Annotated[int, "Judged again since, withdrawn, or stale."] = 0
    # Active time in seconds, and the number of judgments whose time is known.
    active: float = 0.0
    timed: int = 0

    @property
    def made(self) -> int:
        """All answers of the day."""
        return self.counting + self.other


@dataclass(frozen=True)
class Workload:
    """How many answers are wanted, given and left, all under the current narratives."""

    wanted: int
    answered: int
    # How many of the given answers are final flags, "cannot judge" or "problem".
    flagged: int
    left: int
    # Whether anybody has judged, or has taken an assignment to do so.
    begun: bool


@dataclass
class Effort:
    """Active time, spent looking at documents, over the judgments whose time is known."""

    seconds: float = 0.0
    judgments: Annotated[int, "Those whose time is known."] = 0

    @property
    def each(self) -> float | None:
        """Seconds for one judgment; None where no time is known."""
        return self.seconds / self.judgments if self.judgments else None

    def add(self, seconds: float, judgments: int) -> None:
        """Add the time of more judgments."""
        self.seconds += seconds
        self.judgments += judgments

    def for_(self, count: int) -> float | None:
        """Return the seconds that `count` judgments take at this pace."""
        return None if self.each is None else self.each * count


@dataclass
class PersonPace:
    """Answers, time and flags of one person."""

    member: Membership
    days: list[Day]
    # Answers that count now, wherever they came from, and the time that judgments took.
    answered: int = 0
    effort: Effort = field(default_factory=Effort)
    # Seconds with documents, also for judgments that were replaced or are under earlier narratives.
    active: float = 0
    flags: int = 0

    @property
    def last_on(self) -> date | None:
        """The last of the days on which they answered."""
        return next((day.on for day in reversed(self.days) if day.made), None)

    def lately(self, days: int) -> int:
        """Return how many of their counted answers are of the last days, today included."""
        return sum(day.counting for day in self.days[-days:])


@dataclass(frozen=True)
class TaskPace:
    """Progress of one task in assignments, with the numbers done on each day and lately."""

    task: Assignment.Task
    name: str
    done: int
    total: int
    days: list[Day]
    lately: int
    outlook: Estimate | Unknown


def people_pace(
    reader: Membership, calendar: Calendar, *, of: Membership | None = None
) -> list[PersonPace]:
    """Return the pace of everybody, by name, or of one person alone.

    People who have left are included if answers of theirs count. Imported judgments whose file does
    not say when they were made are on no day. A reader who judges learns how many documents others
    have answered, not how they answered.
    """
    project = reader.project
    people = {member.pk: member for member in project.memberships.people().order_by("name")}
    if of is not None:
        people = {of.pk: of}
    flags = dict(
        visible_flags(reader)
        .filter(annotator__in=people)
        .order_by()
        .values_list("annotator_id")
        .annotate(n=Count("pk"))
    )
    paces = {
        pk: PersonPace(member, calendar.days(), flags=flags.get(pk, 0))
        for pk, member in people.items()
    }
    blind = set() if set(people) == {reader.pk} else blind_pairs(reader)
    days = {pk: {day.on: day for day in pace.days} for pk, pace in paces.items()}
    for activity in activities(
        project, people, calendar.zone, calendar.slot, by=reader.pk, blind=blind
    ):
        person = paces[activity.person]
        person.active += activity.active / 1_000
        if activity.counts:
            person.answered += activity.number
            person.effort.add(activity.active / 1_000, activity.timed)
        if activity.on is not None and (day := days[activity.person].get(activity.on)):
            day.counting += activity.number if activity.counts else 0
            day.other += 0 if activity.counts else activity.number
            day.active += activity.active / 1_000
            day.timed += activity.timed
    return [pace for pace in paces.values() if pace.answered or pace.member.left_at is None]


def together(people: Iterable[PersonPace], calendar: Calendar) -> tuple[list[Day], Effort]:
    """Return several people's days added up, and their effort in all."""
    sums, effort = calendar.days(), Effort()
    for person in people:
        effort.add(person.effort.seconds, person.effort.judgments)
        for total, day in zip(sums, person.days, strict=True):
            total.counting += day.counting
            total.other += day.other
            total.active += day.active
            total.timed += day.timed
    return sums, effort


def last_days(days: Sequence[Day], pace: int) -> list[int]:
    """Return the counted answers of each of the last `pace` days; today is the last.

    Days before the first answer are left out: they say nothing about the pace.
    """
    begun = next((place for place, day in enumerate(days) if day.made), len(days))
    return [day.counting for day in days[max(begun, len(days) - pace) :]]


def workload(reader: Membership, found: JudgingProgress) -> Workload:
    """Return the workload of the reader's project; `found` is the progress of its judging.

    Extra answers to one document do not reduce what is left on others. Others' flags are not
    counted on pairs that the reader still judges.
    """
    project = reader.project
    flagged = final_flags(project).exclude(
        ~Q(annotator=reader), narrative__pair__in=blind_pairs(reader)
    )
    return Workload(
        found.wanted,
        found.answered,
        flagged.count(),
        found.left,
        completion.has_judging_begun(project, found),
    )


def tasks_pace(
    project: Project,
    assignments: Iterable[tuple[Assignment.Task, str, int, int]],
    calendar: Calendar,
    pace: int,
) -> list[TaskPace]:
    """Return the pace of each task, given as (value, name, done, total): two queries.

    Tasks are counted in finished assignments, but rewriting in pairs whose altered narrative is
    written.
    """
    days, seconds, since = calendar.days(), calendar.slot, calendar.since
    ended: dict[str, dict[date, int]] = defaultdict(lambda: dict.fromkeys((d.on for d in days), 0))
    assignments_done = (
        Assignment.objects.filter(pair__project=project, pair__removed_at=None, done_at__gte=since)
        .exclude(task=Assignment.Task.REWRITE)
        .order_by()
        .values_list("task", Slot(F("done_at"), seconds))
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
        .values_list(Slot(F("created_at"), seconds))
        .annotate(n=Count("pk"))
    )
    rewriting = Assignment.Task.REWRITE.value
    for task, slot, count in [*assignments_done, *((rewriting, *row) for row in written)]:
        on = calendar.day(slot, seconds)
        if on in ended[task]:
            ended[task][on] += count
    paces = []
    for task, name, done, total in assignments:
        counted = [Day(on, count) for on, count in ended[task].items()]
        lately = last_days(counted, pace)
        outlook = estimate(total - done, lately, days[-1].on, asked=total > 0)
        paces.append(TaskPace(task, name, done, total, counted, sum(lately), outlook))
    return paces
