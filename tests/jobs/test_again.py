"""Retrying failed jobs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.core.files.base import ContentFile

from annotate.models import Load
from exporters.models import Release
from jobs.models import Job
from jobs.queue import CannotRetry, retry
from jobs.runner import run_work
from tests import factories
from tests.errands.models import Errand
from tests.errands.work import work

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def failed(**fields):
    ended = {"state": "failed", "error": "No.", "started_at": NOW, "finished_at": NOW}
    return Errand.objects.create(**ended | {"attempts": 3, "published_at": NOW} | fields)


def test_a_retried_job_waits_as_if_it_were_new(published):
    errand = failed(step="Walking", done=2, total=3)

    assert retry(errand, by="olga")

    errand.refresh_from_db()
    assert (errand.state, errand.error, errand.finished_at) == ("queued", "", None)
    assert (errand.attempts, errand.started_at) == (0, None)
    assert (errand.step, errand.done, errand.total) == ("", 0, None)
    assert published == [("jobs.run", errand.pk)]


def test_a_retried_job_is_done(published):
    errand = failed()
    retry(errand, by="olga")

    assert run_work(errand.pk, work)

    errand.refresh_from_db()
    assert (errand.state, errand.attempts, errand.done) == ("done", 1, 3)


def test_retrying_twice_publishes_once(published):
    errand = failed()

    did_it = [retry(errand, by="olga"), retry(errand, by="olga")]

    assert did_it == [True, False]
    assert len(published) == 1
    assert Errand.objects.get().state == "queued"


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_only_failed_jobs_can_be_retried(published, state):
    errand = failed(state=state, error="", cancel_requested_at=NOW)

    with pytest.raises(CannotRetry, match="Only failed jobs"):
        retry(errand, by="olga")

    assert Errand.objects.get().state == state
    assert published == []


def load(**fields):
    carla = factories.lead(factories.project("tides"), "carla")
    return Load.objects.create(
        project=carla.project,
        by=carla,
        format="trec-qrels",
        file_name="qrels.txt",
        state=Job.State.FAILED,
        error="No.",
        finished_at=NOW,
        **fields,
    )


def test_a_load_whose_file_is_gone_cannot_be_retried(published):
    with pytest.raises(CannotRetry, match=r"Its file was discarded\. Upload it again\."):
        retry(load(), by="olga")

    assert published == []


def test_a_load_that_failed_for_another_reason_than_its_file_can_be_retried(
    published, finish_jobs, settings, tmp_path, monkeypatch
):
    settings.MEDIA_ROOT = tmp_path
    row = load()
    row.file.save("qrels.txt", ContentFile(b"301 0 A 2\n"))

    def full(**_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("annotate.loading.load_jobs.load_file", full)
        retry(row, by="olga")
        with pytest.raises(OSError, match="No space left"):
            finish_jobs()
    row.refresh_from_db()
    assert row.state == "failed"

    retry(row, by="olga")
    finish_jobs()

    row.refresh_from_db()
    assert (row.state, row.report["new"]) == ("done", 1)


def test_a_release_whose_name_was_taken_since_cannot_be_retried(published):
    carla = factories.lead(factories.project("tides"), "carla")
    old = Release.objects.create(
        project=carla.project, by=carla, name="v1", state="failed", error="No.", finished_at=NOW
    )
    Release.objects.create(project=carla.project, by=carla, name="v1")

    with pytest.raises(CannotRetry, match="Another job of this kind is running or has this name"):
        retry(old, by="olga")

    old.refresh_from_db()
    assert (old.state, old.error) == ("failed", "No.")
    assert published == []
