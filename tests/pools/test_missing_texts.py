"""A lead finds and downloads the ids of the documents to judge that have no text."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotate.models import Candidate, Project
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def project():
    """Of six documents without a text, people are asked to judge A and C."""
    project = factories.project(judge_scope=Project.Scope.RELEVANT, relevant_from=1)
    query = factories.query(project)
    factories.candidate(query, "C", prior=1, text=None, title="Tides")
    factories.candidate(query, "A", prior=2, text=None)
    factories.candidate(query, "with a text", prior=1)
    factories.candidate(query, "not relevant before", prior=0, text=None)
    gone = factories.candidate(query, "taken out", prior=1, text=None)
    removal = {"removed_at": timezone.now(), "removed_reason": "Broken."}
    Candidate.objects.filter(pk=gone.pk).update(**removal)
    dropped = factories.query(project, "302")
    factories.candidate(dropped, "of a query taken out", prior=1, text=None)
    type(dropped).objects.filter(pk=dropped.pk).update(**removal)
    factories.document(project, "in no pool", text=None)
    factories.lead(project)
    return project


@pytest.fixture
def carla(client, project):
    client.force_login(project.memberships.get(name="carla").user)
    return client


def address(name: str) -> str:
    return reverse(f"annotate:{name}", args=["tides"])


def test_the_file_has_one_id_per_line_in_order(carla):
    response = carla.get(address("missing_texts_file"))

    assert response.content == b"A\nC\n"
    assert response["Content-Disposition"] == 'attachment; filename="tides-missing-texts.txt"'


def test_the_file_and_the_command_list_ids_in_the_order_of_their_bytes(carla, project):
    factories.candidate(project.queries.get(query_id="301"), "b", prior=1, text=None)
    printed = StringIO()
    call_command("missing_texts", "tides", stdout=printed)

    assert carla.get(address("missing_texts_file")).content == b"A\nC\nb\n"
    assert printed.getvalue() == "A\nC\nb\n"


def test_the_page_lists_the_documents_and_counts_them(carla):
    page = " ".join(carla.get(address("missing_texts")).text.split())

    assert "2 documents to judge have no text here." in page
    assert '<span class="id">A</span>' in page
    assert "Tides" in page
    assert "not relevant before" not in page


def test_documents_that_only_checks_show_are_listed_with_those_of_the_whole_pools(carla):
    page = carla.get(address("missing_texts"), {"show": "pool"})
    file = carla.get(address("missing_texts_file"), {"show": "pool"})
    listed = carla.get(address("api_missing_texts"), {"show": "pool"}).json()
    stdout = StringIO()
    call_command("missing_texts", "tides", "--pools", stdout=stdout)

    assert "3 documents of the pools have no text here." in " ".join(page.text.split())
    assert file.content.decode().splitlines() == ["A", "C", "not relevant before"]
    assert {row["doc_id"] for row in listed["results"]} == {"A", "C", "not relevant before"}
    assert stdout.getvalue().splitlines() == ["A", "C", "not relevant before"]


def test_a_long_list_has_pages_and_a_constant_number_of_queries(
    carla, project, django_assert_num_queries
):
    carla.get(address("missing_texts"))
    query = project.queries.get(query_id="301")
    with django_assert_num_queries(5):
        carla.get(address("missing_texts"))
    for number in range(60):
        factories.candidate(query, f"B{number:02}", text=None)

    with django_assert_num_queries(6):  # One more counts the documents of all pages.
        first = carla.get(address("missing_texts"))

    assert len(first.context["documents"]) == 50
    assert "62 documents to judge have no text here." in " ".join(first.text.split())
    second = carla.get(address("missing_texts") + first.context["next_url"])
    assert len(second.context["documents"]) == 12


def test_the_api_and_the_command_list_the_same(carla):
    found = carla.get(address("api_missing_texts")).json()["results"]
    printed = StringIO()
    call_command("missing_texts", "tides", stdout=printed)

    assert found == [{"doc_id": "C", "title": "Tides"}, {"doc_id": "A", "title": ""}]
    assert printed.getvalue() == "A\nC\n"


def test_the_load_page_names_the_list_only_if_a_text_is_missing(carla, project):
    assert address("missing_texts") in carla.get(address("loads")).content.decode()

    project.documents.update(text_version=1)

    assert address("missing_texts") not in carla.get(address("loads")).content.decode()
    assert "No document here lacks a text" in carla.get(address("missing_texts")).text


def test_choosing_topics_says_how_many_texts_are_missing(carla, project):
    factories.candidate(factories.query(project, "303"), text=None)
    keep = project.queries.get(query_id="301").pk

    page = carla.post(
        address("topics"), {"queries": [keep], "reason": "Off topic.", "by_hand": "1"}, follow=True
    )

    assert "2 documents to judge have no text yet. Load files lists them." in page.content.decode()
