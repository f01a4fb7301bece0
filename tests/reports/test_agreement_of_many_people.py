"""The pages of a report with a hundred people, who make 4,950 pairs."""

from __future__ import annotations

from itertools import combinations

import pytest
from django.urls import reverse

from audit.reports.reliability import agreement_of
from tests import factories
from tests.pages import shows
from tests.reports.test_agreement_parts import computed, text


@pytest.fixture
def crowded(scene, client):
    """A report in which 100 people make pairs that all agree as ada and ben do."""
    client.force_login(scene.carla.user)
    for doc_id, adas, bens in (("a", 1, 1), ("b", 0, 0), ("c", 2, 0)):
        candidate = factories.candidate(scene.query, doc_id)
        factories.judgment(scene.narrative, candidate, scene.ada, adas)
        factories.judgment(scene.narrative, candidate, scene.ben, bens)
    scene.report = computed(scene)
    (scene.pair,) = scene.report.figures["judgments"]["pairs"]
    with_people(scene, 100)
    scene.url = reverse("audit:agreement", args=[scene.project.slug])
    scene.pairs = reverse(
        "audit:agreement_table", args=[scene.project.slug, scene.report.pk, "pairs"]
    )
    return scene


def with_people(scene, number):
    """Save the report as one of so many people."""
    people = [f"person {person:03}" for person in range(1, number + 1)]
    scene.report.figures["judgments"]["pairs"] = [
        {**scene.pair, "raters": two} for two in combinations(people, 2)
    ]
    scene.report.save()


def test_the_report_shows_the_first_pairs_and_leads_to_the_others(crowded, client):
    page = text(client.get(crowded.url))

    assert shows(page, "person 001 and person 051")
    assert not shows(page, "person 001 and person 052")
    assert shows(page, f'<a href="{crowded.pairs}">Show all 4,950</a>')


def test_every_pair_is_on_one_page_of_its_table(crowded, client):
    with_people(crowded, 20)

    shown = [
        line.label
        for page in range(1, 5)
        for line in client.get(f"{crowded.pairs}?page={page}").context["table"].lines
    ]

    assert shown == [
        f"{one} and {other}"
        for one, other in combinations([f"person {number:03}" for number in range(1, 21)], 2)
    ]
    assert len(shown) == 190


def test_a_page_of_the_table_has_all_coefficients_and_the_next_page(crowded, client):
    page = text(client.get(f"{crowded.pairs}?page=2"))

    assert "51 to 100 of 4,950" in page
    assert page.count("Cohen&#x27;s kappa, quadratic weights") == 50
    assert 'href="?page=3"' in page


def test_a_table_that_a_report_lacks_is_not_found(crowded, client):
    lacking = reverse(
        "audit:agreement_table", args=[crowded.project.slug, crowded.report.pk, "weeks"]
    )

    assert client.get(lacking).status_code == 404


def test_the_json_of_the_report_has_every_pair(crowded, client):
    address = reverse("audit:agreement_report", args=[crowded.project.slug, crowded.report.pk])

    assert len(client.get(address).json()["figures"]["judgments"]["pairs"]) == 4_950


@pytest.mark.parametrize(
    ("people", "method"), [(8, "bootstrap"), (9, "95% interval from the linearised variance")]
)
def test_the_mean_over_pairs_of_more_than_eight_people_is_not_resampled(scene, people, method):
    raters = [factories.member(scene.project, f"rater {number}") for number in range(people)]
    # Each pair judges one document, and every third pair differs.
    for number, pair in enumerate(combinations(raters, 2)):
        candidate = factories.candidate(scene.query, f"d{number}")
        for place, rater in enumerate(pair):
            grade = (number + place * (number % 3 == 0)) % 3
            factories.judgment(scene.narrative, candidate, rater, grade)

    everyone = agreement_of(scene.project, seed=1, resamples=100, by=())["judgments"]["all"]

    cohen, fleiss = everyone["coefficients"]["cohen"], everyone["coefficients"]["fleiss"]
    assert method in cohen["interval_note"]
    assert "bootstrap" in fleiss["interval_note"]
