"""Answers by day, the time that the work left will take, and the pace of each person.

Days are days of the reader's time zone. What is counted under a narrative is cached until something
changes there, so a project's pages cost the same however many judgments it has
(`annotate.judgments.cached_counts`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Annotated, Any, Final, NamedTuple

from django.db.models import Case, Count, F, Q, QuerySet, When
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import cached_counts, completion
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import JudgingProgress
from annotate.judgments.in_force import final_flags, in_pools
from annotate.judgments.models import IS_CURRENT, Statement
from annotate.overview.finish_date import Estimate, Unknown, estimate
from annotate.overview.flags import visible_flags
from annotate.overview.progress import TaskProgress, audits_by_member, task_progress
from annotate.pairs.models import Assignment, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Membership, Project
from base import reader_preferences


class Activity(NamedTuple):
    """Answers of one person under one narrative on one day."""

    person: int
    # None: they came from a file that does not say when they were made.
    on: date | None
    # Whether they count now.
    counts: bool
    number: int
    # Active time of that day in milliseconds, and the number of answers whose time is known.
    active: int
    timed: int
    # If they count: the time of the judgments whose time is known (`with_time`), and their number.
    effort: int
    judgments: int


class _Rules(NamedTuple):
    """What a count depends on: which documents are judged, and in which time zone days are."""

    shown: Q
    zone: tzinfo


def activities(
    project: Project,
    people: Collection[int],
    zone: tzinfo,
    *,
    by: int,
    blind: Collection[int],
) -> Iterator[Activity]:
    """Yield what these people (by key) answered in a project on each day of a time zone.

    Two queries, and one more where something has changed since the last count. For pairs in
    `blind`, only the active time of `by` is given.
    """
    in_force = {state.narrative for state in cached_counts.states_in_force([project])}
    states = cached_counts.states_of_every([project])
    rules = _Rules(shown_to_judges(project, candidate="candidate__"), zone)
    counts = _ACTIVITIES.of(states, rules)
    for state in states:
        is_blind = state.pair in blind
        for activity in counts.get(state.narrative, ()):
            if activity.person not in people:
                continue
            if state.narrative not in in_force and activity.counts:
                activity = activity._replace(counts=False)
            if is_blind and activity.person != by:
                activity = activity._replace(active=0, timed=0, effort=0, judgments=0)
            yield activity


def _count(rules: _Rules, narratives: list[int]) -> dict[int, list[Activity]]:
    counts: dict[int, list[Activity]] = defaultdict(list)
    for narrative, person, on, is_counted, number, active, timed, effort, judgments in _answers(
        rules, narratives
    ):
        counts[narrative].append(
            Activity(person, on, is_counted, number, active or 0, timed, effort or 0, judgments)
        )
    return counts


_ACTIVITIES = cached_counts.CachedCounts(_count)


def _answers(rules: _Rules, narratives: list[int]) -> QuerySet[Statement, Any]:
    """Select answers: narrative, person, day, counts or not, and the other fields of `Activity`.

    A judgment from a file counts on the day on which it was made, if the file says when. An answer
    counts while its narrative is current, if the document is judged, was not taken out, and nothing
    replaced the answer.
    """
    counts = in_pools() & rules.shown & IS_CURRENT
    return (
        Statement.objects.final()
        .filter(narrative__in=narratives)
        .with_time()
        .order_by()
        .values_list(
            "narrative_id",
            "annotator_id",
            Case(
                When(
                    Q(source=Statement.Source.PAGE) | Q(relevance=None),
                    then=TruncDate("at", tzinfo=rules.zone),
                ),
                When(made_at__isnull=False, then=TruncDate("made_at", tzinfo=rules.zone)),
            ),
            Case(When(counts, then=True), default=False),
        )
        .annotate(n=Count("pk"), **Statement.ACTIVE, **Statement.EFFORT)
    )


# How far back the charts go, and the numbers of days that a pace can be measured over.
WEEKS = 8
SHOWN = timedelta(weeks=WEEKS)
PACES = (7, 14, 28)


@dataclass(frozen=True)
class Calendar:
    """The days of the charts in a reader's time zone; the last one is today."""

    zone: tzinfo
    today: date

    @classmethod
    def of(cls, zone: tzinfo, now: datetime | None = None) -> Calendar:
        """Return the calendar of a time zone at `now`, by default the current time."""
        return cls(zone, (now or timezone.now()).astimezone(zone).date())

    @classmethod
    def of_reader(cls) -> Calendar:
        """Return the calendar of the time zone that the reader chose, else of UTC."""
        return cls.of(reader_preferences.zone_of_reader() or UTC)

    @property
    def first(self) -> date:
        """The first day that is shown."""
        return self.today - SHOWN + timedelta(days=1)

    @property
    def since(self) -> datetime:
        """The time at which the first day begins."""
        return datetime.combine(self.first, time.min, self.zone)

    def days(self) -> list[Day]:
        """Return the days, oldest first, with nothing counted on them yet."""
        return [Day(self.first + timedelta(days=ahead)) for ahead in range(SHOWN.days)]


