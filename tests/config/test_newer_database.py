"""Commands refuse a database that a newer version of Rejudge has migrated."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.command_line import GROUPS

COMMANDS = [name for names in GROUPS.values() for name in names]
WITHOUT_DATABASE = {"example", "health", "maxp", "prove"}
# They look themselves, once nobody else brings the database up to date.
PREPARING = {"demo", "prepare", "serve"}
REFUSAL = (
    "The database was made by a newer version of Rejudge than .*: it has the migration "
    r"annotate\.9999_from_the_future\. Nothing was changed\."
)


@pytest.fixture
def newer_database(db) -> None:
    MigrationRecorder(connection).record_applied("annotate", "9999_from_the_future")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - WITHOUT_DATABASE - PREPARING))
def test_every_command_that_reads_the_database_looks_at_its_version(newer_database, name):
    command = load_command_class(get_commands()[name], name)

    assert command.requires_migrations_checks
    with pytest.raises(CommandError, match=REFUSAL):
        command.check_migrations()


@pytest.mark.parametrize("name", sorted(WITHOUT_DATABASE | PREPARING))
def test_commands_that_do_not_need_the_database_do_not_look_first(name):
    assert not load_command_class(get_commands()[name], name).requires_migrations_checks


def test_a_refused_backup_writes_no_file(newer_database, tmp_path):
    with pytest.raises(CommandError, match=REFUSAL):
        call_command("backup", tmp_path / "whole.zip")

    assert list(tmp_path.iterdir()) == []
