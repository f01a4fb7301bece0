"""Celery for the whole house: which broker, how a message is treated, what happens regularly."""

from __future__ import annotations

import contextlib
import gc
import logging
import logging.config
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import billiard.pool
import celery.beat
from celery import Celery
from celery.signals import (
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
)
from django.conf import settings
from django.db import DatabaseError, connection
from kombu import Connection
from kombu.exceptions import KombuError

from config.embedded_broker import is_embedded
from config.parent_process import die_with
from jobs.about import clear_context

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A worker that ran the checks of `manage.py check` when it starts would load every page with its
# addresses: 40 MB that it never needs.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# The schedule inside a worker is a thread of it, and not a process: it only puts two messages into
# the broker now and then.
celery.beat._Process = None  # type: ignore[misc, assignment]

# A process that has just done a job when the worker stops waits for its last word to be heard,
# perhaps in vain: by default for half a minute. The row says what was done, so two seconds will do.
billiard.pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = 20

# Redis gives a message to another worker after this long. It is longer than any job: the job's own
# lease is what finds a dead worker, and much sooner.
VISIBILITY_TIMEOUT = 6 * 60 * 60

# In seconds. Without these, a page that asks for work would wait for a Redis that is there and says
# nothing for as long as it pleases; workers ask again after ten seconds at the latest.
PATIENCE_WITH_REDIS = {"socket_connect_timeout": 5, "socket_timeout": 20}

# Who presses a key goes first: beside the pages, work in the background gets a third of the time
# that it would get where both want all of it, and all that the pages leave.
NICENESS = 5

QUEUE = "rejudge"
# How often a worker's process says that it is there, in seconds.
SHOWS_UP_EVERY = 10.0

logger = logging.getLogger(__name__)


def transport_options(broker_url: str) -> dict[str, Any]:
    """Return what the transport of `broker_url` needs to be told."""
    if is_embedded(broker_url):
        return {}
    return {"visibility_timeout": VISIBILITY_TIMEOUT, **PATIENCE_WITH_REDIS}


app = Celery("rejudge")
app.conf.update(
    broker_url=settings.BROKER_URL,
    broker_transport_options=transport_options(settings.BROKER_URL),
    broker_connection_retry_on_startup=True,
    task_default_queue=QUEUE,
    # The job row says how it ended; nothing reads results.
    task_ignore_result=True,
    # A message is done with when the work is, and one at a time.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    # A broker that goes away for a moment does not stop work whose row is alive.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    # The embedded broker cannot carry remote control.
    worker_enable_remote_control=not is_embedded(settings.BROKER_URL),
    worker_hijack_root_logger=False,
    timezone="UTC",
    # Only intervals are scheduled, so that nothing has to be remembered between two starts.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        # One that was not taken in time is useless, and does not pile up.
        "heartbeat": {"task": "jobs.heartbeat", "schedule": 10, "options": {"expires": 10}},
        "reconcile": {"task": "jobs.reconcile", "schedule": 15, "options": {"expires": 15}},
        # Each person is mailed at most once a day; their row says when.
        "notices": {"task": "annotate.notices", "schedule": 3600, "options": {"expires": 3600}},
    },
)
app.autodiscover_tasks()


class BrokerAway(Exception):
    """The broker does not answer."""


def deliver(task: str, pk: int) -> None:
    """Publish a message that names a task and the row it is about; raise `BrokerAway` where nobody
    takes it within seconds: a person waits for this.
    """
    with _within_seconds() as broker:
        app.send_task(task, args=[pk], connection=broker, retry=False)


def waiting_messages() -> int:
    """Count the messages that no worker has taken yet; raise `BrokerAway` where nobody answers.

    Answers within seconds, whatever the broker does.
    """
    with _within_seconds() as broker:
        # Its type is that of the least channel there is.
        channel: Any
        with broker.channel() as channel:
            return int(channel.queue_declare(QUEUE).message_count)


@contextlib.contextmanager
def _within_seconds() -> Iterator[Connection]:
    """A connection to the broker that does not wait long for anything; `BrokerAway` where it would
    have to.
    """
    options = transport_options(settings.BROKER_URL)
    if not is_embedded(settings.BROKER_URL):
        options |= {"socket_connect_timeout": 2, "socket_timeout": 2}
    broker = app.connection_for_write(transport_options=options)
    gone: tuple[type[BaseException], ...] = (*broker.connection_errors, KombuError, OSError)
    try:
        with broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=3)
            yield broker
    except gone as error:
        raise BrokerAway(str(error)) from error


@setup_logging.connect
def _log_as_the_pages_do(**_: Any) -> None:
    # Whoever answers this signal keeps Celery from setting up a log of its own.
    logging.config.dictConfig(settings.LOGGING)
    # What happens every few seconds would hide what people asked for.
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).addFilter(_is_about_work)


def _is_about_work(record: logging.LogRecord) -> bool:
    task = record.args.get("name", "") if isinstance(record.args, dict) else ""
    return record.levelno > logging.INFO or not str(task).startswith("jobs.")


@worker_ready.connect
def _show_up(sender: Any, **_: Any) -> None:
    # At once, so that nobody waits for the first round of the schedule to see a worker.
    sender.app.send_task("jobs.heartbeat")
    sender.app.send_task("jobs.reconcile")
    _say_that_it_is_there(sender.hostname)
    sender.timer.call_repeatedly(SHOWS_UP_EVERY, _say_that_it_is_there, args=[sender.hostname])


def _say_that_it_is_there(worker: str) -> None:
    # Its process, also when all its hands are at long jobs.
    from jobs.status import record_process

    try:
        record_process(worker)
    except DatabaseError:
        logger.warning("%s cannot say that it is there", worker, exc_info=True)
    finally:
        # Processes of the pool are forked from this one; none of them shall meet it.
        connection.close()


@worker_process_init.connect
def _enter_pool(**_: Any) -> None:
    die_with(os.getppid())


@worker_init.connect
def _share_memory(**_: Any) -> None:
    # The processes of the pool are copies of this one. The collector would write into every page
    # it looks at, and so make it a process's own.
    gc.collect()
    gc.freeze()
    if "REJUDGE_SUPERVISED" in os.environ:
        # On the machine that answers the pages. What it starts from here on is as nice.
        os.nice(NICENESS)


@task_prerun.connect
def _leave_through_the_job(**_: Any) -> None:
    # Stopped in the middle of a job: leave through it, so that it hands its row back. Only then: a
    # worker that waits for a job holds a lock that must not be left through an exception.
    if _has_a_process_of_its_own():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


@task_postrun.connect
def _leave_at_once(**_: Any) -> None:
    clear_context()
    if _has_a_process_of_its_own():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _has_a_process_of_its_own() -> bool:
    """Whether jobs are done in processes; where they are done in threads, the worker ends them."""
    return threading.current_thread() is threading.main_thread()
