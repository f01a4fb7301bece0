from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from jobs.queue import reconcile
from tests.errands.models import Errand

pytestmark = pytest.mark.both_databases

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def running(**fields):
    begun = {"state": "running", "claim": uuid.UUID(int=1), "started_at": ago(300), "attempts": 1}
    return begun | {"published_at": ago(300)} | fields


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "is_published"),
    [
        pytest.param({"requested_at": ago(5)}, False, id="just asked for"),
        pytest.param({"requested_at": ago(11)}, True, id="never published"),
        pytest.param({"published_at": ago(59)}, False, id="waiting for a worker"),
        pytest.param({"published_at": ago(61)}, True, id="not taken for a minute"),
        pytest.param(running(lease_until=NOW + timedelta(seconds=1)), False, id="alive"),
        pytest.param(running(lease_until=ago(1)), True, id="left behind"),
        pytest.param(
            running(lease_until=ago(1), published_at=ago(5)), False, id="just published again"
        ),
        pytest.param(
            running(lease_until=NOW + timedelta(hours=2)), True, id="left behind by a fast clock"
        ),
        pytest.param(
            {"published_at": NOW + timedelta(hours=2)}, True, id="published by a fast clock"
        ),
        pytest.param(
            {"requested_at": NOW + timedelta(hours=2)}, True, id="asked for by a fast clock"
        ),
        pytest.param({"published_at": NOW + timedelta(seconds=59)}, False, id="clocks that differ"),
        pytest.param({"state": "done", "finished_at": ago(300)}, False, id="done"),
        pytest.param(
            {"state": "failed", "error": "No.", "finished_at": ago(300)}, False, id="failed"
        ),
    ],
)
def test_a_job_is_published_again_unless_somebody_knows_of_it(fields, is_published, published):
    errand = Errand.objects.create(**{"requested_at": ago(600)} | fields)

    count = reconcile(now=NOW)

    assert published == ([("jobs.run", errand.pk)] if is_published else [])
    assert count == is_published


@pytest.mark.django_db
def test_publishing_again_counts_from_now(published):
    Errand.objects.create(requested_at=ago(600))

    reconcile(now=NOW)
    reconcile(now=NOW + timedelta(seconds=59))

    assert len(published) == 1


@pytest.mark.django_db
def test_the_oldest_is_published_first(published):
    young = Errand.objects.create(requested_at=ago(100))
    old = Errand.objects.create(requested_at=ago(200))

    reconcile(now=NOW)

    assert [pk for _, pk in published] == [old.pk, young.pk]


@pytest.mark.django_db
def test_a_job_that_kills_its_workers_is_given_up(published):
    Errand.objects.create(**running(lease_until=ago(1), attempts=3))

    reconcile(now=NOW)

    errand = Errand.objects.get()
    assert published == []
    assert errand.state == "failed"
    assert errand.error == ("The worker stopped during this job 3 times, so it was given up.")
    assert errand.finished_at == NOW


@pytest.mark.django_db
def test_a_job_cancelled_after_its_worker_died_ends(published):
    Errand.objects.create(**running(lease_until=ago(1), cancel_requested_at=ago(20)))

    reconcile(now=NOW)

    errand = Errand.objects.get()
    assert published == []
    assert (errand.state, errand.finished_at) == ("cancelled", NOW)
