"""A project moved by the steps of docs/exports.md exports the same bytes as before.

MOVED_PROJECTS=200 draws more projects than the few that are moved here.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.collection.intake import FileReport
from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.models import Project, Statement
from annotate.pools.removal import DOCUMENTS
from tests.collection.arriving import load
from tests.exports.conftest import WrittenExport
from tests.exports.random_projects import RandomProject, new_project_like

pytestmark = pytest.mark.both_databases

# Format and file of each step, in the order of docs/exports.md.
STEPS = (
    ("pairs-jsonl", "jsonl/pairs.jsonl"),
    ("trec-qrels", "trec/qrels.original.all.txt"),
    ("docs-jsonl", "jsonl/documents.jsonl"),
    ("rubric-json", "jsonl/rubrics.jsonl"),
    ("judgments-jsonl", "jsonl/judgments.jsonl"),
    ("judgments-jsonl", "jsonl/flags.jsonl"),
    ("judgments-jsonl", "jsonl/adjudications.jsonl"),
    ("judgments-jsonl", "jsonl/reviews.jsonl"),
    ("judgments-jsonl", "jsonl/decisions.jsonl"),
    ("collection-jsonl", "jsonl/collection.jsonl"),
    ("filter-jsonl", "jsonl/filter.jsonl"),
)


def export(project: Project, folder: Path) -> dict[str, bytes]:
    """Write both exports and return every file."""
    folder.mkdir()
    return {
        f"{format_name}/{name}": content
        for format_name in ("trec", "jsonl")
        for name, content in WrittenExport(project, format_name, folder / format_name)
        .bytes()
        .items()
    }


def load_exports(moved: Project, folder: Path, texts: str) -> list[FileReport]:
    """Load the exports in `folder` and the collection's `texts` by the documented steps."""
    reports = []
    for number, (format_name, name) in enumerate(STEPS):
        if number == 2:
            reports.append(load(moved, "docs-jsonl", texts))
        # A file without lines is refused, and an export leaves some files out.
        if (folder / name).exists() and (content := (folder / name).read_bytes()):
            reports.append(load(moved, format_name, content))
    runs = sorted(folder.glob("trec/runs/*"))
    reports += [load(moved, "trec-run", run.read_bytes(), run.name) for run in runs]
    assert [problem for report in reports for problem in report.problems] == []
    return reports


def move(drawn: RandomProject, folder: Path) -> Project:
    """Load the exports in `folder` into a new project of the same name.

    UUIDs are unique in an installation, so the old rows get others.
    """
    for number, row in enumerate(Statement.objects.order_by("pk"), 1):
        Statement.objects.filter(pk=row.pk).update(uuid=f"{number:032x}")
    slug = drawn.project.slug
    Project.objects.filter(pk=drawn.project.pk).update(slug="before")
    moved = new_project_like(drawn.project, slug)
    load_exports(moved, folder, drawn.texts)
    return moved


def bring_everything_back(project: Project) -> None:
    """Bring back queries, then instructions that were taken out for themselves, then candidates."""
    if queries := [row.pk for row in QUERIES.removed(project)]:
        QUERIES.restore(project=project, keys=queries, by=None)
    if pairs := [row.pk for row in INSTRUCTIONS.removed(project)]:
        INSTRUCTIONS.restore(project=project, keys=pairs, by=None)
    if candidates := [row.pk for row in DOCUMENTS.removed(project)]:
        DOCUMENTS.restore(project=project, keys=candidates, by=None)


@settings(
    max_examples=int(os.environ.get("MOVED_PROJECTS", "12")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_random_project_that_is_moved_exports_the_same_bytes(db, seed):
    with TemporaryDirectory() as name, transaction.atomic():
        folder = Path(name)
        drawn = RandomProject(seed)
        before = export(drawn.project, folder / "before")

        moved = move(drawn, folder / "before")

        after = export(moved, folder / "after")
        assert sorted(after) == sorted(before)
        for file in after:
            assert after[file] == before[file], file
        transaction.set_rollback(True)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_out_can_be_brought_back_after_a_move(db, tmp_path, seed):
    drawn = RandomProject(seed)
    export(drawn.project, tmp_path / "before")
    moved = move(drawn, tmp_path / "before")
    assert b"reason" in (tmp_path / "before/jsonl/collection.jsonl").read_bytes()

    bring_everything_back(drawn.project)
    bring_everything_back(moved)

    of_old, of_moved = export(drawn.project, tmp_path / "old"), export(moved, tmp_path / "moved")
    for name in of_old:
        # The old project has another short name and other UUIDs by now.
        if name.startswith("trec/") and name != "trec/manifest.json":
            assert of_moved[name] == of_old[name], name


def test_loading_the_exports_again_changes_nothing(db, tmp_path):
    drawn = RandomProject(0)
    export(drawn.project, tmp_path / "before")
    moved = move(drawn, tmp_path / "before")

    reports = load_exports(moved, tmp_path / "before", drawn.texts)

    assert sum(report.read for report in reports) > 100
    assert [(report.new, report.changed) for report in reports] == [(0, 0)] * len(reports)
