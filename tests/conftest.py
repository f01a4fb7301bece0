"""Fixtures and hooks for all tests, and two rules for all of them: no network, no warnings."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import socket
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.conf import settings
from django.db import transaction
from django.template import Context, RequestContext, Template
from django.test import TransactionTestCase
from django.test.signals import template_rendered
from django.test.utils import _TestState
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker

from annotate.judgments.cached_counts import clear_caches
from jobs.models import Job
from jobs.queue import TASK
from jobs.status import record_heartbeat

# The same examples every time, so that a red run is red for everyone; HYPOTHESIS_PROFILE=explore
# draws new ones, and more of them; quick, which bin/test --quick takes, draws few.
hypothesis_settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
hypothesis_settings.register_profile(
    "quick", hypothesis_settings.get_profile("fixed"), max_examples=20
)
hypothesis_settings.register_profile("explore", max_examples=1_000, deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

Rows = TypeVar("Rows")

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# Thresholds of the garbage collector: new objects before a search of the youngest generation
# (Python: 700), such searches before one of the middle generation, and those before one of the old.
OBJECTS_BEFORE_GARBAGE = (20_000, 10, 20)
# The fixtures of tests of real transactions.
OF_TRANSACTIONS = {"transactional_db", "live_server"}
# The markers of tests that run on PostgreSQL.
ON_POSTGRESQL = {"both_databases", "postgresql"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Turn the garbage collector off while tests are collected, and exclude the tests afterwards.

    Thousands of tests live until the end, and each garbage collection would visit all of them.
    Afterwards garbage is collected less often than Python would, which takes a seventh of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*OBJECTS_BEFORE_GARBAGE)
        gc.enable()


def on_postgresql() -> bool:
    """Return whether this run's database is PostgreSQL rather than SQLite."""
    engine: str = settings.DATABASES["default"]["ENGINE"]
    return engine.endswith("postgresql")


