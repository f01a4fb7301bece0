"""The rewrite page: the original beside the altered narrative, and what is at stake."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.actions import seats
from annotate.models import Assignment, Narrative
from tests import factories


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query, "kept", prior=2, title="A barrage")
    factories.candidate(query, "lost", prior=0, title="A dam")
    factories.candidate(query, "bare", prior=1, text=None)
    return factories.pair(query, altered=None)


@pytest.fixture
def ada(pair, client):
    person = factories.member(pair.project, "ada")
    seats.take(pair=pair, task=Assignment.Task.REWRITE, by=person)
    client.force_login(person.user)
    return person


def url(pair) -> str:
    return reverse("annotate:rewrite", args=[pair.pk])


def texts(pair) -> list[str]:
    altered = pair.narratives.filter(side=Narrative.Side.ALTERED).order_by("version")
    return list(altered.values_list("text", flat=True))


def test_writing_begins_with_the_original(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    assert ">Any plant counts.</textarea>" in page


def test_the_documents_that_were_relevant_are_at_hand(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    assert "A barrage" in page
    assert "bare" in page
    assert "A dam" not in page


def test_no_document_text_is_read_for_the_list(pair, ada, client, django_assert_max_num_queries):
    with django_assert_max_num_queries(22) as queries:
        client.get(url(pair))

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def test_a_document_opens_in_place_and_on_a_page_of_its_own(pair, ada, client):
    candidate = pair.query.candidates.get(document__doc_id="kept")
    address = reverse("annotate:document", args=[pair.pk, candidate.pk])

    whole = client.get(address).content.decode()
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert "Some text." in whole
    assert "<html" in whole
    assert "Some text." in part
    assert "<html" not in part


def test_saving_makes_a_version_and_stays_on_the_page(pair, ada, client):
    response = client.post(url(pair), {"text": "At sea only.", "based_on": 0, "note": "narrower"})

    assert response.url == url(pair)
    assert texts(pair) == ["At sea only."]
    page = client.get(url(pair)).content.decode()
    assert "narrower" in page


@pytest.mark.parametrize("text", ["", "Any plant counts.", "At\x00sea"])
def test_what_is_refused_is_said_at_the_field(pair, ada, client, text):
    response = client.post(url(pair), {"text": text, "based_on": 0})

    assert response.status_code == 422
    assert texts(pair) == []


def test_when_someone_was_faster_what_was_typed_is_still_there(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    response = client.post(url(pair), {"text": "In rivers only.", "based_on": 0})
    page = response.content.decode()

    assert response.status_code == 422
    assert "Version 1 was saved while you were writing" in page
    assert "In rivers only." in page
    assert texts(pair) == ["At sea only."]


def test_saving_once_more_after_reading_the_other_version_is_possible(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    client.post(url(pair), {"text": "In rivers only.", "based_on": 0})

    client.post(url(pair), {"text": "In rivers only.", "based_on": 1})

    assert texts(pair) == ["At sea only.", "In rivers only."]


def test_from_a_saved_version_one_goes_on_to_judge(pair, ada, client):
    before = client.get(url(pair)).content.decode()
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    after = client.get(url(pair)).content.decode()

    assert "Judge the documents" not in before
    assert "Judge the documents" in after


def test_without_a_seat_there_is_no_writing(pair, ada, client):
    client.force_login(factories.member(pair.project, "ben").user)

    shown = client.get(url(pair), follow=True).content.decode()
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    assert "not your seat" in shown
    assert texts(pair) == []


def test_a_lead_writes_without_a_seat(pair, ada, client):
    client.force_login(factories.lead(pair.project).user)

    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    assert texts(pair) == ["At sea only."]


def test_a_query_that_came_without_a_narrative_says_so(pair, ada, client):
    pair.narratives.update(text="")

    assert "This query came without a narrative." in client.get(url(pair)).content.decode()
