from __future__ import annotations

import logging

import pytest
from django.db import transaction

from jobs.queue import enqueue
from tests.errands.models import Errand

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def test_a_job_is_published_when_its_transaction_is_committed(published):
    with transaction.atomic():
        errand = Errand.objects.create()
        enqueue(errand)
        before = list(published)

    errand.refresh_from_db()
    assert before == []
    assert published == [("jobs.run", errand.pk)]
    assert errand.published_at is not None


def test_a_job_that_was_never_committed_is_not_published(published):
    def enqueue_and_roll_back():
        with transaction.atomic():
            enqueue(Errand.objects.create())
            raise InterruptedError

    with pytest.raises(InterruptedError):
        enqueue_and_roll_back()

    assert published == []
    assert not Errand.objects.exists()


def test_an_unreachable_broker_is_logged_and_the_job_waits(monkeypatch, caplog):
    def raise_connection_error(task, pk):
        raise ConnectionError("nobody listens")

    monkeypatch.setattr("config.celery.deliver", raise_connection_error)
    errand = Errand.objects.create()

    with caplog.at_level(logging.ERROR):
        enqueue(errand)

    errand.refresh_from_db()
    assert (errand.state, errand.published_at) == ("queued", None)
    assert "nobody listens" in caplog.text
