"""The commands `backup`, `restore` and `purge`, and their output."""

from __future__ import annotations

import json

import pytest
from django.core.files.storage import default_storage
from django.core.management.base import CommandError

from annotate.models import AuditEvent, Project
from annotate.projects import rules
from tests.keeping.conftest import every_file, every_row, said


def test_a_backup_says_what_it_holds(house, tmp_path):
    rows, files = sum(map(len, every_row().values())), len(every_file())

    words = said("backup", tmp_path / "house.zip")

    size = (tmp_path / "house.zip").stat().st_size
    assert words == f"{tmp_path}/house.zip: {rows:,} rows and {files} files in {size:,} bytes.\n"


def test_a_backup_says_it_to_programs(house, tmp_path):
    told = json.loads(said("backup", tmp_path / "t.zip", "--project", "tides", "--json"))

    assert told["file"] == f"{tmp_path}/t.zip"
    assert told["files"] == len(every_file())
    assert told["missing"] == []


def test_a_backup_without_a_file_that_rows_name_ends_with_2(house, tmp_path):
    gone = house.project.runs.get().file.name
    default_storage.delete(gone)

    with pytest.raises(CommandError, match=gone) as ended:
        said("backup", tmp_path / "house.zip")

    assert ended.value.returncode == 2
    assert (tmp_path / "house.zip").exists()


def test_whoever_takes_a_backup_is_in_the_audit_log(house, tmp_path):
    said("backup", tmp_path / "house.zip")
    said("backup", tmp_path / "tides.zip", "--project", "tides")

    kept = AuditEvent.objects.filter(what="project.backed_up").order_by("pk")
    assert list(kept.values_list("project__slug", "about")) == [
        (None, "house.zip"),
        ("tides", "tides.zip"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{}/house.zip"], "house.zip already exists"),
        (["{}/nowhere/new.zip"], "nowhere/new.zip.part: No such file or directory."),
        (["{}/new.zip", "--project", "moon"], "There is no project “moon”"),
    ],
)
def test_what_cannot_be_backed_up_is_said_in_a_sentence(house, tmp_path, arguments, words):
    (tmp_path / "house.zip").touch()

    with pytest.raises(CommandError, match=words):
        said("backup", *(one.format(tmp_path) for one in arguments))


def test_restore_says_who_has_no_password_yet(house, move_house, tmp_path):
    said("backup", tmp_path / "t.zip", "--project", "tides")
    move_house()

    lines = said("restore", tmp_path / "t.zip", "--as", "tides-2").splitlines()

    assert lines[0].startswith("The project “tides-2” was restored: ")
    assert lines[1] == (
        "These accounts are new and have no password yet: ada, ben, carla, dan. "
        "Set one with manage.py changepassword NAME."
    )
    [kept] = AuditEvent.objects.filter(what="project.restored")
    assert (kept.project, kept.about) == (Project.objects.get(slug="tides-2"), "t.zip")


def test_a_backup_can_be_checked_without_being_brought_back(house, tmp_path):
    said("backup", tmp_path / "t.zip", "--project", "tides")
    rows = every_row()

    words = said("restore", tmp_path / "t.zip", "--check")
    told = json.loads(said("restore", tmp_path / "t.zip", "--check", "--json"))

    assert words.startswith(f"{tmp_path}/t.zip is complete: the project “tides”, ")
    assert (told["project"], told["files"]) == ("tides", len(every_file()))
    assert every_row() == rows


def test_purge_asks_for_the_name(house, tmp_path, monkeypatch):
    rules.archive(by=house.tides.carla)
    rows = every_row()
    asked = []

    def typing(answer):
        def asking(words):
            asked.append(words)
            return answer

        monkeypatch.setattr("builtins.input", asking)

    typing("yes")
    with pytest.raises(CommandError, match="That is not “tides”"):
        said("purge", "tides")
    assert every_row() == rows

    typing("tides")
    words = said("purge", "tides")
    assert asked == ["Type tides to delete it: "] * 2
    assert words.startswith("“tides” (Tides) has ")
    assert words.splitlines()[1].startswith("“tides” was deleted: ")
    assert not Project.objects.filter(slug="tides").exists()


def test_where_nobody_can_be_asked_the_name_is_typed_ahead(house, monkeypatch):
    rules.archive(by=house.tides.carla)

    def nobody(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(CommandError, match="Nothing was deleted") as stopped:
        said("purge", "tides")
    assert stopped.value.returncode == 130

    said("purge", "tides", "--typed", "tides")
    assert not Project.objects.filter(slug="tides").exists()


def test_a_project_in_use_is_not_even_asked_about(house):
    with pytest.raises(CommandError, match="is not archived"):
        said("purge", "tides")
