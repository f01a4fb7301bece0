from __future__ import annotations

import errno

import pytest
from django.db import IntegrityError, OperationalError, transaction

from jobs.errors import JobError, Refused
from jobs.runner import run_work
from tests.errands.models import Errand

pytestmark = pytest.mark.both_databases


def refuse(errand, progress):
    progress.start(10, "Reading")
    progress.advance(4)
    raise JobError("Line 5 has three columns; a qrels line has four.")


def raise_unexpected_error(errand, progress):
    raise KeyError("a secret of the code")


def break_the_transaction(errand, progress):
    with transaction.atomic():
        Errand.objects.create()
        Errand.objects.create(state="done")


@pytest.mark.django_db
def test_the_sentence_of_a_refusal_is_shown_unchanged():
    errand = Errand.objects.create()

    def refuse_archived(errand, progress):
        raise Refused("This project is archived.")

    with pytest.raises(JobError, match="archived"):
        run_work(errand.pk, refuse_archived)

    errand.refresh_from_db()
    assert (errand.state, errand.error) == ("failed", "This project is archived.")


@pytest.mark.django_db
def test_the_message_of_a_job_error_is_shown_unchanged():
    errand = Errand.objects.create()

    with pytest.raises(JobError, match="Line 5"):
        run_work(errand.pk, refuse)

    errand.refresh_from_db()
    assert errand.state == "failed"
    assert errand.error == "Line 5 has three columns; a qrels line has four."
    assert (errand.step, errand.done, errand.total) == ("Reading", 4, 10)
    assert (errand.claim, errand.lease_until) == (None, None)
    assert errand.finished_at is not None


@pytest.mark.django_db
def test_an_unexpected_error_is_raised_and_shown_without_details():
    errand = Errand.objects.create()

    with pytest.raises(KeyError, match="a secret of the code"):
        run_work(errand.pk, raise_unexpected_error)

    errand.refresh_from_db()
    assert errand.state == "failed"
    assert errand.error == ("An unexpected error occurred (KeyError). The worker's log says more.")


def fail_on_a_full_disk(errand, progress):
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError as error:
        raise ValueError("The archive could not be closed.") from error


@pytest.mark.django_db
def test_a_full_disk_is_reported_as_such():
    errand = Errand.objects.create()

    with pytest.raises(ValueError, match="archive"):
        run_work(errand.pk, fail_on_a_full_disk)

    errand.refresh_from_db()
    assert errand.state == "failed"
    assert errand.error == ("The disk was full. Nothing was saved; try again later.")


def fail_without_database(errand, progress):
    raise OperationalError("server closed the connection unexpectedly")


@pytest.mark.django_db
def test_a_job_waits_again_if_the_database_did_not_answer():
    errand = Errand.objects.create()

    with pytest.raises(OperationalError):
        run_work(errand.pk, fail_without_database)

    errand.refresh_from_db()
    assert (errand.state, errand.attempts, errand.error) == ("queued", 1, "")
    assert (errand.claim, errand.lease_until, errand.published_at) == (None, None, None)
    assert run_work(errand.pk, lambda errand, progress: None)


@pytest.mark.django_db
def test_a_job_fails_if_the_database_did_not_answer_three_times():
    errand = Errand.objects.create()

    for _ in range(3):
        with pytest.raises(OperationalError):
            run_work(errand.pk, fail_without_database)

    errand.refresh_from_db()
    assert (errand.state, errand.attempts) == ("failed", 3)
    assert errand.error == ("The database did not answer. Nothing was saved; try again later.")


@pytest.mark.django_db
def test_a_failing_transaction_leaves_nothing_but_the_error():
    errand = Errand.objects.create()

    with pytest.raises(IntegrityError):
        run_work(errand.pk, break_the_transaction)

    assert Errand.objects.get().state == "failed"


@pytest.mark.django_db
def test_a_failed_job_is_not_tried_again():
    errand = Errand.objects.create()
    with pytest.raises(JobError):
        run_work(errand.pk, refuse)

    did_it = run_work(errand.pk, refuse)

    assert not did_it
    assert Errand.objects.get().attempts == 1


@pytest.mark.django_db
def test_a_stopped_worker_hands_the_job_back():
    errand = Errand.objects.create()

    def raise_system_exit(errand, progress):
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        run_work(errand.pk, raise_system_exit)

    errand.refresh_from_db()
    assert errand.state == "queued"
    assert (errand.claim, errand.lease_until, errand.published_at) == (None, None, None)
    assert errand.error == ""
