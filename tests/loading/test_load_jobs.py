"""The life of an upload: previewed, confirmed, loaded once, its file deleted."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotate.loading import load_jobs
from annotate.models import Candidate, Load, Project, Run
from annotate.projects.project_jobs import cancel_job
from base.errors import Refused
from config.celery import app
from jobs import runner
from jobs.errors import JobError
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

QRELS = b"301 0 A 2\n301 0 B 0\n"
RUN = b"301 Q0 A 1 2.5 bm25\n"
DELIVERED: list[tuple[str, int]] = []


def deliver(name: str, pk: int) -> None:
    DELIVERED.append((name, pk))


@pytest.fixture(autouse=True)
def published(settings, storage):
    """Collect messages to the broker in a list."""
    settings.JOBS_DELIVER = f"{__name__}.deliver"
    DELIVERED.clear()
    return DELIVERED


@pytest.fixture
def carla(db):
    return factories.lead(factories.project("tides"))


def upload(by, content: bytes = QRELS, **options) -> Load:
    file = SimpleUploadedFile("qrels.txt", content)
    return load_jobs.request_load(format_name="trec-qrels", file=file, by=by, **options)


def work(load: Load) -> Load:
    """Run the job as a worker does."""
    runner.run(load.pk)
    load.refresh_from_db()
    return load


def reported(load: Load) -> dict[str, Any]:
    assert load.report is not None
    return load.report


def stored_files(storage) -> list[str]:
    return [path.name for path in storage.rglob("*") if path.is_file()]


def test_uploading_a_file_enqueues_its_preview(carla, published, storage):
    load = upload(carla, no_grade=-1)

    assert published == [("jobs.run", load.pk)]
    assert (load.dry_run, load.state, load.file_name, load.no_grade) == (
        True,
        "queued",
        "qrels.txt",
        -1,
    )
    assert stored_files(storage) == ["qrels.txt"]


def test_a_preview_reports_and_writes_nothing(carla, storage):
    load = work(upload(carla))

    assert load.state == "done"
    assert (reported(load)["read"], reported(load)["new"]) == (2, 2)
    assert reported(load)["rows"]["candidates"] == {"new": 2, "changed": 0, "unchanged": 0}
    assert Candidate.objects.count() == 0
    assert stored_files(storage) == ["qrels.txt"]


def test_a_confirmed_preview_is_loaded_and_its_file_deleted(carla, published, storage):
    preview = work(upload(carla))

    load = work(load_jobs.confirm_load(preview=preview, by=carla))

    assert published[1:] == [("jobs.run", load.pk)]
    assert (load.state, reported(load)["new"], load.preview) == ("done", 2, preview)
    assert Candidate.objects.count() == 2
    assert stored_files(storage) == []
    preview.refresh_from_db()
    assert (preview.file.name, load.file.name) == ("", "")


def test_the_worker_finds_the_task_by_its_name(carla):
    load = upload(carla)
    app.loader.import_default_modules()  # as a worker does when it starts

    app.tasks["jobs.run"].run(load.pk)

    load.refresh_from_db()
    assert load.state == "done"


def test_the_no_grade_value_is_kept_with_the_upload(carla):
    preview = work(upload(carla, b"301 0 A -1\n", no_grade=-1))

    work(load_jobs.confirm_load(preview=preview, by=carla))

    assert Candidate.objects.get().prior_relevance is None


def test_the_side_of_a_run_is_kept_with_the_upload(carla):
    factories.pair(factories.query(carla.project, "301"), pair_id="301_0")
    file = SimpleUploadedFile("bm25.run", b"301_0 Q0 A 1 2.0 t\n")
    preview = load_jobs.request_load(format_name="trec-run", file=file, by=carla, side="reversed")

    work(load_jobs.confirm_load(preview=work(preview), by=carla))

    assert Run.objects.get().side == "reversed"


def test_confirming_twice_loads_once(carla):
    preview = work(upload(carla))

    first = load_jobs.confirm_load(preview=preview, by=carla)
    second = load_jobs.confirm_load(preview=preview, by=carla)

    assert first == second
    assert Load.objects.count() == 2


def test_the_load_reports_changes_since_the_preview(carla):
    preview = work(upload(carla))
    factories.candidate(factories.query(carla.project, "301"), "A", prior=2)

    load = work(load_jobs.confirm_load(preview=preview, by=carla))

    assert (reported(load)["new"], reported(load)["unchanged"]) == (1, 1)


def test_a_preview_with_a_bad_line_cannot_be_confirmed_and_loses_its_file(carla, storage):
    preview = work(upload(carla, b"301 0 A 2\n301 B 0\n"))

    assert preview.state == "done"
    assert reported(preview)["refused"] == 1
    assert reported(preview)["problems"][0]["line"] == 2
    assert stored_files(storage) == []
    with pytest.raises(Refused, match="while one of its lines is bad"):
        load_jobs.confirm_load(preview=preview, by=carla)


def test_a_refused_file_that_looks_like_another_format_is_kept(carla, storage):
    preview = work(upload(carla, RUN))

    assert (reported(preview)["refused"], reported(preview)["likely_format"]) == (1, "trec-run")
    assert stored_files(storage) == ["qrels.txt"]


def test_a_refused_part_of_a_folder_is_not_kept(carla, storage):
    preview = work(upload(carla, b"query-id\tcorpus-id\tscore\n301\tA\t1\n"))

    assert "load its folder as beir" in reported(preview)["problems"][0]["message"]
    assert reported(preview)["likely_format"] is None
    assert stored_files(storage) == []


def test_a_kept_file_is_checked_again_in_the_suggested_format(carla, published, storage):
    factories.query(carla.project, "301")
    refused = work(upload(carla, RUN))
    published.clear()

    preview = load_jobs.recheck_load(preview=refused, by=carla)

    assert published == [("jobs.run", preview.pk)]
    assert (preview.format, preview.file_name) == ("trec-run", "qrels.txt")
    assert (reported(work(preview))["refused"], reported(preview)["new"]) == (0, 1)
    assert stored_files(storage) == ["qrels.txt"]


def test_a_file_checked_again_is_loaded_and_then_deleted(carla, storage):
    factories.query(carla.project, "301")
    preview = load_jobs.recheck_load(preview=work(upload(carla, RUN)), by=carla)

    work(load_jobs.confirm_load(preview=work(preview), by=carla))

    assert Run.objects.get().lines.count() == 1
    assert set(Load.objects.values_list("file", flat=True)) == {""}
    assert not list(storage.glob("uploads/**/*.txt"))


def test_a_file_refused_again_without_a_suggestion_is_deleted(carla, storage):
    factories.query(carla.project, "302")
    preview = load_jobs.recheck_load(preview=work(upload(carla, RUN)), by=carla)

    # A run over queries that the project does not have.
    assert reported(work(preview))["refused"] == 1
    assert stored_files(storage) == []


def test_the_no_grade_value_is_not_kept_for_a_format_without_grades(carla):
    factories.query(carla.project, "301")
    refused = work(upload(carla, RUN, no_grade=-1))

    preview = load_jobs.recheck_load(preview=refused, by=carla)

    assert (preview.format, preview.no_grade) == ("trec-run", None)


def test_the_side_of_a_run_is_not_kept_for_another_format(carla):
    file = SimpleUploadedFile("bm25.run", QRELS)
    refused = work(
        load_jobs.request_load(format_name="trec-run", file=file, by=carla, side="reversed")
    )

    preview = load_jobs.recheck_load(preview=refused, by=carla)

    assert (preview.format, preview.side) == ("trec-qrels", "")


def test_a_refused_file_is_checked_again_only_once(carla):
    refused = work(upload(carla, RUN))
    load_jobs.recheck_load(preview=refused, by=carla)

    with pytest.raises(Refused, match="is checked in another format already"):
        load_jobs.recheck_load(preview=refused, by=carla)

    assert Load.objects.count() == 2


def test_a_discarded_file_cannot_be_checked_again(carla, storage):
    refused = work(upload(carla, RUN))
    load_jobs.discard_preview(preview=refused, by=carla)

    with pytest.raises(Refused, match="This file is no longer here: it was discarded"):
        load_jobs.recheck_load(preview=refused, by=carla)

    assert stored_files(storage) == []


def test_a_file_without_a_suggestion_cannot_be_checked_again(carla):
    for preview in (work(upload(carla)), work(upload(carla, b"301 B 0\n"))):
        with pytest.raises(Refused, match="suggests no other format for this file"):
            load_jobs.recheck_load(preview=preview, by=carla)


def test_an_unfinished_preview_cannot_be_checked_again(carla):
    waiting = upload(carla, RUN)

    with pytest.raises(Refused, match="not been checked"):
        load_jobs.recheck_load(preview=waiting, by=carla)


def test_a_file_of_an_archived_project_cannot_be_checked_again(carla, storage):
    refused = work(upload(carla, RUN))
    Project.objects.update(archived_at=timezone.now(), archived_by=carla.user)
    refused.refresh_from_db()

    with pytest.raises(Refused, match="This project is archived"):
        load_jobs.recheck_load(preview=refused, by=carla)

    assert stored_files(storage) == ["qrels.txt"]


def test_a_person_with_too_many_jobs_cannot_check_a_file_again(carla, storage, monkeypatch):
    refused = work(upload(carla, RUN))
    monkeypatch.setattr("jobs.queue.MOST_OPEN", 0)

    with pytest.raises(Refused, match="jobs waiting"):
        load_jobs.recheck_load(preview=refused, by=carla)

    refused.refresh_from_db()
    assert (Load.objects.count(), bool(refused.file)) == (1, True)


def test_an_unfinished_preview_cannot_be_confirmed(carla):
    waiting = upload(carla)

    with pytest.raises(Refused, match="not been checked"):
        load_jobs.confirm_load(preview=waiting, by=carla)


def test_a_load_cannot_be_confirmed_as_a_preview(carla):
    load = work(load_jobs.confirm_load(preview=work(upload(carla)), by=carla))

    with pytest.raises(Refused, match="not been checked"):
        load_jobs.confirm_load(preview=load, by=carla)


def test_a_load_that_was_committed_before_its_worker_died_is_not_done_again(carla):
    load = load_jobs.confirm_load(preview=work(upload(carla)), by=carla)

    def killed(job, progress):
        load_jobs.perform_load(job, progress)
        raise SystemExit

    with pytest.raises(SystemExit):
        runner.run_work(load.pk, killed)
    load.refresh_from_db()
    assert (load.state, reported(load)["new"]) == ("queued", 2)
    work(load)

    # The report is the first worker's; reading the file again would have found nothing new.
    assert (load.state, reported(load)["new"], load.attempts) == ("done", 2, 2)


def test_a_worker_leaves_a_load_to_the_worker_that_took_it_over(carla, storage):
    load = load_jobs.confirm_load(preview=work(upload(carla)), by=carla)

    def overtaken(job, progress):
        Load.objects.filter(pk=job.pk).update(claim="00000000-0000-0000-0000-000000000001")
        load_jobs.perform_load(job, progress)

    assert not runner.run_work(load.pk, overtaken)
    load.refresh_from_db()
    assert load.report is None
    assert Candidate.objects.count() == 0
    assert stored_files(storage) == ["qrels.txt"]


def test_a_preview_cancelled_while_it_waits_is_never_read(carla, storage):
    load = cancel_job(job=upload(carla), by=carla)

    assert load.state == "cancelled"
    assert stored_files(storage) == []
    assert not runner.run(load.pk)


def test_a_load_cancelled_while_it_runs_leaves_nothing(carla, storage):
    load = load_jobs.confirm_load(preview=work(upload(carla)), by=carla)

    def stopped(job, progress):
        progress.stop(runner.Cancelled())
        load_jobs.perform_load(job, progress)

    runner.run_work(load.pk, stopped)

    load.refresh_from_db()
    assert load.state == "cancelled"
    assert Candidate.objects.count() == 0
    assert stored_files(storage) == []


def test_a_missing_upload_fails_with_a_sentence(carla, storage):
    load = upload(carla)
    next(storage.rglob("qrels.txt")).unlink()

    with pytest.raises(JobError):
        runner.run(load.pk)

    load.refresh_from_db()
    assert (load.state, load.error) == ("failed", "The file is gone. Upload it again.")


def test_nothing_is_loaded_into_a_project_archived_after_the_confirmation(carla):
    load = load_jobs.confirm_load(preview=work(upload(carla)), by=carla)
    Project.objects.update(archived_at=timezone.now(), archived_by=carla.user)

    with pytest.raises(JobError):
        runner.run(load.pk)

    load.refresh_from_db()
    assert load.error.startswith("This project is archived.")
    assert Candidate.objects.count() == 0


def test_discarding_a_preview_deletes_its_file(carla, storage):
    preview = work(upload(carla))

    load_jobs.discard_preview(preview=preview, by=carla)

    assert stored_files(storage) == []
    preview.refresh_from_db()
    with pytest.raises(Refused, match="was discarded"):
        load_jobs.confirm_load(preview=preview, by=carla)


def test_a_confirmed_preview_cannot_be_discarded(carla, storage):
    preview = work(upload(carla))
    load_jobs.confirm_load(preview=preview, by=carla)

    with pytest.raises(Refused, match="was confirmed"):
        load_jobs.discard_preview(preview=preview, by=carla)

    assert stored_files(storage) == ["qrels.txt"]


def test_files_of_unconfirmed_previews_are_deleted_after_a_week(carla, storage):
    forgotten, recent = work(upload(carla)), work(upload(carla))
    Load.objects.filter(pk=forgotten.pk).update(finished_at=timezone.now() - timedelta(days=8))

    upload(carla)

    forgotten.refresh_from_db()
    recent.refresh_from_db()
    assert (forgotten.file.name, bool(recent.file)) == ("", True)
    assert len(stored_files(storage)) == 2


def test_a_refused_file_that_was_kept_is_deleted_after_a_week(carla, storage):
    refused = work(upload(carla, RUN))
    Load.objects.filter(pk=refused.pk).update(finished_at=timezone.now() - timedelta(days=8))

    upload(carla)

    refused.refresh_from_db()
    assert refused.file.name == ""
    assert len(stored_files(storage)) == 1


def test_stray_files_are_deleted_after_a_week(carla, storage):
    # Such files are left by a web process that was killed before it wrote the row.
    waiting = upload(carla)
    shelf = Path(waiting.file.path).parent
    old, new = shelf / "old.txt", shelf / "new.txt"
    for stray, days in ((old, 8), (new, 6)):
        stray.write_text("301 0 A")
        at = (timezone.now() - timedelta(days=days)).timestamp()
        os.utime(stray, (at, at))
    long_ago = (timezone.now() - timedelta(days=30)).timestamp()
    os.utime(waiting.file.path, (long_ago, long_ago))

    upload(carla)

    assert not old.exists()
    assert new.exists()
    assert Path(waiting.file.path).exists()


def test_only_leads_upload_files(carla, storage):
    ada = factories.member(carla.project, "ada")

    with pytest.raises(Refused, match="Only leads"):
        upload(ada)

    assert (Load.objects.count(), stored_files(storage)) == (0, [])


def test_a_lead_of_another_project_confirms_nothing(carla):
    preview = work(upload(carla))
    eve = factories.lead(factories.project("other"), "eve")

    for act in (
        lambda: load_jobs.confirm_load(preview=preview, by=eve),
        lambda: cancel_job(job=preview, by=eve),
        lambda: load_jobs.discard_preview(preview=preview, by=eve),
        lambda: load_jobs.recheck_load(preview=preview, by=eve),
    ):
        with pytest.raises(Refused, match="Only leads"):
            act()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"content": b""}, "qrels.txt is empty."), ({"format_name": "x"}, "Unknown format 'x'")],
)
def test_invalid_uploads_are_refused_and_not_stored(carla, storage, options, sentence):
    file = SimpleUploadedFile("qrels.txt", options.get("content", QRELS))

    with pytest.raises(Refused, match=sentence):
        load_jobs.request_load(
            format_name=options.get("format_name", "trec-qrels"), file=file, by=carla
        )

    assert stored_files(storage) == []
