"""Building an export in the background, whole or not at all."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from annotate.models import Assignment
from annotate.projects.project_jobs import cancel_job
from base.errors import Refused
from config.celery import app
from exporters.exports import actions
from exporters.exports.files import Writer
from exporters.models import Export
from jobs import runner
from jobs.errors import JobError
from tests import factories
from tests.exports.conftest import Tides

# The worker's thread reads the row over its own connection.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture(scope="module", autouse=True)
def registered_tasks():
    """Register the tasks as a worker does when it starts, before a test captures the log."""
    app.loader.import_default_modules()


@pytest.fixture
def scene():
    return Tides()


@pytest.fixture
def published(monkeypatch):
    """Collect the jobs that are sent to workers."""
    sent: list[int] = []
    monkeypatch.setattr("jobs.queue.publish", sent.append)
    return sent


def make_export(scene, format_name="trec"):
    return Export.objects.create(project=scene.project, by=scene.carla, format=format_name)


def stored_files(storage, folder="") -> list[str]:
    root = Path(storage.location) / folder
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def test_a_built_export_has_its_files_and_its_manifest(scene, empty_storage):
    export = make_export(scene)

    assert runner.run(export.pk)

    export.refresh_from_db()
    names = [entry["name"] for entry in export.manifest["files"]]
    assert export.state == Export.State.DONE
    assert stored_files(empty_storage, export.folder) == sorted(
        [*names, "manifest.json", "export.zip"]
    )
    with empty_storage.open(f"{export.folder}/qrels.changed.txt") as stream:
        assert stream.read().startswith(b"301 0 B 0\n")
    with empty_storage.open(f"{export.folder}/export.zip") as stream:
        assert sorted(zipfile.ZipFile(stream).namelist()) == [
            f"tides-trec/{name}" for name in sorted([*names, "manifest.json"])
        ]


def test_the_worker_finds_the_task_by_its_name(scene):
    export = make_export(scene, "jsonl")

    app.tasks["jobs.run"].run(export.pk)

    export.refresh_from_db()
    assert export.state == Export.State.DONE


@pytest.mark.parametrize("format_name", ["trec", "jsonl"])
def test_progress_counts_up_to_the_announced_size(scene, tmp_path, format_name):
    reported: list[int] = []

    actions.write(scene.project, format_name, tmp_path, reported.append)

    assert sum(reported) == actions.FORMATS[format_name].size(scene.project)


def test_a_failed_export_says_why_and_leaves_no_file(scene, empty_storage):
    newest = factories.narrative(scene.pair, text="Only <num> at sea.", version=3)
    scene.judge(newest, scene.pool["FT-9"], scene.ada, 1)
    export = make_export(scene)

    with pytest.raises(JobError):
        runner.run(export.pk)

    export.refresh_from_db()
    assert export.state == Export.State.FAILED
    assert export.error == (
        "This cannot be written: the narrative of topic 301 holds <num>, which ends a field in "
        "this format."
    )
    assert (export.folder, export.manifest) == ("", None)
    assert stored_files(empty_storage) == []


def test_a_refused_layout_is_no_error_in_the_log(scene, caplog):
    export = make_export(scene, "citation")

    with caplog.at_level(logging.INFO):
        app.tasks["jobs.run"].apply((export.pk,))

    export.refresh_from_db()
    assert export.error.startswith("This cannot be written: a citation needs creators")
    (line,) = (record for record in caplog.records if "a citation needs" in record.getMessage())
    assert (line.levelname, line.exc_info) == ("INFO", None)


def test_an_error_of_the_code_is_raised_and_not_shown_as_a_refusal(scene, monkeypatch):
    def write(*_args):
        int("9" * 5_000)

    monkeypatch.setitem(actions.WRITERS, "trec", actions.Format(write, lambda _: 0))
    export = make_export(scene)

    with pytest.raises(ValueError, match="4300 digits"):
        runner.run(export.pk)

    export.refresh_from_db()
    assert export.error == (
        "An unexpected error occurred (ValueError). The worker's log says more."
    )


def test_an_export_that_fails_while_it_is_stored_leaves_no_file(scene, empty_storage, monkeypatch):
    export = make_export(scene)
    save = empty_storage.save
    full = OSError(28, "No space left on device")

    def save_two(name, content):
        if len(stored_files(empty_storage)) == 2:
            raise full
        return save(name, content)

    monkeypatch.setattr(empty_storage._wrapped, "save", save_two)

    with pytest.raises(OSError, match="No space left"):
        runner.run(export.pk)

    export.refresh_from_db()
    assert (export.state, export.folder) == (Export.State.FAILED, "")
    assert stored_files(empty_storage) == []


@pytest.mark.parametrize("format_name", ["beir", "ir-datasets", "infosearch"])
def test_a_disk_that_fills_while_a_layout_is_written_offers_nothing(
    scene, empty_storage, monkeypatch, format_name
):
    export = make_export(scene, format_name)
    opened = Writer.file

    def fills(self, name, holds):
        if len(self.files) == 3:
            raise OSError(28, "No space left on device")
        return opened(self, name, holds)

    monkeypatch.setattr(Writer, "file", fills)

    with pytest.raises(OSError, match="No space left"):
        runner.run(export.pk)

    export.refresh_from_db()
    assert (export.state, export.folder) == (Export.State.FAILED, "")
    assert stored_files(empty_storage) == []


def test_a_cancelled_export_leaves_no_file(scene, empty_storage):
    export = make_export(scene)

    def stopped(job, progress):
        progress.stop(runner.Cancelled())
        actions.build(job, progress)

    runner.run_work(export.pk, stopped)

    export.refresh_from_db()
    assert export.state == Export.State.CANCELLED
    assert stored_files(empty_storage) == []


def test_an_export_another_worker_took_over_is_not_offered(scene, empty_storage):
    export = make_export(scene)

    def overtaken(job, progress):
        Export.objects.update(claim="00000000-0000-0000-0000-000000000001")
        actions.build(job, progress)

    assert not runner.run_work(export.pk, overtaken)

    export.refresh_from_db()
    assert (export.folder, export.manifest) == ("", None)
    assert stored_files(empty_storage) == []


def test_leftovers_of_killed_workers_are_deleted_but_offered_files_stay(scene, empty_storage):
    offered = make_export(scene, "jsonl")
    runner.run(offered.pk)
    offered.refresh_from_db()
    shelf = f"exports/{scene.project.pk}"
    empty_storage.save(f"{shelf}/{offered.pk}-0-old/qrels.changed.txt", ContentFile(b"half"))

    runner.run(make_export(scene).pk)

    folders, _ = empty_storage.listdir(shelf)
    assert len(folders) == 2
    assert f"{offered.pk}-0-old" not in folders
    assert empty_storage.exists(f"{offered.folder}/manifest.json")


def test_requesting_an_export_twice_publishes_one_job(scene, published):
    arguments = {"project": scene.project, "format_name": "trec", "by": scene.carla}

    first = actions.request_export(**arguments)
    again = actions.request_export(**arguments)

    assert first == again
    assert published == [first.pk]
    assert (first.state, first.by) == (Export.State.QUEUED, scene.carla)


def test_another_format_is_another_export(scene, published):
    for format_name in ("trec", "jsonl"):
        actions.request_export(project=scene.project, format_name=format_name, by=scene.carla)

    assert len(published) == 2


def test_an_ended_export_can_be_requested_again(scene, published):
    arguments = {"project": scene.project, "format_name": "trec", "by": scene.carla}
    first = actions.request_export(**arguments)
    cancel_job(job=first, by=scene.carla)

    assert actions.request_export(**arguments) != first


def test_no_job_is_published_before_the_row_is_committed(scene, published):
    with transaction.atomic():
        actions.request_export(project=scene.project, format_name="trec", by=scene.carla)
        assert published == []

    assert len(published) == 1


def test_only_leads_of_the_project_request_its_exports(scene, published):
    eve = factories.lead(factories.project("elsewhere"), "eve")

    for who in (scene.ada, eve):
        with pytest.raises(Refused, match="Only leads of this project"):
            actions.request_export(project=scene.project, format_name="trec", by=who)

    assert not Export.objects.exists()
    assert published == []


def test_an_unknown_format_is_refused_and_known_ones_are_listed(scene, published):
    with pytest.raises(Refused, match=r"“xml” is not a format of exports. Choose one of: trec, js"):
        actions.request_export(project=scene.project, format_name="xml", by=scene.carla)

    assert not Export.objects.exists()


@pytest.mark.parametrize("task", ["judge", "review"])
def test_a_lead_who_has_yet_to_answer_cannot_export(scene, published, task):
    assignment = Assignment.objects.create(pair=scene.pair, task=task, seat=1, member=scene.carla)

    with pytest.raises(Refused, match="would show you what others answered"):
        actions.request_export(project=scene.project, format_name="trec", by=scene.carla)

    assignment.delete()
    export = actions.request_export(project=scene.project, format_name="trec", by=scene.carla)
    assert published == [export.pk]


def test_only_leads_of_the_project_cancel_its_exports(scene):
    export = make_export(scene)

    with pytest.raises(Refused, match="Only leads"):
        cancel_job(job=export, by=scene.ada)

    export.refresh_from_db()
    assert export.state == Export.State.QUEUED
