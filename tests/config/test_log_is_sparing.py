"""The log has no secrets of URLs, and one line where a traceback would add nothing."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import re
import sqlite3

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, OperationalError
from django.test import Client
from django.urls import URLPattern, get_resolver

from config.logs import MAX_LINES, WINDOW_SECONDS, RepetitionFilter, logging_config, remove_secrets
from jobs.errors import is_away
from tests import factories

SECRET = "aB3_dE-6hI9jK2mN5pQ8rS1tU4vW7yZ0"


@pytest.fixture(params=["text", "json"])
def log(request):
    """The output of every logger while a test runs."""
    log_config = logging_config(request.param)
    stream = io.StringIO()
    log_config["handlers"]["console"]["stream"] = stream
    root = logging.getLogger()
    before = root.handlers[:], root.level
    config = logging.config.DictConfigurator(log_config)
    for part, make in (
        ("formatters", config.configure_formatter),
        ("filters", config.configure_filter),
    ):
        config.config[part] = {name: make(entry) for name, entry in log_config[part].items()}
    handler = config.configure_handler(dict(log_config["handlers"]["console"]))
    root.handlers, root.level = [handler], logging.INFO
    for name in ("django", "rejudge"):
        logging.getLogger(name).setLevel(logging.INFO)
    yield stream
    root.handlers, root.level = before
    for name in ("django", "rejudge"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def routes(patterns=None, before=""):
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(one, URLPattern):
            yield f"/{before}{one.pattern}", one
        else:
            yield from routes(one.url_patterns, f"{before}{one.pattern}")


def addresses_with_secrets():
    """Yield every address that contains a secret, with the same secret in all of them."""
    for route, one in routes():
        names = {*one.pattern.regex.groupindex, *re.findall(r"<(?:\w+:)?(\w+)>", route)}
        if names & {"token", "key", "secret", "code"}:
            yield re.sub(r"<[^>]*:(token|key|secret|code)>", SECRET, route).replace(
                "<base36:uidb36>", "1"
            )
    yield f"/accounts/elsewhere/team/back/?code={SECRET}&state={SECRET}"
    yield f"/accounts/login/?next=/invitations/{SECRET}/"


ADDRESSES = sorted(set(addresses_with_secrets()))


def test_addresses_with_secrets_are_found():
    assert {path.partition(SECRET)[0] for path in ADDRESSES} >= {
        "/invitations/",
        "/accounts/password/reset/1-",
        "/accounts/email/confirmation/",
        "/accounts/elsewhere/team/back/?code=",
    }


@pytest.mark.django_db
@pytest.mark.parametrize("path", ADDRESSES)
def test_no_log_line_contains_the_secret_of_an_address(log, path):
    # Requests that are refused: no CSRF token, an unknown verb, a wrong encoding, not found.
    strict = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for client in (strict, Client(raise_request_exception=False)):
        client.get(path)
        client.post(path, {"password": "x"})
        client.generic("BREW", path)
        client.post(path, b"x", content_type="text/plain; charset=utf-7")
        client.get(f"{path}nothing/")
        client.get("/accounts/login/", headers={"referer": f"http://testserver{path}"})

    assert "Forbidden" in log.getvalue() or "Method Not Allowed" in log.getvalue()
    assert SECRET not in log.getvalue()


def test_no_traceback_contains_the_secret_of_an_address(log):
    try:
        raise ValueError(f"https://rejudge.example.org/invitations/{SECRET}/")
    except ValueError:
        logging.getLogger("somebodys.library").exception("GET /invitations/%s/", SECRET)

    assert "ValueError" in log.getvalue()
    assert "Traceback" in log.getvalue()
    assert SECRET not in log.getvalue()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Forbidden: /invitations/abc-d_e/", "Forbidden: /invitations/…/"),
        ("/accounts/password/reset/1a-c7-88/", "/accounts/password/reset/…/"),
        ("/accounts/password/reset/sent/", "/accounts/password/reset/sent/"),
        ("/accounts/email/confirmation/MQ:1t/", "/accounts/email/confirmation/…/"),
        ("/elsewhere/team/back/?code=a&state=b", "/elsewhere/team/back/?code=…&state=…"),
        ("/login/?next=%2Finvitations%2Fab-c%2F", "/login/?next=%2Finvitations%2F…"),
        ("Bearer rejudge_abcDEF-1", "Bearer rejudge_…"),
        ("/api/v1/projects/tides/invitations/7/", "/api/v1/projects/tides/invitations/7/"),
        ("rejudge.requests", "rejudge.requests"),
    ],
)
def test_secrets_are_replaced_in_a_line(text, written):
    assert remove_secrets(text) == written


# --- one line -------------------------------------------------------------------------------------


def make_record(message, *args, error=None, status=None, name="django.request"):
    made = logging.LogRecord(name, logging.ERROR, __file__, 1, message, args, None)
    if error is not None:
        made.exc_info = (type(error), error, None)
    if status is not None:
        made.status_code = status
    return made


def make_driver_error(error, **more):
    """Return Django's error for an error of the driver."""
    raised = OperationalError(str(error))
    for name, value in more.items():
        setattr(error, name, value)
    raised.__cause__ = error
    return raised


