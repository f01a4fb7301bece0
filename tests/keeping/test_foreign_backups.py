"""A backup that somebody else made or changed is checked as if all of it were typed here."""

from __future__ import annotations

import hashlib
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Project, Query, User
from base.errors import Refused
from keeping import archive
from keeping.backup import back_up
from keeping.purge import purge
from keeping.restore import check, restore
from tests.keeping.conftest import FilledInstallation, all_files, all_rows
from tests.services.copied import Copied

AT = datetime(2026, 11, 27, tzinfo=UTC)
Members = dict[str, bytes]


BESIDE_OTHERS: Copied[tuple[FilledInstallation, bytes]] = Copied("beside-others")


@pytest.fixture
def world(transactional_db, storage, quiet, tmp_path, tmp_path_factory):
    """An installation whose project was backed up and purged, and the backup."""

    def make() -> tuple[FilledInstallation, bytes]:
        installation, path = FilledInstallation(tmp_path), tmp_path / "made.zip"
        back_up(path=path, project="tides", progress=quiet)
        carla = User.objects.get(username="carla")
        Project.objects.filter(slug="tides").update(archived_at=AT, archived_by=carla)
        purge(slug="tides", typed="tides")
        return installation, path.read_bytes()

    return BESIDE_OTHERS.copy_or_make(make, tmp_path_factory, Path(storage.location))


@pytest.fixture
def beside_others(world):
    """The installation without the project of the backup, but with another one."""
    return world[0]


@pytest.fixture
def backup(world, tmp_path):
    path = tmp_path / "tides.zip"
    path.write_bytes(world[1])
    return path


def rewrite(path, change):
    """Change the members and the manifest of a backup, and make its digests match."""
    with zipfile.ZipFile(path) as backup:
        members = {name: backup.read(name) for name in backup.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    for table in manifest["tables"] if isinstance(manifest.get("tables"), list) else ():
        data = members[archive.rows_member(table["table"])]
        table |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    with zipfile.ZipFile(path, "w") as backup:
        for name, data in members.items():
            backup.writestr(name, data)
        backup.writestr("manifest.json", json.dumps(manifest))


def set_value(path, table, column, value):
    """Set one column of the first row of a table that has a value there."""

    def change(members: Members, manifest: dict[str, Any]) -> None:
        [columns] = [t["columns"] for t in manifest["tables"] if t["table"] == table]
        name, place = archive.rows_member(table), columns.index(column)
        rows = [json.loads(line) for line in members[name].splitlines()]
        row = next(row for row in rows if row[place] is not None)
        row[place] = value(row[place]) if callable(value) else value
        members[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    rewrite(path, change)


def refuses_and_changes_nothing(path, quiet, sentence):
    """Restore a backup that is refused with a sentence; no row and no file may change."""
    rows, stored = all_rows(), all_files()
    with pytest.raises(Refused, match=sentence):
        restore(path=path, progress=quiet)
    assert all_rows() == rows
    assert all_files() == stored


@pytest.mark.parametrize("slug", ["../x", "Tides", "", "a b", "x" * 81])
def test_the_short_name_is_checked(beside_others, backup, quiet, slug):
    rewrite(backup, lambda members, manifest: manifest.update(project=slug))

    refuses_and_changes_nothing(backup, quiet, r"short name|not a valid backup")


@pytest.mark.parametrize(
    ("table", "column", "value", "sentence"),
    [
        ("annotate.project", "name", "Tides\u202e", r"name in annotate\.project contains U\+202E"),
        ("annotate.project", "name", "x" * 201, r"has more than 200 characters"),
        ("annotate.membership", "name", "ada\x1b[31m", r"contains U\+001B"),
        ("annotate.grade", "name", "Relevant\ufffe", r"contains U\+FFFE"),
        ("annotate.user", "username", "new\x7fcomer", r"cannot be made: Enter a valid username"),
        ("annotate.user", "username", "\N{CYRILLIC SMALL LETTER ES}arla", r"looks like this one"),
    ],
)
def test_names_are_checked(beside_others, backup, quiet, table, column, value, sentence):
    set_value(backup, table, column, value)

    refuses_and_changes_nothing(backup, quiet, sentence)


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc/x", "runs/../../x", "runs/{other}/x", "x", "runs/{own}/..\\x"],
)
def test_a_file_outside_the_folders_of_the_project_is_refused(beside_others, backup, quiet, name):
    name = name.format(other=beside_others.other.pk, own=beside_others.project.pk)

    def rename(members: Members, manifest: dict[str, Any]) -> None:
        file = manifest["files"][0]
        members[archive.file_member(name)] = members.pop(archive.file_member(file["name"]))
        file["name"] = name

    rewrite(backup, rename)

    refuses_and_changes_nothing(backup, quiet, "not in a folder of its project")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("annotate.run", "file", "runs/{other}/secret"),
        ("annotate.run", "file", "runs/{own}/../{other}/secret"),
        ("exporters.export", "folder", "exports/{other}/x"),
        ("exporters.export", "folder", "exports/{own}/../.."),
    ],
)
def test_a_row_that_names_a_file_of_another_project_is_refused(
    beside_others, backup, quiet, table, column, value
):
    named = value.format(other=beside_others.other.pk, own=beside_others.project.pk)
    set_value(backup, table, column, named)

    refuses_and_changes_nothing(backup, quiet, "not in a folder of its project")


