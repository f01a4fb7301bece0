"""Answers of people by day, counted per narrative.

A count is cached until something changes under its narrative (`annotate.judgments.revisions`), so a
project's pages cost the same however many judgments it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, Func, IntegerField, Q, QuerySet, Value, When

from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments import revisions
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project


class Activity(NamedTuple):
    """Answers of one person under one narrative on one day."""

    person: int
    # None: they came from a file that does not say when they were made.
    on: date | None
    # Whether they count now.
    counts: bool
    number: int
    # Active time in milliseconds, and the number of answers whose time is known.
    active: int
    timed: int


class _Rules(NamedTuple):
    """What a count depends on: which documents are judged, and how days are cut.

    Days of `zone` are made of slots of `seconds` each.
    """

    shown: Q
    zone: tzinfo
    seconds: int


class Slot(Func):
    """The number of the slot in which a time lies, counted from 1970: an hour or a quarter hour."""

    output_field = IntegerField()

    def __init__(self, moment: Any, seconds: int) -> None:
        super().__init__(moment, seconds=seconds)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) / %(seconds)s"
        return super().as_sqlite(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "FLOOR(EXTRACT(EPOCH FROM %(expressions)s) / %(seconds)s)::bigint"
        return self.as_sql(compiler, connection, template=template, **extra)


def activities(
    project: Project,
    people: Collection[int],
    zone: tzinfo,
    seconds: int,
    *,
    by: int,
    blind: Collection[int],
) -> Iterator[Activity]:
    """Yield what these people (by key) answered in a project on each day of a time zone.

    Days are made of slots of `seconds` each. Two queries, and two more where something has changed
    since the last count. For pairs in `blind`, only the active time of `by` is given.
    """
    in_force = set(judged_narratives(project).values_list("pk", flat=True))
    states = revisions.states_of_every([project])
    rules = _Rules(shown_to_judges(project, candidate="candidate__"), zone, seconds)
    counts = _ACTIVITIES.of(states, rules)
    for state in states:
        is_blind = state.pair in blind
        for activity in counts.get(state.narrative, ()):
            if activity.person not in people:
                continue
            if state.narrative not in in_force and activity.counts:
                activity = activity._replace(counts=False)
            if is_blind and activity.person != by:
                activity = activity._replace(active=0, timed=0)
            yield activity


def _count(rules: _Rules, narratives: list[int]) -> dict[int, list[Activity]]:
    @cache
    def day(slot: int) -> date:
        return datetime.fromtimestamp(slot * rules.seconds, UTC).astimezone(rules.zone).date()

    sums: dict[int, dict[tuple[int, date | None, bool], list[int]]] = defaultdict(dict)
    for query in (_judged, _flagged):
        for narrative, person, slot, counts, *numbers in query(rules, narratives):
            key = (person, day(slot) if slot else None, bool(counts))
            before = sums[narrative].get(key, (0, 0, 0))
            sums[narrative][key] = [
                number + (more or 0) for number, more in zip(before, numbers, strict=True)
            ]
    return {
        narrative: [Activity(*key, *numbers) for key, numbers in several.items()]
        for narrative, several in sums.items()
    }


_ACTIVITIES = revisions.CachedCounts(_count)


def _judged(rules: _Rules, narratives: list[int]) -> QuerySet[Judgment, Any]:
    """Select judgments: narrative, person, slot, counts or not, number, milliseconds, timed.

    A judgment from a file counts on the day on which it was made, if the file says when.
    """
    on_page = Q(source=Judgment.Source.PAGE)
    return (
        Judgment.objects.filter(narrative__in=narratives)
        .order_by()
        .values_list(
            "narrative_id",
            "annotator_id",
            Case(
                When(on_page, then=Slot(F("at"), rules.seconds)),
                When(made_at__isnull=False, then=Slot(F("made_at"), rules.seconds)),
                default=Value(0),
            ),
            _counts("ended_at", rules),
        )
        .annotate(n=Count("pk"), **Judgment.EFFORT)
    )


def _flagged(rules: _Rules, narratives: list[int]) -> QuerySet[Flag, Any]:
    """Select final flags, which are answers as judgments are, with the same columns."""
    return (
        Flag.objects.exclude(flag=Flag.Kind.LATER)
        .filter(narrative__in=narratives)
        .order_by()
        .values_list(
            "narrative_id",
            "annotator_id",
            Slot(F("at"), rules.seconds),
            _counts("ended_at", rules),
        )
        .annotate(n=Count("pk"), active=Value(0), timed=Value(0))
    )


def _counts(ended: str, rules: _Rules) -> Case:
    """Return 1 for an answer that counts while its narrative is current, else 0."""
    counts = rules.shown & Q(**{f"{ended}__isnull": True}, text_replaced_at__isnull=True)
    return Case(When(counts, then=Value(1)), default=Value(0), output_field=IntegerField())
