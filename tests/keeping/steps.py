"""Steps that a test runs in another installation; prints the result of `export` as JSON.

python -m tests.keeping.steps example export backup=FILE
python -m tests.keeping.steps restore=FILE export
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import django


def example() -> None:
    """Make the example project, an export of it and a release."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    from annotate.models import Project
    from config.examples.tides import ensure_example
    from exporters.exports import actions
    from exporters.releases import actions as releasing
    from jobs.runner import run

    with patch("jobs.queue.publish"), patch("jobs.runner.PULSE", 3_600):
        ensure_example()
        project = Project.objects.get(slug="example")
        lead = project.memberships.get(name="carla")
        export = actions.request_export(project=project, format_name="jsonl", by=lead)
        run(export.pk)
        release = releasing.request_release(project=project, name="v1", by=None)
        run(release.pk)


def backup(path: str) -> None:
    """Write a backup with the command."""
    from django.core.management import call_command

    call_command("backup", path, verbosity=0, stdout=sys.stderr)


def restore(path: str) -> None:
    """Restore a backup with the command."""
    from django.core.management import call_command

    call_command("restore", path, stdout=sys.stderr)


def export() -> dict[str, Any]:
    """Return digests of all exports, of the release, and of every table that a backup keeps."""
    from django.db import connection

    from annotate.models import Project
    from exporters.exports import actions
    from exporters.models import Release
    from exporters.releases import actions as releasing
    from keeping import archive, tables
    from keeping.verify import verify

    digests: dict[str, str] = {}
    project = Project.objects.get(slug="example")
    with TemporaryDirectory() as scratch:
        for name in actions.FORMATS:
            folder = Path(scratch) / name
            folder.mkdir()
            actions.write(project, name, folder)
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    digests[path.relative_to(scratch).as_posix()] = digest
    release = Release.objects.get(name="v1")
    rows = {}
    # Restoring adds one audit event with its link.
    for model in tables.kept_tables():
        if tables.label(model) in {"annotate.auditevent", "annotate.link"}:
            continue
        seen = hashlib.sha256()
        for row in model._base_manager.order_by("pk").values_list():
            # A database may store the keys of JSON in another order.
            seen.update(json.dumps(json.loads(archive.write_row(row)), sort_keys=True).encode())
        rows[tables.label(model)] = seen.hexdigest()
    # Each installation numbers these rows itself.
    for table in ("auth.group_permissions", "admin.logentry"):
        rows.pop(table)
    return {
        "engine": connection.vendor,
        "files": digests,
        "release": [release.sha256, releasing.verify(release).faults],
        "rows": rows,
        "faults": [fault.sentence for fault in verify(project).faults],
    }


def main(steps: list[str]) -> None:
    """Run the steps."""
    django.setup()
    result: dict[str, Any] = {}
    for step in steps:
        name, _, path = step.partition("=")
        if name == "export":
            result = export()
        elif name == "example":
            example()
        else:
            {"backup": backup, "restore": restore}[name](path)
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
