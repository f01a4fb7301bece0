"""The monitoring endpoints: /healthz, /readyz and /metrics."""

from __future__ import annotations

import json

import pytest
from django.db import OperationalError
from django.test import Client

from config.celery import BrokerUnavailable
from config.request_guard import PROBES
from exporters.models import Export
from jobs.status import record_heartbeat
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def raise_broker_unavailable(*_, **__):
    raise BrokerUnavailable("connection refused by redis.internal:6379")


def raise_database_error(*_, **__):
    raise OperationalError("could not connect to postgres.internal")


@pytest.fixture
def administrator():
    """An administrator who is a member of no project."""
    user = factories.user("olga")
    user.is_staff = True
    user.save()
    return user


def test_healthz_answers_without_checking_anything(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        response = client.get("/healthz")

    assert (response.status_code, response.content) == (200, b"ok\n")
    assert "no-store" in response["Cache-Control"]


def test_healthz_asks_no_database_about_the_session(
    client, administrator, django_assert_num_queries
):
    client.force_login(administrator)

    with django_assert_num_queries(0):
        assert client.get("/healthz").content == b"ok\n"


def test_readyz_asks_as_many_queries_with_a_session_as_without(
    client, administrator, django_assert_num_queries
):
    client.force_login(administrator)
    client.get("/readyz")

    with django_assert_num_queries(3):
        assert client.get("/readyz").status_code == 200


def test_readyz_reports_that_everything_is_ready(client):
    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"database": True, "broker": True, "migrations": True}


def test_an_unavailable_broker_is_reported_without_its_address(client, monkeypatch, caplog):
    monkeypatch.setattr("config.celery.count_waiting_messages", raise_broker_unavailable)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"database": True, "broker": False, "migrations": True}
    assert b"internal" not in response.content
    assert "connection refused by redis.internal:6379" in caplog.text


def test_an_unavailable_database_is_reported(client, monkeypatch, caplog):
    monkeypatch.setattr("config.installation_status.connection.cursor", raise_database_error)
    monkeypatch.setattr("config.installation_status.connection.close", lambda: None)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"database": False, "broker": True, "migrations": False}
    assert "could not connect" in caplog.text


def test_a_database_without_the_newest_migration_is_not_ready(client, monkeypatch):
    known = frozenset({("jobs", "0001_initial"), ("jobs", "9999_tomorrow")})
    monkeypatch.setattr("base.database_version.migrations_in_code", lambda: known)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"database": True, "broker": True, "migrations": False}


def test_readyz_makes_three_queries(client, django_assert_num_queries):
    client.get("/readyz")

    # One query each: whether the database answers, whether the table of migrations exists, and
    # which are applied.
    with django_assert_num_queries(3):
        client.get("/readyz")


@pytest.mark.parametrize("address", sorted(PROBES))
def test_probes_answer_under_any_host_name(client, settings, administrator, address):
    settings.ALLOWED_HOSTS = ["rejudge.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    client.force_login(administrator)

    assert client.get(address, headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/", headers={"host": "10.1.2.3:8000"}).status_code == 400


def test_metrics_can_be_read_with_the_token(client, settings):
    settings.METRICS_TOKEN = "watching"

    answers = [
        client.get("/metrics", headers={"authorization": sent}).status_code
        for sent in (
            "Bearer watching",
            "Bearer watchin",
            "watching",
            "Bearer ",
            "Bearer wätching",
        )
    ]

    assert answers == [200, 404, 404, 404, 404]


def test_no_token_is_accepted_if_none_is_set(client, settings):
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_administrators_can_read_the_metrics(client, administrator):
    client.force_login(administrator)

    assert client.get("/metrics").status_code == 200


def read_metrics(client):
    lines = client.get("/metrics").content.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_metrics_count_waiting_running_and_failed_jobs(client, administrator, published):
    carla = factories.lead(factories.project("secret-name"), "carla")
    for state in ("queued", "queued", "failed"):
        ended = {"error": "No.", "finished_at": "2026-03-02T09:30Z"} if state == "failed" else {}
        Export.objects.create(by=carla, project=carla.project, format="trec", state=state, **ended)
    record_heartbeat("celery@one")
    client.force_login(administrator)

    found = read_metrics(client)

    assert found['rejudge_jobs{kind="export",state="waiting"}'] == "2.0"
    assert found['rejudge_jobs{kind="export",state="failed"}'] == "1.0"
    assert found['rejudge_jobs{kind="load",state="waiting"}'] == "0.0"
    assert float(found['rejudge_worker_silent_seconds{worker="celery@one"}']) < 60
    assert (found["rejudge_database_up"], found["rejudge_broker_up"]) == ("1.0", "1.0")
    assert "rejudge_broker_messages" in found
    assert "secret-name" not in json.dumps(found)


def test_metrics_are_returned_without_a_broker(client, administrator, monkeypatch):
    monkeypatch.setattr("config.celery.count_waiting_messages", raise_broker_unavailable)
    client.force_login(administrator)

    found = read_metrics(client)

    assert found["rejudge_broker_up"] == "0.0"
    assert "rejudge_broker_messages" not in found
    assert 'rejudge_jobs{kind="load",state="failed"}' in found


def test_requests_are_counted_by_route_and_never_by_address(client, administrator):
    stranger = Client()
    client.force_login(administrator)
    before = read_metrics(client)

    stranger.get("/projects/secret-name/queries/17/?search=secret")
    stranger.generic("BREW", "/nothing/like/it/")

    after = read_metrics(client)
    seen = 'rejudge_requests_total{route="annotate:query",status="302",verb="GET"}'
    strange = 'rejudge_requests_total{route="none",status="302",verb="other"}'
    assert float(after[seen]) - float(before.get(seen, 0)) == 1
    assert "secret" not in json.dumps(after)
    assert [name for name in after if "BREW" in name] == []
    assert strange in after or strange.replace("302", "404") in after