@dataclass
class Day:
    """Answers of one day in the reader's time zone: those that count now, and others.

    The others were judged again or withdrawn, or their narrative was rewritten since.
    """

    api_fields = ("on", "counting", "other")

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


@dataclass
class Effort:
    """Active time, spent looking at documents, over the judgments whose time is known.

    The time of a judgment is that of all its author's answers to the document (`with_time`).
    """

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
    """What one person has done."""

    member: Membership
    days: list[Day]
    # Answers that count now, wherever they came from, and the time that judgments took.
    answered: int = 0
    lately: Annotated[int, "Counted answers of the last days, today included."] = 0
    effort: Effort = field(default_factory=Effort)
    # Seconds with documents, also for judgments that were replaced or are under earlier narratives.
    active: float = 0
    flags: int = 0
    reviewed: Annotated[int, "Instructions that they reviewed."] = 0
    checked: Annotated[int, "Labels that they checked."] = 0
    # The last day on which they reviewed or checked.
    audited_on: date | None = None

    @property
    def answered_on(self) -> date | None:
        """The last of the days on which they answered."""
        return next((day.on for day in reversed(self.days) if day.made), None)

    @property
    def last_on(self) -> date | None:
        """The last day on which they judged, flagged or audited."""
        return max(filter(None, (self.answered_on, self.audited_on)), default=None)


@dataclass(frozen=True)
class TaskPace(TaskProgress):
    """Progress of one task in assignments, with the numbers done on each day and lately."""

    days: list[Day]
    lately: int
    outlook: Estimate | Unknown


@dataclass(frozen=True)
class ProjectPace:
    """What was judged in a project day by day, what is left, and when it will be done."""

    calendar: Calendar
    judging: JudgingProgress
    # Whether anybody has judged, or has taken an assignment to do so.
    begun: bool
    flagged: int
    days: list[Day]
    # Counted answers of each of the last days, over which the pace is measured.
    lately: list[int]
    effort: Effort
    people: list[PersonPace]
    tasks: list[TaskPace]
    outlook: Estimate | Unknown


def project_pace(reader: Membership, judging: JudgingProgress, pace: int) -> ProjectPace:
    """Return the pace of the reader's project over the last `pace` days."""
    calendar = Calendar.of_reader()
    people = people_pace(reader, calendar, pace=pace)
    days, effort = together(people, calendar)
    lately = last_days(days, pace)
    return ProjectPace(
        calendar=calendar,
        judging=judging,
        begun=completion.has_judging_begun(reader.project, judging),
        flagged=count_final_flags(reader),
        days=days,
        lately=lately,
        effort=effort,
        people=people,
        tasks=tasks_pace(reader.project, task_progress(reader, judging), calendar, pace),
        outlook=estimate(judging.left, lately, days[-1].on, asked=judging.wanted > 0),
    )


def person_pace(
    reader: Membership, person: Membership, calendar: Calendar, pace: int
) -> PersonPace:
    """Return the pace of one person, also of one who has left and whose answers do not count."""
    [done] = people_pace(reader, calendar, pace=pace, of=person) or [
        PersonPace(person, calendar.days())
    ]
    return done


def people_pace(
    reader: Membership,
    calendar: Calendar,
    *,
    pace: int = PACES[0],
    of: Membership | None = None,
) -> list[PersonPace]:
    """Return the pace of everybody over the last `pace` days, by name, or of one person alone.

    People who have left are included if answers of theirs count. Imported judgments whose file does
    not say when they were made are on no day. A reader who judges learns how many documents others
    have answered, not how they answered.
    """
    project = reader.project
    everybody = project.memberships.people().order_by("name") if of is None else [of]
    people = {member.pk: member for member in everybody}
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
    for activity in activities(project, people, calendar.zone, by=reader.pk, blind=blind):
        person = paces[activity.person]
        person.active += activity.active / 1_000
        if activity.counts:
            person.answered += activity.number
            person.effort.add(activity.effort / 1_000, activity.judgments)
        if activity.on is not None and (day := days[activity.person].get(activity.on)):
            day.counting += activity.number if activity.counts else 0
            day.other += 0 if activity.counts else activity.number
            day.active += activity.active / 1_000
            day.timed += activity.timed
    audits = audits_by_member(project)
    for pk, person in paces.items():
        person.lately = sum(day.counting for day in person.days[-pace:])
        if audited := audits.get(pk):
            person.reviewed, person.checked = audited.reviews, audited.checks
            person.audited_on = audited.last_at.astimezone(calendar.zone).date()
    return [person for person in paces.values() if person.answered or person.member.left_at is None]


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


