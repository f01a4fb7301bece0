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


def test_requests_that_the_schema_allows_get_documented_responses(tides, send_requests):
    sent_by = send_requests(["", "ada", "carla"], "positive", tides.keys, elsewhere="carla")

    assert {who: sent.failures for who, sent in sent_by.items() if sent.failures} == {}
    assert set(sent_by[""].statuses) <= {401}
    for who in ("ada", "carla"):
        assert set(sent_by[who].statuses) <= {404, *range(200, 205), *range(400, 430)}
    # Her requests reach the actions.
    assert sent_by["carla"].statuses[200] > 50
    assert sent_by["carla"].statuses[201] > 0
    assert sent_by["elsewhere"].statuses[404] > 0


def test_requests_that_the_schema_forbids_cause_no_server_error(tides, send_requests):
    sent = send_requests(["carla"], "negative", tides.keys)["carla"]

    assert not sent.failures, "\n".join(sent.failures)
    assert sent.statuses[400] > 100
