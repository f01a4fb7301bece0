"""On SQLite one transaction writes at a time; the others wait, and readers do not."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from annotate.models import User
from base.snapshot import snapshot
from jobs.errors import is_away
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def other():
    """A second connection to the database, which waits a twentieth of a second for a writer."""
    copy: Any = connection.copy()
    copy.settings_dict = {**copy.settings_dict, "CONN_MAX_AGE": None}
    copy.inc_thread_sharing()
    copy.cursor().execute("PRAGMA busy_timeout = 50")
    yield copy
    copy.close()


def begin(other: Any) -> None:
    """Begin a transaction that may write, and end it."""
    other.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    other.rollback()
    other.set_autocommit(True)


def test_a_writer_waits_until_the_one_before_has_committed():
    def write():
        begun.set()
        factories.user("eve")
        connection.close()

    begun = threading.Event()
    waiting = threading.Thread(target=write)

    with transaction.atomic():
        factories.user("ada")
        waiting.start()
        assert begun.wait(10)
    waiting.join(10)

    assert User.objects.filter(username__in=["ada", "eve"]).count() == 2


def test_a_writer_who_waits_too_long_is_told_that_the_database_does_not_answer(other):
    with transaction.atomic(), pytest.raises(OperationalError, match="locked") as refused:
        begin(other)

    assert is_away(refused.value)
    begin(other)


def test_reading_waits_for_no_writer(other):
    with transaction.atomic():
        factories.user("ada")

        assert other.cursor().execute("SELECT COUNT(*) FROM annotate_user").fetchone() == (0,)


def test_a_snapshot_that_is_only_read_keeps_nobody_from_writing(other):
    """A backup reads for minutes, while others write."""
    with snapshot():
        User.objects.count()
        begin(other)
