"""The thread beside the work, which reports progress and notices cancelling."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from jobs.queue import cancel
from jobs.runner import run_work
from tests.errands.models import Errand
from tests.services.processes import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def quick_pulse(monkeypatch):
    monkeypatch.setattr("jobs.runner.PULSE", 0.02)


def test_progress_is_seen_while_the_work_goes_on():
    errand = Errand.objects.create()
    seen = []

    def count(errand, progress):
        progress.start(200, "Counting")
        progress.advance(50)
        wait_until(lambda: Errand.objects.get().done == 50, "the first fifty")
        row = Errand.objects.get()
        seen.append((row.state, row.step, row.done, row.total))
        progress.advance(150)

    run_work(errand.pk, count)

    assert seen == [("running", "Counting", 50, 200)]
    assert Errand.objects.get().done == 200


def test_the_remaining_time_is_estimated_for_the_current_step():
    errand = Errand.objects.create()
    guesses = []

    def work(errand, progress):
        for step, done in (("Reading", 0), ("Writing", 50)):
            progress.start(200, step)
            progress.advance(done)
            rows = Errand.objects.filter(step=step, done=done)
            wait_until(rows.exists, step)
            row = rows.get()
            assert row.step_began_at is not None
            guesses.append(row.seconds_left(row.step_began_at + timedelta(seconds=10)))

    run_work(errand.pk, work)

    # There is no estimate before a part is done. 50 took 10 seconds: the other 150 will take 30.
    assert guesses == [None, 30.0]
    errand.refresh_from_db()
    assert errand.step_began_at is not None
    assert errand.seconds_left(errand.step_began_at) is None


def test_the_lease_is_renewed_while_the_work_goes_on():
    errand = Errand.objects.create()

    def take_long(errand, progress):
        first = errand.lease_until + timedelta(microseconds=1)
        wait_until(lambda: Errand.objects.get().lease_until > first, "a longer lease")

    did_it = run_work(errand.pk, take_long)

    assert did_it
    assert Errand.objects.get().state == "done"


def test_cancelled_work_stops_at_its_next_step():
    errand = Errand.objects.create()
    steps = []

    def walk(errand, progress):
        cancel(Errand.objects.get())
        wait_until(lambda: steps.append(progress.advance()), "the end")

    run_work(errand.pk, walk)

    errand.refresh_from_db()
    assert errand.state == "cancelled"
    assert errand.done == len(steps) + 1
    assert errand.cancel_requested_at is not None


def test_work_that_was_taken_over_stops_and_leaves_the_row_to_the_other():
    errand = Errand.objects.create()
    other = uuid.UUID(int=7)

    def walk(errand, progress):
        Errand.objects.update(claim=other)
        wait_until(lambda: progress.check(), "the end")

    did_it = run_work(errand.pk, walk)

    errand.refresh_from_db()
    assert not did_it
    assert errand.state == "running"
    assert errand.claim == other


def test_work_that_ends_after_it_was_taken_over_leaves_the_row_to_the_other(monkeypatch):
    monkeypatch.setattr("jobs.runner.PULSE", 3_600)
    errand = Errand.objects.create()
    other = uuid.UUID(int=7)

    did_it = run_work(errand.pk, lambda errand, progress: Errand.objects.update(claim=other))

    errand.refresh_from_db()
    assert not did_it
    assert (errand.state, errand.claim) == ("running", other)
