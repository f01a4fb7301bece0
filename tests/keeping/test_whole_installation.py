"""A whole installation is backed up to one file and restored with every row and every file."""

from __future__ import annotations

import hashlib
import json
import stat
import threading
import zipfile

import pytest
from django.apps import apps
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db import connection

from annotate.models import Judgment, Project, User
from base.errors import Refused
from exporters.models import Release
from exporters.releases import actions as releasing
from keeping import archive, tables
from keeping import backup as backing_up
from keeping import restore as restoring
from keeping.backup import back_up
from keeping.restore import check, restore
from tests import factories
from tests.keeping.conftest import (
    CountingProgress,
    all_files,
    all_rows,
    export_files,
    storage_folder,
)

pytestmark = pytest.mark.both_databases


def test_every_row_and_every_file_is_restored(
    installation, start_empty_installation, quiet, tmp_path
):
    rows, stored = all_rows(), all_files()
    written = export_files("tides", tmp_path)
    done = back_up(path=tmp_path / "whole.zip", progress=quiet)

    start_empty_installation()
    result = restore(path=tmp_path / "whole.zip", progress=quiet)

    assert all_rows() == rows
    assert all_files() == stored
    assert export_files("tides", tmp_path) == written
    assert (result.rows, result.files, result.missing) == (done.rows, done.files, [])
    assert done.rows == sum(len(table) for table in rows.values())
    assert done.files == len(stored)


def test_the_tested_installation_has_rows_in_every_important_table(installation):
    empty = {table for table, rows in all_rows().items() if not rows}

    names = ("repeat", "draft", "rejudgerequest", "run")
    assert empty & {f"annotate.{name}" for name in names} == set()
    assert empty & {f"audit.{name}" for name in ("check", "reveal", "rating", "decision")} == set()
    assert {name.partition("/")[0] for name in all_files()} == {"runs", "exports", "releases"}


def test_people_can_sign_in_and_go_on_after_a_restore(
    installation, start_empty_installation, quiet, tmp_path
):
    User.objects.filter(username="ada").update(is_staff=True)
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    start_empty_installation()
    restore(path=tmp_path / "whole.zip", progress=quiet)

    ada = authenticate(username="ada", password=factories.PASSWORD)
    assert ada is not None
    assert ada.is_staff
    # The next key is a new one.
    made = factories.project("next")
    assert made.pk > Project.objects.get(slug="tides").pk
    before = Judgment.objects.latest("pk")
    machine = factories.machine(made, "later")
    query = factories.query(made)
    judgment = factories.judgment(
        factories.altered(factories.pair(query)), factories.candidate(query), machine
    )
    assert judgment.pk > before.pk


