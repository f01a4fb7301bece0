from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from celery.signals import worker_init

from config.celery import app
from jobs.models import Heartbeat
from jobs.status import WorkerStatus, beat, show_up, worker_status, workers
from tests.errands.models import Errand

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def test_without_a_heartbeat_there_is_no_worker():
    assert worker_status(now=NOW) == WorkerStatus(alive=False, last_seen=None, busy=False)


@pytest.mark.parametrize(("seconds", "alive"), [(0, True), (40, True), (41, False)])
def test_a_worker_is_alive_for_forty_seconds_after_a_heartbeat(seconds, alive):
    beat("one", now=ago(seconds))

    assert worker_status(now=NOW) == WorkerStatus(alive, last_seen=ago(seconds), busy=False)


def test_a_heartbeat_by_a_clock_that_was_set_back_since_says_nothing():
    beat("one", now=NOW + timedelta(hours=2))

    assert not worker_status(now=NOW).alive

    beat("two", now=NOW)

    assert worker_status(now=NOW) == WorkerStatus(alive=True, last_seen=NOW, busy=False)


def test_the_last_heartbeat_of_any_worker_counts():
    beat("one", now=ago(300))
    beat("two", now=ago(3))

    assert worker_status(now=NOW).last_seen == ago(3)


def test_a_worker_at_a_long_job_is_alive_though_its_heartbeat_waits_behind_it():
    beat("one", now=ago(600))
    Errand.objects.create(
        state="running", claim=uuid.UUID(int=1), lease_until=NOW, started_at=ago(600)
    )

    status = worker_status(now=NOW)

    assert (status.alive, status.busy) == (True, True)


def test_a_killed_workers_job_is_no_sign_of_life():
    Errand.objects.create(
        state="running", claim=uuid.UUID(int=1), lease_until=ago(1), started_at=ago(600)
    )

    status = worker_status(now=NOW)

    assert (status.alive, status.busy) == (False, False)


def test_a_second_heartbeat_moves_the_first():
    beat("one", now=ago(10))
    beat("one", now=NOW)

    assert list(Heartbeat.objects.values_list("worker", "at")) == [("one", NOW)]


def test_a_process_that_has_taken_nothing_yet_is_there_and_does_no_work():
    show_up("new", now=NOW)

    (new,) = workers(now=NOW)
    assert (new.alive, new.took_at) == (True, None)
    assert not worker_status(now=NOW).alive


def test_a_worker_at_a_long_job_is_seen_though_it_takes_nothing():
    beat("busy", now=ago(600))

    show_up("busy", now=ago(3))

    (busy,) = workers(now=NOW)
    assert (busy.alive, busy.seen_at, busy.took_at) == (True, ago(3), ago(600))


def test_a_worker_that_is_gone_for_a_day_is_forgotten():
    beat("gone", now=NOW - timedelta(hours=25))
    beat("late", now=NOW - timedelta(hours=23))

    beat("here", now=NOW)

    assert set(Heartbeat.objects.values_list("worker", flat=True)) == {"late", "here"}


@pytest.mark.parametrize(("supervised", "nicer_by"), [(True, [5]), (False, [])])
def test_a_worker_beside_the_pages_lets_them_go_first(supervised, nicer_by, monkeypatch):
    told: list[int] = []
    monkeypatch.setattr("os.nice", told.append)
    monkeypatch.setattr("gc.freeze", lambda: None)
    if supervised:
        monkeypatch.setenv("REJUDGE_SUPERVISED", "1")
    else:
        monkeypatch.delenv("REJUDGE_SUPERVISED", raising=False)

    worker_init.send(sender=app)

    assert told == nicer_by
