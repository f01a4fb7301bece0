"""A lead follows and cancels a job of the project, whatever its kind."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.urls import reverse

from annotate.models import Load, Pool
from audit.models import AgreementReport
from exporters.models import Evaluation, Export, Release
from jobs.models import Job
from tests import factories
from tests.programs import Program

KINDS = {
    "load": lambda carla: Load.objects.create(
        project=carla.project, by=carla, format="trec-qrels", file_name="qrels.txt"
    ),
    "pool": lambda carla: Pool.objects.create(
        project=carla.project, by=carla, name="first", method="union", depth=1
    ),
    "agreement": lambda carla: AgreementReport.objects.create(project=carla.project),
    "export": lambda carla: Export.objects.create(project=carla.project, by=carla, format="trec"),
    "release": lambda carla: Release.objects.create(project=carla.project, by=carla, name="v1.0"),
    "evaluation": lambda carla: Evaluation.objects.create(
        project=carla.project, by=carla, systems=[]
    ),
}


@pytest.fixture
def carla(db):
    return factories.lead(factories.project("tides"), "carla")


HTMX = {"HX-Request": "true"}
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
RUNNING = {
    "state": "running",
    "claim": UUID(int=1),
    "lease_until": NOW,
    "started_at": NOW,
    "step": "Reading the file",
    "done": 40,
    "total": 80,
}


def text(response):
    return response.content.decode()


def progress(pk: int, slug: str = "tides") -> str:
    return reverse("annotate:job", args=[slug, pk])


def address(pk: int, slug: str = "tides") -> str:
    return reverse("annotate:job_cancellation", args=[slug, pk])


@pytest.mark.parametrize("kind", KINDS)
def test_its_page_polls_its_progress(carla, client, kind):
    job = KINDS[kind](carla)
    Job.objects.update(**RUNNING)
    client.force_login(carla.user)

    page = text(client.get(job.get_absolute_url()))
    polled = text(client.get(progress(job.pk), headers=HTMX))

    for shown in (page, polled):
        assert f'hx-get="{progress(job.pk)}"' in shown
        assert "Reading the file" in shown
        assert f'<progress aria-label="{job.title()}" value="40" max="80">' in shown
    assert "<html" in page
    assert "<html" not in polled


@pytest.mark.parametrize("kind", KINDS)
def test_the_poll_of_one_that_is_over_refreshes_its_page(carla, client, kind):
    job = KINDS[kind](carla)
    Job.objects.update(state="failed", finished_at=NOW, error="The disk was full.")
    client.force_login(carla.user)

    polled = client.get(progress(job.pk), headers=HTMX)

    assert polled.headers["HX-Refresh"] == "true"
    assert "The disk was full." in text(client.get(job.get_absolute_url()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_browser_that_opens_its_progress_gets_its_page(carla, client, kind):
    job = KINDS[kind](carla)
    client.force_login(carla.user)

    assert client.get(progress(job.pk)).url == job.get_absolute_url()


@pytest.mark.parametrize("kind", KINDS)
def test_a_lead_cancels_it_on_its_page(carla, client, kind):
    job = KINDS[kind](carla)
    client.force_login(carla.user)

    response = client.post(address(job.pk))

    job.refresh_from_db()
    assert response.url == job.get_absolute_url()
    assert job.state == "cancelled"


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_cancels_it(carla, kind):
    job = KINDS[kind](carla)

    response = Program("carla", "lead").send("POST", f"projects/tides/jobs/{job.pk}/cancellation/")

    answer = response.json()
    assert response.status_code == 200
    assert (answer["kind"], answer["id"], answer["state"]) == (kind, job.pk, "cancelled")


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_has_failed_stays_failed(carla, client, kind):
    job = KINDS[kind](carla)
    type(job)._default_manager.filter(pk=job.pk).update(
        state="failed", finished_at=job.requested_at, error="The disk was full."
    )
    client.force_login(carla.user)

    client.post(address(job.pk))

    job.refresh_from_db()
    assert job.state == "failed"


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_else_cancels_it(carla, client, kind):
    job = KINDS[kind](carla)
    ada = factories.member(carla.project, "ada")
    eve = factories.lead(factories.project("elsewhere"), "eve")

    client.force_login(ada.user)
    assert client.post(address(job.pk)).status_code == 403
    client.force_login(eve.user)
    assert client.post(address(job.pk)).status_code == 404
    assert client.post(address(job.pk, slug="elsewhere")).status_code == 404

    job.refresh_from_db()
    assert job.state == "queued"


def test_a_job_that_does_not_exist_is_not_found(carla, client):
    client.force_login(carla.user)

    assert client.post(address(999)).status_code == 404
