"""Releasing a project: a snapshot under a name, stored and never changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from annotate.models import Assignment, Guideline, Judgment, Project
from annotate.projects.project_jobs import cancel_job
from base.constraints import deletions_allowed
from base.errors import Refused
from exporters.exports import actions
from exporters.models import Release
from exporters.releases import actions as releasing
from exporters.releases import contents, file_store
from jobs import runner
from jobs.errors import JobError
from jobs.runner import LEASE
from tests import factories
from tests.exports.conftest import AT, content_of, make_release

pytestmark = pytest.mark.both_databases

# The sha256 of b"abc", from FIPS 180.
OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_release_holds_every_export_from_one_snapshot(tides, write, empty_storage):
    Guideline.objects.create(project=tides.project, version=1, text="Old.", author=tides.carla)
    newest = Guideline.objects.create(
        project=tides.project, version=2, text="Read.", author=tides.carla
    )
    # With consent of all, names in a release are the same as in an export.
    tides.project.memberships.filter(user__isnull=False).update(named_at=newest.created_at)
    files = {
        f"{name}/{path}": content
        for name in ("trec", "jsonl")
        for path, content in write(tides.project, name).bytes().items()
    }

    release = make_release(tides, "v1.0", note="For the paper.")

    held = contents.of(release)
    names = set(contents.files(release))
    assert (release.state, release.guideline) == (Release.State.DONE, newest)
    assert names == {
        *files,
        *("trec.zip", "jsonl.zip", "queries.jsonl", "guidelines.txt", "about.json"),
        "release.json",
    }
    for name, content in files.items():
        # The manifest of jsonl differs in the rule about people's names.
        if name != "jsonl/manifest.json":
            assert content_of(empty_storage, release, name) == content, name
    assert content_of(empty_storage, release, "guidelines.txt") == b"Read."
    assert content_of(empty_storage, release, "queries.jsonl").startswith(
        b'{"query_id": "1000", "title": "harbour seals", "description": ""}\n'
    )
    assert (held["name"], held["note"], held["by"]) == ("v1.0", "For the paper.", "carla")
    assert (held["guidelines"], held["counts"]["jsonl"]["judgments"]) == (2, 13)
    assert held["counts"]["trec"]["disputed"] == 1


def test_the_checksum_of_release_json_covers_all_files(tides, empty_storage):
    release = make_release(tides, "v1.0")
    release.refresh_from_db()

    own = content_of(empty_storage, release, "release.json")

    assert contents.to_bytes(contents.of(release)) == own
    assert file_store.find_fault(release.project_id, contents.own_facts(release)) == ""
    assert {entry["name"] for entry in json.loads(own)["files"]} == set(contents.files(release)) - {
        "release.json"
    }


def test_a_second_release_shares_the_files_that_are_the_same(tides, empty_storage):
    make_release(tides, "v1.0")
    before = stored_names(empty_storage)
    make_release(tides, "v1.1")

    # Only release.json differs.
    assert len(stored_names(empty_storage) - before) == 1


def stored_names(storage) -> set[str]:
    return {path.name for path in Path(storage.location).rglob("*") if path.is_file()}


def is_refused(release: Release, change: dict[str, Any]) -> bool:
    """Return whether the database refuses to change these columns."""
    try:
        with transaction.atomic():
            Release.objects.filter(pk=release.pk).update(**change)
    except IntegrityError:
        return True
    return False


def test_the_database_refuses_changes_of_a_release(tides):
    release = make_release(tides, "v1.0")
    before = Release.objects.filter(pk=release.pk).values().get()

    changes: list[dict[str, Any]] = [
        {"name": "v2"},
        {"note": "Other."},
        {"sha256": "0" * 64},
        {"manifest": {}},
        {"manifest": None, "at": None, "sha256": "", "code_version": ""},
        {"at": AT},
        {"code_version": "9"},
        {"guideline": None},
        {"by": None},
        {"state": "queued", "finished_at": None},
    ]
    assert [change for change in changes if not is_refused(release, change)] == []
    assert Release.objects.filter(pk=release.pk).values().get() == before


def test_raw_sql_cannot_change_a_release(tides):
    release = make_release(tides, "v1.0")

    with (
        pytest.raises(IntegrityError, match="a release never changes"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE exporters_release SET note = 'Other.'")

    release.refresh_from_db()
    assert release.note == ""


def test_raw_sql_deletes_a_release_only_with_its_project(tides):
    release = make_release(tides, "v1.0")
    delete = "DELETE FROM exporters_release"

    with connection.cursor() as cursor:
        with pytest.raises(IntegrityError, match="a release never changes"), transaction.atomic():
            cursor.execute(delete)
        assert Release.objects.get() == release
        with deletions_allowed():
            cursor.execute(delete)

    assert not Release.objects.exists()


def test_a_release_and_its_referenced_rows_cannot_be_deleted(tides):
    guideline = Guideline.objects.create(
        project=tides.project, version=1, text="Read.", author=tides.carla
    )
    release = make_release(tides, "v1.0")

    for refused in (release.delete, Release.objects.all().delete):
        with pytest.raises(TypeError, match="never deleted"):
            refused()
    for row in (guideline, tides.carla):
        with pytest.raises(ProtectedError):
            row.delete()

    assert Release.objects.get() == release


@pytest.mark.parametrize("name", ["v1.0", "V1.0"])
def test_a_name_means_one_release_for_ever(tides, name):
    make_release(tides, "v1.0")

    with pytest.raises(Refused, match=r"A release called v1\.0 already exists"):
        releasing.request_release(project=tides.project, name=name, by=tides.carla)
    with pytest.raises(IntegrityError), transaction.atomic():
        Release.objects.create(project=tides.project, name=name)

    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    "name", ["", " ", "v 1", "../etc", "-v1", ".v1", "v/1", "v1\n", "é", "a" * 61]
)
def test_an_invalid_name_is_refused(tides, name):
    with pytest.raises(Refused, match=r"as in v1\.0"):
        releasing.request_release(project=tides.project, name=name, by=tides.carla)

    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["new", "Files", "discarding"])
def test_a_name_reserved_for_urls_is_refused(tides, name):
    with pytest.raises(Refused, match=f"“{name}” cannot be the name of a release"):
        releasing.request_release(project=tides.project, name=name, by=tides.carla)


def test_an_archived_project_is_not_released(tides):
    Project.objects.update(archived_at=timezone.now(), archived_by=tides.carla.user)

    with pytest.raises(Refused, match="This project is archived"):
        releasing.request_release(project=tides.project, name="v1", by=tides.carla)


def test_a_project_without_queries_has_nothing_to_release(db):
    carla = factories.lead(factories.project("empty"))

    with pytest.raises(Refused, match="nothing to release yet"):
        releasing.request_release(project=carla.project, name="v1", by=carla)


def test_a_note_with_a_control_character_is_refused(tides):
    with pytest.raises(Refused, match="This holds a control character"):
        releasing.request_release(project=tides.project, name="v1", note="a\x01b", by=tides.carla)


def test_a_note_that_is_too_long_is_refused(tides):
    with pytest.raises(Refused, match="at most 2000 characters"):
        releasing.request_release(project=tides.project, name="v1", note="a" * 2001, by=tides.carla)


def test_a_nonlead_or_a_blind_lead_cannot_release(tides):
    stranger = factories.lead(factories.project("elsewhere"), "eve")
    for who in (tides.ada, stranger):
        with pytest.raises(Refused, match="Only leads of this project can release it"):
            releasing.request_release(project=tides.project, name="v1", by=who)

    Assignment.objects.create(pair=tides.pair, task="judge", seat=1, member=tides.carla)
    with pytest.raises(Refused, match="would show you what others answered"):
        releasing.request_release(project=tides.project, name="v1", by=tides.carla)

    assert not Release.objects.exists()


def test_one_release_of_a_project_is_made_at_a_time(tides, published):
    releasing.request_release(project=tides.project, name="v1", by=tides.carla)

    with pytest.raises(Refused, match="v1 is being made"):
        releasing.request_release(project=tides.project, name="v2", by=tides.carla)
    with pytest.raises(IntegrityError), transaction.atomic():
        Release.objects.create(project=tides.project, name="v2")


def test_a_cancelled_release_leaves_its_name_free(tides, published):
    first = releasing.request_release(project=tides.project, name="v1", by=tides.carla)
    cancel_job(job=first, by=tides.carla)

    assert make_release(tides, "v1").state == Release.State.DONE
    assert Release.objects.count() == 2


def test_a_release_that_cannot_be_written_reports_why_and_leaves_its_name_free(
    tides, empty_storage
):
    newest = factories.narrative(tides.pair, text="Only <num> at sea.", version=3)
    tides.judge(newest, tides.pool["FT-9"], tides.ada, 1)

    with pytest.raises(JobError):
        make_release(tides, "v1")

    failed = Release.objects.get()
    assert failed.error.startswith("This cannot be written: the narrative of topic 301 holds <num>")
    assert (failed.manifest, stored_names(empty_storage)) == (None, set())
    factories.narrative(tides.pair, text="Only at sea.", version=4)
    assert make_release(tides, "v1").state == Release.State.DONE


def test_a_file_that_a_killed_worker_left_half_written_is_replaced(tides, empty_storage):
    first = make_release(tides, "v1")
    entry = contents.files(first)["trec/qrels.changed.txt"]
    place = file_store.path_of(tides.project.pk, entry["sha256"])
    empty_storage.delete(place)
    empty_storage.save(place, ContentFile(b"301 0 B"))
    assert len(releasing.verify(first).faults) == 1

    make_release(tides, "v2")

    assert releasing.verify(first).faults == []


def test_a_worker_that_takes_over_a_finished_release_does_nothing(tides, monkeypatch):
    release = make_release(tides, "v1")
    monkeypatch.setattr(actions, "write", pytest.fail)

    releasing.build(release, runner.Progress())

    assert releasing.verify(release).faults == []


def test_a_worker_that_lost_the_lease_does_not_fill_the_row(tides, published):
    release = releasing.request_release(project=tides.project, name="v1", by=tides.carla)
    runner.claim_row(release.pk)
    release.refresh_from_db()
    later = timezone.now() + 2 * LEASE
    runner.claim_row(release.pk, now=later)

    with pytest.raises(runner.LeaseLost):
        releasing.build(release, runner.Progress())

    release.refresh_from_db()
    assert release.manifest is None


def test_a_missing_and_a_changed_file_are_named(tides, empty_storage):
    release = make_release(tides, "v1")
    every = contents.files(release)
    missing, changed = every["jsonl/judgments.jsonl"], every["trec/topics.changed.txt"]
    empty_storage.delete(file_store.path_of(tides.project.pk, missing["sha256"]))
    place = Path(empty_storage.path(file_store.path_of(tides.project.pk, changed["sha256"])))
    place.write_bytes(b"abc")

    checked = releasing.verify(release)

    has_changed = (
        f"{changed['name']} has changed: its sha256 is {OF_ABC} and should be {changed['sha256']}."
    )
    assert sorted(checked.faults) == ["jsonl/judgments.jsonl is missing.", has_changed]
    assert checked.files == len(every)


def test_judging_can_continue_after_a_release(tides, write):
    make_release(tides, "v1")

    Judgment.objects.update(relevance=1)

    assert "301 0 B 1\n" in write(tides.project)["qrels.changed.txt"]
