from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobs.queue import cancel
from jobs.runner import Cancelled, claim_row, run_work
from tests.errands.models import Errand
from tests.errands.work import work

pytestmark = pytest.mark.both_databases

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 9, 31, tzinfo=UTC)


@pytest.mark.django_db
def test_a_waiting_job_is_cancelled_at_once():
    errand = Errand.objects.create()

    cancel(errand, now=NOW)

    assert errand.state == "cancelled"
    assert (errand.cancel_requested_at, errand.finished_at) == (NOW, NOW)
    assert not run_work(errand.pk, work)
    assert Errand.objects.get().begun == 0


@pytest.mark.django_db
def test_a_running_job_is_asked_to_stop():
    errand = Errand.objects.create()
    claim_row(errand.pk)

    cancel(errand, now=NOW)

    assert errand.state == "running"
    assert errand.cancel_requested_at == NOW


@pytest.mark.django_db
def test_cancelling_twice_keeps_the_first_time():
    errand = Errand.objects.create()
    claim_row(errand.pk)
    cancel(errand, now=NOW)

    cancel(errand, now=LATER)

    assert errand.cancel_requested_at == NOW


@pytest.mark.django_db
def test_a_job_that_is_over_stays_as_it_is():
    errand = Errand.objects.create()
    run_work(errand.pk, work)

    cancel(errand)

    assert errand.state == "done"
    assert errand.cancel_requested_at is None


@pytest.mark.django_db
def test_work_that_raises_cancelled_is_cancelled():
    errand = Errand.objects.create()

    def give_up(errand, progress):
        progress.stop(Cancelled())
        progress.advance()

    run_work(errand.pk, give_up)

    errand.refresh_from_db()
    assert errand.state == "cancelled"
    assert errand.cancel_requested_at == errand.finished_at


@pytest.mark.django_db
def test_a_job_cancelled_after_its_worker_died_is_not_started_again():
    errand = Errand.objects.create()
    claim_row(errand.pk, now=NOW)
    cancel(errand)

    run_work(errand.pk, work)

    errand.refresh_from_db()
    assert errand.state == "cancelled"
    assert errand.begun == 0
