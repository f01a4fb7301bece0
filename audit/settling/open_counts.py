"""Counts of the disagreements open to leads, in several projects at once.

Disagreements about documents are counted per narrative, and counted again only if something has
changed since (`annotate.judgments.revisions`). Counts that depend on the reader or on answers that
were sent back are computed every time: they are few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotate.judgments import revisions
from annotate.projects.models import Grade, Membership, Project
from audit.settling.disagreement_queries import build_source
from audit.settling.kinds.frame import Reader, ReaderFacts
from audit.settling.queue_filters import Kind, QueueFilter
from base.current_request import read_once
from base.prepared_queries import Built, prepared
from base.raw_sql import aware_datetime

_DOCUMENT_KINDS = (Kind.JUDGMENT, Kind.VERDICT)
_OTHER_KINDS = (Kind.REVIEW, Kind.CHECK)
_OPEN_FILTER = QueueFilter()


class ConsensusRule(NamedTuple):
    """When people's answers lead to no consensus. `grades`: those of the project if each of them is
    counted (`Project.Consensus.MAJORITY`), else empty.
    """

    consensus: str
    grades: tuple[int, ...]


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
            since[state.project].append(one.since)
    for project, _kind, number, newest in _count_others(reader):
        found[project] += number
        if (at := aware_datetime(newest)) is not None:
            since[project].append(at)
    return {
        lead.pk: (found[lead.project_id], max(since[lead.project_id], default=None))
        for lead in leads
    }


class OpenAnswers(NamedTuple):
    """The number of disagreements of one kind and one distance under a narrative."""

    kind: str
    distance: int
    number: int
    # The time of the newest one.
    since: datetime


def open_answers(
    reader: Reader, projects: Sequence[Project]
) -> tuple[list[revisions.NarrativeState], dict[int, list[OpenAnswers]]]:
    """Return the current narratives of a lead's projects, and by narrative key the disagreements
    about documents that are open to the lead. At most five queries if nothing has changed.
    """
    rules = _consensus_rules(projects)
    states = revisions.states_of_newest(reader.projects)
    alike, apart = _split_states(reader, states)
    counts = _SHARED_COUNTS.of(alike, rules)
    by_rule: dict[ConsensusRule, list[revisions.NarrativeState]] = defaultdict(list)
    for state in apart:
        by_rule[rules[state.project]].append(state)
    for rule, several in by_rule.items():
        counts |= _count_for_reader(rule, several, reader)
    return states, counts


def _split_states(
    reader: Reader, states: Iterable[revisions.NarrativeState]
) -> tuple[list[revisions.NarrativeState], list[revisions.NarrativeState]]:
    """Split the states into narratives whose counts are the same for every lead, and the rest:
    those that the reader still judges, and those with an open rejudge request.
    """
    waiting, to_judge = reader.sent_back, set(reader.to_judge)
    alike: list[revisions.NarrativeState] = []
    apart: list[revisions.NarrativeState] = []
    for state in states:
        theirs = state.narrative in waiting or state.pair in to_judge
        (apart if theirs else alike).append(state)
    return alike, apart


def count_open_others(reader: Reader) -> dict[str, int]:
    """Return how many instructions and checked labels of a lead's project are open, by kind."""
    return {kind: number for _project, kind, number, _since in _count_others(reader)}


def count_settled(reader: Reader) -> dict[str, int]:
    """Return how many disagreements of a lead's project are settled, by kind: one query."""
    lists = {"to_judge": reader.to_judge, "to_review": reader.to_review}
    return dict(
        _settled_by_kind.rows(
            bool(reader.to_judge),
            bool(reader.to_review),
            project=reader.projects,
            member=reader.members,
            **{name: pairs for name, pairs in lists.items() if pairs},
        )
    )


def _count_others(reader: Reader) -> list[tuple[Any, ...]]:
    return _open_by_project.rows(
        bool(reader.to_review),
        project=reader.projects,
        member=reader.members,
        **({"to_review": reader.to_review} if reader.to_review else {}),
    )


def _consensus_rules(projects: Iterable[Project]) -> dict[int, ConsensusRule]:
    """Return the rule of each project, by key; one query if any rule counts each grade."""
    majority = Project.Consensus.MAJORITY
    grades: dict[int, list[int]] = defaultdict(list)
    counting = [project.pk for project in projects if project.consensus == majority]
    for project, grade in _grades.rows(project=counting):
        grades[project].append(grade)
    return {
        project.pk: ConsensusRule(project.consensus, tuple(grades[project.pk]))
        for project in projects
    }


def _count_open_answers(rule: ConsensusRule, narratives: list[int]) -> dict[int, list[OpenAnswers]]:
    return _group_by_narrative(_open_answers.rows(rule, narratives=narratives))


_SHARED_COUNTS = revisions.CachedCounts(_count_open_answers)


