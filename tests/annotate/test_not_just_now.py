"""What is answered while the database is away, or the disk is full: come later, nothing is lost.

What is asked for here fails in the middleware already, for who asks is in the database.
"""

from __future__ import annotations

import errno
import sqlite3

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db

JOURNAL = "/api/v1/journal/"


@pytest.fixture
def failing(client, monkeypatch):
    """Let whatever ada asks for meet this error."""

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


def test_a_page_says_that_there_is_no_room(failing):
    response = failing(OSError(errno.ENOSPC, "No space left")).get(reverse("annotate:home"))

    assert response.status_code == 503
    assert "There is no room left on the disk" in response.content.decode()


def test_a_full_database_is_told_from_one_that_is_away(failing):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = OperationalError(str(full))
    error.__cause__ = full

    response = failing(error).post(JOURNAL, {"entries": []}, content_type="application/json")

    assert response.status_code == 503
    assert response.json()["detail"] == (
        "There is no room left on the disk. Nothing is lost: send it again later."
    )


def test_a_program_is_told_to_send_it_again(failing):
    response = failing(OperationalError("gone")).post(
        JOURNAL, {"entries": []}, content_type="application/json"
    )

    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert response.json()["code"] == "busy"
    assert response.json()["detail"] == "The database is busy. Nothing is lost: send it again."


def test_what_nobody_foresaw_is_still_an_error(failing):
    response = failing(ZeroDivisionError("a secret")).get(reverse("annotate:home"))

    assert response.status_code == 500
    assert "a secret" not in response.content.decode()
