"""Counting and publishing messages with a broker that answers, is down, or is silent."""

from __future__ import annotations

import socket
import time

import pytest
from django.conf import settings

from config.celery import BrokerAway, app, deliver, waiting_messages
from tests.services.worker import deliver_to


@pytest.fixture
def silent():
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def nobody():
    """An address at which no server listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"redis://127.0.0.1:{port}/0"


@pytest.fixture
def use(monkeypatch):
    """Return a function that sets the application's broker."""

    def use(url):
        monkeypatch.setattr(settings, "BROKER_URL", url)
        monkeypatch.setattr(app.conf, "broker_url", url)
        monkeypatch.setattr(app.conf, "broker_read_url", url)
        monkeypatch.setattr(app.conf, "broker_write_url", url)

    return use


def test_messages_that_wait_are_counted_in_redis(redis_url, use):
    use(redis_url)
    before = waiting_messages()

    deliver_to(redis_url)("errands.go", 1)
    deliver_to(redis_url)("errands.go", 2)

    assert waiting_messages() - before == 2


def test_messages_that_wait_are_counted_in_the_embedded_broker():
    before = waiting_messages()

    deliver("errands.go", 1)

    assert waiting_messages() - before == 1


@pytest.mark.parametrize("kind", ["silent", "nobody"])
def test_who_asks_a_broker_that_does_not_answer_is_told_so_soon(kind, use, request):
    use(request.getfixturevalue(kind))
    began = time.monotonic()

    with pytest.raises(BrokerAway):
        waiting_messages()

    assert time.monotonic() - began < 20


@pytest.mark.parametrize("kind", ["silent", "nobody"])
def test_who_hands_work_over_does_not_wait_for_a_broker_that_does_not_answer(kind, use, request):
    use(request.getfixturevalue(kind))
    began = time.monotonic()

    with pytest.raises(BrokerAway):
        deliver("errands.go", 1)

    assert time.monotonic() - began < 20
