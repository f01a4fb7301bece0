"""The state of the installation, on the administrators' page and on the command line."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotate.models import AuditEvent, Load
from config import installation_status
from config.celery import BrokerUnavailable
from exporters.models import Export
from jobs.models import Heartbeat
from jobs.status import record_heartbeat
from tests import factories
from tests.errands.models import Errand

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
REQUEST_ID = "7d1f0c9a5b3e4f6a8c2d1e0f9a8b7c6d"

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator(client):
    """An administrator who is a member of no project; signed in."""
    user = factories.user("olga")
    user.is_staff = True
    user.save()
    client.force_login(user)
    return user


@pytest.fixture
def carla(published):
    return factories.lead(factories.project("tides"), "carla")


def make_failed_export(by, *, minutes=0, **fields):
    return Export.objects.create(
        project=by.project,
        by=by,
        format="trec",
        **{
            "state": "failed",
            "error": "The disk is full.",
            "attempts": 1,
            "started_at": AT,
            "finished_at": AT + timedelta(minutes=minutes),
            "request": REQUEST_ID,
        }
        | fields,
    )


def get_page(client, query=""):
    return client.get(reverse("status") + query)


def run_status(*arguments):
    out = StringIO()
    try:
        call_command("status", *arguments, stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def test_a_failed_job_is_shown_with_its_error_and_can_be_retried(
    client, administrator, carla, published
):
    export = make_failed_export(carla)

    shown = get_page(client).content.decode()
    again = client.post(reverse("status_retry", args=[export.pk]), follow=True)

    about = (f"export {export.pk}", carla.project.name, "carla", REQUEST_ID)
    for words in ("The disk is full.", *about):
        assert words in shown
    assert "The job is waiting for a worker." in again.content.decode()
    export.refresh_from_db()
    assert (export.state, export.error) == ("queued", "")
    assert again.redirect_chain == [(reverse("status"), 302)]
    audit_event = AuditEvent.objects.get(what="job.retried")
    assert (audit_event.project, audit_event.user, audit_event.key) == (
        carla.project,
        administrator,
        export.pk,
    )
    assert audit_event.about == f"export {export.pk}: trec export {export.pk}"


def test_a_second_retry_is_not_recorded(client, administrator, carla, published):
    export = make_failed_export(carla)

    for _ in range(2):
        client.post(reverse("status_retry", args=[export.pk]))

    assert AuditEvent.objects.filter(what="job.retried").count() == 1
    assert len(published) <= 1


def test_a_job_that_cannot_be_retried_shows_the_reason(client, administrator, carla):
    load = Load.objects.create(
        by=carla,
        project=carla.project,
        format="trec-qrels",
        file_name="q.txt",
        state="failed",
        error="No.",
        finished_at=AT,
    )

    shown = get_page(client).content.decode()
    again = client.post(reverse("status_retry", args=[load.pk]), follow=True)

    assert reverse("status_retry", args=[load.pk]) not in shown
    assert "Its file was discarded. Upload it again." in shown
    assert "Its file was discarded. Upload it again." in again.content.decode()
    load.refresh_from_db()
    assert load.state == "failed"
    assert not AuditEvent.objects.filter(what="job.retried").exists()


def test_an_unknown_job_is_not_found(client, administrator):
    assert client.post(reverse("status_retry", args=[999])).status_code == 404


def test_only_administrators_can_see_the_status_and_retry_jobs(client, carla):
    export = make_failed_export(carla)
    client.force_login(carla.user)

    assert get_page(client).status_code == 403
    assert client.post(reverse("status_retry", args=[export.pk])).status_code == 403
    export.refresh_from_db()
    assert export.state == "failed"


def test_workers_are_shown_as_alive_or_silent(client, administrator):
    record_heartbeat("celery@there")
    record_heartbeat("celery@silent", now=timezone.now() - timedelta(minutes=5))
    Heartbeat.objects.create(
        worker="celery@busy", at=timezone.now() - timedelta(hours=1), seen_at=timezone.now()
    )

    rows = get_page(client).context["status"].workers

    assert [(row.name, row.alive) for row in rows] == [
        ("celery@busy", True),
        ("celery@silent", False),
        ("celery@there", True),
    ]


def test_the_page_reports_a_missing_broker_and_worker(client, administrator, monkeypatch):
    def raise_broker_unavailable():
        raise BrokerUnavailable("nobody listens")

    monkeypatch.setattr("config.celery.count_waiting_messages", raise_broker_unavailable)

    shown = get_page(client).content.decode()

    assert "The broker does not answer." in shown
    assert "No worker is running." in shown
    assert "No worker has been seen since yesterday." in shown
    assert "No job is under way." in shown
    assert "No job failed." in shown


def test_the_page_shows_no_error_if_everything_works(client, administrator):
    record_heartbeat("celery@one")

    assert "notice--error" not in get_page(client).content.decode()


def test_waiting_jobs_are_counted_by_kind(client, administrator, carla):
    for minutes in (3, 1, 2):
        make_failed_export(
            carla, state="queued", error="", finished_at=None, requested_at=AT + minutes * MINUTE
        )

    rows = {row.kind: row for row in get_page(client).context["status"].queues}

    assert rows["export"][2:] == (3, AT + MINUTE, 0, 0)
    assert rows["load"][2:] == (0, None, 0, 0)


MINUTE = timedelta(minutes=1)


def test_failed_jobs_of_all_kinds_are_paginated(client, administrator, carla):
    # Three different times, with several jobs of both kinds at each.
    for number in range(24):
        make_failed_export(carla, minutes=number % 3)
        Errand.objects.create(
            state="failed", error="No.", finished_at=AT + (number % 3) * MINUTE, attempts=3
        )
    found, query = [], ""

    while True:
        response = get_page(client, query)
        found += response.context["status"].failed
        query = response.context["next_url"]
        if query is None:
            break

    assert len(found) == 48
    assert len({job.pk for job in found}) == 48
    moments = [job.finished_at for job in found]
    assert moments == sorted(moments, reverse=True)


@pytest.mark.parametrize(
    "place",
    ["x", "2026-03-02T09:30:00~1", "2026-13-02T09:30Z~1", "2026-03-02T09:30Z~a", "~", "a~b"],
)
def test_an_invalid_position_shows_the_first_page(client, administrator, carla, place):
    make_failed_export(carla)

    response = client.get(reverse("status"), {"before": place})

    assert response.status_code == 200
    assert len(response.context["status"].failed) == 1


def test_the_number_of_queries_does_not_depend_on_failed_jobs(
    client, administrator, carla, django_assert_max_num_queries, monkeypatch
):
    monkeypatch.setattr(installation_status, "count_messages", lambda: 0)
    for minutes in range(40):
        make_failed_export(carla, minutes=minutes)

    # Three for the user, two for migrations, three for workers, one for the counts, one for the
    # running jobs, and two for those that failed.
    with django_assert_max_num_queries(12):
        get_page(client)


def test_the_command_shows_the_same_as_the_page(carla, monkeypatch):
    monkeypatch.setattr(installation_status, "count_messages", lambda: 3)
    record_heartbeat("celery@one")
    export = make_failed_export(carla)

    code, output = run_status()

    assert code == 0
    assert "Broker   answers; 3 messages waiting" in output
    assert "Workers  take work\n  celery@one: alive, last seen " in output
    assert "Export: 0 waiting, 0 running, 1 failed" in output
    assert (
        f"Failed   export {export.pk} (trec export {export.pk}) in tides, requested by "
        "carla, 2026-03-02T09:30:00+00:00\n"
        "         The disk is full.\n"
        f"         retry: manage.py status --retry {export.pk}"
    ) in output


def test_the_command_exits_with_1_without_a_worker(monkeypatch):
    monkeypatch.setattr(installation_status, "count_messages", lambda: 0)

    code, output = run_status()

    assert code == 1
    assert "Workers  do not take work" in output


def test_the_command_exits_with_1_without_a_broker(monkeypatch):
    monkeypatch.setattr(installation_status, "count_messages", lambda: None)
    record_heartbeat("celery@one")

    code, output = run_status()

    assert code == 1
    assert "Broker   does not answer" in output


def test_the_command_exits_with_1_if_a_migration_is_missing(monkeypatch):
    monkeypatch.setattr(installation_status, "unapplied_migrations", lambda: ["jobs.9999_tomorrow"])

    code, output = run_status()

    assert code == 1
    assert "The database is new, or older than the code. Run: manage.py prepare" in output


def test_the_command_prints_json(carla, monkeypatch):
    monkeypatch.setattr(installation_status, "count_messages", lambda: 0)
    record_heartbeat("celery@one")
    export = make_failed_export(carla)

    output = json.loads(run_status("--json")[1])

    assert (output["worker"], output["messages"]) == (True, 0)
    (job,) = output["failed"]
    assert (job["kind"], job["id"], job["project"]) == ("export", export.pk, "tides")
    assert (job["error"], job["request"]) == ("The disk is full.", REQUEST_ID)


def test_the_command_retries_a_job(carla, published):
    export = make_failed_export(carla)

    code, output = run_status("--retry", str(export.pk))

    assert (code, output) == (0, f"export {export.pk} waits for a worker.\n")
    export.refresh_from_db()
    assert export.state == "queued"
    assert AuditEvent.objects.get(what="job.retried").user is None


@pytest.mark.parametrize(
    ("number", "why"), [("999", "There is no job 999."), ("x", "invalid int value: 'x'")]
)
def test_the_command_refuses_an_unknown_job(number, why):
    with pytest.raises(CommandError, match=re.escape(why)):
        run_status("--retry", number)


@pytest.mark.parametrize(
    "name",
    [
        *("exporters:exports", "exporters:new_release", "exporters:evaluations"),
        *("annotate:loads", "audit:agreement"),
    ],
)
def test_pages_that_need_a_worker_report_a_missing_one(client, carla, name):
    client.force_login(carla.user)
    address = reverse(name, args=["tides"])

    without = client.get(address).content.decode()
    record_heartbeat("celery@one")
    with_one = client.get(address).content.decode()

    words = "No worker is running. Jobs wait until one is; nothing is lost."
    assert words in without
    assert reverse("status") not in without
    assert words not in with_one


def test_the_page_of_a_waiting_job_reports_a_missing_worker(client, carla):
    export = make_failed_export(carla, state="queued", error="", finished_at=None)
    client.force_login(carla.user)

    without = client.get(export.get_absolute_url()).content.decode()
    record_heartbeat("celery@one")
    with_one = client.get(export.get_absolute_url()).content.decode()

    assert "No worker is running." in without
    assert "No worker is running." not in with_one
    assert "Waiting for the worker." in with_one


def test_the_notice_links_administrators_to_the_status_page(client, carla):
    carla.user.is_staff = True
    carla.user.save()
    client.force_login(carla.user)

    shown = client.get(reverse("exporters:exports", args=["tides"])).content.decode()

    assert f'<a href="{reverse("status")}">Status of the installation</a>' in shown
