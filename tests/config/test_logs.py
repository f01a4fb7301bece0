"""Log lines name their request and job by id, and contain no secrets."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import sys
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import path, resolve
from django_guid.context import guid

from config.logs import logging_config
from config.metrics import requests
from jobs.log_context import clear_context, job_context

REQUEST_ID = "7d1f0c9a5b3e4f6a8c2d1e0f9a8b7c6d"


@pytest.fixture
def written():
    """Return a function that makes a configured handler, and one that returns its lines."""
    clear_context()
    stream = io.StringIO()
    handlers = []

    def handler(style):
        log_config = logging_config(style)
        # Only the parts that format lines: the test run's own logging is not changed.
        config = logging.config.DictConfigurator(log_config)
        config.config["formatters"] = {
            name: config.configure_formatter(entry)
            for name, entry in log_config["formatters"].items()
        }
        config.config["filters"] = {
            name: config.configure_filter(entry) for name, entry in log_config["filters"].items()
        }
        made: Any = config.configure_handler(dict(log_config["handlers"]["console"]))
        made.setStream(stream)
        handlers.append(made)
        return made

    yield handler, lambda: stream.getvalue().splitlines()
    clear_context()


def make_record(message, *args, level=logging.INFO, **extra):
    made = logging.LogRecord("rejudge.test", level, __file__, 1, message, args, None)
    vars(made).update(extra)
    return made


def test_a_line_of_json_has_time_message_request_and_job(written):
    handler, lines = written
    with job_context("export 7", None):
        guid.set(REQUEST_ID)
        handler("json").handle(make_record("wrote %d files", 3))

    (line,) = lines()
    entry = json.loads(line)
    assert entry.pop("time").endswith("+00:00")
    assert entry == {
        "level": "INFO",
        "logger": "rejudge.test",
        "message": "wrote 3 files",
        "request": REQUEST_ID,
        "job": "export 7",
    }


def test_a_traceback_is_on_the_same_line(written):
    handler, lines = written
    made = make_record("failed", level=logging.ERROR)
    try:
        raise ValueError("half\na line")
    except ValueError:
        made.exc_info = sys.exc_info()

    handler("json").handle(made)

    (line,) = lines()
    entry = json.loads(line)
    assert entry["level"] == "ERROR"
    assert entry["traceback"].endswith("ValueError: half\na line")


def test_a_line_break_in_a_message_starts_no_new_line(written):
    handler, lines = written

    handler("json").handle(make_record('x\n{"level": "INFO", "message": "%s"}', "forged"))

    (line,) = lines()
    assert json.loads(line)["level"] == "INFO"


def test_a_line_for_people_is_plain_text(written):
    handler, lines = written

    handler("text").handle(make_record("wrote %d files", 3))

    (line,) = lines()
    assert line[8:] == " INFO    rejudge.test: wrote 3 files"


def log_of_request(address, log, settings, **sent):
    """Return the log record that the middleware writes for a request to this address."""
    settings.ROOT_URLCONF = __name__
    request = RequestFactory().generic("GET", address, **sent)

    def view(request):
        request.resolver_match = resolve(request.path_info)
        return HttpResponse(status=201)

    with log.at_level(logging.INFO, logger="rejudge.requests"):
        requests(view)(request)
    (made,) = (r for r in log.records if r.name == "rejudge.requests")
    return made


def empty_view(request, **_):
    return HttpResponse()


urlpatterns = [
    path("projects/<slug:slug>/things/<int:pk>/", empty_view, name="thing"),
    path("reset/<str:token>/<slug:slug>/", empty_view, name="reset"),
]


def test_a_request_is_logged_with_its_route_slug_and_key(caplog, settings):
    made = vars(log_of_request("/projects/tides/things/17/?search=secret", caplog, settings))

    assert made["message"] == "GET thing 201"
    assert {name: made[name] for name in ("verb", "route", "status", "slug", "pk")} == {
        "verb": "GET",
        "route": "thing",
        "status": 201,
        "slug": "tides",
        "pk": 17,
    }
    assert made["ms"] >= 0
    assert "secret" not in str(made)


def test_secrets_in_an_address_are_not_logged(caplog, settings):
    made = vars(log_of_request("/reset/very-secret/tides/", caplog, settings))

    assert made["message"] == "GET reset 201"
    assert "very-secret" not in str(made)
