"""Acknowledged writes are on the disk, with the embedded database too."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from django.db import connection
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Judgment
from config import disk_sync
from tests import factories

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="PostgreSQL waits for the disk itself"
    ),
]


@pytest.fixture
def form(client):
    """Return the address and fields of a judgment that ada can send."""
    project = factories.project()
    query = factories.query(project)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    ada = factories.member(project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    client.force_login(factories.user("ada"))
    narrative = factories.altered(pair).pk
    return (
        reverse("annotate:judgment", args=[pair.pk, candidate.pk]),
        {"narrative": narrative, "relevance": 1},
    )


def journal_of_the_database():
    return Path(f"{connection.settings_dict['NAME']}-wal")


@pytest.fixture
def synced(monkeypatch):
    """Record each fsync: the file, and the number of judgments committed by then."""
    found = []

    def fsync(opened):
        found.append((os.fstat(opened).st_ino, Judgment.objects.count()))

    monkeypatch.setattr("config.disk_sync.os.fsync", fsync)
    return found


def test_a_judgment_is_acknowledged_once_it_is_on_the_disk(form, client, synced):
    response = client.post(*form)

    assert response.status_code == 302
    assert synced == [(journal_of_the_database().stat().st_ino, 1)]


def test_reading_does_not_wait_for_the_disk(form, client, synced):
    client.get(reverse("annotate:home"))

    assert synced == []


def test_a_failed_disk_write_is_not_acknowledged(form, client, monkeypatch):
    def broken(opened):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("config.disk_sync.os.fsync", broken)
    client.raise_request_exception = False

    assert client.post(*form).status_code == 500


def test_a_missing_write_ahead_log_needs_no_sync(tmp_path):
    disk_sync.sync(tmp_path / "rejudge.sqlite3-wal")
