"""The filter and order of a list of disagreements, the keys that identify one, and who reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet, TextChoices

from annotate.judgments.completion import open_assignments
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Assignment, Condition, Narrative
from annotate.projects.models import Grade, Membership, Project
from audit.checks.models import Check
from audit.reviews.models import Rating


class Kind(TextChoices):
    """The kinds of disagreement."""

    JUDGMENT = "judgment", "Judgments"
    VERDICT = "verdict", "Conditions"
    REVIEW = "review", "Reviews"
    CHECK = "check", "Checks"


class Order(TextChoices):
    """The orders of the list, named by what comes first."""

    DISTANCE = "distance", "Farthest apart"
    EFFECT = "effect", "Effect on the result"
    MEASURE = "measure", "Effect on a measure"
    AGE = "age", "Oldest"


class State(TextChoices):
    """The states of a disagreement; the values are those of addresses and of the API."""

    OPEN = "pending", "Open"
    # Open, but sent back to an annotator.
    WAITING = "waiting", "Waiting for an annotator"
    SETTLED = "settled", "Settled"


# Database keys have 64 bits.
TOO_LARGE = 2**63


class DisagreementKey(NamedTuple):
    """The keys that identify a disagreement: `candidate` is 0 for reviews; `part` is the condition
    of a verdict, the sample's item of a check, else 0.
    """

    kind: Kind
    narrative: int
    candidate: int
    part: int

    def __str__(self) -> str:
        return "-".join((self.kind.value, *map(str, self[1:])))

    @classmethod
    def parse(cls, text: str) -> DisagreementKey:
        """Parse a key that `str` wrote, or raise ValueError."""
        kind, *numbers = text.split("-")
        narrative, candidate, part = (_parse_number(number) for number in numbers)
        return cls(Kind(kind), narrative, candidate, part)


def _parse_number(text: str) -> int:
    if not 0 <= int(text) < TOO_LARGE:
        raise ValueError(f"{text!r} is out of range")
    return int(text)


@dataclass(frozen=True)
class QueueFilter:
    """Which disagreements of a project are requested, and in which order."""

    settled: bool = False
    # Among open ones: those sent back and waiting for an annotator, or all the others.
    waiting: bool = False
    kind: Kind | None = None
    query: int | None = None
    # Reviews that differ on this criterion, by its key.
    criterion: str = ""
    # Verdicts on conditions of this name, or with this number.
    condition: str = ""
    # The keys of two members whose answers differ.
    people: tuple[int, int] | None = None
    # The id of a document.
    document: str = ""
    # Grades of a document, each of which somebody gave.
    grades: tuple[int, ...] = ()
    # Only those where settling decides whether a document, or an instruction, counts.
    decides: bool = False
    # The cause of the decision (`Adjudication.Cause`), among settled ones.
    cause: str = ""
    # Only these.
    only: tuple[DisagreementKey, ...] = ()
    order: Order = Order.DISTANCE

    def replaced(self, **changes: Any) -> QueueFilter:
        """Return a copy with these fields changed."""
        return replace(self, **changes)

    @property
    def state(self) -> State:
        """Their state."""
        return State.SETTLED if self.settled else State.WAITING if self.waiting else State.OPEN

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that can match."""
        of_document = {Kind.JUDGMENT, Kind.VERDICT, Kind.CHECK}
        limits: list[tuple[object, set[Kind]]] = [
            (self.kind, {self.kind} if self.kind else set()),
            (self.criterion, {Kind.REVIEW}),
            (self.condition, {Kind.VERDICT}),
            (self.waiting and not self.settled, {Kind.JUDGMENT, Kind.VERDICT}),
            (self.document, of_document),
            (self.grades, {Kind.JUDGMENT, Kind.CHECK}),
            (self.decides, {Kind.JUDGMENT, Kind.REVIEW}),
            (self.cause, {Kind.JUDGMENT, Kind.VERDICT}),
            (self.only, {key.kind for key in self.only}),
        ]
        set_limits = [kinds for value, kinds in limits if value]
        return tuple(kind for kind in Kind if all(kind in kinds for kinds in set_limits))


