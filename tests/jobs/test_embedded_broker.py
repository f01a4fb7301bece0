from __future__ import annotations

import sqlite3
from contextlib import closing

from celery import Celery

from config.celery import transport_options
from jobs.reconcile import prune_embedded_broker


def test_pruning_removes_what_was_delivered_and_nothing_else(tmp_path, settings):
    settings.BROKER_URL = f"sqla+sqlite:///{tmp_path / 'broker.sqlite3'}"
    app = Celery("pruning", broker=settings.BROKER_URL, set_as_current=False)
    app.conf.broker_transport_options = transport_options(settings.BROKER_URL)
    with app.connection_for_write() as broker:
        queue = broker.SimpleQueue("rejudge")
        for words in ("first", "second", "third"):
            queue.put(words)
        queue.get().ack()
        queue.close()

    removed = prune_embedded_broker()

    with closing(sqlite3.connect(tmp_path / "broker.sqlite3")) as rows:
        left = rows.execute("SELECT visible, count(*) FROM kombu_message GROUP BY visible")
        assert left.fetchall() == [(1, 2)]
    assert removed == 1


def test_there_is_nothing_to_prune_in_redis(settings):
    settings.BROKER_URL = "redis+socket:///nowhere/s"

    assert prune_embedded_broker() == 0