def test_a_refusal_is_one_line_without_a_traceback():
    made = make_record("Forbidden: %s", "/projects/", error=PermissionDenied("no"), status=403)

    assert RepetitionFilter().filter(made)
    assert (made.getMessage(), made.exc_info) == ("Forbidden: /projects/", None)


def test_an_unavailable_database_is_one_line_with_the_reason():
    error = make_driver_error(Exception("connection refused\n\tIs the server running?"))
    made = make_record("Internal Server Error: %s", "/", error=error, status=500)

    assert RepetitionFilter().filter(made)
    assert made.exc_info is None
    assert made.getMessage() == (
        "Internal Server Error: / (OperationalError: connection refused Is the server running?)"
    )


def test_an_unexpected_error_keeps_its_traceback():
    made = make_record("Internal Server Error: %s", "/", error=ValueError("x"), status=500)

    assert RepetitionFilter().filter(made)
    assert made.exc_info


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (make_driver_error(Exception("connection refused")), True),
        (make_driver_error(Exception("shutting down"), sqlstate="57P01"), True),
        (make_driver_error(Exception("canceling statement"), sqlstate="57014"), False),
        (make_driver_error(sqlite3.OperationalError("locked"), sqlite_errorcode=5), True),
        (make_driver_error(sqlite3.OperationalError("full"), sqlite_errorcode=13), True),
        (make_driver_error(sqlite3.OperationalError("no such table"), sqlite_errorcode=1), False),
        (InterfaceError("connection already closed"), True),
        (OSError(28, "No space left on device"), True),
        (DatabaseError("something"), False),
        (ValueError("something"), False),
        (None, False),
    ],
)
def test_errors_of_an_unavailable_database_are_recognized(error, away):
    assert is_away(error) is away


def test_repeated_lines_are_counted_instead_of_written():
    now = [0.0]
    sparing = RepetitionFilter(clock=lambda: now[0])

    def refused(path):
        made = make_record("Forbidden: %s", path, error=PermissionDenied(), status=403)
        return made.getMessage() if sparing.filter(made) else None

    written = [refused(f"/{number}/") for number in range(5_400)]
    now[0] = WINDOW_SECONDS
    next_one = refused("/again/")

    assert [line for line in written if line] == [f"Forbidden: /{n}/" for n in range(MAX_LINES)]
    assert next_one == "Forbidden: /again/ (and 5390 more like it before)"


def test_other_lines_are_still_written():
    sparing = RepetitionFilter(clock=lambda: 0.0)
    for _ in range(MAX_LINES + 1):
        sparing.filter(make_record("Forbidden: %s", "/", status=403))

    assert sparing.filter(make_record("Not Found: %s", "/", status=404))
    assert sparing.filter(make_record("Forbidden: %s", "/", status=500))
    assert sparing.filter(make_record("wrote %d files", 3, name="exporters"))


@pytest.mark.django_db
def test_a_forbidden_request_writes_one_line(log):
    factories.member(factories.project("tides"), "ada")
    client = Client()
    client.force_login(factories.user("ada"))

    assert client.get("/projects/tides/loads/").status_code == 403

    lines = [line for line in log.getvalue().splitlines() if "Forbidden" in line]
    assert len(lines) == 1
    assert "Traceback" not in log.getvalue()
    if lines[0].startswith("{"):
        assert json.loads(lines[0])["message"] == (
            "Forbidden (Permission denied): /projects/tides/loads/"
        )
