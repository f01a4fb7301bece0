"""The preview of a release lists pairs in which too few or too many documents drop out."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments.pair_rules import Counts
from exporters.evaluations.measuring import collection_figures, read_collection
from exporters.exports import actions
from exporters.exports.manifest.rule_facts import kind_facts
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases


@pytest.fixture
def narrowed(db):
    """Three pairs: in 301 two of four documents drop out, in 302 one of eight (six are judged), and
    in 303 none is judged.
    """
    project = factories.project(kind="followir", judge_scope="relevant", overlap_judge=1)
    ada = factories.member(project, "ada")
    carla = factories.lead(project)
    grades_by_query = {"301": [0, 0, 1, 1], "302": [0, 1, 1, 1, 1, 1], "303": []}
    pools = {"301": 4, "302": 8, "303": 2}
    for query_id, grades in grades_by_query.items():
        query = factories.query(project, query_id, title=f"question {query_id}")
        narrative = factories.altered(factories.pair(query, pair_id=query_id))
        for number in range(pools[query_id]):
            candidate = factories.candidate(query, f"{query_id}-{number}")
            if number < len(grades):
                factories.judgment(narrative, candidate, ada, grades[number])
    return project, carla


def test_the_page_lists_them_with_their_shares(narrowed, client):
    project, carla = narrowed
    client.force_login(carla.user)

    page = client.get(reverse("exporters:new_release", args=[project.slug]))

    found = page.context["preview"]
    assert found.share_range == (25, 75)
    # 1 of 6 judged documents; with the 2 open ones it could still become 3 of 8.
    [outside] = found.outside_share
    counts = outside.counts
    assert outside.pair.pair_id == "302"
    assert (counts.dropped, counts.known_of_relevant, counts.open) == (1, 6, 2)
    shown = page.content.decode()
    assert shows(shown, "1 pair is outside the range of 25 to 75% of relevant documents")
    assert shows(shown, "1 of 6")
    assert shows(shown, "16.7%")


def test_the_page_lists_the_first_and_leads_to_all_of_them(narrowed, client, monkeypatch):
    project, carla = narrowed
    monkeypatch.setattr("exporters.releases.preview.BROKEN_AT_ONCE", 0)
    client.force_login(carla.user)

    page = client.get(reverse("exporters:new_release", args=[project.slug])).content.decode()

    assert shows(page, "1 pair is outside the range of 25 to 75% of relevant documents")
    assert not shows(page, "16.7%")
    assert f"{reverse('audit:collection', args=[project.slug])}#share-title" in page


def test_programs_read_the_same(narrowed, client):
    project, carla = narrowed
    client.force_login(carla.user)

    found = client.get(reverse("exporters:api_release_preview", args=[project.slug])).json()

    assert found["share_range"] == [25, 75]
    (one,) = found["outside_share"]
    assert (one["pair_id"], one["dropped"], one["of"], one["open"]) == ("302", 1, 6, 2)


def test_a_kind_without_a_share_rule_lists_no_pairs(narrowed, client):
    project, carla = narrowed
    project.kind = "own"
    project.save()
    client.force_login(carla.user)

    page = client.get(reverse("exporters:new_release", args=[project.slug]))

    assert page.context["preview"].share_range is None
    assert "Share that drops out" not in page.content.decode()


def test_the_manifest_has_the_share_of_every_judged_pair(narrowed):
    project, _carla = narrowed

    assert kind_facts(project)["dropped_shares"] == [
        {"pair_id": "301", "dropped": 2, "of": 4, "percent": 50.0, "outside": False},
        {"pair_id": "302", "dropped": 1, "of": 6, "percent": 16.67, "outside": True},
    ]
    project.kind = "own"
    assert "dropped_shares" not in kind_facts(project)


def test_an_evaluation_has_the_share_of_the_release(narrowed, tmp_path):
    project, _carla = narrowed
    written = actions.write(project, "trec", tmp_path)
    of_pairs = {"301": "301", "302": "302"}
    collection, _notes = read_collection(tmp_path, written, of_pairs)

    figures = collection_figures(collection, tmp_path, of_pairs, project)

    # 302: 1 of the 6 whose relevance is known, although 8 were relevant.
    rows = [
        (row["topic"], row["relevant_before"], row["kept"], row["dropped"], row["share_dropped"])
        for row in figures["topics"]
    ]
    assert rows == [("301", 4, 2, 2, 2 / 4), ("302", 8, 5, 1, 1 / 6)]


def test_documents_without_an_earlier_relevance_are_in_no_share():
    counts = Counts()
    for before, now in ((1, 1), (1, 0), (None, 1), (None, 1), (None, 0)):
        counts.add(before, now, relevant_from=1)

    assert counts.dropped_percent == 100 * 1 / 2
    assert (counts.compliant, counts.violating) == (3, 2)
