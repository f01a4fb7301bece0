"""The search of a project finds queries, documents and people, and tells nothing that is hidden."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name
from annotate.models import Assignment, Membership
from annotate.overview.lists import search
from tests import factories
from tests.second_pass import make_scene

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    scene = make_scene()
    scene.query.title = "Tidal power stations"
    scene.query.save()
    scene.turbines = factories.candidate(scene.query, "FT-301", title="Turbines")
    scene.untitled = factories.candidate(scene.query, "LA-77", title="")
    return scene


def found(member, words):
    return [(hit.kind.value, hit.name) for hit in search(member, words).hits]


@pytest.mark.parametrize(
    ("words", "hits"),
    [
        ("301", [("query", "301"), ("document", "FT-301")]),
        ("tidal", [("query", "301")]),
        ("turbines", [("document", "FT-301")]),
        ("LA-77", [("document", "LA-77")]),
        ("la-77", []),
        ("ada", [("person", "ada")]),
        ("nowhere", []),
    ],
)
def test_a_lead_finds_queries_documents_and_people(scene, words, hits):
    assert found(scene.carla, words) == hits


def test_the_exact_id_comes_first(scene):
    factories.query(scene.project, "1301")
    factories.query(scene.project, "30")

    assert found(scene.carla, "30")[0] == ("query", "30")


def test_an_instruction_leads_to_its_query(scene):
    factories.pair(scene.query, pair_id="301_b")

    assert found(scene.carla, "301_b") == [("query", "301")]


def test_an_annotator_finds_a_document_by_its_title_but_not_by_its_hidden_id(scene):
    assert found(scene.ada, "FT-301") == []
    assert found(scene.ada, "LA-77") == []
    assert found(scene.ada, "turbines") == [("document", "Turbines")]
    assert found(scene.ada, neutral_name(scene.untitled.document_id, scene.project.pk)) == []


def test_an_annotator_finds_the_id_of_a_document_that_they_judged(scene):
    factories.judgment(scene.narrative, scene.turbines, scene.ada, 1)

    assert found(scene.ada, "FT-301") == [("document", "FT-301")]


def test_a_lead_who_has_yet_to_judge_does_not_find_hidden_ids(scene):
    assignments.take(pair=scene.pair, task=Assignment.Task.JUDGE, by=scene.carla, become_blind=True)

    assert found(scene.carla, "FT-301") == []
    assert found(scene.carla, "turbines") == [("document", "Turbines")]


def test_what_others_answered_changes_nothing(scene):
    before = search(scene.ada, "turbines")
    factories.judgment(scene.narrative, scene.turbines, scene.ben, 0)

    assert search(scene.ada, "turbines") == before


def test_annotators_find_no_people_and_no_query_that_is_taken_out(scene):
    scene.query.removed_at, scene.query.removed_by = timezone.now(), scene.carla
    scene.query.removed_reason = "Too short."
    scene.query.save()

    assert found(scene.ada, "ben") == []
    assert found(scene.ada, "301") == []
    assert found(scene.carla, "301") == [("query", "301")]


def test_nothing_of_another_project_is_found(scene):
    other = factories.project(slug="else")
    factories.candidate(factories.query(other, "999"), "ZZ-1", title="Elsewhere")

    assert found(scene.carla, "999") == found(scene.carla, "ZZ-1") == []


def test_a_single_hit_opens_at_once(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("annotate:search", args=[scene.project.slug])

    opened = client.get(address, {"q": "LA-77"})

    page = reverse("annotate:query", args=[scene.project.slug, scene.query.pk])
    assert opened.url == f"{page}?search=LA-77#pool-title"
    shown = client.get(opened.url.removesuffix("#pool-title"))
    assert [row.candidate for row in shown.context["candidates"]] == [scene.untitled]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("?q=301", "FT-301"),
        ("?q=nowhere", "Nothing was found"),
        ("?q=", "Write an id, words of a title, or a name."),
        ("?q=" + 201 * "x", "at most 200 characters"),
        ("", "Search"),
    ],
)
def test_the_page_lists_what_was_found_or_says_why_not(scene, client, asked, sentence):
    client.force_login(scene.carla.user)

    page = client.get(reverse("annotate:search", args=[scene.project.slug]) + asked)

    assert sentence in page.content.decode()


def test_the_program_finds_the_same(scene, client):
    client.force_login(scene.carla.user)

    answer = client.get(reverse("annotate:api_search", args=[scene.project.slug]), {"q": "301"})

    assert [(hit["kind"], hit["name"], hit["query"]) for hit in answer.json()["hits"]] == [
        ("query", "301", ""),
        ("document", "FT-301", "301"),
    ]
    assert answer.json()["more"] is False


def test_a_search_costs_the_same_however_much_it_finds(scene, django_assert_num_queries):
    for number in range(30):
        factories.candidate(scene.query, f"FT-{number}", title="Turbines")
    member = Membership.objects.select_related("project").get(pk=scene.carla.pk)

    with django_assert_num_queries(4):
        assert search(member, "Turbines").more
