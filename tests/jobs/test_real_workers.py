"""Real worker processes and real brokers: jobs are done, also after a worker was killed."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from jobs.queue import enqueue, reconcile
from jobs.status import worker_status
from tests.errands.models import Errand
from tests.services.processes import wait_until
from tests.services.worker import deliver_to, worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases, pytest.mark.long]


@pytest.fixture(params=["embedded", "redis"])
def broker_url(request, monkeypatch):
    """Return the URL of each broker in turn, and publish jobs to it."""
    if request.param == "embedded":
        return settings.BROKER_URL
    url = request.getfixturevalue("redis_url")
    monkeypatch.setattr("config.celery.deliver", deliver_to(url))
    return url


def is_alive(process):
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize("beside_the_web", [False, True])
def test_a_worker_does_the_job_and_is_alive(broker_url, beside_the_web):
    with worker(broker_url, "one@test", beside_the_web=beside_the_web):
        errand = Errand.objects.create()
        enqueue(errand)
        wait_until(lambda: Errand.objects.get().is_over, "the errand")

    errand.refresh_from_db()
    assert errand.state == "done"
    assert errand.begun == 1
    assert errand.process not in (None, os.getpid())
    assert worker_status().alive


@pytest.mark.parametrize("beside_the_web", [False, True])
def test_a_worker_stops_on_sigterm(broker_url, beside_the_web):
    with worker(broker_url, "one@test", beside_the_web=beside_the_web) as one:
        one.process.send_signal(signal.SIGTERM)

        # If the signal comes while the pool reports a task, billiard's process waits 30 seconds for
        # its report to be read, which nobody does any more.
        assert one.process.wait(timeout=60) == 0


@pytest.mark.parametrize("beside_the_web", [False, True])
def test_a_killed_workers_job_is_finished_by_the_next(broker_url, beside_the_web):
    errand = Errand.objects.create(length=Errand.Length.LONG_AT_FIRST)
    with worker(broker_url, "first@test", beside_the_web=beside_the_web) as first:
        enqueue(errand)
        wait_until(lambda: Errand.objects.get().begun == 1, "the first to begin")
        at_it = Errand.objects.get().process
        first.process.kill()
        first.process.wait()
        wait_until(lambda: not is_alive(at_it), "the killed worker's child to end with it")
    # Move the lease a minute into the past.
    long_ago = timezone.now() - timedelta(seconds=61)
    Errand.objects.update(lease_until=long_ago, published_at=long_ago)

    with worker(broker_url, "second@test"):
        reconcile()
        wait_until(lambda: Errand.objects.get().is_over, "the errand")

    errand.refresh_from_db()
    assert errand.state == "done"
    assert (errand.attempts, errand.begun) == (2, 2)
    assert errand.process != at_it


def test_a_worker_stopped_during_a_job_queues_it_again(broker_url):
    errand = Errand.objects.create(length=Errand.Length.LONG_AT_FIRST)
    with worker(broker_url, "first@test") as first:
        enqueue(errand)
        wait_until(lambda: Errand.objects.get().begun == 1, "the first to begin")
        first.process.send_signal(signal.SIGQUIT)
        wait_until(lambda: Errand.objects.get().state == "queued", "the errand to be handed back")

    errand.refresh_from_db()
    assert (errand.claim, errand.lease_until, errand.published_at) == (None, None, None)
