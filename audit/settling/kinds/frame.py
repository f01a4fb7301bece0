"""Code shared by the disagreement queries: the reader, the narratives and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotate.judgments.models import RejudgeRequest
from annotate.judgments.work_left import open_assignments
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Grade, Membership
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter
from base.prepared_queries import Built, prepared


class ReaderFacts(NamedTuple):
    """Facts that a Reader is given instead of reading them. A list may hold a single mark that
    stands for a list (`base.prepared_queries`).
    """

    # The narratives that the Reader is restricted to; None: all of the project.
    narratives: list[int] | None = None
    anything_sent_back: bool = False
    to_judge: Sequence[int] = ()
    to_review: Sequence[int] = ()


class Reader:
    """A lead who reads disagreements; facts that several queries need are read once.

    `others`: the same person's memberships in other projects, to count in all of them at once.
    """

    def __init__(
        self, member: Membership, *others: Membership, facts: ReaderFacts | None = None
    ) -> None:
        self.member = member
        self.project = member.project
        self._members = [member, *others]
        self._narratives: list[int] | None = None
        if facts is not None:
            self._narratives = facts.narratives
            self.machines = Membership.objects.filter(is_machine=True).values("pk")
            self.anything_sent_back = facts.anything_sent_back
            self._assignments = [(Assignment.Task.JUDGE.value, pair) for pair in facts.to_judge]
            self._assignments += [(Assignment.Task.REVIEW.value, pair) for pair in facts.to_review]

    @property
    def members(self) -> list[int]:
        """The keys of the memberships."""
        return [one.pk for one in self._members]

    @property
    def projects(self) -> list[int]:
        """The keys of the projects."""
        return [one.project_id for one in self._members]

    @cached_property
    def machines(self) -> list[int] | QuerySet[Membership, Any]:
        """The keys of the projects' machines, whose answers never count as disagreement."""
        return [machine for (machine,) in _machines.rows(project=self.projects)]

    @cached_property
    def grades(self) -> list[int]:
        """The grades that judges may give."""
        return [grade for (grade,) in _grades.rows(project=self.projects)]

    @cached_property
    def anything_sent_back(self) -> bool:
        """Whether the projects have any open rejudge request."""
        return bool(self.sent_back)

    @cached_property
    def sent_back(self) -> set[int]:
        """The keys of the narratives with an open rejudge request."""
        return {narrative for (narrative,) in _sent_back.rows(project=self.projects)}

    @cached_property
    def _assignments(self) -> list[tuple[str, int]]:
        return [
            (assignment.task, assignment.pair_id)
            for member in self._members
            for assignment in open_assignments(
                member, Assignment.Task.JUDGE, Assignment.Task.REVIEW
            )
        ]

    @property
    def to_judge(self) -> list[int]:
        """The keys of the pairs that the lead still has to judge, and must judge first."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.JUDGE]

    @property
    def to_review(self) -> list[int]:
        """The keys of the pairs that the lead still has to review."""
        return [pair for task, pair in self._assignments if task == Assignment.Task.REVIEW]

    def restricted_to(self, narratives: Sequence[int]) -> Reader:
        """Return a copy of the reader, restricted to these current narratives (keys)."""
        found = copy(self)
        found._narratives = list(narratives)
        return found

    def narratives(
        self, filters: QueueFilter, only: DisagreementKey | None, *, removed: bool = False
    ) -> QuerySet[Narrative]:
        """Return the current narratives of every side, because an export writes the qrels of each.
        `removed`: include those of removed pairs.
        """
        if self._narratives is not None:
            return Narrative.objects.filter(pk__in=self._narratives)
        found = Narrative.objects.current().filter(pair__project__in=self.projects)
        if not removed:
            found = found.filter(pair__removed_at__isnull=True)
        if only is not None:
            found = found.filter(pk=only.narrative)
        return found if filters.query is None else found.filter(pair__query=filters.query)


@prepared("project")
def _machines(project: int) -> Built:
    return Membership.objects.filter(project__in=[project], is_machine=True).values_list("pk")


@prepared("project")
def _grades(project: int) -> Built:
    grades = Grade.objects.filter(project__in=[project])
    return grades.order_by("value").values_list("value").distinct()


@prepared("project")
def _sent_back(project: int) -> Built:
    found = RejudgeRequest.objects.open().filter(by__project__in=[project])
    return found.values_list("judgment__narrative_id").distinct()


@dataclass(frozen=True)
class Source:
    """The rows of one kind, with `distance`, `effect` and `since`; `ids` are the columns of the
    narrative and, if the kind has them, of the candidate and of the part.
    """

    kind: Kind
    rows: QuerySet[Any, Any]
    ids: tuple[str, ...]
