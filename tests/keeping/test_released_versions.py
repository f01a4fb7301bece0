"""What every released version wrote comes back today: its tables are made as they were, its rows
put in, and every migration since then finds data in place.

A backup of each release lies in `released/`, with the sums of what it exported then. When a version
is released, one more is put there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.models import Judgment, Project, User
from exporters.exports import actions
from exporters.models import Release
from exporters.releases import actions as releasing
from keeping import archive, migration_state, tables
from keeping.restore import restore
from keeping.verify import verify
from tests.keeping.conftest import Quiet
from tests.services.database import drop_tables

pytestmark = [pytest.mark.both_databases, pytest.mark.long]

FOLDER = Path(__file__).parent / "released"
# What an export of an earlier version has under one name, and one of today under another.
RENAMED = {
    "qrels.original.txt": "qrels.original.all.txt",
    "topics.original.txt": "topics.original.all.txt",
}
# Tables that had other names when the backup was made.
RENAMED_TABLES = {
    "annotate.deed": "annotate.auditevent",
    "annotate.lookagain": "annotate.rejudgerequest",
}
# Files that no export of an earlier version has: the topics of these two are those of the changed.
PAIRED = set(RENAMED)
# And what rerankers take: candidates, and topics for Pyserini; what measures of conditions and of
# core queries take.
NEWER = {"candidates.run", "pyserini", "verdicts.tsv", "core_queries.tsv"}
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.zip"))


def as_exported(folder: Path) -> dict[str, str]:
    """The sums of all that the projects export now, but what says the version or came since."""
    sums = {}
    for project in Project.objects.all():
        for name in actions.FORMATS:
            into = folder / project.slug / name
            into.mkdir(parents=True)
            actions.write(project, name, into)
    for path in folder.rglob("*"):
        came_since = {path.name, path.parent.name} & {"manifest.json", *PAIRED, *NEWER}
        if path.is_file() and not came_since:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            sums[path.relative_to(folder).as_posix()] = found
    return sums


@pytest.mark.parametrize("version", VERSIONS)
def test_a_backup_of_a_released_version_comes_back_whole(version, transactional_db, tmp_path):
    before = json.loads((FOLDER / f"{version}.json").read_text())
    tables_of_a_new_database = structure()
    if connection.vendor == "sqlite":
        # Into a new database, straight to the tables of the backup; on PostgreSQL into one that is
        # up to date and empty, which goes back to them.
        drop_tables()

    restore(path=FOLDER / f"{version}.zip", progress=Quiet())

    counted = {
        tables.label(model): model._base_manager.count() for model in tables.kept_tables(apps)
    }
    assert {table: counted[RENAMED_TABLES.get(table, table)] for table in before["rows"]} == before[
        "rows"
    ]
    assert User.objects.filter(is_active=True, username="ada").exists()
    assert as_exported(tmp_path / "exports") == {
        str(path.with_name(RENAMED.get(path.name, path.name))): found
        for path, found in ((PurePosixPath(name), sum_) for name, sum_ in before["files"].items())
    }
    assert [releasing.verify(release).faults for release in Release.objects.all()] == [[], []]
    # Judgments from before there were chains are in one now.
    for project in Project.objects.all():
        found = verify(project)
        judgments = Judgment.objects.filter(annotator__project=project).count()
        assert (found.rows["judgment"], found.faults) == (judgments, [])
    if connection.vendor == "sqlite":
        call_command("createcachetable", verbosity=0)
    # One squashed migration and all single ones end at the same tables.
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert structure() == tables_of_a_new_database


def structure() -> dict[str, Any]:
    """Every table with its columns, its named constraints and indexes, and all triggers."""
    named = {
        each.name
        for model in apps.get_models()
        for each in (*model._meta.constraints, *model._meta.indexes)
    }
    with connection.cursor() as cursor:
        found = {
            table: (
                {
                    (column.name, column.type_code, column.display_size, column.null_ok)
                    for column in connection.introspection.get_table_description(cursor, table)
                },
                named & connection.introspection.get_constraints(cursor, table).keys(),
            )
            for table in connection.introspection.table_names(cursor)
        }
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            if connection.vendor == "sqlite"
            else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        )
        return {**found, "triggers": set(cursor.fetchall())}


def test_the_tables_of_this_version_are_others_than_those_of_the_first():
    """Else nothing above would have migrated anything."""
    reading = archive.Reading(FOLDER / "0.1.0.zip")
    try:
        assert reading.manifest["migrations"] != migration_state.latest()
        assert reading.manifest["migrations"]["annotate"] == "0008_repeats"
    finally:
        reading.close()


def test_a_backup_of_the_version_before_this_one_is_kept():
    """Whoever raises the version in pyproject.toml puts a backup of the last one there."""
    assert "0.1.0" in VERSIONS
    assert settings.VERSION == "0.1.0" or len(VERSIONS) > 1
