"""Responses while the database is down or the disk is full: try again later, nothing is lost.

These requests fail in the middleware, because the session is read from the database.
"""

from __future__ import annotations

import errno
import sqlite3
from contextlib import contextmanager

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.db import OperationalError, connection
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db

JOURNAL = "/api/v1/journal/"


@pytest.fixture
def failing(client, monkeypatch):
    """Make every request by ada fail with this error."""

    def fail(error):
        def load(self):
            raise error

        client.force_login(factories.user("ada"))
        client.raise_request_exception = False
        monkeypatch.setattr(SessionStore, "load", load)
        return client

    return fail


def test_a_page_says_that_the_database_does_not_answer(failing):
    response = failing(OperationalError("the server is shutting down")).get(
        reverse("annotate:home")
    )

    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert "The database does not answer. Try again in a moment." in response.content.decode()
    assert "shutting down" not in response.content.decode()


def test_a_page_says_that_the_disk_is_full(failing):
    response = failing(OSError(errno.ENOSPC, "No space left")).get(reverse("annotate:home"))

    assert response.status_code == 503
    assert "There is no room left on the disk" in response.content.decode()


def test_a_full_database_is_distinguished_from_one_that_is_down(failing):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = OperationalError(str(full))
    error.__cause__ = full

    response = failing(error).post(JOURNAL, {"entries": []}, content_type="application/json")

    assert response.status_code == 503
    assert response.json()["detail"] == ("The disk is full. Nothing is lost: send it again later.")


@pytest.fixture
def failing_writes():
    """Make every insertion fail with this error."""

    @contextmanager
    def fail(error):
        def execute(go_on, sql, *rest):
            if sql.startswith("INSERT"):
                raise error
            return go_on(sql, *rest)

        with connection.execute_wrapper(execute):
            yield

    return fail


def test_signing_in_says_that_the_disk_is_full(client, failing_writes):
    factories.user("ada")
    client.raise_request_exception = False
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = OperationalError(str(full))
    error.__cause__ = full
    cache.clear()

    with failing_writes(error):
        response = client.post(
            reverse("login"), {"username": "ada", "password": factories.PASSWORD}
        )

    assert response.status_code == 503
    assert "There is no room left on the disk" in response.content.decode()
    assert "Too many attempts" not in response.content.decode()


def test_adding_an_existing_cache_key_returns_false():
    cache.clear()

    assert [cache.add("counted", number) for number in (1, 2)] == [True, False]


def test_adding_to_the_cache_raises_the_error_of_a_failed_write(failing_writes):
    with (
        failing_writes(OperationalError("disk full")),
        pytest.raises(OperationalError, match="disk"),
    ):
        cache.add("counted", 1)


def test_a_program_gets_an_error_that_asks_it_to_retry(failing):
    response = failing(OperationalError("gone")).post(
        JOURNAL, {"entries": []}, content_type="application/json"
    )

    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert response.json()["code"] == "busy"
    assert response.json()["detail"] == "The database is busy. Nothing is lost: send it again."


def test_an_unexpected_error_is_still_a_server_error(failing):
    response = failing(ZeroDivisionError("a secret")).get(reverse("annotate:home"))

    assert response.status_code == 500
    assert "a secret" not in response.content.decode()


def test_a_lock_that_is_held_is_waited_for(monkeypatch):
    cache.clear()
    cache.add("counts:lock", 1)
    monkeypatch.setattr("config.cache.time.sleep", lambda _: cache.delete("counts:lock"))

    assert cache.add("counts:lock", 1)


def test_signing_in_while_a_lock_stays_held_says_nothing_of_too_many_attempts(client, monkeypatch):
    factories.user("ada")
    client.raise_request_exception = False
    cache.clear()
    cache.add("allauth:rl:allauth.account:login_failed:60/60/ip:ip:127.0.0.1:lock", 1)
    monkeypatch.setattr("config.cache.LOCK_WAIT", 0)
    monkeypatch.setattr("config.cache.time.sleep", lambda _: None)

    response = client.post(reverse("login"), {"username": "ada", "password": factories.PASSWORD})

    assert response.status_code == 503
    assert "Too many attempts" not in response.content.decode()
