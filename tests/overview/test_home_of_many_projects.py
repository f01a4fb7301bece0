"""Home needs as many database queries for many projects as for few, and shows the same numbers.

The numbers are those that each project shows alone, whatever its rules.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.guidelines.actions import count_waiting
from annotate.judgments import assignments, completion, open_pairs
from annotate.judgments.assignments import my_assignments, read_assignments
from annotate.models import Adjudication, Assignment, Membership
from annotate.overview.contributions import overview, overviews
from annotate.projects import access
from audit.reviews.passes import count_to_decide
from audit.settling.queue import count_by_kind, count_open
from audit.settling.queue_filters import QueueFilter
from base.users import User
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
# No two consecutive projects have the same rules.
RULES: list[dict[str, Any]] = [
    {"judge_scope": "pool", "consensus": "unanimous", "overlap_judge": 2},
    {"judge_scope": "relevant", "consensus": "majority", "overlap_judge": 3, "relevant_from": 2},
    {"judge_scope": "relevant", "consensus": "unanimous", "overlap_judge": 1, "repeat_percent": 20},
    {"judge_scope": "pool", "consensus": "majority", "overlap_judge": 0, "overlap_review": 1},
]


def project(number: int, rules: dict[str, Any], carla: User | None, ada: User | None) -> None:
    """Create a project with three queries.

    ada and others have judged the first, and she holds the second; the third has no altered
    narrative. In every second project a case waits for the guidelines.
    """
    made = factories.project(f"project{number}", **rules)
    lead = _member(made, carla, "lead") if carla else factories.lead(made, "carla")
    judge = _member(made, ada, "annotator") if ada else factories.member(made, "ada")
    others = [factories.member(made, f"{name}{number}") for name in ("ben", "dan")]
    pairs = []
    for query_id in ("301", "302", "303"):
        query = factories.query(made, query_id)
        for prior in (0, 1, 2):
            factories.candidate(query, prior=prior)
        pairs.append(factories.pair(query, altered=None if query_id == "303" else "At sea."))
    first = list(pairs[0].query.candidates.order_by("pk"))
    for person, grades in zip((judge, *others), ((0, 1, 2), (1, 1, 2), (2, 1, 0)), strict=True):
        for candidate, grade in zip(first, grades, strict=True):
            factories.judgment(factories.altered(pairs[0]), candidate, person, grade)
    if made.overlap_judge:
        assignments.take(pair=pairs[1], task=JUDGE, by=judge)
    if number % 2:
        # The lead judges this pair, so others' answers to it are not counted for them.
        factories.assignment(pairs[0], lead)
        Adjudication.objects.create(
            narrative=factories.altered(pairs[0]),
            candidate=first[2],
            relevance=1,
            reason="Read.",
            cause="guideline",
            by=lead,
        )


def _member(of: Any, user: User, role: str) -> Membership:
    return Membership.objects.create(project=of, user=user, name=user.username, role=role)


@pytest.fixture
def projects(db) -> Callable[[int], None]:
    """A function that creates the given number of further projects."""
    numbers, rules = iter(range(100)), cycle(RULES)

    def more(several: int) -> None:
        for _ in range(several):
            found = {user.username: user for user in User.objects.all()}
            project(next(numbers), next(rules), found.get("carla"), found.get("ada"))

    return more


def members(name: str) -> list[Membership]:
    user = User.objects.get(username=name)
    return list(access.memberships_of(user).order_by("pk"))


@pytest.mark.parametrize("name", ["carla", "ada"])
def test_many_projects_take_as_many_queries_as_four(projects, client, name):
    projects(4)
    client.force_login(User.objects.get(username=name))
    client.get(reverse("annotate:home"))
    with CaptureQueriesContext(connection) as few:
        client.get(reverse("annotate:home"))
    projects(4)
    client.get(reverse("annotate:home"))

    with CaptureQueriesContext(connection) as many:
        page = client.get(reverse("annotate:home")).content.decode()

    assert page.count('class="home-project"') == 8
    assert len(many) == len(few) <= 34


def test_home_has_pages_with_the_projects_that_have_work_on_the_first(projects, client):
    projects(3)
    carla = User.objects.get(username="carla")
    for number in range(29):
        _member(factories.project(f"empty{number:02}"), carla, "lead")
    client.force_login(carla)

    first, second, beyond = (
        client.get(reverse("annotate:home"), {"page": number}).content.decode()
        for number in (1, 2, 9)
    )

    assert [page.count('class="home-project"') for page in (first, second, beyond)] == [30, 2, 2]
    assert ("Project2" in first, "Project2" in second) == (True, False)
    assert ("1 to 30 of 32" in first, "31 to 32 of 32" in second) == (True, True)
    assert ('data-key="]"' in first, 'data-key="["' in second) == (True, True)
    assert ('href="?page=2" rel="next"' in first, 'href="?page=1" rel="prev"' in second) == (
        True,
        True,
    )


@pytest.mark.parametrize("name", ["carla", "ada"])
def test_each_project_shows_the_same_alone_and_among_others(projects, name):
    projects(4)
    together, alone = members(name), members(name)

    read_assignments(together)
    completion.prefetch_left(together)
    added = overviews(together)
    judging = completion.judging_of([one.project for one in together])
    work = {task: open_pairs.open_work_of(task=task, members=together) for task in Assignment.Task}

    for mine, other in zip(together, alone, strict=True):
        assert my_assignments(mine) == my_assignments(other)
        assert added[mine.pk].todo == overview(other).todo
        assert judging[mine.project_id] == completion.judging(other.project)
        for task in Assignment.Task:
            pairs = (
                list(open_pairs.open_pairs(task=task, by=other))
                if other.project.overlap(task)
                else []
            )
            found = [one.query for one in work[task][mine.pk]]
            assert found == [pair.query_id for pair in pairs], (task, other.project)


def test_each_lead_gets_the_same_counts_alone_and_among_others(projects):
    projects(4)
    leads = members("carla")

    open_ones, to_decide = count_open(leads), count_to_decide(leads)
    waiting = count_waiting([lead.project_id for lead in leads])

    for lead in leads:
        assert open_ones[lead.pk] == sum(count_by_kind(lead, QueueFilter()).values())
        assert to_decide[lead.pk] == count_to_decide([lead])[lead.pk]
        assert waiting.get(lead.project_id, 0) == int(lead.project.slug[-1]) % 2
    # Unanimous: the first and the last document; by majority the same two, since all grades differ.
    assert sorted(open_ones.values()) == [0, 0, 2, 2]
