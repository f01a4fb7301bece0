"""What every released version wrote comes back today: its tables are made as they were, its rows
put in, and every migration since then finds data in place.

A backup of each release lies in `released/`, with the sums of what it exported then. When a version
is released, one more is put there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.models import Judgment, Project, User
from annotate.verifying import verify
from config.keeping import archive, schema, tables
from config.keeping.restoring import restore
from exporters import actions, releasing
from exporters.models import Release
from tests.keeping.conftest import Quiet

FOLDER = Path(__file__).parent / "released"
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.zip"))


@pytest.fixture(params=VERSIONS)
def version(request, transactional_db):
    return request.param


def as_exported(folder: Path) -> dict[str, str]:
    """The sums of all that the projects export now, but what says the version."""
    sums = {}
    for project in Project.objects.all():
        for name in actions.FORMATS:
            into = folder / project.slug / name
            into.mkdir(parents=True)
            actions.write(project, name, into)
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "manifest.json":
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            sums[path.relative_to(folder).as_posix()] = found
    return sums


def test_every_row_is_here_and_exports_are_the_same_bytes(version, tmp_path):
    before = json.loads((FOLDER / f"{version}.json").read_text())

    restore(path=FOLDER / f"{version}.zip", progress=Quiet())

    counted = {
        tables.label(model): model._base_manager.count() for model in tables.kept_tables(apps)
    }
    assert {table: counted[table] for table in before["rows"]} == before["rows"]
    assert as_exported(tmp_path / "exports") == before["files"]
    assert [releasing.verify(release).faults for release in Release.objects.all()] == [[], []]


def test_everything_is_up_to_date_afterwards(version):
    restore(path=FOLDER / f"{version}.zip", progress=Quiet())

    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert User.objects.filter(is_active=True, username="ada").exists()
    # What was said before there were chains is in one now.
    for project in Project.objects.all():
        found = verify(project)
        said = Judgment.objects.filter(annotator__project=project).count()
        assert (found.rows["judgment"], found.faults) == (said, [])


def test_the_tables_of_this_version_are_others_than_those_of_the_first():
    """Else nothing above would have migrated anything."""
    reading = archive.Reading(FOLDER / "0.1.0.zip")
    try:
        assert reading.manifest["migrations"] != schema.latest()
        assert reading.manifest["migrations"]["annotate"] == "0008_repeats"
    finally:
        reading.close()


def test_a_backup_of_the_version_before_this_one_is_kept():
    """Whoever raises the version in pyproject.toml puts a backup of the last one there."""
    assert "0.1.0" in VERSIONS
    assert settings.VERSION == "0.1.0" or len(VERSIONS) > 1
