from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from celery.signals import worker_init

from config.celery import app
from jobs.models import Heartbeat
from jobs.status import WorkerStatus, record_heartbeat, record_process, worker_status, workers
from tests.errands.models import Errand

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def test_there_is_no_worker_without_a_heartbeat():
    assert worker_status(now=NOW) == WorkerStatus(alive=False, last_seen=None, busy=False)


@pytest.mark.parametrize(("seconds", "alive"), [(0, True), (40, True), (41, False)])
def test_a_worker_is_alive_for_forty_seconds_after_a_heartbeat(seconds, alive):
    record_heartbeat("one", now=ago(seconds))

    assert worker_status(now=NOW) == WorkerStatus(alive, last_seen=ago(seconds), busy=False)


def test_a_heartbeat_in_the_future_is_ignored():
    record_heartbeat("one", now=NOW + timedelta(hours=2))

    assert not worker_status(now=NOW).alive

    record_heartbeat("two", now=NOW)

    assert worker_status(now=NOW) == WorkerStatus(alive=True, last_seen=NOW, busy=False)


def test_the_last_heartbeat_of_any_worker_counts():
    record_heartbeat("one", now=ago(300))
    record_heartbeat("two", now=ago(3))

    assert worker_status(now=NOW).last_seen == ago(3)


def test_a_worker_with_a_long_job_is_alive_without_a_recent_heartbeat():
    record_heartbeat("one", now=ago(600))
    Errand.objects.create(
        state="running", claim=uuid.UUID(int=1), lease_until=NOW, started_at=ago(600)
    )

    status = worker_status(now=NOW)

    assert (status.alive, status.busy) == (True, True)


def test_the_job_of_a_killed_worker_does_not_count_as_alive():
    Errand.objects.create(
        state="running", claim=uuid.UUID(int=1), lease_until=ago(1), started_at=ago(600)
    )

    status = worker_status(now=NOW)

    assert (status.alive, status.busy) == (False, False)


def test_a_second_heartbeat_replaces_the_first():
    record_heartbeat("one", now=ago(10))
    record_heartbeat("one", now=NOW)

    assert list(Heartbeat.objects.values_list("worker", "at")) == [("one", NOW)]


def test_a_new_process_is_listed_before_it_takes_work():
    record_process("new", now=NOW)

    (new,) = workers(now=NOW)
    assert (new.alive, new.took_at) == (True, None)
    assert not worker_status(now=NOW).alive


def test_a_worker_with_a_long_job_is_listed_as_alive():
    record_heartbeat("busy", now=ago(600))

    record_process("busy", now=ago(3))

    (busy,) = workers(now=NOW)
    assert (busy.alive, busy.seen_at, busy.took_at) == (True, ago(3), ago(600))


def test_a_worker_silent_for_a_day_is_deleted():
    record_heartbeat("gone", now=NOW - timedelta(hours=25))
    record_heartbeat("late", now=NOW - timedelta(hours=23))

    record_heartbeat("here", now=NOW)

    assert set(Heartbeat.objects.values_list("worker", flat=True)) == {"late", "here"}


@pytest.mark.parametrize(("supervised", "nicer_by"), [(True, [5]), (False, [])])
def test_a_worker_beside_the_pages_lowers_its_priority(supervised, nicer_by, monkeypatch):
    niceness: list[int] = []
    monkeypatch.setattr("os.nice", niceness.append)
    monkeypatch.setattr("gc.freeze", lambda: None)
    if supervised:
        monkeypatch.setenv("REJUDGE_SUPERVISED", "1")
    else:
        monkeypatch.delenv("REJUDGE_SUPERVISED", raising=False)

    worker_init.send(sender=app)

    assert niceness == nicer_by
