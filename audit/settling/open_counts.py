"""How many disagreements are open to leads, of several projects at once.

What people answered differently is counted narrative by narrative, and counted again only where
something changed since (`annotate.judgments.revisions`). What depends on who reads, or waits for an
answer that was sent back, is counted at every look: there is little of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotate.judgments import revisions
from annotate.projects.models import Grade, Membership, Project
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Known, Reader
from audit.settling.queue_filters import Kind, Wanted
from base.prepared_queries import Built, prepared
from base.raw_sql import moment

_ANSWERS = (Kind.JUDGMENT, Kind.VERDICT)
_OTHERS = (Kind.REVIEW, Kind.CHECK)
_OPEN = Wanted()


class ConsensusRule(NamedTuple):
    """When people's answers come to nothing. `grades`: those of the project, where each is counted
    (`Project.Consensus.MAJORITY`).
    """

    consensus: str
    grades: tuple[int, ...]


def count_open(leads: Sequence[Membership]) -> dict[int, int]:
    """Return how many disagreements are open to each of these leads of different projects, by the
    key of the lead: at most seven queries where nothing changed, however many leads there are.
    """
    if not leads:
        return {}
    return {pk: number for pk, (number, _newest) in open_and_newest(leads).items()}


def open_and_newest(leads: Sequence[Membership]) -> dict[int, tuple[int, datetime | None]]:
    """Return the same, each with the moment since when the newest of them is one."""
    if not leads:
        return {}
    found: Counter[int] = Counter()
    since: dict[int, list[datetime]] = defaultdict(list)
    reader = Reader(*leads)
    states, answers = open_answers(reader, [lead.project for lead in leads])
    for state in states:
        for one in answers.get(state.narrative, ()):
            found[state.project] += one.number
            since[state.project].append(one.since)
    for project, _kind, number, newest in _ask_others(reader):
        found[project] += number
        if (at := moment(newest)) is not None:
            since[project].append(at)
    return {
        lead.pk: (found[lead.project_id], max(since[lead.project_id], default=None))
        for lead in leads
    }


class OpenAnswers(NamedTuple):
    """How many documents, or conditions, of a narrative people answer equally far apart."""

    kind: str
    distance: int
    number: int
    # Since when the newest of them is one.
    since: datetime


def open_answers(
    reader: Reader, projects: Sequence[Project]
) -> tuple[list[revisions.NarrativeState], dict[int, list[OpenAnswers]]]:
    """Return the narratives in force of a lead's projects, and what is open to the lead of answers
    to documents under each of them, by key: at most five queries where nothing changed.
    """
    rules = _rules(projects)
    states = revisions.states_of_newest(reader.projects)
    alike, apart = _split(reader, states)
    counts = _OPEN_ANSWERS.of(alike, rules)
    by_rule: dict[ConsensusRule, list[revisions.NarrativeState]] = defaultdict(list)
    for state in apart:
        by_rule[rules[state.project]].append(state)
    for rule, several in by_rule.items():
        counts |= _count_to_reader(rule, several, reader)
    return states, counts


def _split(
    reader: Reader, states: Iterable[revisions.NarrativeState]
) -> tuple[list[revisions.NarrativeState], list[revisions.NarrativeState]]:
    """Return the states of narratives whose open answers are the same to every lead, and the rest:
    those that the reader still judges, and those of which an answer was sent back.
    """
    waiting, to_judge = reader.sent_back, set(reader.to_judge)
    alike: list[revisions.NarrativeState] = []
    apart: list[revisions.NarrativeState] = []
    for state in states:
        theirs = state.narrative in waiting or state.pair in to_judge
        (apart if theirs else alike).append(state)
    return alike, apart


def open_others(reader: Reader) -> dict[str, int]:
    """Return how many instructions and checked labels of a lead's project are open, by kind."""
    return {kind: number for _project, kind, number, _since in _ask_others(reader)}


def settled_counts(reader: Reader) -> dict[str, int]:
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


def _ask_others(reader: Reader) -> list[tuple[Any, ...]]:
    return _open_by_project.rows(
        bool(reader.to_review),
        project=reader.projects,
        member=reader.members,
        **({"to_review": reader.to_review} if reader.to_review else {}),
    )


