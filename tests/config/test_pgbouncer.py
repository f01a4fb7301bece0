"""Two web processes and two workers that share PgBouncer, in the mode that docs/scale.md names."""

from __future__ import annotations

import contextlib
import json
import os
import socket

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from annotate.models import Judgment
from benchmarks.annotators import journal_entry
from config.management.commands.serve import web_command, worker_command
from exporters.exports.actions import request_export
from exporters.exports.models import Export
from jobs.models import Heartbeat
from tests import factories
from tests.chaos.people import Connection, Unanswered
from tests.services.pgbouncer import pgbouncer, program
from tests.services.processes import running, wait_until
from tests.services.worker import deliver_to

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.long,
    pytest.mark.skipif(
        program() is None,
        reason="PgBouncer is not installed; bin/test installs it on Debian, for root",
    ),
]
# Each of eight threads has a connection of its own, and prepares the statement of an answer when it
# saves its third one.
DOCUMENTS = 48


@pytest.fixture
def pool():
    """Return the address of the test's database behind PgBouncer."""
    with pgbouncer(connection.settings_dict["HOST"]) as address:
        yield f"{address}/{connection.settings_dict['NAME']}"


@pytest.fixture
def start(pool, redis_url, tmp_path, monkeypatch):
    """Start a program with an installation's own settings, which keep connections open."""
    monkeypatch.setattr("config.celery.deliver", deliver_to(redis_url))
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("REJUDGE_")},
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": pool,
        "REDIS_URL": redis_url,
        "REJUDGE_DATA": str(settings.DATA),
        "REJUDGE_SECRET_KEY": settings.SECRET_KEY,
    }
    with contextlib.ExitStack() as stack:

        def start_program(name, argv):
            log = tmp_path / name
            stack.enter_context(running(argv, log=log, env=env, cwd=settings.BASE_DIR))
            return log

        yield start_program


def start_web(start, name, session):
    """Start a web process; return one person's connection to it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = start(name, web_command("127.0.0.1", port))
    web = Connection(port, session, patience=60)

    def answers():
        with contextlib.suppress(Unanswered):
            return web.ask("GET", "/healthz").status == 200
        return False

    wait_until(answers, name, log=log)
    return web


def test_two_web_processes_and_two_workers_share_pgbouncer(start):
    project = factories.project(judge_scope="pool")
    query = factories.query(project)
    candidates = [factories.candidate(query) for _ in range(DOCUMENTS)]
    pair = factories.pair(query)
    ada, carla = factories.user("ada"), factories.lead(project)
    factories.assignment(pair, factories.member(project, "ada"))
    client = Client()
    client.force_login(ada)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    webs = [start_web(start, name, session) for name in ("first-web", "second-web")]
    for name in ("first@test", "second@test"):
        log = start(name, [*worker_command(1, schedule=False), "--hostname", name])
        wait_until(Heartbeat.objects.filter(worker=name).exists, name, log=log)

    narrative = factories.altered(pair)
    for number, candidate in enumerate(candidates):
        entry = journal_entry(ada.pk, pair.pk, narrative.pk, candidate.pk)
        body = json.dumps({"entries": [entry]}).encode()
        answer = webs[number % 2].ask("POST", "/api/v1/journal/", body, "application/json")
        assert b'"saved"' in answer.body
    for web in webs:
        web.close()
    # Exports read through cursors that the server holds.
    for name in ("trec", "jsonl"):
        request_export(project=project, format_name=name, by=carla)
    done = Export.objects.filter(state=Export.State.DONE)
    wait_until(lambda: done.count() == 2, "the exports")

    assert Judgment.objects.count() == DOCUMENTS
