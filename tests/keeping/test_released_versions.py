"""Backups of every released version can be restored today.

The tables of that version are created, its rows inserted, and every migration since then runs with
data. A backup of each release is in `released/`, with the digests of what it exported then. Add one
when a version is released.
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
from tests.keeping.conftest import CountingProgress
from tests.services.database import drop_tables

pytestmark = [pytest.mark.both_databases, pytest.mark.long]

FOLDER = Path(__file__).parent / "released"
# File names in exports of earlier versions -> file names today.
RENAMED = {
    "qrels.original.txt": "qrels.original.all.txt",
    "topics.original.txt": "topics.original.all.txt",
}
# Tables that had other names when the backup was made -> names today.
RENAMED_TABLES = {
    "annotate.deed": "annotate.auditevent",
    "annotate.lookagain": "annotate.rejudgerequest",
}
# Files that exports of earlier versions do not have, with the same topics as the changed ones.
NEW_PAIRED_FILES = set(RENAMED)
# Newer files as well: for rerankers (candidates, topics for Pyserini), for measures of conditions
# and core queries, and what is taken out.
OTHER_NEW_FILES = {
    *("candidates.run", "pyserini", "verdicts.tsv", "core_queries.tsv"),
    "collection.jsonl",
}
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.zip"))


def export_digests(folder: Path) -> dict[str, str]:
    """Return digests of all export files, except those that name the version or are newer."""
    sums = {}
    for project in Project.objects.all():
        for name in actions.FORMATS:
            into = folder / project.slug / name
            into.mkdir(parents=True)
            actions.write(project, name, into)
    for path in folder.rglob("*"):
        is_newer = {path.name, path.parent.name} & {
            "manifest.json",
            *NEW_PAIRED_FILES,
            *OTHER_NEW_FILES,
        }
        if path.is_file() and not is_newer:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            sums[path.relative_to(folder).as_posix()] = found
    return sums


@pytest.mark.parametrize("version", VERSIONS)
def test_a_backup_of_a_released_version_is_restored_completely(version, transactional_db, tmp_path):
    before = json.loads((FOLDER / f"{version}.json").read_text())
    tables_of_a_new_database = read_structure()
    if connection.vendor == "sqlite":
        # Restore into a new database, directly with the backup's tables; on PostgreSQL into an
        # empty one that is up to date, which is migrated back to them.
        drop_tables()

    restore(path=FOLDER / f"{version}.zip", progress=CountingProgress())

    counted = {
        tables.label(model): model._base_manager.count() for model in tables.kept_tables(apps)
    }
    assert {table: counted[RENAMED_TABLES.get(table, table)] for table in before["rows"]} == before[
        "rows"
    ]
    assert User.objects.filter(is_active=True, username="ada").exists()
    assert export_digests(tmp_path / "exports") == {
        str(path.with_name(RENAMED.get(path.name, path.name))): found
        for path, found in ((PurePosixPath(name), sum_) for name, sum_ in before["files"].items())
    }
    assert [releasing.verify(release).faults for release in Release.objects.all()] == [[], []]
    # Judgments from before chains existed are in a chain now.
    for project in Project.objects.all():
        found = verify(project)
        judgments = Judgment.objects.filter(annotator__project=project).count()
        assert (found.rows["judgment"], found.faults) == (judgments, [])
    if connection.vendor == "sqlite":
        call_command("createcachetable", verbosity=0)
    # The squashed migration and the single ones lead to the same tables.
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert read_structure() == tables_of_a_new_database


def read_structure() -> dict[str, Any]:
    """Return every table with its columns, named constraints and indexes, and all triggers."""
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


def test_the_tables_of_this_version_differ_from_those_of_the_first():
    """Otherwise the test above would not have migrated anything."""
    reading = archive.BackupReader(FOLDER / "0.1.0.zip")
    try:
        assert reading.manifest["migrations"] != migration_state.latest_migrations()
        assert reading.manifest["migrations"]["annotate"] == "0008_repeats"
    finally:
        reading.close()


def test_there_is_a_backup_of_the_version_before_this_one():
    """When raising the version in pyproject.toml, add a backup of the last one."""
    assert "0.1.0" in VERSIONS
    assert settings.VERSION == "0.1.0" or len(VERSIONS) > 1
