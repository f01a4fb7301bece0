"""What the queries of all kinds share: who reads, which narratives, which rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import (
    QuerySet,
)

from annotate.judgments.completion import open_assignments
from annotate.judgments.models import (
    RejudgeRequest,
)
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Grade, Membership
from audit.settling.wanted import DisagreementKey, Kind, Wanted
from base.prepared import Built, prepared


class Reader:
    """A lead who looks at what people differ on, with what is asked again and again read once."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.project = member.project

    @classmethod
    def knowing(cls, member: Membership, *, machines: list[int], grades: list[int]) -> Reader:
        """A lead without an assignment in a project where nothing was sent back: reads nothing."""
        reader = cls(member)
        reader.machines, reader.grades = machines, grades
        reader.anything_sent_back, reader._assignments = False, []
        return reader

    @cached_property
    def machines(self) -> list[int]:
        """The machines of the project, who never differ from people."""
        return [machine for (machine,) in _machines.rows(project=self.project.pk)]

    @cached_property
    def grades(self) -> list[int]:
        """The grades that judges may give."""
        return [grade for (grade,) in _grades.rows(project=self.project.pk)]

    @cached_property
    def anything_sent_back(self) -> bool:
        """Whether any answer of the project was sent back to its author and waits."""
        return bool(_sent_back.rows(project=self.project.pk))

    @cached_property
    def _assignments(self) -> list[tuple[str, int]]:
        held = open_assignments(self.member, Assignment.Task.JUDGE, Assignment.Task.REVIEW)
        return [(assignment.task, assignment.pair_id) for assignment in held]

    @property
    def has_assignments(self) -> bool:
        """Whether the lead has work left in an assignment to judge or to review."""
        return bool(self._assignments)

    @property
    def to_judge(self) -> list[int]:
        """The pairs in whose judge assignments the lead sits: there they judge first."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.JUDGE]

    @property
    def to_review(self) -> list[int]:
        """The pairs in whose review assignments the lead sits."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.REVIEW]

    def narratives(
        self, wanted: Wanted, only: DisagreementKey | None, *, removed: bool = False
    ) -> QuerySet[Narrative]:
        """The narratives in force, of every side: an export writes the qrels of each. `removed`:
        also those of pairs that were removed.
        """
        found = Narrative.objects.current().filter(pair__project=self.project)
        if not removed:
            found = found.filter(pair__removed_at__isnull=True)
        if only is not None:
            found = found.filter(pk=only.narrative)
        return found if wanted.query is None else found.filter(pair__query=wanted.query)


@prepared("project")
def _machines(project: int) -> Built:
    return Membership.objects.filter(project=project, is_machine=True).values_list("pk")


@prepared("project")
def _grades(project: int) -> Built:
    return Grade.objects.filter(project=project).values_list("value")


@prepared("project")
def _sent_back(project: int) -> Built:
    return RejudgeRequest.objects.open().filter(by__project=project).values_list("pk")[:1]


@dataclass(frozen=True)
class Source:
    """The rows of one kind, with `distance`, `effect` and `since`; `ids` are the columns of the
    narrative and, where the kind has them, of the candidate and of the part.
    """

    kind: Kind
    rows: QuerySet[Any, Any]
    ids: tuple[str, ...]
