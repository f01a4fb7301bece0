"""The lead who reads disagreements, with facts about their projects that several queries need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property

from django.db.models import QuerySet

from annotate.judgments.completion import open_assignments
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Grade, Membership
from audit.settling.queue_filters import DisagreementKey, QueueFilter


class Reader:
    """A lead who reads disagreements; facts that several queries need are read once.

    `others`: the same person's memberships in other projects, to count in all of them at once.
    """

    def __init__(self, member: Membership, *others: Membership) -> None:
        self.member = member
        self.project = member.project
        self._members = [member, *others]
        self._narratives: list[int] | None = None

    @property
    def members(self) -> list[int]:
        """The keys of the memberships."""
        return [one.pk for one in self._members]

    @property
    def projects(self) -> list[int]:
        """The keys of the projects."""
        return [one.project_id for one in self._members]

    @cached_property
    def machines(self) -> list[int]:
        """The keys of the projects' machines, whose answers never count as disagreement."""
        machines = Membership.objects.filter(project__in=self.projects, is_machine=True)
        return list(machines.values_list("pk", flat=True))

    @cached_property
    def grades(self) -> list[int]:
        """The grades that judges may give."""
        grades = Grade.objects.filter(project__in=self.projects).order_by("value")
        return list(grades.values_list("value", flat=True).distinct())

    @cached_property
    def anything_sent_back(self) -> bool:
        """Whether the projects have any open rejudge request."""
        return bool(self.sent_back)

    @cached_property
    def sent_back(self) -> set[int]:
        """The keys of the narratives with an open rejudge request."""
        requests = RejudgeRequest.objects.open().filter(by__project__in=self.projects)
        return set(requests.values_list("statement__narrative", flat=True))

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

    def by_consensus(self, narratives: Sequence[int]) -> list[Reader]:
        """Return the reader once for each rule of consensus of their projects, restricted to these
        current narratives (keys).
        """
        if not narratives:
            return []
        members: dict[str, list[Membership]] = defaultdict(list)
        for one in self._members:
            members[one.project.consensus].append(one)
        readers = []
        for several in members.values():
            projects = [one.project_id for one in several]
            within = Narrative.objects.filter(pk__in=narratives, pair__project__in=projects)
            readers.append(Reader(*several).restricted_to(within.values_list("pk", flat=True)))
        return readers

    def restricted_to(self, narratives: Iterable[int]) -> Reader:
        """Return a copy of the reader, restricted to these current narratives (keys)."""
        reader = copy(self)
        reader._narratives = list(narratives)
        return reader

    def narratives(
        self, filters: QueueFilter, only: DisagreementKey | None, *, removed: bool = False
    ) -> QuerySet[Narrative]:
        """Return the current narratives of every side, because an export writes the qrels of each.
        `removed`: include those of removed pairs.
        """
        if self._narratives is not None:
            return Narrative.objects.filter(pk__in=self._narratives)
        rows = Narrative.objects.current().filter(pair__project__in=self.projects)
        if not removed:
            rows = rows.filter(pair__removed_at__isnull=True)
        if only is not None:
            rows = rows.filter(pk=only.narrative)
        return rows if filters.query is None else rows.filter(pair__query=filters.query)
