from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from jobs.runner import claim_row, run_work
from tests.errands.models import Errand
from tests.errands.work import work

pytestmark = pytest.mark.both_databases

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.mark.django_db
def test_a_waiting_job_is_done():
    errand = Errand.objects.create()

    did_it = run_work(errand.pk, work)

    errand.refresh_from_db()
    assert did_it
    assert errand.state == "done"
    assert (errand.attempts, errand.begun) == (1, 1)
    assert (errand.step, errand.done, errand.total) == ("Walking", 3, 3)
    assert (errand.claim, errand.lease_until) == (None, None)
    assert errand.started_at is not None
    assert errand.finished_at is not None
    assert errand.requested_at <= errand.started_at <= errand.finished_at


@pytest.mark.django_db
def test_a_second_delivery_does_nothing():
    errand = Errand.objects.create()
    run_work(errand.pk, work)

    did_it = run_work(errand.pk, work)

    errand.refresh_from_db()
    assert not did_it
    assert (errand.attempts, errand.begun) == (1, 1)


@pytest.mark.django_db
def test_a_message_about_a_row_that_is_gone_does_nothing():
    assert not run_work(12_345, work)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("later", "attempts_before", "is_taken"),
    [
        pytest.param(59, 1, False, id="its lease still runs"),
        pytest.param(61, 1, True, id="its lease has run out"),
        pytest.param(61, 2, True, id="for the third time"),
        pytest.param(61, 3, False, id="three workers have died of it"),
        pytest.param(-60, 1, False, id="its worker's clock is a minute ahead"),
        pytest.param(-7_200, 1, True, id="its clock was set back by hours"),
    ],
)
def test_a_running_job_is_taken_over_when(later, attempts_before, is_taken):
    errand = Errand.objects.create()
    first = claim_row(errand.pk, now=NOW)
    Errand.objects.update(attempts=attempts_before)

    second = claim_row(errand.pk, now=NOW + timedelta(seconds=later))

    errand.refresh_from_db()
    assert first is not None
    assert (second is not None) == is_taken
    assert errand.claim == (second if is_taken else first)
    assert errand.attempts == attempts_before + is_taken
    assert errand.started_at == NOW


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_workers_gets_a_job():
    errand = Errand.objects.create()
    together = threading.Barrier(12)
    claims = []

    def claim():
        together.wait()
        try:
            claims.append(claim_row(errand.pk))
        finally:
            connection.close()

    workers = [threading.Thread(target=claim) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    errand.refresh_from_db()
    assert len(claims) == 12
    assert [claim for claim in claims if claim] == [errand.claim]
    assert errand.attempts == 1
