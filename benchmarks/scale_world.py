"""The installation of `benchmarks.scale`, which grows in three steps.

Import it only after Django is set up (`benchmarks.serving.set_up`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from django.core.management.color import no_style
from django.db import connection, transaction
from django.utils import timezone

from annotate import models
from annotate.judgments import judgment_chain
from annotate.models import Assignment, Membership
from annotate.projects import hash_chain
from benchmarks.bare import insert
from benchmarks.rows import Shape, judgments, pools
from benchmarks.world import add_project, add_user, analyze

PROJECTS, PEOPLE, MEMBERS, MEMBERS_OF_LARGEST, JUDGES = 300, 200, 8, 60, 4
# How many projects the measured annotator is in.
PROJECTS_OF_ANNOTATOR = 12
# Queries, and documents of each.
SMALL, LARGEST = (18, 100), (200, 300)
TEXT = "A report about the tides of one bay. " * 12
# Keys of the rows of each project lie between two multiples of this number.
KEYS_OF_EACH = 1_000_000


class Project(NamedTuple):
    """A project and the keys of its rows."""

    slug: str
    pk: int
    first: int
    shape: Shape
    members: list[int]

    @property
    def judges(self) -> list[list[int]]:
        """Return the members who judge each query, in turns; the first member ends the first."""
        turns = [
            [self.members[(query + seat) % len(self.members)] for seat in range(JUDGES, 0, -1)]
            for query in range(self.shape.queries)
        ]
        return [[*turns[0][:-1], self.members[0]], *turns[1:]]

    @property
    def last(self) -> int:
        """Return how many documents of a pool the last member has judged."""
        return self.shape.pool // 3

    @property
    def judgments(self) -> int:
        """Return the number of its judgments."""
        return self.shape.queries * (self.shape.pool * (JUDGES - 1) + self.last)


class World:
    """The installation, which grows."""

    def __init__(self, size: float) -> None:
        self.lead, self.annotator = add_user("carla"), add_user("judge0")
        others = [add_user(f"judge{n}") for n in range(1, max(8, round(PEOPLE * min(size, 1.0))))]
        self._users = [self.annotator, *others]
        self._rng = random.Random(7)
        self._many = max(3, round(PROJECTS * size))
        self._size = size
        self._projects: list[Project] = []
        # Each saved judgment takes the next document.
        self.upcoming: dict[str, Iterator[int]] = {}
        self.loads = 0

    @property
    def small(self) -> Project:
        """Return the project that is measured at each step."""
        return self._projects[0]

    @property
    def largest(self) -> Project:
        """Return the largest project."""
        return self._projects[1]

    def grow(self, step: str) -> None:
        """Write the rows of a step."""
        if step == "alone":
            self._add(0, SMALL, MEMBERS)
            judged = [self.small]
        elif step == "projects":
            self._add(1, LARGEST, MEMBERS_OF_LARGEST)
            for number in range(2, self._many):
                self._add(number, SMALL, MEMBERS)
            judged = []
        else:
            judged = self._projects[1:]
        for project in judged:
            self._judge(project)
        # So that the judgments of one project are not looked for among all.
        analyze()
        for project in judged:
            self._link(project)
        self._finish()

    def _add(self, number: int, shape: tuple[int, int], members: int) -> None:
        queries, pool = shape
        made = Shape(max(2, round(queries * self._size)), pool, text=TEXT)
        project = add_project(f"scale{number}", f"Scale {number}", overlap=JUDGES)
        project.judge_scope = "pool"
        project.save()
        users = self._rng.sample(self._users[1:], min(members, len(self._users)) - 1)
        first = number * KEYS_OF_EACH
        Membership.objects.create(project=project, user=self.lead, name="carla", role="lead")
        rows = Membership.objects.bulk_create(
            Membership(project=project, user=user, name=user.username)
            for user in ([self.annotator] if number < PROJECTS_OF_ANNOTATOR else []) + users
        )
        members_of = [row.pk for row in rows]
        self._projects.append(Project(project.slug, project.pk, first, made, members_of))
        insert(pools(project.pk, made, first))

    def _judge(self, project: Project) -> None:
        now = timezone.now()
        Assignment.objects.bulk_create(
            Assignment(
                pair_id=project.first + query + 1,
                task="judge",
                seat=seat,
                member_id=member,
                touched_at=now,
            )
            for query, members in enumerate(project.judges)
            for seat, member in enumerate(members, start=1)
        )
        insert(judgments(project.shape, project.judges, project.last, project.first))
        left = range(project.first + project.last + 1, project.first + project.shape.pool + 1)
        self.upcoming[project.slug] = iter(left)

    def _link(self, project: Project) -> None:
        """Record the judgments of a project in one hash chain, as a loaded file does."""
        with transaction.atomic():
            rows = models.Judgment.objects.filter(annotator__project=project.pk)
            chain = hash_chain.named("file", project.slug)
            events = hash_chain.events_of_new(judgment_chain.KIND, rows)
            hash_chain.append(project.pk, chain, events)

    def _finish(self) -> None:
        """Let the sequences continue after the keys that were written, and update statistics."""
        with connection.cursor() as cursor:
            written = [models.Document, models.Query, models.InstructionPair, models.Narrative]
            for sql in connection.ops.sequence_reset_sql(no_style(), [*written, models.Candidate]):
                cursor.execute(sql)
            cursor.execute("VACUUM ANALYZE")

    def counts(self) -> dict[str, int]:
        """Return the number of rows of the tables that grow."""
        return {
            "projects": models.Project.objects.count(),
            "people": models.User.objects.count(),
            "candidates": models.Candidate.objects.count(),
            "judgments": models.Judgment.objects.count(),
        }