def test_a_release_is_restored_unchanged(installation, start_empty_installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    start_empty_installation()
    restore(path=tmp_path / "whole.zip", progress=quiet)

    release = Release.objects.get(name="v1")
    assert release.sha256 == installation.release.sha256
    assert releasing.verify(release).faults == []


def test_permissions_are_restored_by_natural_key(
    installation, start_empty_installation, quiet, tmp_path
):
    group = Group.objects.create(name="librarians")
    group.permissions.set(
        Permission.objects.filter(codename__in=("change_document", "view_document"))
    )
    User.objects.get(username="ben").groups.add(group)
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    start_empty_installation()
    # The same permissions have other keys here.
    Permission.objects.filter(codename="change_document").delete()
    kind = apps.get_model("contenttypes", "ContentType").objects.get_for_model(Project)
    Permission.objects.create(codename="aaa", name="aaa", content_type=kind)

    restore(path=tmp_path / "whole.zip", progress=quiet)

    ben = User.objects.get(username="ben")
    assert ben.get_group_permissions() == {"annotate.change_document", "annotate.view_document"}


def test_sessions_are_not_backed_up(installation, client, quiet, tmp_path):
    client.force_login(User.objects.get(username="ada"))
    key = Session.objects.get().session_key
    back_up(path=tmp_path / "whole.zip", progress=quiet)

    with zipfile.ZipFile(tmp_path / "whole.zip") as backup:
        assert "rows/sessions.session.jsonl" not in backup.namelist()
        assert not any(key.encode() in backup.read(name) for name in backup.namelist())


def test_only_its_owner_can_read_a_backup(installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)

    assert stat.S_IMODE((tmp_path / "whole.zip").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("whole*")] == ["whole.zip"]


def test_a_backup_never_overwrites_another(installation, quiet, tmp_path):
    (tmp_path / "whole.zip").write_text("the one from yesterday")

    with pytest.raises(Refused, match="already exists"):
        back_up(path=tmp_path / "whole.zip", progress=quiet)

    assert (tmp_path / "whole.zip").read_text() == "the one from yesterday"


def test_a_failed_backup_leaves_no_file(installation, quiet, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.HashingWriter, "write", full)

    with pytest.raises(OSError, match="No space left"):
        back_up(path=tmp_path / "whole.zip", progress=quiet)

    assert list(tmp_path.glob("whole*")) == []


def test_a_missing_file_is_listed_and_the_others_are_backed_up(installation, quiet, tmp_path):
    gone = installation.project.runs.get().file.name
    default_storage.delete(gone)

    done = back_up(path=tmp_path / "whole.zip", progress=quiet)

    assert done.missing == [gone]
    assert check(path=tmp_path / "whole.zip", progress=quiet)["missing"] == [gone]


def test_every_stored_file_is_named_by_a_row(installation):
    assert tables.file_names_in_rows() == sorted(all_files())


def test_rows_written_meanwhile_are_not_in_the_backup(installation, quiet, tmp_path):
    """The backup is a snapshot: rows written meanwhile are not partly in it."""

    def add_project_in_other_connection():
        factories.project("late")
        connection.close()

    class Meddling(CountingProgress):
        def start(self, total, step):
            super().start(total, step)
            if step == "Rows":
                thread = threading.Thread(target=add_project_in_other_connection)
                thread.start()
                thread.join()

    before = all_rows()
    done = back_up(path=tmp_path / "whole.zip", progress=Meddling())

    assert Project.objects.filter(slug="late").exists()
    assert done.rows == sum(len(rows) for rows in before.values())


# --- what is refused ------------------------------------------------------------------------------


def test_a_whole_backup_is_not_restored_into_a_used_installation(installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    rows = all_rows()

    with pytest.raises(Refused, match="can only be restored into an empty one"):
        restore(path=tmp_path / "whole.zip", progress=quiet)

    assert all_rows() == rows


@pytest.mark.parametrize(
    ("at", "content"), [("rows/annotate.statement.jsonl", b"At sea."), ("files/runs/", b"bm25")]
)
def test_a_damaged_backup_restores_nothing(
    installation, start_empty_installation, quiet, tmp_path, at, content
):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    change_member(tmp_path / "whole.zip", at, lambda data: data.replace(content, content.upper()))
    start_empty_installation()

    with pytest.raises(Refused, match="damaged"):
        restore(path=tmp_path / "whole.zip", progress=quiet)

    assert User.objects.count() == 0
    assert not storage_folder().exists()


def test_a_truncated_backup_is_refused(installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    whole = (tmp_path / "whole.zip").read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(Refused, match="only part of one"):
        check(path=tmp_path / "half.zip", progress=quiet)


def test_a_backup_with_other_tables_names_the_version_that_restores_it(
    installation, quiet, tmp_path
):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    change_member(
        tmp_path / "whole.zip",
        "manifest.json",
        lambda data: data.replace(b'"0001_initial"', b'"0099_moon"', 1),
    )

    with pytest.raises(Refused, match="Restore it with that version"):
        check(path=tmp_path / "whole.zip", progress=quiet)


def test_a_table_with_unknown_columns_is_refused(
    installation, start_empty_installation, quiet, tmp_path
):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    change_member(
        tmp_path / "whole.zip",
        "manifest.json",
        lambda data: data.replace(b'"sentence"', b'"sentence) --"'),
    )
    start_empty_installation()

    with pytest.raises(Refused, match="is unknown or has other columns"):
        restore(path=tmp_path / "whole.zip", progress=quiet)


def test_nothing_is_restored_if_the_database_refuses_a_row(
    installation, start_empty_installation, quiet, tmp_path
):
    back_up(path=tmp_path / "whole.zip", progress=quiet)

    # Insert a second membership of the same person, which a constraint forbids.
    def add_invalid_row(data):
        lines = data.splitlines()
        row = json.loads(lines[0])
        return b"\n".join([*lines, json.dumps([row[0] + 1_000, *row[1:]]).encode()]) + b"\n"

    change_member(
        tmp_path / "whole.zip", "rows/annotate.membership.jsonl", add_invalid_row, truthful=True
    )
    start_empty_installation()

    with pytest.raises(Refused, match="The database refused a row"):
        restore(path=tmp_path / "whole.zip", progress=quiet)

    assert Project.objects.count() == 0
    assert all_files() == {}


def test_another_file_is_not_overwritten(installation, start_empty_installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    name = installation.project.runs.get().file.name
    start_empty_installation()
    other_file = storage_folder() / name
    other_file.parent.mkdir(parents=True)
    other_file.write_text("mine")

    with pytest.raises(Refused, match="exists in the storage already"):
        restore(path=tmp_path / "whole.zip", progress=quiet)

    assert all_files() == {name: b"mine"}


def test_other_files_than_backups_are_refused(db, quiet, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as other:
        other.writestr("manifest.json", "{}")

    for name, words in (
        ("nowhere.zip", "There is no file"),
        ("notes.txt", "is not a backup"),
        ("export.zip", "is not a backup of Rejudge"),
    ):
        with pytest.raises(Refused, match=words):
            check(path=tmp_path / name, progress=quiet)


def test_rows_are_fetched_and_inserted_in_batches(
    installation, start_empty_installation, quiet, tmp_path, monkeypatch
):
    """The rows are the same if each is a batch of its own."""
    rows = all_rows()
    monkeypatch.setattr(backing_up, "_CHUNK", 1)
    monkeypatch.setattr(backing_up, "_SMALL_CHUNK", 1)
    monkeypatch.setattr(restoring, "_BATCH_ROWS", 1)
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    start_empty_installation()
    restore(path=tmp_path / "whole.zip", progress=quiet)

    assert all_rows() == rows


def test_the_manifest_describes_the_backup(installation, quiet, tmp_path):
    back_up(path=tmp_path / "whole.zip", progress=quiet)

    manifest = check(path=tmp_path / "whole.zip", progress=quiet)

    assert (manifest["project"], manifest["database"]) == (None, connection.vendor)
    assert manifest["migrations"] == archive.latest_migrations()
    assert manifest["left_out"] == tables.LEFT_OUT
    projects = next(t for t in manifest["tables"] if t["table"] == "annotate.project")
    assert (projects["rows"], projects["columns"][:2]) == (Project.objects.count(), ["id", "slug"])


def change_member(path, at, how, *, truthful=False):
    """Rewrite a member of a backup; with `truthful`, also its digest in the manifest."""
    with zipfile.ZipFile(path) as backup:
        members = {name: backup.read(name) for name in backup.namelist()}
    [name] = [name for name in members if name.startswith(at)]
    before, members[name] = members[name], how(members[name])
    assert before != members[name]
    if truthful:
        manifest = json.loads(members["manifest.json"])
        [entry] = [t for t in manifest["tables"] if archive.rows_member(t["table"]) == name]
        entry["bytes"] = len(members[name])
        entry["sha256"] = hashlib.sha256(members[name]).hexdigest()
        members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as backup:
        for name, data in members.items():
            backup.writestr(name, data)
