"""Agreement with machines is on its own page, and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from audit.models import AgreementReport
from audit.reports.reliability import agreement_of
from tests import factories

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def led(disputed, client):
    """Ada's grades are 0 and 1, ben's 2 and 1; the machine gives the first document 2."""
    client.force_login(disputed.carla.user)
    disputed.gauge = factories.machine(disputed.project, "gauge")
    factories.judgment(disputed.narrative, disputed.first, disputed.gauge, 2)
    disputed.people = reverse("audit:agreement", args=[disputed.project.slug])
    disputed.machines = reverse("audit:agreement_machines", args=[disputed.project.slug])
    return disputed


def computed(scene, scope=""):
    return AgreementReport.objects.create(
        project=scene.project,
        scope=scope,
        state="done",
        finished_at=NOON,
        figures=agreement_of(scene.project, seed=1, resamples=100, now=NOON),
    )


def text(response):
    return response.getvalue().decode()


def test_machines_are_not_on_the_page_of_people(led, client):
    before = text(client.get(led.people))
    computed(led)

    page = text(client.get(led.people))

    assert "gauge" not in before + page
    assert "ada and ben" in page


def test_each_person_is_compared_with_the_machine(led, client):
    computed(led)

    page = text(client.get(led.machines))

    assert "People against gauge" in page
    assert "Computed from judgments of people and machines" in page
    assert "ada and ben" not in page
    assert "1 document left out: judged by one rater only" in page
    assert '<th class="number" scope="col">Raters</th>' in page


def test_table_counts_how_often_grades_meet(led, client):
    report = computed(led)

    assert report.figures is not None
    (gauge,) = report.figures["machines"]
    # Rows are the person's grades 0, 1, 2; columns the machine's.
    assert [pair["table"] for pair in gauge["pairs"]] == [
        [[0, 0, 1], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 1]],
    ]
    assert "Grades of ada and of gauge" in text(client.get(led.machines))


def test_request_on_the_machine_page_returns_to_it(led, client):
    response = client.post(led.machines)

    assert response.url == led.machines
    assert AgreementReport.objects.get().state == "queued"
    assert "Computing agreement" in text(client.get(led.machines))


def test_machines_have_a_separate_unit_table(led, client):
    computed(led)
    url = reverse("audit:agreement_units", args=[led.project.slug]) + "?of=machines"

    assert url in text(client.get(led.machines))
    assert url not in text(client.get(led.people))
    assert text(client.get(url)).splitlines() == [
        "query_id,doc_id,pair_id,category,side,version,ada,ben,gauge",
        "301,S1,301,,altered,1,0,2,2",
        "301,S2,301,,altered,1,1,1,",
    ]


def test_the_page_says_what_to_load_without_machines(led, client):
    led.gauge.statements.all().delete()
    computed(led)

    assert "No machine has judged here" in text(client.get(led.machines))


def test_machine_without_shared_units_is_named(led, client):
    led.narrative.statements.exclude(annotator=led.gauge).delete()
    computed(led)

    assert "No person has judged what gauge judged" in text(client.get(led.machines))


def test_blind_lead_sees_no_machine_figures(led, client):
    report = computed(led)
    factories.assignment(led.pair, led.carla)
    slug = led.project.slug

    page = text(client.get(led.machines))

    assert "You have judging or reviewing left in this project" in page
    assert "gauge" not in page
    for url in (
        reverse("audit:agreement_units", args=[slug]),
        reverse("audit:agreement_past", args=[slug, report.pk]),
        reverse("audit:agreement_report", args=[slug, report.pk]),
    ):
        assert client.get(url).status_code == 403
