"""The list of queries shows the sizes of their pools, and can be sorted and filtered."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.models import Judgment
from tests import factories
from tests.pages import shows


@pytest.fixture
def scene(db, client):
    """Three queries: 1 waits for its narrative, 2 is not begun, 3 has one of two answers."""

    class Scene:
        project = factories.project("tides", overlap_judge=1)
        carla = factories.member(project, "carla", role="lead")
        ada = factories.member(project, "ada")

        def ids(self, **parameters):
            page = client.get(reverse("annotate:queries", args=["tides"]), parameters)
            return [row.query.query_id for row in page.context["rows"]]

        def page(self, **parameters):
            return client.get(reverse("annotate:queries", args=["tides"]), parameters)

    made = Scene()
    for query_id, title, relevances, has_narrative in (
        ("1", "Weirs", [2, 0, 0, 0], False),
        ("2", "Barrages", [2], True),
        ("3", "Mills", [2, 2, 0], True),
    ):
        query = factories.query(made.project, query_id, title=title)
        for place, relevance in enumerate(relevances):
            factories.candidate(query, f"D{query_id}{place}", prior=relevance)
        pair = factories.pair(query, altered="Narrower." if has_narrative else None)
    factories.judgment(factories.altered(pair), query.candidates.order_by("pk")[0], made.ada, 1)
    client.force_login(made.carla.user)
    return made


def test_leads_see_the_pool_and_what_was_relevant_before(scene):
    pools = scene.page().context["pools"]

    assert sorted(tuple(pool) for pool in pools.values()) == [(1, 1), (3, 2), (4, 1)]


def test_annotators_do_not_see_the_earlier_relevance(scene, client):
    client.force_login(scene.ada.user)

    page = scene.page()

    assert "Relevant before" not in page.content.decode()
    assert "Most relevant before" not in page.content.decode()
    assert scene.ids(sort="relevant") == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", ["1", "2", "3"]),
        ("id", ["1", "2", "3"]),
        ("title", ["2", "3", "1"]),
        ("pool", ["1", "3", "2"]),
        ("relevant", ["3", "1", "2"]),
        ("left", ["2", "3", "1"]),
        ("nonsense", ["1", "2", "3"]),
    ],
)
def test_queries_are_sorted(scene, sort, order):
    assert scene.ids(sort=sort) == order


def test_ids_are_sorted_by_the_numbers_in_them(scene):
    for query_id in ("10", "0"):
        factories.query(scene.project, query_id)

    assert scene.ids(sort="id") == ["0", "1", "2", "3", "10"]


@pytest.mark.parametrize(
    ("state", "query_ids"),
    [
        ("waiting", ["1"]),
        ("open", ["2"]),
        ("begun", ["3"]),
        ("done", []),
        ("nonsense", ["1", "2", "3"]),
    ],
)
def test_queries_are_filtered_by_their_progress(scene, state, query_ids):
    assert scene.ids(state=state) == query_ids


def test_queries_that_are_taken_out_are_listed_only_if_asked_for(scene):
    queries = list(scene.project.queries.filter(query_id="2").values_list("pk", flat=True))
    QUERIES.remove(project=scene.project, keys=queries, reason="Too broad.", by=scene.carla)

    assert (scene.ids(), scene.ids(sort="title")) == (["1", "3"], ["3", "1"])
    assert scene.ids(state="removed") == ["2"]


def test_the_api_lists_the_queries_of_the_page_each_with_its_state(scene, client):
    queries = list(scene.project.queries.filter(query_id="2").values_list("pk", flat=True))
    QUERIES.remove(project=scene.project, keys=queries, reason="Too broad.", by=scene.carla)

    def states(**parameters):
        rows = client.get("/api/v1/projects/tides/queries/", parameters).json()["results"]
        return {row["query_id"]: row["state"] for row in rows}

    assert states() == {"1": "waiting", "3": "begun"}
    assert states(state="removed") == {"2": "removed"}
    assert states(state="begun") == {"3": "begun"}
    assert client.get("/api/v1/projects/tides/queries/?state=gone").status_code == 400


def test_a_list_without_queries_leads_to_those_that_are_taken_out(scene):
    queries = list(scene.project.queries.values_list("pk", flat=True))
    QUERIES.remove(project=scene.project, keys=queries, reason="Too broad.", by=scene.carla)

    page = scene.page().content.decode()

    assert "Every query is taken out" in page
    assert f'href="{reverse("annotate:queries", args=["tides"])}?state=removed"' in page


def test_a_search_a_state_and_an_order_can_be_combined(scene):
    assert Judgment.objects.count() == 1
    assert scene.ids(search="s", state="open", sort="title") == ["2"]


def test_only_documents_that_were_relevant_before_count_as_dropped_out(scene, client):
    scene.project.judge_scope = scene.project.Scope.POOL
    scene.project.save()
    query = factories.query(scene.project, "4")
    pair = factories.pair(query)
    for doc_id, prior, grade in (
        *(("A", 2, 0), ("B", 0, 0), ("C", None, 0)),
        *(("D", 2, 1), ("E", 0, 1), ("F", None, 1)),
    ):
        candidate = factories.candidate(query, doc_id, prior=prior)
        factories.judgment(factories.altered(pair), candidate, scene.ada, grade)

    row = next(one for one in scene.page().context["rows"] if one.query == query)
    page = client.get(reverse("annotate:query", args=["tides", query.pk]))

    assert [row.kept, row.dropped, row.others, row.disputed] == [2, 1, 3, 0]
    assert [one.outcome for one in page.context["candidates"]] == [
        *("dropped", "stayed", "stayed"),
        *("kept", "grew", "kept"),
    ]


def test_lists_have_no_judging_columns_if_nobody_judges(scene, client):
    scene.project.overlap_judge = 0
    scene.project.save()
    Judgment.objects.all().delete()
    client.force_login(scene.carla.user)
    query = scene.project.queries.get(query_id="3")

    for page in (
        scene.page(),
        client.get(scene.project.get_absolute_url()),
        client.get(reverse("annotate:query", args=["tides", query.pk])),
    ):
        shown = page.content.decode()
        for heading in ("Dropped", "Answered", "Outcome", "What people say"):
            assert not shows(shown, f">{heading}</th>")


def test_criteria_and_modes_are_offered_only_where_the_project_has_them(scene, client):
    client.force_login(scene.carla.user)

    def offered() -> list[bool]:
        pages = [
            client.get(reverse(name, args=["tides"]))
            for name in ("audit:disagreements", "audit:new_sample")
        ]
        return [
            name in page.context["form"].fields
            for page, name in zip(pages, ("criterion", "modes"), strict=True)
        ]

    scene.project.overlap_review = 0
    scene.project.save()
    without = offered()
    scene.project.overlap_review = 2
    scene.project.save()
    factories.narrative(scene.project.pairs.first(), side="reversed", text="All others.")

    assert (without, offered()) == ([False, False], [True, True])
