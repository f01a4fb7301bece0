"""How many disagreements are open to leads, of several projects at once.

What people answered differently is counted narrative by narrative, and counted again only where
something changed since (`annotate.judgments.revisions`). What depends on who reads, or waits for an
answer that was sent back, is counted at every look: there is little of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from annotate.judgments import revisions
from annotate.judgments.models import RejudgeRequest
from annotate.projects.models import Grade, Membership, Project
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Known, Reader
from audit.settling.queue_filters import Kind, Wanted
from base.prepared_queries import Built, prepared

_ANSWERS = (Kind.JUDGMENT, Kind.VERDICT)
_OTHERS = (Kind.REVIEW, Kind.CHECK)


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
    found: Counter[int] = Counter()
    projects = [lead.project_id for lead in leads]
    rules = _rules([lead.project for lead in leads])
    waiting = {narrative for (narrative,) in _sent_back.rows(project=projects)}
    reader = Reader(*leads)
    to_judge = set(reader.to_judge)
    alike: list[revisions.State] = []
    apart: dict[ConsensusRule, list[revisions.State]] = defaultdict(list)
    for state in revisions.states_of_newest(projects):
        if state.narrative in waiting or state.pair in to_judge:
            apart[rules[state.project]].append(state)
        else:
            alike.append(state)
    counts = _OPEN_ANSWERS.of(alike, rules)
    for rule, several in apart.items():
        counts |= _count_to_reader(rule, several, reader)
    for state in (*alike, *(state for several in apart.values() for state in several)):
        found[state.project] += counts.get(state.narrative, 0)
    for project, number in _open_by_project.rows(
        bool(reader.to_review),
        project=projects,
        member=reader.members,
        **({"to_review": reader.to_review} if reader.to_review else {}),
    ):
        found[project] += number
    return {lead.pk: found[lead.project_id] for lead in leads}


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


def _count_open_answers(rule: ConsensusRule, narratives: list[int]) -> dict[int, int]:
    return dict(_open_answers.rows(rule, narratives=narratives))


_OPEN_ANSWERS = revisions.Counts(_count_open_answers)


def _count_to_reader(
    rule: ConsensusRule, states: Sequence[revisions.State], reader: Reader
) -> dict[int, int]:
    """The same as one lead sees it, by narrative."""
    return dict(
        _open_to_reader.rows(
            rule,
            bool(reader.to_judge),
            narratives=[state.narrative for state in states],
            project=reader.projects,
            member=reader.members,
            **({"to_judge": reader.to_judge} if reader.to_judge else {}),
        )
    )


@prepared("narratives")
def _open_answers(rule: ConsensusRule, narratives: int) -> Built:
    """How many documents and conditions are open under each narrative, where nothing was sent back:
    narrative, number.
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
    """How many instructions and checked labels are open to leads: project, number."""
    known = Known(to_review=[to_review] if reviews else [])
    counted, parameters = _counted(_reader(project, member, ConsensusRule("", ()), known), _OTHERS)
    return (
        f"""
        SELECT p.project_id, COUNT(*) FROM ({counted}) AS k
        JOIN annotate_narrative v ON v.id = k.narrative
        JOIN annotate_instructionpair p ON p.id = v.pair_id GROUP BY p.project_id
        """,  # noqa: S608 (Django's own queries)
        parameters,
    )


def _by_narrative(reader: Reader) -> Built:
    counted, parameters = _counted(reader, _ANSWERS)
    sql = f"SELECT narrative, COUNT(*) FROM ({counted}) AS k GROUP BY narrative"  # noqa: S608
    return sql, parameters


def _counted(reader: Reader, kinds: Sequence[Kind]) -> tuple[str, list[Any]]:
    """A query of a row with `narrative` for each open disagreement of these kinds."""
    parts: list[str] = []
    parameters: list[Any] = []
    for kind in kinds:
        of = source(kind, reader, Wanted())
        sql, given = of.rows.order_by().values_list(of.ids[0]).query.sql_with_params()
        parts.append(f"of_{kind} (narrative) AS ({sql})")
        parameters += given
    every = " UNION ALL ".join(
        f"SELECT narrative FROM of_{kind}"  # noqa: S608 (our own names)
        for kind in kinds
    )
    return f"WITH {', '.join(parts)} {every}", parameters


def _reader(project: int, member: int, rule: ConsensusRule, known: Known) -> Reader:
    """A lead of whom only keys are known, and of the project the rule."""
    project_rules = Project(pk=project, consensus=rule.consensus)
    reader = Reader(Membership(pk=member, project=project_rules), known=known)
    reader.grades = list(rule.grades)
    return reader


@prepared("project")
def _sent_back(project: int) -> Built:
    """The narratives of which an answer was sent back to its author and waits."""
    found = RejudgeRequest.objects.open().filter(by__project__in=[project])
    return found.values_list("judgment__narrative_id").distinct()


@prepared("project")
def _grades(project: int) -> Built:
    found = Grade.objects.filter(project__in=[project])
    return found.order_by("value").values_list("project_id", "value")