@pytest.mark.parametrize("table", ["exporters.export", "exporters.release"])
def test_a_manifest_that_lists_a_file_outside_its_folder_is_refused(
    beside_others, backup, quiet, table
):
    def list_another(manifest: dict[str, Any]) -> dict[str, Any]:
        return {**manifest, "files": [{**manifest["files"][0], "name": "../../1/secret"}]}

    set_value(backup, table, "manifest", list_another)

    refuses_and_changes_nothing(backup, quiet, "it lists the file")


def test_a_release_whose_checksum_is_a_path_is_refused(beside_others, backup, quiet):
    set_value(backup, "exporters.release", "sha256", "../../1/secret")

    refuses_and_changes_nothing(backup, quiet, "a release has no checksum")


@pytest.mark.both_databases
def test_a_row_cannot_point_to_a_row_of_another_project(beside_others, backup, quiet):
    query = Query.objects.get(project=beside_others.other)
    set_value(backup, "annotate.candidate", "query_id", query.pk)

    refuses_and_changes_nothing(backup, quiet, f"no row {query.pk} of")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("annotate.candidate", "query_id", "first"),
        ("annotate.candidate", "query_id", {"a": 1}),
        ("annotate.membership", "user_id", 10**6),
        ("annotate.statement", "at", "soon"),
        ("annotate.statement", "uuid", "none"),
        ("annotate.statement", "relevance", 10**30),
        ("annotate.statement", "note", {"a": 1}),
        ("annotate.statement", "note", "half \ud800"),
        ("annotate.project", "name", 5),
        ("annotate.run", "file", 5),
        ("annotate.user", "username", {"a": 1}),
        ("annotate.draft", "drops", 5),
        ("exporters.export", "manifest", "none"),
    ],
)
def test_a_value_of_another_type_is_refused_with_a_sentence(
    beside_others, backup, quiet, table, column, value
):
    set_value(backup, table, column, value)

    refuses_and_changes_nothing(backup, quiet, r"not valid|refused a row|damaged")


@pytest.mark.parametrize(
    "line",
    [b"5", b"{}", b'"abc"', b"[", b"\xff", b"[]", b"[" * 100_000, b"9" * 5_000],
    ids=["number", "object", "text", "half", "bytes", "empty", "deep", "long"],
)
def test_a_line_that_is_no_row_is_refused_with_a_sentence(beside_others, backup, quiet, line):
    def replace(members: Members, manifest: dict[str, Any]) -> None:
        members["rows/annotate.query.jsonl"] = line + b"\n"

    rewrite(backup, replace)

    refuses_and_changes_nothing(backup, quiet, r"not valid|damaged")


@pytest.mark.parametrize(
    "changes",
    [
        {"tables": {}},
        {"tables": None},
        {"tables": []},
        {"files": "all"},
        {"files": [{"name": "runs/1/x"}]},
        {"files": [5]},
        {"key": None},
        {"key": "first"},
        {"key": 10**30},
        {"project": ["tides"]},
        {"migrations": []},
        {"migrations": {}},
        {"migrations": {"annotate": 5}},
        {"migrations": {"annotate": "0001_initial"}},
        {"missing": None},
        {"missing": ["\x1b[2J"]},
        {"version": {"a": 1}},
        {"version": "1\x1b[2J"},
        {"rejudge_backup": []},
        {"rejudge_backup": "\x1b"},
        {"left_out": 5},
    ],
    ids=ascii,
)
def test_a_manifest_of_another_form_is_refused_with_a_sentence(beside_others, backup, changes):
    rewrite(backup, lambda members, manifest: manifest.update(changes))

    with pytest.raises(CommandError, match=r"\w+ .*\."):
        call_command("restore", str(backup))

    assert not Project.objects.filter(slug="tides").exists()


@pytest.mark.parametrize("changes", [{"tables": []}, {"key": 1}], ids=str)
def test_a_whole_backup_of_another_form_is_refused_with_a_sentence(
    installation, start_empty_installation, quiet, tmp_path, changes
):
    back_up(path=tmp_path / "whole.zip", progress=quiet)
    rewrite(tmp_path / "whole.zip", lambda members, manifest: manifest.update(changes))
    start_empty_installation()

    refuses_and_changes_nothing(tmp_path / "whole.zip", quiet, r"not (a )?valid")


def test_a_manifest_without_a_field_is_refused(backup, quiet):
    whole = backup.read_bytes()
    for field in archive.Manifest.__annotations__:
        backup.write_bytes(whole)
        rewrite(backup, lambda members, manifest, field=field: manifest.pop(field))

        with pytest.raises(Refused, match=r"not a (valid )?backup"):
            check(path=backup, progress=quiet)


@pytest.mark.both_databases
def test_keys_that_would_use_up_those_of_the_installation_are_refused(beside_others, backup, quiet):
    def claim(members: Members, manifest: dict[str, Any]) -> None:
        manifest["tables"][-1] |= {"first": 1, "last": 2**62}

    rewrite(backup, claim)

    refuses_and_changes_nothing(backup, quiet, "wrong: tables")


def test_an_encrypted_archive_is_refused_with_a_sentence(backup, quiet):
    data = bytearray(backup.read_bytes())
    # The flag "encrypted" of every entry in the archive's directory.
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)
    backup.write_bytes(data)

    with pytest.raises(Refused, match="encrypted"):
        check(path=backup, progress=quiet)
