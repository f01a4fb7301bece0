"""Counting and publishing messages with a broker that answers, is down, or is silent."""

from __future__ import annotations

import socket
import time

import pytest
from django.conf import settings

from config.celery import BrokerUnavailable, app, count_waiting_messages, deliver
from tests.services.worker import deliver_to


@pytest.fixture
def silent_broker():
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def closed_port():
    """An address at which no server listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"redis://127.0.0.1:{port}/0"


@pytest.fixture
def use_broker(monkeypatch):
    """Return a function that sets the application's broker."""

    def use_broker(url):
        monkeypatch.setattr(settings, "BROKER_URL", url)
        monkeypatch.setattr(app.conf, "broker_url", url)
        monkeypatch.setattr(app.conf, "broker_read_url", url)
        monkeypatch.setattr(app.conf, "broker_write_url", url)

    return use_broker


def test_waiting_messages_are_counted_in_redis(redis_url, use_broker):
    use_broker(redis_url)
    before = count_waiting_messages()

    deliver_to(redis_url)("jobs.run", 1)
    deliver_to(redis_url)("jobs.run", 2)

    assert count_waiting_messages() - before == 2


def test_waiting_messages_are_counted_in_the_embedded_broker():
    before = count_waiting_messages()

    deliver("jobs.run", 1)

    assert count_waiting_messages() - before == 1


@pytest.mark.parametrize("kind", ["silent_broker", "closed_port"])
def test_counting_messages_fails_soon_if_the_broker_does_not_answer(kind, use_broker, request):
    use_broker(request.getfixturevalue(kind))
    began = time.monotonic()

    with pytest.raises(BrokerUnavailable):
        count_waiting_messages()

    assert time.monotonic() - began < 20


@pytest.mark.parametrize("kind", ["silent_broker", "closed_port"])
def test_publishing_fails_soon_if_the_broker_does_not_answer(kind, use_broker, request):
    use_broker(request.getfixturevalue(kind))
    began = time.monotonic()

    with pytest.raises(BrokerUnavailable):
        deliver("jobs.run", 1)

    assert time.monotonic() - began < 20