def count_final_flags(reader: Membership) -> int:
    """Count the answers of the reader's project that are final flags, "cannot judge" or "problem".

    Others' flags are not counted on pairs that the reader still judges.
    """
    hidden = ~Q(annotator=reader) & Q(narrative__pair__in=blind_pairs(reader))
    return final_flags(reader.project).exclude(hidden).count()


def tasks_pace(
    project: Project, tasks: Iterable[TaskProgress], calendar: Calendar, pace: int
) -> list[TaskPace]:
    """Return the pace of each of these tasks: two queries.

    Tasks are counted in finished assignments, but rewriting in pairs whose altered narrative is
    written.
    """
    days, zone, since = calendar.days(), calendar.zone, calendar.since
    ended: dict[str, dict[date, int]] = defaultdict(lambda: dict.fromkeys((d.on for d in days), 0))
    assignments_done = (
        Assignment.objects.filter(pair__project=project, pair__removed_at=None, done_at__gte=since)
        .exclude(task=Assignment.Task.REWRITE)
        .order_by()
        .values_list("task", TruncDate("done_at", tzinfo=zone))
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
        .values_list(TruncDate("created_at", tzinfo=zone))
        .annotate(n=Count("pk"))
    )
    rewriting = Assignment.Task.REWRITE.value
    for task, on, count in [*assignments_done, *((rewriting, *row) for row in written)]:
        if on in ended[task]:
            ended[task][on] += count
    paces = []
    for task in tasks:
        counted = [Day(on, count) for on, count in ended[task.task].items()]
        lately = last_days(counted, pace)
        outlook = estimate(task.total - task.done, lately, days[-1].on, asked=task.total > 0)
        paces.append(TaskPace(**vars(task), days=counted, lately=sum(lately), outlook=outlook))
    return paces


# Seconds for one judgment if no time is known.
ASSUMED: Final = 60.0


@dataclass(frozen=True)
class TimeEstimate:
    """How much time the judgments left will take, and what it was computed from."""

    api_fields = ("judgments", "each", "measured", "planned", "seconds")

    judgments: Annotated[int, "Judgments left; if `planned`, wanted later."]
    each: Annotated[float, "Seconds for one judgment."]
    measured: Annotated[int, "The number of judgments it is the mean of; 0: it is assumed."]
    planned: Annotated[
        bool, "Whether the narratives are still to be written: then the whole pool is counted."
    ]

    @property
    def seconds(self) -> float:
        """Seconds for all of them together."""
        return self.judgments * self.each


def time_estimate(reader: Membership, judging: JudgingProgress) -> TimeEstimate | None:
    """Estimate the time for the judgments left in the reader's project; None if none are left.

    `judging` is the progress of its judging. Times on pairs that the reader still judges are left
    out.
    """
    project = reader.project
    planned = not judging.wanted
    judgments = _wanted_later(project) if planned else judging.left
    if not judgments:
        return None
    seconds, measured = _measured(reader)
    each = seconds / measured if measured else ASSUMED
    return TimeEstimate(judgments, each, measured, planned)


def _wanted_later(project: Project) -> int:
    """Count the judgments wanted of the whole pool once every narrative is written."""
    if not project.overlap_judge:
        return 0
    documents = Candidate.objects.filter(
        shown_to_judges(project),
        in_pool_of(F("query__pairs")),
        query__project=project,
        query__removed_at__isnull=True,
        query__pairs__isnull=False,
        query__pairs__removed_at__isnull=True,
    )
    # A document counts once for each instruction of its query.
    return documents.values_list("pk", "query__pairs").count() * project.overlap_judge


def _measured(reader: Membership) -> tuple[float, int]:
    """Return the seconds of the judgments whose time is known, and their number."""
    project, blind = reader.project, blind_pairs(reader)
    states = [
        state for state in cached_counts.states_in_force([project]) if state.pair not in blind
    ]
    counts = counts_of(states).values()
    return sum(count.milliseconds for count in counts) / 1_000, sum(count.timed for count in counts)
