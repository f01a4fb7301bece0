"""Celery's configuration: the broker, how messages are handled, and the schedule."""

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

from celery import Celery, Task
from celery.beat import Service
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
from config.supervisor import die_with
from jobs.errors import JobError
from jobs.log_context import clear_context

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A worker that ran the checks of `manage.py check` at its start would import every URL and view:
# 40 MB that it never needs.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# In seconds. Redis gives a message to another worker after this long. It is longer than any job: a
# dead worker is found by the job's own lease, and much sooner.
VISIBILITY_TIMEOUT = 6 * 60 * 60

# In seconds. Without these, a page that requests a job would wait forever for a Redis that accepts
# connections but does not answer. Workers ask again after ten seconds at the latest.
REDIS_TIMEOUTS = {"socket_connect_timeout": 5, "socket_timeout": 20}

# Pages go first: when both want the whole processor, background jobs get about a third of the time
# that pages get; otherwise they get all that pages leave.
NICENESS = 5

QUEUE = "rejudge"
# How often a worker's process reports that it is alive, in seconds.
ALIVE_INTERVAL = 10.0

logger = logging.getLogger(__name__)


def transport_options(broker_url: str) -> dict[str, Any]:
    """Return the options for the transport of `broker_url`."""
    if is_embedded(broker_url):
        return {}
    return {"visibility_timeout": VISIBILITY_TIMEOUT, **REDIS_TIMEOUTS}


class JobTask(Task):  # type: ignore[type-arg]
    """A task that may refuse its work: the row has the sentence, and the log a line, no error."""

    throws = (JobError,)


app = Celery("rejudge", task_cls=JobTask)
app.conf.update(
    broker_url=settings.BROKER_URL,
    broker_transport_options=transport_options(settings.BROKER_URL),
    broker_connection_retry_on_startup=True,
    task_default_queue=QUEUE,
    # The job's row has the outcome; nothing reads results.
    task_ignore_result=True,
    # A message is acknowledged when its job is done, and a worker takes one at a time.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    # A short outage of the broker does not stop jobs whose row is alive.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    # The embedded broker cannot carry remote control.
    worker_enable_remote_control=not is_embedded(settings.BROKER_URL),
    worker_hijack_root_logger=False,
    timezone="UTC",
    # Only intervals are scheduled, so no state has to be kept between restarts.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        # A message that was not taken in time is useless; it expires, so that none pile up.
        "heartbeat": {"task": "jobs.heartbeat", "schedule": 10, "options": {"expires": 10}},
        "reconcile": {"task": "jobs.reconcile", "schedule": 15, "options": {"expires": 15}},
        # Each person gets at most one mail a day; their row has the time of the last one.
        "notices": {"task": "annotate.notices", "schedule": 3600, "options": {"expires": 3600}},
    },
)
app.autodiscover_tasks()


class BrokerUnavailable(Exception):
    """Raised if the broker does not answer."""


def deliver(task: str, *args: int | str) -> None:
    """Publish a message for `task`, of most tasks the key of a row.

    Raise `BrokerUnavailable` if the broker does not take it within seconds: a person is waiting.
    """
    with _connection_with_timeouts() as broker:
        app.send_task(task, args=args, connection=broker, retry=False)


def count_waiting_messages() -> int:
    """Count the messages that no worker has taken yet.

    Raise `BrokerUnavailable` if the broker does not answer within seconds.
    """
    with _connection_with_timeouts() as broker:
        # Its declared type is a base class without `queue_declare`.
        channel: Any
        with broker.channel() as channel:
            return int(channel.queue_declare(QUEUE).message_count)


@contextlib.contextmanager
def _connection_with_timeouts() -> Iterator[Connection]:
    """Yield a connection to the broker with short timeouts.

    Raise `BrokerUnavailable` if one expires.
    """
    options = transport_options(settings.BROKER_URL)
    if not is_embedded(settings.BROKER_URL):
        options |= {"socket_connect_timeout": 2, "socket_timeout": 2}
    broker = app.connection_for_write(transport_options=options)
    errors: tuple[type[BaseException], ...] = (*broker.connection_errors, KombuError, OSError)
    try:
        with broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=3)
            yield broker
    except errors as error:
        raise BrokerUnavailable(str(error)) from error


def start_schedule() -> None:
    """Publish what is scheduled from a thread of this process, until the process ends."""
    # Celery's type stubs accept only an app with the default class of tasks.
    schedule = Service(app, scheduler_cls=app.conf.beat_scheduler)  # type: ignore[arg-type]
    threading.Thread(target=schedule.start, name="schedule", daemon=True).start()


@setup_logging.connect
def _configure_logging(**_: Any) -> None:
    # A receiver of this signal keeps Celery from configuring logging itself.
    logging.config.dictConfig(settings.LOGGING)
    # Tasks that run every few seconds would hide the jobs that people requested.
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).addFilter(_is_not_routine)


def _is_not_routine(record: logging.LogRecord) -> bool:
    task = record.args.get("name", "") if isinstance(record.args, dict) else ""
    return record.levelno > logging.INFO or task not in {"jobs.heartbeat", "jobs.reconcile"}


@worker_ready.connect
def _announce_worker(sender: Any, **_: Any) -> None:
    # At once: otherwise the worker would only appear after the first round of the schedule.
    sender.app.send_task("jobs.heartbeat")
    sender.app.send_task("jobs.reconcile")
    _record_process(sender.hostname)
    sender.timer.call_repeatedly(ALIVE_INTERVAL, _record_process, args=[sender.hostname])


def _record_process(worker: str) -> None:
    # This is the worker's main process, which reports even when its whole pool has long jobs.
    from jobs.status import record_process

    try:
        record_process(worker)
    except DatabaseError:
        logger.warning("%s cannot record that it is alive", worker, exc_info=True)
    finally:
        # The pool's processes are forked from this one and must not inherit the connection.
        connection.close()


@worker_process_init.connect
def _die_with_the_worker(**_: Any) -> None:
    die_with(os.getppid())


@worker_init.connect
def _share_memory(**_: Any) -> None:
    # The pool's processes are copies of this one. The garbage collector would write into every
    # memory page it visits, and so end the sharing of that page.
    gc.collect()
    gc.freeze()
    if "REJUDGE_SUPERVISED" in os.environ:
        # It shares a machine with the web server. Processes started from here on inherit this.
        os.nice(NICENESS)


@task_prerun.connect
def _exit_through_the_job(**_: Any) -> None:
    # When stopped in the middle of a job, exit by an exception, so that the job gives its row back.
    # Only during a job: a worker that waits for one holds a lock, which an exception must not skip.
    if _runs_in_own_process():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


@task_postrun.connect
def _exit_at_once(**_: Any) -> None:
    clear_context()
    if _runs_in_own_process():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _runs_in_own_process() -> bool:
    """Return whether this job runs in a process, not in a thread, which the worker stops itself."""
    return threading.current_thread() is threading.main_thread()