class QueuePosition(NamedTuple):
    """The position of a disagreement in the list. Fields that the order ignores may be 0."""

    effect: int
    distance: int
    at: datetime
    key: DisagreementKey

    def __str__(self) -> str:
        return f"{self.effect}~{self.distance}~{self.at.isoformat()}~{self.key}"

    @classmethod
    def parse(cls, text: str) -> QueuePosition:
        """Parse a key that `str` wrote, or raise ValueError."""
        effect, distance, at, key = text.split("~")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not 1970 <= moment.year < 9999:
            raise ValueError(f"{at!r} is not a time of this list")
        numbers = _parse_number(effect), _parse_number(distance)
        return cls(*numbers, moment, DisagreementKey.parse(key))


def reveal_keys(disagreement_key: DisagreementKey) -> tuple[int, int, int]:
    """Return the keys that a reveal covers: narrative, candidate and sample's item, 0 for none. A
    reveal of a document's judges also covers its verdicts.
    """
    item = disagreement_key.part if disagreement_key.kind is Kind.CHECK else 0
    return disagreement_key.narrative, disagreement_key.candidate, item


class Reader:
    """A lead who reads disagreements; facts that several queries need are read once.

    `others`: the same person's memberships in other projects, to count in all of them at once.
    """

    def __init__(self, member: Membership, *others: Membership) -> None:
        self.member = member
        self.project = member.project
        self.memberships = [member, *others]
        self._narratives: list[int] | None = None

    @property
    def members(self) -> list[int]:
        """The keys of the memberships."""
        return [one.pk for one in self.memberships]

    @property
    def projects(self) -> list[int]:
        """The keys of the projects."""
        return [one.project_id for one in self.memberships]

    @property
    def machines(self) -> QuerySet[Membership]:
        """The projects' machines, whose answers never count as disagreement."""
        return Membership.objects.filter(project__in=self.projects, is_machine=True)

    @cached_property
    def grades(self) -> list[int]:
        """The grades that judges may give."""
        grades = Grade.objects.filter(project__in=self.projects).order_by("value")
        return list(grades.values_list("value", flat=True).distinct())

    @cached_property
    def sent_back(self) -> set[int]:
        """The keys of the narratives with an open rejudge request."""
        requests = RejudgeRequest.objects.open().filter(by__project__in=self.projects)
        return set(requests.values_list("statement__narrative", flat=True))

    @cached_property
    def _assignments(self) -> list[tuple[str, int]]:
        return [
            (assignment.task, assignment.pair_id)
            for member in self.memberships
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

    def by_consensus(self, narratives: Collection[int]) -> list[Reader]:
        """Return the reader once for each rule of consensus of their projects, restricted to these
        current narratives (keys).
        """
        if not narratives:
            return []
        members: dict[str, list[Membership]] = defaultdict(list)
        for one in self.memberships:
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

    @cached_property
    def _kinds(self) -> set[Kind]:
        """The kinds that people can differ on in these projects: one query."""
        project = OuterRef("pk")
        answers: dict[Kind, QuerySet[Any]] = {
            Kind.VERDICT: Condition.objects.filter(narrative__pair__project=project),
            Kind.REVIEW: Rating.objects.filter(rejects=True, review__auditor__project=project),
            Kind.CHECK: Check.objects.filter(item__sample__project=project),
        }
        rows = Project.objects.filter(pk__in=self.projects)
        of_projects = rows.values_list(*(Exists(of_project) for of_project in answers.values()))
        differ = (
            kind for row in of_projects for kind, has in zip(answers, row, strict=True) if has
        )
        return {Kind.JUDGMENT, *differ}

    def kinds(self, filters: QueueFilter) -> list[Kind]:
        """Return the kinds that can match. Django takes long to compile the queries of the others,
        so they are not run.
        """
        return [kind for kind in filters.kinds if kind in self._kinds]

    def narratives(self, filters: QueueFilter, *, removed: bool = False) -> QuerySet[Narrative]:
        """Return the current narratives of every side, because an export writes the qrels of each.
        `removed`: include those of removed pairs.
        """
        if self._narratives is not None:
            return Narrative.objects.filter(pk__in=self._narratives)
        rows = Narrative.objects.current().filter(pair__project__in=self.projects)
        if not removed:
            rows = rows.filter(pair__removed_at__isnull=True)
        if filters.only:
            rows = rows.filter(pk__in={key.narrative for key in filters.only})
        elif filters.state is State.WAITING:
            rows = rows.filter(pk__in=self.sent_back)
        return rows if filters.query is None else rows.filter(pair__query=filters.query)
