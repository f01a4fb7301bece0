"""No single person can fill the job queue that everybody shares."""

from __future__ import annotations

import pytest

from audit.models import AgreementReport
from audit.reports.actions import request_agreement
from audit.reports.scopes import Scope
from base.errors import Refused
from exporters.exports.actions import request_export
from jobs import queue
from jobs.models import Job
from tests import factories


@pytest.fixture
def carla(db, published):
    project = factories.project("tides")
    for number in range(40):
        factories.pair(factories.query(project, str(number)), pair_id=str(number))
    return factories.lead(project)


def fill(by, most=queue.MOST_OPEN):
    for number in range(most):
        request_agreement(project=by.project, scope=Scope(query=str(number)), by=by)


def test_the_number_of_waiting_jobs_per_person_is_limited(carla):
    fill(carla)

    with pytest.raises(Refused, match="You already have 30 jobs waiting"):
        request_agreement(project=carla.project, scope=Scope(query="35"), by=carla)
    with pytest.raises(Refused, match="You already have 30 jobs waiting"):
        request_export(project=carla.project, format_name="trec", by=carla)

    assert AgreementReport.objects.count() == 30


def test_the_limit_counts_jobs_of_all_projects(carla):
    fill(carla)
    other = factories.lead(factories.project("other"))

    with pytest.raises(Refused, match="already have 30 jobs"):
        request_export(project=other.project, format_name="trec", by=other)


def test_finished_jobs_do_not_count(carla):
    fill(carla)
    first = AgreementReport.objects.order_by("pk").first()
    assert first
    queue.cancel(first)

    export = request_export(project=carla.project, format_name="trec", by=carla)

    assert export.state == Job.State.QUEUED


def test_the_limit_does_not_affect_other_people(carla):
    fill(carla)
    gina = factories.lead(carla.project, "gina")

    assert request_export(project=carla.project, format_name="trec", by=gina).pk


def test_requesting_a_waiting_report_again_adds_no_job(carla):
    fill(carla)

    again = request_agreement(project=carla.project, scope=Scope(query="3"), by=carla)

    assert again.scope == str(Scope(query="3"))
    assert AgreementReport.objects.count() == 30


def test_the_page_shows_the_limit(carla, client):
    fill(carla)
    client.force_login(carla.user)

    answer = client.post("/projects/tides/exports/", {"format": "trec"})

    assert answer.status_code == 422
    assert "You already have 30 jobs waiting" in answer.content.decode()
