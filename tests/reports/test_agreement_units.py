"""The unit table: the answers that a report counts, for computing agreement elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, InstructionPair, Membership
from annotate.pools.removal import DOCUMENTS
from audit.reviews.actions import save_ratings, submit_review
from tests import factories
from tests.second_pass import levels

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def led(scene, client):
    """Ada and ben judge S1, ada alone S2; ben and dan another query with unusual ids."""
    client.force_login(scene.carla.user)
    InstructionPair.objects.update(category='C1, "narrow"')
    factories.judgment(scene.narrative, scene.first, scene.ada, 0, at=NOON)
    factories.judgment(scene.narrative, scene.first, scene.ben, 2, at=NOON)
    factories.judgment(scene.narrative, scene.second, scene.ada, 1, at=NOON - timedelta(days=7))
    query = factories.query(scene.project, "10")
    other = factories.altered(factories.pair(query, pair_id="10_b"))
    for doc_id in ("ä", "Z"):
        candidate = factories.candidate(query, doc_id)
        factories.judgment(other, candidate, scene.ben, 1, at=NOON)
        factories.judgment(other, candidate, scene.dan, 0, at=NOON)
    return scene


def table(client, scene, query="", of="judgments"):
    url = reverse("audit:agreement_units", args=[scene.project.slug])
    response = client.get(f"{url}?of={of}&{query.removeprefix('?')}")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == f'attachment; filename="tides-{of}.csv"'
    return response.getvalue().decode().splitlines()


def test_each_document_is_a_line_and_each_person_a_column(led, client):
    assert table(client, led) == [
        "query_id,doc_id,pair_id,category,side,version,ada,ben,dan",
        "10,Z,10_b,,altered,1,,1,0",
        "10,ä,10_b,,altered,1,,1,0",
        '301,S1,301,"C1, ""narrow""",altered,1,0,2,',
        '301,S2,301,"C1, ""narrow""",altered,1,1,,',
    ]


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("?query=10", ["10,Z,10_b,,altered,1,1,0", "10,ä,10_b,,altered,1,1,0"]),
        ("?one=dan&other=ada&query=301", ['301,S1,301,"C1, ""narrow""",altered,1,0']),
        ("?week=2026-11-09", ['301,S2,301,"C1, ""narrow""",altered,1,1,,']),
        ("?side=original", []),
    ],
)
def test_table_covers_the_part_in_the_address(led, client, query, lines):
    assert table(client, led, query)[1:][: len(lines) or None] == lines


def test_people_can_be_numbered(led, client):
    factories.judgment(led.narrative, led.first, factories.machine(led.project, "gauge"), 2)

    assert table(client, led, "?people=numbered")[0].endswith("version,person 1,person 2,person 3")
    assert table(client, led, "?people=numbered", "machines")[0].endswith(
        "person 1,person 2,person 3,gauge"
    )


def test_superseded_judgments_are_not_in_the_table(led, client):
    led.first.statements.filter(annotator=led.ben).update(ended_at=NOON, withdrawn_at=NOON)

    assert '301,S1,301,"C1, ""narrow""",altered,1,0,,' in table(client, led)


def test_reviews_have_a_line_for_each_criterion(led, client):
    for by in (led.ben, led.dan):
        assignments.take(pair=led.pair, task=Assignment.Task.REVIEW, by=by)
        save_ratings(
            narrative=led.narrative,
            answers=levels(semantic_expansion="acceptable" if by == led.ben else "poor"),
            by=by,
        )
        submit_review(narrative=led.narrative, by=by)

    found = table(client, led, of="reviews")

    assert found[0] == "query_id,pair_id,category,side,version,criterion,ben,dan"
    assert len(found) == 7
    assert '301,301,"C1, ""narrow""",altered,1,semantic_expansion,acceptable,poor' in found
    assert len(table(client, led, "?criterion=semantic_expansion", "reviews")) == 2


def test_unknown_part_redirects_with_an_explanation(led, client):
    url = reverse("audit:agreement_units", args=[led.project.slug])

    response = client.get(url + "?query=999", follow=True)

    assert "There is no query 999 in this project" in response.getvalue().decode()


def test_unknown_table_is_not_found(led, client):
    url = reverse("audit:agreement_units", args=[led.project.slug])

    assert client.get(url + "?of=documents").status_code == 404


def test_names_that_look_like_numbers_stay_names(led, client):
    Membership.objects.filter(pk=led.ada.pk).update(name="1,5")

    assert table(client, led)[0].endswith('"1,5",ben,dan')


def test_the_table_costs_a_fixed_number_of_queries(led, client, django_assert_max_num_queries):
    url = reverse("audit:agreement_units", args=[led.project.slug])

    with django_assert_max_num_queries(13):
        client.get(url).getvalue()


def test_an_id_that_is_too_long_redirects_with_an_explanation(led, client):
    url = reverse("audit:agreement_units", args=[led.project.slug])

    response = client.get(url, {"query": "9" * 256}, follow=True)

    assert "at most 255 characters" in response.getvalue().decode()


def test_documents_that_were_taken_out_are_not_in_the_table(led, client):
    DOCUMENTS.remove(project=led.project, keys=[led.first.pk], reason="Twin.", by=led.carla)

    assert not [line for line in table(client, led) if ",S1," in line]
