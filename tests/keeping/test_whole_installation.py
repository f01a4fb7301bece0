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
from keeping import archive, files, migration_state, restored_rows, tables
from keeping import backup as backing_up
from keeping.backup import back_up
from keeping.restore import check, restore
from tests import factories
from tests.keeping.conftest import Quiet, every_file, every_row, exported, storage_folder

pytestmark = pytest.mark.both_databases


def test_every_row_and_every_file_comes_back(house, move_house, quiet, tmp_path):
    rows, stored = every_row(), every_file()
    written = exported("tides", tmp_path)
    done = back_up(path=tmp_path / "house.zip", progress=quiet)

    move_house()
    back = restore(path=tmp_path / "house.zip", progress=quiet)

    assert every_row() == rows
    assert every_file() == stored
    assert exported("tides", tmp_path) == written
    assert (back.rows, back.files, back.missing) == (done.rows, done.files, [])
    assert done.rows == sum(len(table) for table in rows.values())
    assert done.files == len(stored)


def test_nothing_in_the_house_is_empty_that_exports_and_people_need(house):
    empty = {table for table, rows in every_row().items() if not rows}

    names = ("repeat", "draft", "rejudgerequest", "run")
    assert empty & {f"annotate.{name}" for name in names} == set()
    assert empty & {f"audit.{name}" for name in ("check", "reveal", "rating", "decision")} == set()
    assert {name.partition("/")[0] for name in every_file()} == {"runs", "exports", "releases"}


def test_people_sign_in_as_before_and_go_on(house, move_house, quiet, tmp_path):
    User.objects.filter(username="ada").update(is_staff=True)
    back_up(path=tmp_path / "house.zip", progress=quiet)
    move_house()
    restore(path=tmp_path / "house.zip", progress=quiet)

    ada = authenticate(username="ada", password=factories.PASSWORD)
    assert ada is not None
    assert ada.is_staff
    # The next key is a new one.
    made = factories.project("next")
    assert made.pk > Project.objects.get(slug="tides").pk
    before = Judgment.objects.latest("pk")
    machine = factories.machine(made, "later")
    query = factories.query(made)
    said = factories.judgment(
        factories.altered(factories.pair(query)), factories.candidate(query), machine
    )
    assert said.pk > before.pk


