"""A persistent connection to PostgreSQL is checked before a request only after it was idle."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

pytestmark = pytest.mark.postgresql


@pytest.fixture
def own(db, monkeypatch):
    """A connection of this test, which counts its health checks in `checks`."""
    copy: Any = connection.copy()
    copy.settings_dict = {**copy.settings_dict, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
    copy.checks = 0
    is_usable = copy.is_usable

    def counted() -> Any:
        copy.checks += 1
        return is_usable()

    monkeypatch.setattr(copy, "is_usable", counted)
    clock = [100.0]
    monkeypatch.setattr("config.postgresql.base.time.monotonic", lambda: clock[0])
    copy.clock = clock
    yield copy
    copy.close()


def request(own: Any, *, after: float) -> Any:
    """Use the connection some seconds after the last request; return its checks so far."""
    own.clock[0] += after
    own.close_if_unusable_or_obsolete()
    with own.cursor() as cursor:
        cursor.execute("SELECT 1")
    own.close_if_unusable_or_obsolete()
    return own.checks


def test_a_connection_that_worked_a_moment_ago_is_not_checked(own):
    request(own, after=0)

    assert [request(own, after=4), request(own, after=4.9)] == [0, 0]


def test_a_connection_that_was_idle_is_checked(own):
    request(own, after=0)

    assert [request(own, after=5.1), request(own, after=1), request(own, after=60)] == [1, 1, 2]


def test_a_connection_that_failed_is_checked_and_replaced(own):
    request(own, after=0)
    with own.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (process,) = cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [process])

    with pytest.raises(OperationalError):
        request(own, after=1)

    assert request(own, after=1) > 0
    with own.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone() != (process,)


def test_prepared_statements_keep_their_plan(db):
    with connection.cursor() as cursor:
        cursor.execute("SHOW plan_cache_mode")
        assert cursor.fetchone() == ("force_generic_plan",)