def _rules(projects: Iterable[Project]) -> dict[int, ConsensusRule]:
    """The rule of each project, by its key: a query where some count each grade."""
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
    return _listed(_open_answers.rows(rule, narratives=narratives))


_OPEN_ANSWERS = revisions.CachedCounts(_count_open_answers)


def _count_to_reader(
    rule: ConsensusRule, states: Sequence[revisions.NarrativeState], reader: Reader
) -> dict[int, list[OpenAnswers]]:
    """The same as one lead sees it, by narrative."""
    return _listed(
        _open_to_reader.rows(
            rule,
            bool(reader.to_judge),
            narratives=[state.narrative for state in states],
            project=reader.projects,
            member=reader.members,
            **({"to_judge": reader.to_judge} if reader.to_judge else {}),
        )
    )


def _listed(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[OpenAnswers]]:
    found: dict[int, list[OpenAnswers]] = defaultdict(list)
    for narrative, kind, distance, number, newest in rows:
        if (since := moment(newest)) is not None:
            found[narrative].append(OpenAnswers(kind, distance, number, since))
    return found


@prepared("narratives")
def _open_answers(rule: ConsensusRule, narratives: int) -> Built:
    """How many documents and conditions are open under each narrative, where nothing was sent back:
    narrative, kind, distance, number, since when the newest is one.
    """
    return _by_narrative(_reader(0, 0, rule, Known(narratives=[narratives])))


@prepared("narratives", "project", "member", "to_judge")
def _open_to_reader(
    rule: ConsensusRule, judges: bool, narratives: int, project: int, member: int, to_judge: int
) -> Built:
    """The same as a lead sees it who may judge some of them, and where answers were sent back."""
    known = Known([narratives], True, [to_judge] if judges else [])
    return _by_narrative(_reader(project, member, rule, known))


@prepared("project", "member", "to_review")
def _open_by_project(reviews: bool, project: int, member: int, to_review: int) -> Built:
    """How many instructions and checked labels are open to leads: project, kind, number,
    since when the newest is one.
    """
    known = Known(to_review=[to_review] if reviews else [])
    counted, parameters = _rows(_reader(project, member, ConsensusRule("", ()), known), _OTHERS)
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
    """How many disagreements are settled: kind, number."""
    known = Known(to_judge=[to_judge] if judges else [], to_review=[to_review] if reviews else [])
    reader = _reader(project, member, ConsensusRule("", ()), known)
    counted, parameters = _rows(reader, list(Kind), Wanted(settled=True))
    return f"{counted} SELECT kind, COUNT(*) FROM k GROUP BY kind", parameters  # noqa: S608


def _by_narrative(reader: Reader) -> Built:
    counted, parameters = _rows(reader, _ANSWERS)
    return (
        f"""
        {counted}
        SELECT narrative, kind, distance, COUNT(*), MAX(since) FROM k
        GROUP BY narrative, kind, distance
        """,  # noqa: S608 (Django's own queries)
        parameters,
    )


def _rows(reader: Reader, kinds: Sequence[Kind], wanted: Wanted = _OPEN) -> tuple[str, list[Any]]:
    """A query that begins with `WITH k (kind, narrative, distance, since)`: a row for each
    disagreement of these kinds that is wanted.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for kind in kinds:
        of = source(kind, reader, wanted)
        rows = of.rows.order_by().values_list(of.ids[0], "distance", "since")
        sql, given = rows.query.sql_with_params()
        parts.append(f"of_{kind} (narrative, distance, since) AS ({sql})")
        parameters += given
    every = " UNION ALL ".join(
        f"SELECT '{kind}', narrative, distance, since FROM of_{kind}"  # noqa: S608 (our own names)
        for kind in kinds
    )
    return f"WITH {', '.join(parts)}, k (kind, narrative, distance, since) AS ({every})", parameters


def _reader(project: int, member: int, rule: ConsensusRule, known: Known) -> Reader:
    """A lead of whom only keys are known, and of the project the rule."""
    project_rules = Project(pk=project, consensus=rule.consensus)
    reader = Reader(Membership(pk=member, project=project_rules), known=known)
    reader.grades = list(rule.grades)
    return reader


@prepared("project")
def _grades(project: int) -> Built:
    found = Grade.objects.filter(project__in=[project])
    return found.order_by("value").values_list("project_id", "value")
