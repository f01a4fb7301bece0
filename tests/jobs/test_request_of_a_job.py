"""A job and its log lines carry the id of the request that asked for it."""

from __future__ import annotations

import logging
from uuid import UUID

import pytest
from django.urls import reverse
from django_guid.context import guid

from config.logs import AboutJob
from exporters.models import Export
from jobs.about import current_job, current_request, forget
from jobs.runner import run
from tests import factories
from tests.errands.models import Errand
from tests.services.processes import wait_until

pytestmark = pytest.mark.both_databases

ASKED = UUID("7d1f0c9a5b3e4f6a8c2d1e0f9a8b7c6d")


@pytest.fixture(autouse=True)
def nothing_in_particular():
    forget()
    yield
    forget()


@pytest.mark.django_db
def test_a_job_keeps_the_id_of_the_request_that_asked_for_it(client, published):
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
def test_a_request_without_an_id_of_its_own_gets_one(client, sent):
    response = client.get("/healthz", headers={"X-Request-ID": sent})

    given = response["X-Request-ID"]
    assert given != sent
    assert UUID(given).version == 4


def test_however_a_request_writes_its_id_one_form_is_kept():
    token = guid.set("{" + "-" * 300 + str(ASKED).upper() + "}")

    assert current_request() == ASKED

    guid.reset(token)


@pytest.mark.django_db(transaction=True)
def test_the_work_of_a_job_is_about_its_request_and_says_which_job_it_is():
    errand = Errand.objects.create(request=ASKED)
    said = []

    run(Errand, errand.pk, lambda *_: said.append((current_request(), current_job())))

    assert said == [(ASKED, f"errands.errand {errand.pk}")]
    assert (current_request(), current_job()) == (None, None)


@pytest.mark.django_db(transaction=True)
def test_work_that_nobodys_request_asked_for_has_an_id_of_its_own():
    errand = Errand.objects.create()
    said = []

    run(Errand, errand.pk, lambda *_: said.append(current_request()))

    assert errand.request is None
    assert isinstance(said[0], UUID)


@pytest.mark.django_db(transaction=True)
def test_the_line_that_says_why_a_job_failed_is_about_that_job():
    errand = Errand.objects.create(request=ASKED)

    def fail(*_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run(Errand, errand.pk, fail)

    record = logging.makeLogRecord({"msg": "raised"})
    AboutJob().filter(record)
    assert vars(record)["job"] == f"errands.errand {errand.pk}"
    assert current_request() == ASKED


@pytest.mark.django_db(transaction=True)
def test_the_thread_beside_the_work_is_about_the_same_job(monkeypatch):
    monkeypatch.setattr("jobs.runner.PULSE", 0.01)
    errand = Errand.objects.create(request=ASKED)
    said = []
    monkeypatch.setattr(
        "jobs.runner._Pulse._beat", lambda self: said.append((current_request(), current_job()))
    )

    run(Errand, errand.pk, lambda *_: wait_until(lambda: said, "a beat"))

    assert said[0] == (ASKED, f"errands.errand {errand.pk}")
