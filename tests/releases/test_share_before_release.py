"""The preview of a release lists pairs in which too few or too many documents drop out."""

from __future__ import annotations

import pytest
from django.urls import reverse

from exporters.exports.rule_facts import kind_facts
from tests import factories

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
    assert [(one.pair.pair_id, one.dropped, one.of, one.open) for one in found.outside_share] == [
        ("302", 1, 6, 2)
    ]
    shown = page.content.decode()
    assert "1 pair is outside the range of 25 to 75% of relevant documents" in shown
    assert "1 of 6" in shown
    assert "16.7%" in shown


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
