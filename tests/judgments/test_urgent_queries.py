"""A lead marks a query as urgent; its tasks are handed out before those of other queries."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments.assignments import take_next
from annotate.models import Assignment, AuditEvent, Membership, Project, Query
from annotate.pairs.named_people import set_urgent
from base.errors import Refused
from tests import factories

pytestmark = pytest.mark.django_db

JUDGE = Assignment.Task.JUDGE


@pytest.fixture
def carla() -> Membership:
    return factories.lead(factories.project())


@pytest.fixture
def ada(carla) -> Membership:
    return factories.member(carla.project, "ada")


@pytest.fixture
def queries(carla):
    """Two queries with a document to judge each."""
    made = [factories.query(carla.project, query_id) for query_id in ("301", "302")]
    for query in made:
        factories.pair(query)
        factories.candidate(query)
    return made


def next_query(ada: Membership) -> Query:
    taken = take_next(task=JUDGE, by=ada)
    assert taken is not None
    return taken.pair.query


def listed(client, query: str = "") -> str:
    return str(client.get(f"/projects/tides/queries/{query}").content, "utf-8")


def test_the_tasks_of_an_urgent_query_are_handed_out_first(carla, ada, queries):
    set_urgent(query=queries[1], urgent=True, by=carla)

    assert next_query(ada) == queries[1]


def test_an_urgent_query_comes_before_one_that_others_have_begun(carla, ada, queries):
    first, second = queries
    factories.assignment(first.pairs.get(), factories.member(carla.project, "ben"))
    set_urgent(query=second, urgent=True, by=carla)

    assert next_query(ada) == second


def test_a_query_that_is_no_longer_urgent_waits_its_turn(carla, ada, queries):
    set_urgent(query=queries[1], urgent=True, by=carla)
    set_urgent(query=queries[1], urgent=False, by=carla)

    assert next_query(ada) == queries[0]


def test_the_activity_log_says_once_that_a_query_became_urgent(carla, queries):
    set_urgent(query=queries[0], urgent=True, by=carla)
    set_urgent(query=queries[0], urgent=True, by=carla)

    event = AuditEvent.objects.get(what="query.urgent")
    assert (event.about, event.changes) == ("301", {"urgent": [False, True]})


def test_only_leads_mark_queries_as_urgent(ada, queries):
    with pytest.raises(Refused, match="Only leads"):
        set_urgent(query=queries[0], urgent=True, by=ada)


def test_the_page_of_who_takes_the_tasks_marks_a_query_as_urgent(client, carla, queries):
    client.force_login(carla.user)

    client.post(reverse("annotate:query_people", args=["tides", queries[1].pk]), {"urgent": "on"})

    assert "302" in listed(client, "?urgent=yes")
    assert "301" not in listed(client, "?urgent=yes")
    client.post(reverse("annotate:query_people", args=["tides", queries[1].pk]), {})
    assert "No query matches" in listed(client, "?urgent=yes")


def test_a_project_that_asks_nobody_for_a_task_keeps_its_urgent_queries(client, carla, queries):
    set_urgent(query=queries[0], urgent=True, by=carla)
    Project.objects.update(overlap_rewrite=0, overlap_judge=0, overlap_review=0)
    client.force_login(carla.user)

    client.post(reverse("annotate:query_people", args=["tides", queries[0].pk]), {})

    assert Query.objects.get(is_urgent=True) == queries[0]


def test_programs_mark_a_query_as_urgent_and_list_urgent_ones(client, carla, queries):
    client.force_login(carla.user)
    query = reverse("annotate:api_query", args=["tides", queries[1].pk])

    changed = client.patch(query, {"urgent": True}, content_type="application/json").json()

    assert changed["urgent"] is client.get(query).json()["urgent"] is True
    urgent = client.get(reverse("annotate:api_queries", args=["tides"]), {"urgent": "true"}).json()
    assert [row["query_id"] for row in urgent["results"]] == ["302"]
    assert client.patch(query, {}, content_type="application/json").json()["urgent"] is True
