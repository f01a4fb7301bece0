"""Counts of the disagreements open to leads, in several projects at once.

Disagreements about documents follow from the counts of each narrative (`annotate.judgments.
answer_counts`). Those that depend on the reader or on answers that were sent back are read row by
row every time: they are few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse

from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import AnswerCounts, counts_of
from annotate.judgments.consensus import State
from annotate.overview.notices import Notice
from annotate.projects.models import Membership, Project
from audit.checks.models import Check
from audit.reviews.models import Rating
from audit.settling.kinds import build_source
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.reader import Reader
from base.requests import read_once


def count_open(leads: Sequence[Membership]) -> dict[int, int]:
    """Return how many disagreements are open to each of these leads of different projects, by the
    key of the lead. At most seven queries if nothing has changed, however many leads there are.
    """
    if not leads:
        return {}
    return {pk: number for pk, (number, _newest) in count_open_with_newest(leads).items()}


def count_open_with_newest(leads: Sequence[Membership]) -> dict[int, tuple[int, datetime | None]]:
    """Return the same counts, each with the time of the newest disagreement; once in a request."""
    if not leads:
        return {}
    return read_once(
        (count_open_with_newest, *sorted(lead.pk for lead in leads)), lambda: _count_open(leads)
    )


def _count_open(leads: Sequence[Membership]) -> dict[int, tuple[int, datetime | None]]:
    found: Counter[int] = Counter()
    since: dict[int, list[datetime]] = defaultdict(list)
    reader = Reader(*leads)
    states, answers = open_answers(reader, [lead.project for lead in leads])
    for state in states:
        for one in answers.get(state.narrative, ()):
            found[state.project] += one.number
            if one.since is not None:
                since[state.project].append(one.since)
    rejected = Rating.objects.filter(rejects=True, review__auditor__project__in=reader.projects)
    checked = Check.objects.filter(item__sample__project__in=reader.projects)
    # Most projects have neither, and Django takes long to compile the queries of these kinds.
    for kind, rows in ((Kind.REVIEW, rejected), (Kind.CHECK, checked)):
        if not rows.exists():
            continue
        source = build_source(kind, reader, QueueFilter())
        for project, at in source.rows.order_by().values_list(source.project, "since"):
            found[project] += 1
            since[project].append(at)
    return {
        lead.pk: (found[lead.project_id], max(since[lead.project_id], default=None))
        for lead in leads
    }


class OpenAnswers(NamedTuple):
    """The number of disagreements of one kind and one distance under a narrative."""

    kind: Kind
    distance: int
    number: int
    # The time of the newest one.
    since: datetime | None


def open_answers(
    reader: Reader, projects: Sequence[Project]
) -> tuple[list[cached_counts.NarrativeState], dict[int, list[OpenAnswers]]]:
    """Return the current narratives of a lead's projects, and by narrative key the disagreements
    about documents that are open to the lead.
    """
    by_key = {project.pk: project for project in projects}
    states = cached_counts.states_of_newest(projects)
    # Those that the reader still judges, and those with an open rejudge request, differ by reader.
    waiting, to_judge = reader.sent_back, set(reader.to_judge)
    apart = [one for one in states if one.narrative in waiting or one.pair in to_judge]
    counts = counts_of(one for one in states if one not in apart)
    open_ones = {
        state.narrative: list(_open_under(counts[state.narrative], by_key[state.project]))
        for state in states
        if state.narrative in counts
    }
    return states, open_ones | _read_open(reader, apart)


def _open_under(counts: AnswerCounts, project: Project) -> Iterable[OpenAnswers]:
    """Yield what is open under a narrative, by distance."""
    for pattern in counts.patterns:
        if pattern.outcome(project.consensus).state is State.DISPUTED:
            distance = pattern.grades[-1] - pattern.grades[0]
            yield OpenAnswers(Kind.JUDGMENT, distance, len(pattern.candidates), pattern.since)
    for condition in counts.conditions:
        if condition.state(project.consensus) is State.DISPUTED:
            # Met, can't tell, not met: the first and the last are two apart.
            distance = 2 if {"met", "not_met"} <= set(condition.answers) else 1
            yield OpenAnswers(Kind.VERDICT, distance, condition.documents, condition.since)


def _read_open(
    reader: Reader, states: Sequence[cached_counts.NarrativeState]
) -> dict[int, list[OpenAnswers]]:
    """Return what one lead sees of these narratives, read row by row."""
    found: dict[int, list[OpenAnswers]] = defaultdict(list)
    for restricted in reader.by_consensus([state.narrative for state in states]):
        for kind in (Kind.JUDGMENT, Kind.VERDICT):
            source = build_source(kind, restricted, QueueFilter())
            rows = source.rows.order_by().values_list(source.ids[0], "distance", "since")
            for narrative, distance, since in rows:
                found[narrative].append(OpenAnswers(kind, distance, 1, since))
    return found


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return a notice of the disagreements each lead can settle, with the newest one's time."""
    leads = [member for member in members if member.leads]
    counts = count_open_with_newest(leads)
    url = {lead.pk: reverse("audit:disagreements", args=[lead.project.slug]) for lead in leads}
    text = "Disagreements to settle"
    return {
        lead.pk: [Notice(lead.project, "disputes", text, number, newest, url[lead.pk])]
        for lead in leads
        for number, newest in (counts[lead.pk],)
        if number and newest is not None
    }