def _count_for_reader(
    rule: ConsensusRule, states: Sequence[revisions.NarrativeState], reader: Reader
) -> dict[int, list[OpenAnswers]]:
    """Count the disagreements that one lead sees, by narrative."""
    return _group_by_narrative(
        _open_for_reader.rows(
            rule,
            bool(reader.to_judge),
            narratives=[state.narrative for state in states],
            project=reader.projects,
            member=reader.members,
            **({"to_judge": reader.to_judge} if reader.to_judge else {}),
        )
    )


def _group_by_narrative(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[OpenAnswers]]:
    found: dict[int, list[OpenAnswers]] = defaultdict(list)
    for narrative, kind, distance, number, newest in rows:
        if (since := aware_datetime(newest)) is not None:
            found[narrative].append(OpenAnswers(kind, distance, number, since))
    return found


@prepared("narratives")
def _open_answers(rule: ConsensusRule, narratives: int) -> Built:
    """Count the open documents and conditions under narratives without rejudge requests.

    Columns: narrative, kind, distance, number, time of the newest.
    """
    return _count_by_narrative(_keyed_reader(0, 0, rule, ReaderFacts(narratives=[narratives])))


@prepared("narratives", "project", "member", "to_judge")
def _open_for_reader(
    rule: ConsensusRule, judges: bool, narratives: int, project: int, member: int, to_judge: int
) -> Built:
    """Count the same for one lead, without documents to judge first and those sent back."""
    facts = ReaderFacts([narratives], True, [to_judge] if judges else [])
    return _count_by_narrative(_keyed_reader(project, member, rule, facts))


@prepared("project", "member", "to_review")
def _open_by_project(reviews: bool, project: int, member: int, to_review: int) -> Built:
    """Count the instructions and checked labels open to leads.

    Columns: project, kind, number, time of the newest.
    """
    facts = ReaderFacts(to_review=[to_review] if reviews else [])
    counted, parameters = _disagreements_cte(
        _keyed_reader(project, member, ConsensusRule("", ()), facts), _OTHER_KINDS
    )
    return (
        f"""
        {counted}
        SELECT p.project_id, k.kind, COUNT(*), MAX(k.since) FROM k
        JOIN annotate_narrative v ON v.id = k.narrative
        JOIN annotate_instructionpair p ON p.id = v.pair_id GROUP BY p.project_id, k.kind
        """,  # noqa: S608 (Django's own queries)
        parameters,
    )


@prepared("project", "member", "to_judge", "to_review")
def _settled_by_kind(
    judges: bool, reviews: bool, project: int, member: int, to_judge: int, to_review: int
) -> Built:
    """Count the settled disagreements. Columns: kind, number."""
    facts = ReaderFacts(
        to_judge=[to_judge] if judges else [], to_review=[to_review] if reviews else []
    )
    reader = _keyed_reader(project, member, ConsensusRule("", ()), facts)
    counted, parameters = _disagreements_cte(reader, list(Kind), QueueFilter(settled=True))
    return f"{counted} SELECT kind, COUNT(*) FROM k GROUP BY kind", parameters  # noqa: S608


def _count_by_narrative(reader: Reader) -> Built:
    counted, parameters = _disagreements_cte(reader, _DOCUMENT_KINDS)
    return (
        f"""
        {counted}
        SELECT narrative, kind, distance, COUNT(*), MAX(since) FROM k
        GROUP BY narrative, kind, distance
        """,  # noqa: S608 (Django's own queries)
        parameters,
    )


def _disagreements_cte(
    reader: Reader, kinds: Sequence[Kind], filters: QueueFilter = _OPEN_FILTER
) -> tuple[str, list[Any]]:
    """Return the start of a query, `WITH k (kind, narrative, distance, since)`, where k has a row
    for each wanted disagreement of these kinds, and its parameters.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for kind in kinds:
        of = build_source(kind, reader, filters)
        rows = of.rows.order_by().values_list(of.ids[0], "distance", "since")
        sql, given = rows.query.sql_with_params()
        parts.append(f"of_{kind} (narrative, distance, since) AS ({sql})")
        parameters += given
    every = " UNION ALL ".join(
        f"SELECT '{kind}', narrative, distance, since FROM of_{kind}"  # noqa: S608 (our own names)
        for kind in kinds
    )
    return f"WITH {', '.join(parts)}, k (kind, narrative, distance, since) AS ({every})", parameters


def _keyed_reader(project: int, member: int, rule: ConsensusRule, facts: ReaderFacts) -> Reader:
    """Return a Reader that knows only the keys of the lead and the project, and the rule."""
    project_rules = Project(pk=project, consensus=rule.consensus)
    reader = Reader(Membership(pk=member, project=project_rules), facts=facts)
    reader.grades = list(rule.grades)
    return reader


@prepared("project")
def _grades(project: int) -> Built:
    found = Grade.objects.filter(project__in=[project])
    return found.order_by("value").values_list("project_id", "value")