def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are cores: tests wait for real servers and browsers."""
    return (os.cpu_count() or 1) + 1


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """On PostgreSQL, skip test files without tests for PostgreSQL: most of them.

    See `pytest_collection_modifyitems`. A file whose tests another one imports is imported by that.
    """
    if not on_postgresql() or not collection_path.name.startswith("test_"):
        return None
    source = collection_path.read_text(encoding="utf-8") if collection_path.is_file() else ""
    nothing = source and not any(marker in source for marker in ON_POSTGRESQL)
    return True if nothing else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that the run on the other database covers; begin with the longest ones.

    SQLite, the default, runs every test. PostgreSQL repeats only tests of what depends on the
    database: our own SQL, constraints, locks, intake, the bytes of exports, chains, jobs, backups.
    Such files have the marker `both_databases`. Pages, rights and forms read the same rows through
    the same ORM on both, so one run is enough.
    """
    postgresql = on_postgresql()
    selected: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        if postgresql:
            wanted = bool(marked & ON_POSTGRESQL) and "sqlite" not in marked
        else:
            wanted = "postgresql" not in marked
        (selected if wanted else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    refuse_rows_of_some_tests(selected)
    items[:] = order_for_processes(selected, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def refuse_rows_of_some_tests(items: list[pytest.Item]) -> None:
    """Refuse a file in which some tests ask for `rows_of_file` and others use the database.

    Those others would find the rows or not, depending on the order of the tests. Tests of real
    transactions are such others, even if they ask: no rollback brings the rows back.
    """
    asking, others = set(), set()
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        marker = item.get_closest_marker("django_db")
        real = bool(fixtures & OF_TRANSACTIONS or (marker and marker.kwargs.get("transaction")))
        if "rows_of_file" in fixtures:
            asking.add(item.path)
        if real or ("rows_of_file" not in fixtures and (marker or "db" in fixtures)):
            others.add(item.path)
    if both := sorted(map(str, asking & others)):
        raise pytest.UsageError(f"not all tests on the database ask for rows_of_file: {both}")


def order_for_processes(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """Order tests so that each process begins with its share of the long ones.

    Each process is given one block of the list first. A long test that begins last would keep one
    core busy while the others have nothing left to do.
    """
    long = [item for item in items if item.get_closest_marker("long")]
    short = iter([item for item in items if not item.get_closest_marker("long")])
    size = len(items) // processes + 1
    blocks = [long[first::processes] for first in range(processes)]
    # Tests of one file often wait for one world: every second process begins with other files.
    for block in blocks[1::2]:
        block.reverse()
    return [one for block in blocks for one in (*block, *islice(short, size - len(block)))]


@pytest.fixture(scope="session", autouse=True)
def pages_keep_their_context(django_test_environment: None) -> None:
    """Store in `response.context` only what the view passed to its page.

    Django's test client also copies the context of every part of a page, even of each form field,
    which takes a tenth of the page's time.
    """
    draw = _TestState.saved_data.template_render  # type: ignore[attr-defined]

    def render(template: Template, context: Context) -> Any:
        if isinstance(context, RequestContext) and context.template is template:
            template_rendered.send(sender=template, template=template, context=context)
        return draw(template, context)

    Template._render = render  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests counted: `record_property("tried", "105 routes x 8 verbs: ...")`.

    Properties of tests in other processes arrive with their reports; their output does not.
    """
    lines = [
        str(words)
        for report in terminalreporter.getreports("passed")
        if report.when == "call"
        for name, words in report.user_properties
        if name == "tried"
    ]
    if lines:
        terminalreporter.section("what was tried")
        for words in sorted(lines):
            terminalreporter.line(words)


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    django_db_modify_db_settings: None,
) -> Iterator[None]:
    """Give this process its own database: a copy of one that was migrated once.

    Blocked until a test asks for it: the rows of one that did not would stay for all others.
    """
    from tests.services.database import test_database

    with contextlib.ExitStack() as stack:
        with django_db_blocker.unblock():
            stack.enter_context(test_database(request.config.cache.mkdir("database")))
        yield
        with django_db_blocker.unblock():
            stack.close()


@pytest.fixture(scope="module")
def rows_of_file(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Make rows once for all tests of a file, in fixtures of scope `module` that ask for this one.

    The file's tests run within one transaction: `db` rolls each back to these rows, also if it
    changed or deleted them. All tests of the file see the rows, so each should ask for them. Not
    for a file with tests of real transactions, or with a `TestCase`, which closes the connection.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def copy_rows(db: None) -> Callable[[Rows], Rows]:
    """Return a function that copies the objects of a fixture of scope `module` for one test.

    Counts that an earlier test cached are those of the same rows: a test must count itself.
    """
    clear_caches()
    return copy.deepcopy


@pytest.fixture
def scene(scene_of_file: Rows, copy_rows: Callable[[Rows], Rows]) -> Rows:
    """What the file's fixture `scene_of_file`, of scope `module`, has made: a copy for one test."""
    return copy_rows(scene_of_file)


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Fail on every connection that would leave this machine, naming the address."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _local_only(getattr(socket.socket, name)))
        yield


def _local_only(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            pytest.fail(f"a test tried to reach {address[0]}; tests use no network")
        return connect(self, address)

    return guarded


@pytest.fixture(autouse=True)
def usual_rights() -> None:
    """Let new folders be read by everybody, also after a test whose command has forbidden it."""
    os.umask(0o022)


@pytest.fixture(scope="session", autouse=True)
def empty_tables_after_transactions() -> Iterator[None]:
    """After each test of real transactions, empty the tables that it filled, and only those."""
    from tests.services.database import empty_tables

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: empty_tables())
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real collections beside the checkout; without it, skip the test."""
    default = Path(settings.BASE_DIR).parent / "shared" / "data"
    folder = Path(os.environ.get("REJUDGE_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no folder of real collections at {folder} (name one in REJUDGE_SHARED_DATA)")
    return folder


@pytest.fixture
def own_storage(settings: Any, tmp_path: Path) -> Path:
    """The folder in which this test stores files, and no other test."""
    folder = tmp_path / "storage"
    default = settings.STORAGES["default"]
    options = {**default.get("OPTIONS", {}), "location": str(folder)}
    settings.STORAGES = {**settings.STORAGES, "default": {**default, "OPTIONS": options}}
    return folder


@pytest.fixture
def idle_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the thread that writes a job's progress idle.

    It would wait for the test's transaction, for 20 seconds, as soon as a job takes a second.
    """
    monkeypatch.setattr("jobs.runner.PULSE", 3_600)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Collect published messages as (task, pk), instead of sending them to a broker."""
    messages: list[tuple[str, int]] = []
    monkeypatch.setattr("config.celery.deliver", lambda task, pk: messages.append((task, pk)))
    return messages


def finish_all_jobs(patch: pytest.MonkeyPatch) -> int:
    """Run every queued job through its task in this process; return how many there were.

    Exceptions of a job are raised. The thread that writes progress stays idle: it could not see
    rows of a transaction that will be rolled back.
    """
    from config.celery import app

    patch.setattr("jobs.runner.PULSE", 3_600)
    app.autodiscover_tasks(force=True)
    waiting = list(
        Job.objects.filter(state=Job.State.QUEUED).order_by("pk").values_list("pk", flat=True)
    )
    for pk in waiting:
        app.tasks[TASK](pk)
    return len(waiting)


@pytest.fixture
def finish_jobs(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """See `finish_all_jobs`."""
    return lambda: finish_all_jobs(monkeypatch)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis, started once."""
    from tests.services.redis import redis

    with redis() as url:
        yield url


@pytest.fixture(scope="session")
def worker_of_session(
    redis_url: str, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[str]:
    """A real worker on a real Redis, started once; its name. Between jobs it writes nothing."""
    from tests.services.database import empty_tables
    from tests.services.worker import worker

    with contextlib.ExitStack() as stack:
        with django_db_blocker.unblock():
            started = stack.enter_context(worker(redis_url, "beside@test"))
            empty_tables()
        yield started.name


@pytest.fixture
def redis_worker(
    transactional_db: None, redis_url: str, worker_of_session: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A real worker that runs this test's jobs on this test's rows."""
    from tests.services.processes import wait_until
    from tests.services.worker import deliver_to

    record_heartbeat(worker_of_session)
    monkeypatch.setattr("config.celery.deliver", deliver_to(redis_url))
    yield
    unfinished = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    wait_until(lambda: not unfinished.exists(), "the end of the test's jobs")
