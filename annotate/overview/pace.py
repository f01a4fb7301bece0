"""What people did day by day, how long what is left will take, and where each person is.

Days are the reader's: moments are counted by the hour in the database, and put together to days
here, because a day begins with an hour of UTC in most places, with a quarter of one everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.db.models import (
    Count,
    F,
    Q,
)
from django.utils import timezone

from annotate.judgments import completion
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import Judging
from annotate.judgments.flags import standing
from annotate.judgments.in_force import final_flags
from annotate.overview.activity import Slot, activities
from annotate.overview.estimate import Estimate, Unknown, estimate
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Membership, Project

# How far back the charts go, and the pace that an end is counted by.
WEEKS = 8
SHOWN = timedelta(weeks=WEEKS)
PACES = (7, 14, 28)
ZERO = timedelta()


@dataclass(frozen=True)
class Calendar:
    """The days of the charts as a reader's zone has them; the last one is today."""

    zone: tzinfo
    today: date

    @classmethod
    def of(cls, zone: tzinfo, now: datetime | None = None) -> Calendar:
        """The calendar at this moment, or at another."""
        return cls(zone, (now or timezone.now()).astimezone(zone).date())

    @property
    def first(self) -> date:
        """The first day that is shown."""
        return self.today - SHOWN + timedelta(days=1)

    @property
    def since(self) -> datetime:
        """The moment at which the first day begins."""
        return datetime.combine(self.first, time.min, self.zone)

    @property
    def slot(self) -> int:
        """Seconds of which days here are made: an hour; a quarter where clocks stand otherwise."""
        begins = (datetime.combine(day.on, time.min, self.zone) for day in self.days())
        whole = all((at.utcoffset() or timedelta()) % timedelta(hours=1) == ZERO for at in begins)
        return 3_600 if whole else 900

    def days(self) -> list[Day]:
        """The days, oldest first, with nothing done on them yet."""
        return [Day(self.first + timedelta(days=ahead)) for ahead in range(SHOWN.days)]

    def day(self, slot: int, seconds: int) -> date:
        """The day on which a slot lies."""
        return datetime.fromtimestamp(slot * seconds, UTC).astimezone(self.zone).date()


@dataclass
class Day:
    """What was answered on one day of the reader's: answers that count now, and others.

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
        """All answers of the day."""
        return self.counting + self.other


@dataclass(frozen=True)
class Workload:
    """How many answers are asked for, there and left. All under the narratives in force."""

    wanted: int
    answered: int
    # Of those that are there, how many are flags for good, "cannot judge" or "problem".
    flagged: int
    left: int
    # Whether anybody has judged, or has taken an assignment to do so.
    begun: bool


@dataclass
class Effort:
    """Time with documents before the eyes, in seconds, over judgments whose time is known."""

    seconds: float = 0.0
    judgments: int = 0

    @property
    def each(self) -> float | None:
        """Seconds for one judgment; None where no time is known."""
        return self.seconds / self.judgments if self.judgments else None

    def add(self, seconds: float, judgments: int) -> None:
        """Count more of it."""
        self.seconds += seconds
        self.judgments += judgments

    def for_(self, count: int) -> float | None:
        """Seconds for so many judgments at this pace."""
        return None if self.each is None else self.each * count


@dataclass
class PersonPace:
    """What one person has done."""

    member: Membership
    days: list[Day]
    # Answers that count now, wherever they came from, and the time that judgments took.
    answered: int = 0
    effort: Effort = field(default_factory=Effort)
    flags: int = 0

    @property
    def last_on(self) -> date | None:
        """The last of the days on which they judged here."""
        return next((day.on for day in reversed(self.days) if day.made), None)

    def lately(self, days: int) -> int:
        """What they answered on the last so many days, of what counts now; today is one of them."""
        return sum(day.counting for day in self.days[-days:])


@dataclass(frozen=True)
class TaskPace:
    """How far one task is in assignments, and what was done of it on the last days."""

    task: str
    name: str
    done: int
    total: int
    lately: int
    outlook: Estimate | Unknown


def people_pace(
    reader: Membership, calendar: Calendar, *, of: Membership | None = None
) -> list[PersonPace]:
    """What everyone did, by name, or one person alone.

    Who has left stands there if something of theirs counts. Imported judgments have no date, and so
    no place in the days. Where the reader judges themselves they learn how many documents others
    have answered, and not how.
    """
    project = reader.project
    people = {one.pk: one for one in project.memberships.people().order_by("name")}
    if of is not None:
        people = {of.pk: of}
    flags = dict(
        standing(reader)
        .filter(annotator__in=people)
        .order_by()
        .values_list("annotator_id")
        .annotate(n=Count("pk"))
    )
    found = {
        pk: PersonPace(member, calendar.days(), flags=flags.get(pk, 0))
        for pk, member in people.items()
    }
    blind = set() if set(people) == {reader.pk} else blind_pairs(reader)
    days = {pk: {day.on: day for day in one.days} for pk, one in found.items()}
    for one in activities(project, people, calendar.zone, calendar.slot, by=reader.pk, blind=blind):
        person = found[one.person]
        if one.counts:
            person.answered += one.number
            person.effort.add(one.active / 1_000, one.timed)
        if one.on is not None and (day := days[one.person].get(one.on)):
            day.counting += one.number if one.counts else 0
            day.other += 0 if one.counts else one.number
            day.active += one.active / 1_000
            day.timed += one.timed
    return [one for one in found.values() if one.answered or one.member.left_at is None]


def together(people: Iterable[PersonPace], calendar: Calendar) -> tuple[list[Day], Effort]:
    """Several people's days as one, and their effort."""
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
    """What was done on each of the last `pace` days, of what counts now; today is the last.

    Days before the first piece of work say nothing of its pace.
    """
    begun = next((place for place, day in enumerate(days) if day.made), len(days))
    return [day.counting for day in days[max(begun, len(days) - pace) :]]


def workload(reader: Membership, found: Judging) -> Workload:
    """How many answers are left in the reader's project; `found`: how far its judging is.

    A document that more people answered than were asked leaves no less to do elsewhere. How many
    answers are flags is not told of pairs that the reader still judges.
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
    assignments: Iterable[tuple[str, str, int, int]],
    calendar: Calendar,
    pace: int,
) -> list[TaskPace]:
    """When each task will be done, counted in assignments (value, name, done, total): two queries.

    Rewriting needs no assignment that ends: a pair is done once its altered narrative is written.
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
    found = []
    for task, name, done, total in assignments:
        counted = [Day(on, count) for on, count in ended[task].items()]
        lately = last_days(counted, pace)
        outlook = estimate(total - done, lately, days[-1].on, asked=total > 0)
        found.append(TaskPace(task, name, done, total, sum(lately), outlook))
    return found