def test_a_release_is_still_what_was_released(house, move_house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    move_house()
    restore(path=tmp_path / "house.zip", progress=quiet)

    release = Release.objects.get(name="v1")
    assert release.sha256 == house.release.sha256
    assert releasing.verify(release).faults == []


def test_rights_are_those_of_the_same_words(house, move_house, quiet, tmp_path):
    group = Group.objects.create(name="librarians")
    group.permissions.set(
        Permission.objects.filter(codename__in=("change_document", "view_document"))
    )
    User.objects.get(username="ben").groups.add(group)
    back_up(path=tmp_path / "house.zip", progress=quiet)
    move_house()
    # The same permissions have other keys here.
    Permission.objects.filter(codename="change_document").delete()
    kind = apps.get_model("contenttypes", "ContentType").objects.get_for_model(Project)
    Permission.objects.create(codename="aaa", name="aaa", content_type=kind)

    restore(path=tmp_path / "house.zip", progress=quiet)

    ben = User.objects.get(username="ben")
    assert ben.get_group_permissions() == {"annotate.change_document", "annotate.view_document"}


def test_sessions_stay_behind(house, client, quiet, tmp_path):
    client.force_login(User.objects.get(username="ada"))
    key = Session.objects.get().session_key
    back_up(path=tmp_path / "house.zip", progress=quiet)

    with zipfile.ZipFile(tmp_path / "house.zip") as backup:
        assert "rows/sessions.session.jsonl" not in backup.namelist()
        assert not any(key.encode() in backup.read(name) for name in backup.namelist())


def test_only_its_owner_can_read_a_backup(house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)

    assert stat.S_IMODE((tmp_path / "house.zip").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("house*")] == ["house.zip"]


def test_a_backup_never_takes_the_place_of_another(house, quiet, tmp_path):
    (tmp_path / "house.zip").write_text("the one from yesterday")

    with pytest.raises(Refused, match="already exists"):
        back_up(path=tmp_path / "house.zip", progress=quiet)

    assert (tmp_path / "house.zip").read_text() == "the one from yesterday"


def test_of_a_backup_that_fails_nothing_is_left(house, quiet, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.Measured, "write", full)

    with pytest.raises(OSError, match="No space left"):
        back_up(path=tmp_path / "house.zip", progress=quiet)

    assert list(tmp_path.glob("house*")) == []


def test_a_file_that_is_not_there_is_named_and_the_rest_is_kept(house, quiet, tmp_path):
    gone = house.project.runs.get().file.name
    default_storage.delete(gone)

    done = back_up(path=tmp_path / "house.zip", progress=quiet)

    assert done.missing == [gone]
    assert check(path=tmp_path / "house.zip", progress=quiet)["missing"] == [gone]


def test_whatever_lies_in_the_storage_is_named_by_rows(house):
    assert files.named_by_rows() == sorted(every_file())


def test_what_is_said_meanwhile_is_of_the_next_backup(house, quiet, tmp_path):
    """The backup is a snapshot: rows written meanwhile are not partly in it."""

    def judge_elsewhere():
        factories.project("late")
        connection.close()

    class Meddling(Quiet):
        def start(self, total, step):
            super().start(total, step)
            if step == "Rows":
                thread = threading.Thread(target=judge_elsewhere)
                thread.start()
                thread.join()

    before = every_row()
    done = back_up(path=tmp_path / "house.zip", progress=Meddling())

    assert Project.objects.filter(slug="late").exists()
    assert done.rows == sum(len(rows) for rows in before.values())


@pytest.mark.sqlite
def test_what_a_killed_load_left_is_in_no_backup(house, quiet, tmp_path):
    rows = every_row()
    factories.unseen_rows(house.project)
    assert every_row() != rows

    done = back_up(path=tmp_path / "house.zip", progress=quiet)

    assert done.rows == sum(len(table) for table in rows.values())
    for table in ("query", "document", "documenttext", "candidate"):
        assert every_row()[f"annotate.{table}"] == rows[f"annotate.{table}"]


# --- what is refused ------------------------------------------------------------------------------


def test_where_somebody_is_already_nothing_whole_is_brought_back(house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    rows = every_row()

    with pytest.raises(Refused, match="can only be restored into an empty one"):
        restore(path=tmp_path / "house.zip", progress=quiet)

    assert every_row() == rows


@pytest.mark.parametrize(
    ("at", "said"), [("rows/annotate.judgment.jsonl", b"At sea."), ("files/runs/", b"bm25")]
)
def test_a_damaged_backup_brings_nothing_back(house, move_house, quiet, tmp_path, at, said):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    change(tmp_path / "house.zip", at, lambda data: data.replace(said, said.upper()))
    move_house()

    with pytest.raises(Refused, match="damaged"):
        restore(path=tmp_path / "house.zip", progress=quiet)

    assert User.objects.count() == 0
    assert not storage_folder().exists()


def test_a_backup_of_which_the_end_is_missing_is_none(house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    whole = (tmp_path / "house.zip").read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(Refused, match="only part of one"):
        check(path=tmp_path / "half.zip", progress=quiet)


def test_a_backup_of_a_later_version_asks_for_an_update(house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    change(
        tmp_path / "house.zip",
        "manifest.json",
        lambda data: data.replace(b'"0001_initial"', b'"0099_moon"', 1),
    )

    with pytest.raises(Refused, match="Update Rejudge first"):
        check(path=tmp_path / "house.zip", progress=quiet)


def test_a_table_that_is_none_of_ours_is_refused(house, move_house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    change(
        tmp_path / "house.zip",
        "manifest.json",
        lambda data: data.replace(b'"sentence"', b'"sentence) --"'),
    )
    move_house()

    with pytest.raises(Refused, match="is unknown or has other columns"):
        restore(path=tmp_path / "house.zip", progress=quiet)


def test_when_the_database_refuses_a_row_no_other_row_and_no_file_stays(
    house, move_house, quiet, tmp_path
):
    back_up(path=tmp_path / "house.zip", progress=quiet)

    # Insert a second membership of the same person, which a constraint forbids.
    def harm(data):
        lines = data.splitlines()
        row = json.loads(lines[0])
        return b"\n".join([*lines, json.dumps([row[0] + 1_000, *row[1:]]).encode()]) + b"\n"

    change(tmp_path / "house.zip", "rows/annotate.membership.jsonl", harm, truthful=True)
    move_house()

    with pytest.raises(Refused, match="The database refused a row"):
        restore(path=tmp_path / "house.zip", progress=quiet)

    assert Project.objects.count() == 0
    assert every_file() == {}


def test_a_stranger_file_is_not_overwritten(house, move_house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)
    name = house.project.runs.get().file.name
    move_house()
    mine = storage_folder() / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")

    with pytest.raises(Refused, match="exists in the storage already"):
        restore(path=tmp_path / "house.zip", progress=quiet)

    assert every_file() == {name: b"mine"}


def test_what_is_no_backup_is_refused(db, quiet, tmp_path):
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


def test_rows_are_fetched_and_sent_a_few_at_a_time(house, move_house, quiet, tmp_path, monkeypatch):
    """The rows are the same if each is a batch of its own."""
    rows = every_row()
    monkeypatch.setattr(backing_up, "_MANY", 1)
    monkeypatch.setattr(backing_up, "_FEW", 1)
    monkeypatch.setattr(restored_rows, "_ROWS", 1)
    back_up(path=tmp_path / "house.zip", progress=quiet)
    move_house()
    restore(path=tmp_path / "house.zip", progress=quiet)

    assert every_row() == rows


def test_the_manifest_says_what_the_backup_is(house, quiet, tmp_path):
    back_up(path=tmp_path / "house.zip", progress=quiet)

    manifest = check(path=tmp_path / "house.zip", progress=quiet)

    assert (manifest["project"], manifest["database"]) == (None, connection.vendor)
    assert manifest["migrations"] == migration_state.latest()
    assert manifest["left_out"] == tables.LEFT_OUT
    projects = next(t for t in manifest["tables"] if t["table"] == "annotate.project")
    assert (projects["rows"], projects["columns"][:2]) == (2, ["id", "slug"])


def change(path, at, how, *, truthful=False):
    """Rewrite a member of a backup; with `truthful`, also its digest in the manifest."""
    with zipfile.ZipFile(path) as backup:
        members = {name: backup.read(name) for name in backup.namelist()}
    [name] = [name for name in members if name.startswith(at)]
    before, members[name] = members[name], how(members[name])
    assert before != members[name]
    if truthful:
        manifest = json.loads(members["manifest.json"])
        [entry] = [t for t in manifest["tables"] if archive.rows_of(t["table"]) == name]
        entry["bytes"] = len(members[name])
        entry["sha256"] = hashlib.sha256(members[name]).hexdigest()
        members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as backup:
        for name, data in members.items():
            backup.writestr(name, data)
