"""Pages need as many database queries for a large project as for a small one."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import factories


@pytest.fixture
def carla(db):
    client = Client()
    client.force_login(factories.user("carla"))
    return client


def make_project(slug: str, *, queries: int, documents: int):
    """Create a project that carla leads; ada and ben have judged all of it, differently."""
    project = factories.project(slug)
    factories.lead(project)
    people = [factories.member(project, name) for name in ("ada", "ben")]
    for number in range(queries):
        pair = factories.pair(query := factories.query(project, f"{300 + number}"))
        narrative = factories.altered(pair)
        for person in people:
            factories.assignment(pair, person)
        for _ in range(documents):
            candidate = factories.candidate(query)
            for relevance, person in enumerate(people):
                factories.judgment(narrative, candidate, person, relevance)
    return project


def count_queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    assert answer.status_code == 200
    return len(queries)


def test_the_project_page_asks_the_same_queries_however_much_was_judged(carla):
    make_project("small", queries=1, documents=1)
    make_project("large", queries=3, documents=3)

    small, large = (count_queries(carla, f"/projects/{slug}/") for slug in ("small", "large"))

    assert small == large
    assert large <= 47


def test_home_asks_at_most_fifteen_queries_for_a_further_project(carla):
    make_project("first", queries=1, documents=1)
    one = count_queries(carla, "/")
    make_project("second", queries=2, documents=2)

    assert count_queries(carla, "/") - one <= 15


# Each list of a project for its lead -> the most database queries it may take.
LISTS = {
    "queries": 13,
    "progress": 25,
    "matrix": 18,
    "flags": 9,
    "members": 6,
    "guidelines": 6,
    "disagreements": 23,
    "disagreements/?state=settled": 20,
    "disagreements/?order=effect": 23,
    "disagreements/reveals": 5,
    "differences": 18,
    "collection": 19,
    "agreement": 16,
    "reviews": 15,
    "checks": 5,
    "suspects": 6,
    "loads": 9,
    "missing-texts": 5,
    "exports": 8,
    "releases": 7,
    "pools": 10,
    "replacements": 6,
    "removed-candidates": 6,
    "removed-queries": 8,
    "topics": 5,
    "audit-log": 7,
}


def test_each_list_asks_the_same_queries_however_many_rows_there_are(carla):
    make_project("small", queries=1, documents=1)
    make_project("large", queries=4, documents=3)

    def queries_by_page(slug: str) -> dict[str, int]:
        addresses = {one: one if "?" in one else f"{one}/" for one in LISTS}
        return {
            one: count_queries(carla, f"/projects/{slug}/{end}") for one, end in addresses.items()
        }

    small, large = queries_by_page("small"), queries_by_page("large")

    assert large == small
    assert {one: number for one, number in large.items() if number > LISTS[one]} == {}
