"""A job and its log lines carry the id of the request that asked for it."""

from __future__ import annotations

import logging
from uuid import UUID

import pytest
from django.urls import reverse
from django_guid.context import guid

from config.logs import JobFilter
from exporters.models import Export
from jobs.log_context import clear_context, current_job, current_request
from jobs.runner import run_work
from tests import factories
from tests.errands.models import Errand
from tests.services.processes import wait_until

pytestmark = pytest.mark.both_databases

ASKED = UUID("7d1f0c9a5b3e4f6a8c2d1e0f9a8b7c6d")


@pytest.fixture(autouse=True)
def cleared_context():
    clear_context()
    yield
    clear_context()


@pytest.mark.django_db
def test_a_job_stores_the_id_of_its_request(client, published):
    carla = factories.lead(factories.project("tides"), "carla")
    client.force_login(carla.user)

    response = client.post(
        reverse("exporters:exports", args=["tides"]),
        {"format": "trec"},
        headers={"X-Request-ID": str(ASKED)},
    )

    assert response["X-Request-ID"] == ASKED.hex
    assert Export.objects.get().request == ASKED


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "no-uuid", "7d1f<script>", "1" * 200])
def test_a_request_without_a_valid_id_gets_one(client, sent):
    response = client.get("/healthz", headers={"X-Request-ID": sent})

    request_id = response["X-Request-ID"]
    assert request_id != sent
    assert UUID(request_id).version == 4


def test_the_id_of_a_request_is_normalized():
    token = guid.set("{" + "-" * 300 + str(ASKED).upper() + "}")

    assert current_request() == ASKED

    guid.reset(token)


@pytest.mark.django_db(transaction=True)
def test_the_log_context_of_a_job_has_its_request_and_its_name():
    errand = Errand.objects.create(request=ASKED)
    seen = []

    run_work(errand.pk, lambda *_: seen.append((current_request(), current_job())))

    assert seen == [(ASKED, f"errand {errand.pk}")]
    assert (current_request(), current_job()) == (None, None)


@pytest.mark.django_db(transaction=True)
def test_a_job_without_a_request_gets_a_new_id():
    errand = Errand.objects.create()
    seen = []

    run_work(errand.pk, lambda *_: seen.append(current_request()))

    assert errand.request is None
    assert isinstance(seen[0], UUID)


@pytest.mark.django_db(transaction=True)
def test_the_log_line_of_a_failure_names_the_job():
    errand = Errand.objects.create(request=ASKED)

    def fail(*_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_work(errand.pk, fail)

    record = logging.makeLogRecord({"msg": "raised"})
    JobFilter().filter(record)
    assert vars(record)["job"] == f"errand {errand.pk}"
    assert current_request() == ASKED


@pytest.mark.django_db(transaction=True)
def test_the_pulse_thread_has_the_same_log_context(monkeypatch):
    monkeypatch.setattr("jobs.runner.PULSE", 0.01)
    errand = Errand.objects.create(request=ASKED)
    seen = []
    monkeypatch.setattr(
        "jobs.runner._Pulse._beat", lambda self: seen.append((current_request(), current_job()))
    )

    run_work(errand.pk, lambda *_: wait_until(lambda: seen, "a beat"))

    assert seen[0] == (ASKED, f"errand {errand.pk}")
