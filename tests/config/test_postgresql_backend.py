"""A persistent connection to PostgreSQL is checked, and its statements planned, now and then."""

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


def test_a_connection_is_checked_every_five_seconds_at_most(own):
    request(own, after=0)

    assert [request(own, after=4), request(own, after=1), request(own, after=4)] == [0, 1, 1]


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


def test_no_statement_is_compiled_even_if_the_server_would(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting, reset_val FROM pg_settings WHERE name = 'jit'")
        assert cursor.fetchone() == ("off", "on")


def test_a_check_has_postgresql_plan_prepared_statements_for_the_rows_of_today(own):
    def plan() -> str:
        cursor.execute("EXPLAIN (COSTS OFF) EXECUTE look_up(1)")
        return str(cursor.fetchone()[0])

    with own.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE few (id integer PRIMARY KEY)")
        cursor.execute("INSERT INTO few VALUES (1)")
        cursor.execute("ANALYZE few")
        cursor.execute("PREPARE look_up(integer) AS SELECT id FROM few WHERE id = $1")
        assert plan() == "Seq Scan on few"
        cursor.execute("INSERT INTO few SELECT generate_series(2, 10000)")
        assert plan() == "Seq Scan on few"

    request(own, after=6)

    with own.cursor() as cursor:
        assert plan() == "Index Only Scan using few_pkey on few"
