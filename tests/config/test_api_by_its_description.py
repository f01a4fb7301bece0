"""Requests that the API's schema allows and forbids, sent as several people.

No response is a server error or missing from the schema. The requests run in process, over WSGI,
with rows of every kind; each is rolled back before the next one. `REJUDGE_API_EXAMPLES` is the
number of requests per operation (2 by default).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from tests.test_permissions import World, world

pytestmark = pytest.mark.long


@pytest.fixture
def tides(db: None, settings: Any, tmp_path: Any, published: Any) -> Iterator[World]:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }
    signals = (request_started, request_finished)
    for signal in signals:
        # The connection belongs to the test, whose transaction must stay open.
        signal.disconnect(close_old_connections)
    yield world("tides", "ada", "carla")
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def send_requests() -> Callable[..., Any]:
    """Return a function that sends some requests to every operation as a given person."""
    from tests.config.described_api import send_requests

    return send_requests


@pytest.mark.parametrize("who", ["", "ada", "carla"])
def test_requests_that_the_schema_allows_get_documented_responses(tides, send_requests, who):
    statuses, failures = send_requests(who, "positive", tides.keys)

    assert not failures, "\n".join(failures)
    assert set(statuses) <= ({401} if not who else {404, *range(200, 205)} | set(range(400, 430)))
    if who == "carla":
        # Her requests reach the actions.
        assert statuses[200] > 50
        assert statuses[201] > 0


def test_requests_that_the_schema_forbids_cause_no_server_error(tides, send_requests):
    statuses, failures = send_requests("carla", "negative", tides.keys)

    assert not failures, "\n".join(failures)
    assert statuses[400] > 100


def test_generated_addresses_are_not_found(tides, send_requests):
    statuses, failures = send_requests("carla", "positive", {})

    assert not failures, "\n".join(failures)
    assert statuses[404] > 0
