from __future__ import annotations

import sqlite3
from contextlib import closing
from queue import Empty

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from config import embedded_broker


@pytest.fixture
def queue(tmp_path):
    """A queue of the embedded broker, in a file that does not exist yet."""
    url = f"{embedded_broker.SCHEME}://{tmp_path / 'broker.sqlite3'}"
    with Connection(url) as broker:
        queue = broker.SimpleQueue("rejudge")
        yield queue
        queue.close()


def take(queue) -> str:
    message = queue.get(block=False)
    message.ack()
    return str(message.payload)


def test_each_message_is_taken_once_and_in_order(queue):
    for words in ("first", "second", "third"):
        queue.put(words)

    assert queue.qsize() == 3
    assert [take(queue) for _ in range(3)] == ["first", "second", "third"]
    assert queue.qsize() == 0
    with pytest.raises(Empty):
        take(queue)


def test_a_taken_message_is_deleted_from_the_file(queue, tmp_path):
    queue.put("first")
    queue.put("second")

    take(queue)

    with closing(sqlite3.connect(tmp_path / "broker.sqlite3")) as rows:
        assert rows.execute("SELECT COUNT(*) FROM message").fetchone() == (1,)


def test_an_unacknowledged_message_is_requeued_when_its_consumer_closes(queue, tmp_path):
    with queue.channel.connection.client.clone() as other:
        taken = other.SimpleQueue("rejudge")
        queue.put("first")
        taken.get(block=False)
        assert queue.qsize() == 0

    assert take(queue) == "first"


def test_queues_in_one_file_do_not_mix(queue):
    with queue.channel.connection.client.clone() as other:
        others = other.SimpleQueue("others")
        queue.put("mine")
        others.put("theirs")

        assert others.clear() == 1
        others.close()

    assert take(queue) == "mine"


def test_a_file_that_cannot_be_opened_is_a_connection_error(tmp_path):
    url = f"{embedded_broker.SCHEME}://{tmp_path / 'no folder' / 'broker.sqlite3'}"
    with Connection(url) as broker, pytest.raises((OperationalError, *broker.connection_errors)):
        broker.SimpleQueue("rejudge").put("first")
