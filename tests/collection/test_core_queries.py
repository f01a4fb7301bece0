"""Queries with the same text and different instructions belong to one core query."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.models import Query
from tests import factories
from tests.collection.arriving import folder, jsonl, load

ACNE = "What helps for acne?"


@pytest.fixture
def project(db):
    return factories.project()


def pair(query_id, title, **fields):
    return {"query_id": query_id, "title": title, "original": "", "altered": "Briefly.", **fields}


def cores(project):
    return dict(project.queries.order_by("pk").values_list("query_id", "core"))


def test_queries_of_the_same_text_share_a_core_query(project):
    load(
        project,
        "pairs-jsonl",
        jsonl(pair("1", ACNE), pair("2", " what  helps for ACNE?"), pair("3", "What is acne?")),
    )

    assert cores(project) == {
        "1": "what helps for acne?",
        "2": "what helps for acne?",
        "3": "what is acne?",
    }


def test_a_core_query_named_by_a_file_takes_precedence_over_the_title(project):
    load(project, "pairs-jsonl", jsonl(pair("1", ACNE, core="c1"), pair("2", "Acne?", core="c1")))
    load(project, "topics-json", jsonl({"query_id": "2", "title": "Acne and mint?"}))

    assert cores(project) == {"1": "c1", "2": "c1"}


def test_another_title_moves_a_query_to_another_core_query(project):
    load(project, "pairs-jsonl", jsonl(pair("1", ACNE), pair("2", ACNE)))
    load(project, "topics-json", jsonl({"query_id": "2", "title": "Acne and mint?"}))

    assert cores(project) == {"1": "what helps for acne?", "2": "acne and mint?"}


def test_two_core_queries_for_one_query_refuse_the_file(project):
    two = [pair("1", ACNE, core="a"), pair("1", ACNE, core="b", pair_id="1_2")]

    report = load(project, "pairs-jsonl", jsonl(*two))

    assert report.refused == 2
    assert Query.objects.count() == 0


def test_queries_without_a_title_belong_to_no_core_query(project):
    load(project, "pairs-jsonl", jsonl(pair("1", ""), pair("2", "")))

    assert cores(project) == {"1": "", "2": ""}


def test_long_titles_with_the_same_beginning_have_different_core_queries(project):
    long = "so many words " * 40
    load(project, "pairs-jsonl", jsonl(pair("1", long + "a"), pair("2", long + "b")))

    one, other = cores(project).values()
    assert one != other
    assert max(len(one), len(other)) <= 255


@pytest.fixture
def scene(project, client):
    load(project, "pairs-jsonl", jsonl(pair("1", ACNE), pair("2", ACNE), pair("3", "Mint?")))
    client.force_login(factories.lead(project).user)
    return project


def listed(client, project, **parameters):
    page = client.get(reverse("annotate:queries", args=[project.slug]), parameters)
    return [row.query.query_id for row in page.context["rows"]]


def test_the_list_can_show_only_the_queries_of_one_core_query(scene, client):
    assert listed(client, scene, core="what helps for acne?") == ["1", "2"]


def test_the_list_puts_queries_of_one_core_query_together(scene, client):
    load(scene, "pairs-jsonl", jsonl(pair("4", ACNE)))

    assert listed(client, scene, sort="core") == ["3", "1", "2", "4"]


def test_the_page_of_a_query_names_the_others_of_its_core_query(scene, client):
    first, second, third = scene.queries.order_by("pk")

    page = client.get(reverse("annotate:query", args=[scene.slug, first.pk]))
    alone = client.get(reverse("annotate:query", args=[scene.slug, third.pk]))

    assert page.context["siblings"] == [second]
    assert "Core query of 2 queries." in page.content.decode()
    assert alone.context["siblings"] == []


def test_the_api_returns_the_core_query_and_its_queries(scene, client):
    first, second, _third = scene.queries.order_by("pk")

    queries = f"/api/v1/projects/{scene.slug}/queries/"

    every = client.get(queries, {"core": "what helps for acne?"}).json()["results"]
    one = client.get(f"{queries}{first.pk}/").json()

    assert [(row["query_id"], row["core"]) for row in every] == [
        ("1", "what helps for acne?"),
        ("2", "what helps for acne?"),
    ]
    assert one["siblings"] == [{"id": second.pk, "query_id": "2"}]


def test_a_query_that_is_taken_out_is_not_among_the_others_of_its_core_query(scene, client):
    first, second, _third = scene.queries.order_by("pk")
    lead = scene.memberships.get(role="lead")
    QUERIES.remove(project=scene, keys=[second.pk], reason="Twice.", by=lead)

    page = client.get(reverse("annotate:query", args=[scene.slug, first.pk]))
    row = client.get(f"/api/v1/projects/{scene.slug}/queries/{first.pk}/").json()

    assert page.context["siblings"] == []
    assert row["siblings"] == []
    listed = client.get(reverse("annotate:queries", args=[scene.slug])).context
    assert listed["cores"] == {"what helps for acne?": 1, "mint?": 1}


def test_infosearch_fields_of_a_query_are_stored(project):
    line = {
        "_id": "0",
        "text": "What is diabetes?",
        "instruction_og": "",
        "instruction_changed": "In Chinese.",
        "instruction_reversed": "Not in Chinese.",
        "core_id": "d1",
        "dimension": "Language",
        "condition": "Chinese",
        "keywords": ["diabetes"],
        "short_query": "diabetes",
    }
    files = folder(
        queries_jsonl=jsonl(line), corpus_jsonl=jsonl({"_id": "d", "title": "", "text": "t"})
    )

    report = load(project, "infosearch", files, name="Language.zip")

    [pair] = project.pairs.select_related("query")
    [condition] = pair.current("altered").conditions.all()
    assert report.notes == []
    assert (pair.query.core, pair.category) == ("d1", "Language")
    assert (condition.name, condition.text) == ("Language", "Chinese")
    assert pair.fields == {"keywords": ["diabetes"], "short_query": "diabetes"}
