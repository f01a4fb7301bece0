"""Leads see what to look at before they publish, and manifests have the same list."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from annotate.collection.intake.documents import digest
from annotate.pools.removal import DOCUMENTS
from exporters.exports import before_publishing
from exporters.exports.models import Publication
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LONG = "A tidal plant works at sea."


class Scene:
    """A project in which one person judges; queries are added by each test."""

    def __init__(self) -> None:
        self.project = factories.project(overlap_judge=1)
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")

    def judged(self, query_id, **documents):
        """Add a query with documents: their grade before, their grade now, and their text."""
        query = factories.query(self.project, query_id)
        pair = factories.pair(query)
        under = factories.altered(pair)
        for doc_id, (before, now, text) in documents.items():
            fields = {} if text is None else {"digest": digest("plain", text)}
            candidate = factories.candidate(query, doc_id, before, text=text, **fields)
            if now is not None:
                factories.judgment(under, candidate, self.ada, now)
        return pair

    def findings(self):
        """Return each finding: pair, side, and documents with their grades."""
        return {
            kind: [(one["pair_id"], one["side"], one["documents"]) for one in found["first"]]
            for kind, found in before_publishing.facts(self.project).items()
            if found["count"]
        }


@pytest.fixture
def scene():
    return Scene()


def test_documents_with_equal_texts_and_different_grades_are_listed_on_each_side(scene):
    scene.judged("301", D1=(1, 1, LONG), D2=(1, 0, LONG), D3=(0, None, LONG + " New."))

    assert scene.findings() == {"equal_texts": [("301", "altered", {"D1": 1, "D2": 0})]}


def test_equal_texts_with_equal_grades_are_not_listed(scene):
    scene.judged("301", D1=(1, 1, LONG), D2=(1, 1, LONG))

    assert scene.findings() == {}


def test_a_relevant_document_without_a_text_is_listed_once(scene):
    scene.judged("301", D1=(1, 1, None), D2=(1, 0, ""), D3=(0, None, None), D4=(1, 1, LONG))

    assert scene.findings() == {
        "relevant_without_text": [("301", "original", {"D1": 1}), ("301", "original", {"D2": 1})]
    }


def test_a_query_without_a_relevant_document_is_listed_by_side(scene):
    scene.judged("301", D1=(1, 0, LONG))
    scene.judged("302", D2=(0, 0, LONG + " New."), D3=(1, 1, LONG + " Old."))

    assert scene.findings() == {"without_relevant": [("301", "altered", {})]}


def test_a_text_of_19_characters_is_very_short_and_one_of_20_is_not(scene):
    scene.judged("301", D1=(1, 1, "x" * 19), D2=(1, 1, "x" * 20))

    assert scene.findings() == {"short_texts": [("301", "original", {"D1": 1})]}


def test_documents_that_are_taken_out_or_without_a_grade_are_not_looked_at(scene):
    pair = scene.judged("301", D1=(1, 1, "short"), D2=(None, None, "new"), D3=(1, 1, LONG))
    taken_out = pair.query.candidates.get(document__doc_id="D1")
    DOCUMENTS.remove(
        project=scene.project, keys=[taken_out.pk], reason="Too short.", by=scene.carla
    )

    assert scene.findings() == {}


def test_all_are_counted_and_the_first_are_listed(scene, monkeypatch):
    monkeypatch.setattr(before_publishing, "MOST", 2)
    scene.judged("301", **{f"D{n}": (1, 1, f"text {n}") for n in range(5)})

    found = before_publishing.facts(scene.project)["short_texts"]

    assert found["count"] == 5
    assert [list(one["documents"]) for one in found["first"]] == [["D0"], ["D1"]]


def findings_page(client) -> str:
    """Return the page with the findings, for which it asks by its script."""
    address = reverse("exporters:before_publishing", args=["tides"])
    return str(client.get(address, {"findings": "1"}).text)


def test_the_page_is_shown_before_its_findings(scene, client):
    scene.judged("301", D1=(1, 1, LONG), D2=(1, 0, LONG))
    client.force_login(scene.carla.user)

    page = client.get(reverse("exporters:before_publishing", args=["tides"]))

    assert page.context["findings"] is None
    # The script asks for them; without one a link does.
    assert 'hx-get="?findings=1"' in page.text
    assert '<a href="?findings=1">' in page.text


def test_the_page_links_each_finding_to_its_query_and_document(scene, client):
    pair = scene.judged("301", D1=(1, 1, LONG), D2=(1, 0, LONG))
    client.force_login(scene.carla.user)

    page = findings_page(client)

    candidate = pair.query.candidates.get(document__doc_id="D2")
    assert "Equal texts with different grades: 1" in page
    for name, keys in (
        ("annotate:query", ["tides", pair.query.pk]),
        ("annotate:document", [pair.pk, candidate.pk]),
    ):
        assert f'href="{reverse(name, args=keys)}"' in page
        assert client.get(reverse(name, args=keys)).status_code == 200


def test_the_page_says_that_nothing_was_found(scene, client):
    scene.judged("301", D1=(1, 1, LONG))
    client.force_login(scene.carla.user)

    page = findings_page(client)

    assert "Nothing to look at" in page


def test_publish_links_to_the_page(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(reverse("exporters:publication", args=["tides"])).content.decode()

    assert f'href="{reverse("exporters:before_publishing", args=["tides"])}"' in page


def test_a_lead_who_still_judges_sees_no_grade(scene, client):
    # An id that no random token contains.
    pair = scene.judged("301", SHORT_TEXT=(1, 1, "short"), D2=(1, None, LONG))
    factories.assignment(pair, scene.carla)
    client.force_login(scene.carla.user)

    page = findings_page(client)

    assert "SHORT_TEXT" not in page
    assert "characters" not in page


def test_the_page_takes_no_more_statements_for_more_documents(
    scene, client, django_assert_max_num_queries
):
    client.force_login(scene.carla.user)
    scene.judged("301", **{f"D{n}": (1, 1, f"text {n}") for n in range(40)})

    with django_assert_max_num_queries(25):
        findings_page(client)


def test_manifests_of_qrels_and_layouts_have_the_list(scene, write):
    scene.judged("301", D1=(1, 1, LONG), D2=(1, 0, LONG))
    Publication.objects.create(project=scene.project, texts=True, licence="CC-BY-4.0")

    for format_name in ("trec", "mteb", "beir", "infosearch"):
        found = json.loads(write(scene.project, format_name)["manifest.json"])["before_publishing"]
        assert found == {
            "equal_texts": {
                "count": 1,
                "first": [{"pair_id": "301", "side": "altered", "documents": {"D1": 1, "D2": 0}}],
            },
            "relevant_without_text": {"count": 0, "first": []},
            "without_relevant": {"count": 0, "first": []},
            "short_texts": {"count": 0, "first": []},
        }
    assert "before_publishing" not in write(scene.project, "jsonl").manifest


def test_claims_are_looked_at_if_they_are_published(scene):
    machine = factories.machine(scene.project)
    query = factories.query(scene.project, "301")
    under = factories.altered(factories.pair(query))
    factories.judgment(under, factories.candidate(query, "D1", 1, text="short"), machine, 0)

    assert before_publishing.facts(scene.project)["without_relevant"]["count"] == 0
    found = before_publishing.facts(scene.project, claims=True)
    assert found["without_relevant"]["count"] == 1
