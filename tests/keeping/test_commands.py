"""The commands `backup`, `restore` and `purge`, and their output."""

from __future__ import annotations

import json

import pytest
from django.core.files.storage import default_storage
from django.core.management.base import CommandError

from annotate.models import AuditEvent, Project
from annotate.projects import actions as projects
from tests.keeping.conftest import all_files, all_rows, run_command


def test_the_backup_command_prints_the_counts(installation, tmp_path):
    rows, files = sum(map(len, all_rows().values())), len(all_files())

    words = run_command("backup", tmp_path / "whole.zip")

    size = (tmp_path / "whole.zip").stat().st_size
    assert words == f"{tmp_path}/whole.zip: {rows:,} rows and {files} files in {size:,} bytes.\n"


def test_the_backup_command_prints_the_counts_as_json(installation, tmp_path):
    counts = json.loads(run_command("backup", tmp_path / "t.zip", "--project", "tides", "--json"))

    assert counts["file"] == f"{tmp_path}/t.zip"
    assert counts["files"] == len(all_files())
    assert counts["missing"] == []


def test_a_backup_with_missing_files_exits_with_2(installation, tmp_path):
    gone = installation.project.runs.get().file.name
    default_storage.delete(gone)

    with pytest.raises(CommandError, match=gone) as ended:
        run_command("backup", tmp_path / "whole.zip")

    assert ended.value.returncode == 2
    assert (tmp_path / "whole.zip").exists()


def test_backups_are_recorded_in_the_audit_log(installation, tmp_path):
    run_command("backup", tmp_path / "whole.zip")
    run_command("backup", tmp_path / "tides.zip", "--project", "tides")

    events = AuditEvent.objects.filter(what="project.backed_up").order_by("pk")
    assert list(events.values_list("project__slug", "about")) == [
        (None, "whole.zip"),
        ("tides", "tides.zip"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{}/whole.zip"], "whole.zip already exists"),
        (["{}/nowhere/new.zip"], "There is no {}/nowhere/new.zip, or no folder for it."),
        (["{}"], "{} already exists"),
        (["{}/new.zip", "--project", "moon"], "There is no project “moon”"),
    ],
)
def test_a_failed_backup_is_explained_in_a_sentence(installation, tmp_path, arguments, words):
    (tmp_path / "whole.zip").touch()

    with pytest.raises(CommandError, match=words.format(tmp_path)):
        run_command("backup", *(one.format(tmp_path) for one in arguments))


def test_restore_lists_the_accounts_without_a_password(
    installation, start_empty_installation, tmp_path
):
    run_command("backup", tmp_path / "t.zip", "--project", "tides")
    start_empty_installation()

    lines = run_command("restore", tmp_path / "t.zip", "--as", "tides-2").splitlines()

    assert lines[0].startswith("The project “tides-2” was restored: ")
    assert lines[1] == (
        "These accounts are new and have no password yet: ada, ben, carla, dan. "
        "Set one with manage.py changepassword NAME."
    )
    [event] = AuditEvent.objects.filter(what="project.restored")
    assert (event.project, event.about) == (Project.objects.get(slug="tides-2"), "t.zip")


def test_a_backup_can_be_checked_without_restoring_it(installation, tmp_path):
    run_command("backup", tmp_path / "t.zip", "--project", "tides")
    rows = all_rows()

    words = run_command("restore", tmp_path / "t.zip", "--check")
    counts = json.loads(run_command("restore", tmp_path / "t.zip", "--check", "--json"))

    assert words.startswith(f"{tmp_path}/t.zip is complete: the project “tides”, ")
    assert (counts["project"], counts["files"]) == ("tides", len(all_files()))
    assert all_rows() == rows


def test_purge_asks_for_the_name(installation, tmp_path, monkeypatch):
    projects.archive(by=installation.tides.carla)
    rows = all_rows()
    prompts = []

    def typing(answer):
        def asking(words):
            prompts.append(words)
            return answer

        monkeypatch.setattr("builtins.input", asking)

    typing("yes")
    with pytest.raises(CommandError, match="That is not “tides”"):
        run_command("purge", "tides")
    assert all_rows() == rows

    typing("tides")
    words = run_command("purge", "tides")
    assert prompts == ["Type tides to delete it: "] * 2
    assert words.startswith("“tides” (Tides) has ")
    assert words.splitlines()[1].startswith("“tides” was deleted: ")
    assert not Project.objects.filter(slug="tides").exists()


def test_the_name_can_be_given_as_an_option(installation, monkeypatch):
    projects.archive(by=installation.tides.carla)

    def nobody(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(CommandError, match="Nothing was deleted") as stopped:
        run_command("purge", "tides")
    assert stopped.value.returncode == 130

    run_command("purge", "tides", "--typed", "tides")
    assert not Project.objects.filter(slug="tides").exists()


def test_an_active_project_is_refused_before_the_question(installation):
    with pytest.raises(CommandError, match="is not archived"):
        run_command("purge", "tides")
