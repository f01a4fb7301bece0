"""On SQLite, transactions that write wait in a queue, and one at a time writes."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import OperationalError, connection, transaction

from annotate.models import User
from base.file_locks import try_lock
from base.snapshot import snapshot
from config.sqlite.base import DatabaseWrapper
from jobs.unavailable import is_away
from tests import factories

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks rows"),
]
# Another process that takes its turn, says so, and keeps it until it is killed.
HOLD = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def turn_file():
    """Return the file whose lock is the turn of a process."""
    with transaction.atomic():
        return f"{connection.settings_dict['NAME']}-turn"


@pytest.fixture
def impatient():
    """Wait a twentieth of a second instead of twenty seconds."""
    options = connection.settings_dict["OPTIONS"]
    patience = options["timeout"]
    options["timeout"] = 0.05
    yield
    options["timeout"] = patience


def is_free(turn_file):
    with Path(turn_file).open() as opened:
        return try_lock(opened.fileno())


@transaction.atomic
def fail():
    factories.user("ada")
    raise ZeroDivisionError


@transaction.atomic
def write():
    factories.user("ada")


def in_a_thread(work):
    """Run `work` in a thread with a connection of its own, and return what it returned."""
    found = []

    def run():
        own = connection.copy()
        try:
            found.append(work(own))
        finally:
            own.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=30)
    return found[0]


def begin(own: DatabaseWrapper):
    """Begin a transaction and end it; return the error if it did not begin."""
    try:
        own.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    except OperationalError as error:
        return error
    own.rollback()
    own.set_autocommit(True)
    return None


@pytest.mark.parametrize("end", ["committed", "rolled back", "closed"])
def test_the_turn_ends_when_a_transaction_is(turn_file, end):
    with transaction.atomic():
        assert not is_free(turn_file)
        if end == "rolled back":
            transaction.set_rollback(True)
        elif end == "closed":
            connection.close()

    assert is_free(turn_file)


def test_the_turn_ends_when_a_transaction_fails(turn_file):
    with pytest.raises(ZeroDivisionError):
        fail()

    assert is_free(turn_file)
    assert not User.objects.filter(username="ada").exists()


def test_reading_needs_no_turn(turn_file):
    with transaction.atomic():
        assert in_a_thread(lambda own: own.cursor().execute("SELECT 1").fetchone()) == (1,)


def test_a_snapshot_that_is_only_read_needs_no_turn(turn_file):
    """A backup reads for minutes, while others write."""
    with snapshot():
        User.objects.count()
        assert is_free(turn_file)


def test_a_thread_whose_turn_does_not_come_in_time_gets_the_error_of_a_busy_database(
    turn_file, impatient
):
    with transaction.atomic():
        refused = in_a_thread(begin)

    assert is_away(refused)
    assert in_a_thread(begin) is None


def test_a_process_that_is_killed_ends_its_turn(turn_file, impatient):
    other = subprocess.Popen(
        [sys.executable, "-S", "-c", HOLD, turn_file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(OperationalError, match="locked"):
            write()
        other.kill()

    write()


def test_the_turn_ends_when_a_program_outside_the_queue_keeps_the_database_locked(turn_file):
    """The program `sqlite3`, for example."""
    outside = connection.get_new_connection(
        {**connection.get_connection_params(), "isolation_level": None}
    )
    connection.cursor().execute("PRAGMA busy_timeout = 10")
    outside.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(OperationalError, match="locked"):
            write()
        assert is_free(turn_file)
    finally:
        outside.execute("ROLLBACK")
        outside.close()
        connection.close()
