"""Rejudge loads its own exports into the same rows."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotate.models import (
    Adjudication,
    Candidate,
    Condition,
    Document,
    DocumentText,
    Grade,
    InstructionPair,
    Membership,
    Narrative,
    Project,
    Query,
    Statement,
    Verdict,
)
from audit.models import Decision, Rating, Review
from audit.reviews import rubrics
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.rubrics import choose_rubric, save_rubric

pytestmark = pytest.mark.both_databases

RECORD_FILES = ("judgments", "flags", "adjudications", "reviews", "decisions")


@pytest.fixture
def exported_and_deleted(tides, write):
    """Export the hand-made project as JSON lines, then delete it from the database."""
    files = write(tides.project, "jsonl")
    Statement.objects.update(replaces=None)
    for model in (
        *(Decision, Rating, Review, Adjudication, Verdict, Statement, Condition, Narrative),
        InstructionPair,
        *(Candidate, Query, DocumentText, Document, Grade, Membership, Project),
    ):
        model.objects.all().delete()
    return files


def load(format_name: str, *paths) -> dict[str, int]:
    out = StringIO()
    call_command("load", "tides", format_name, *map(str, paths), "--json", "--create", stdout=out)
    counts: dict[str, int] = json.loads(out.getvalue())
    return counts


def test_all_records_load_again(exported_and_deleted, write):
    folder = exported_and_deleted.folder

    load("pairs-jsonl", folder / "pairs.jsonl")
    for name in RECORD_FILES:
        load("judgments-jsonl", folder / f"{name}.jsonl")

    again = write(Project.objects.get(slug="tides"), "jsonl")
    for name in ("pairs", "verdicts", *RECORD_FILES):
        assert again[f"{name}.jsonl"] == exported_and_deleted[f"{name}.jsonl"]
    assert again["judgments.csv"] == exported_and_deleted["judgments.csv"]


def test_loading_it_a_second_time_changes_nothing(exported_and_deleted):
    folder = exported_and_deleted.folder
    record_files = [folder / f"{name}.jsonl" for name in RECORD_FILES]
    load("pairs-jsonl", folder / "pairs.jsonl")
    load("judgments-jsonl", *record_files)

    pairs = load("pairs-jsonl", folder / "pairs.jsonl")
    judgments = load("judgments-jsonl", *record_files)

    assert (pairs["new"], pairs["changed"], pairs["refused"]) == (0, 0, 0)
    assert (judgments["new"], judgments["changed"], judgments["refused"]) == (0, 0, 0)


def test_loading_both_exports_in_the_documented_order_moves_a_project(
    tides, write, request, capsys
):
    trec = write(tides.project)
    exported_and_deleted = request.getfixturevalue("exported_and_deleted")
    folder = exported_and_deleted.folder

    load("pairs-jsonl", folder / "pairs.jsonl")
    load("trec-qrels", trec.folder / "qrels.original.all.txt")
    Path(folder / "decisions.jsonl").write_bytes(b"")
    with pytest.raises(SystemExit):
        load("judgments-jsonl", *(folder / f"{name}.jsonl" for name in RECORD_FILES))

    assert "decisions.jsonl: the file is empty" in capsys.readouterr().err
    project = Project.objects.get(slug="tides")
    again = write(project, "jsonl")
    for name in ("pairs", "verdicts", *RECORD_FILES[:-1]):
        assert again[f"{name}.jsonl"] == exported_and_deleted[f"{name}.jsonl"]
    name = "qrels.original.all.txt"
    assert write(project)[name] == trec[name]


def test_the_original_qrels_read_back_to_the_same_pools(tides, write):
    files = write(tides.project)

    load("trec-qrels", files.folder / "qrels.original.all.txt")

    assert write(tides.project).bytes() == files.bytes()


def test_rubrics_come_back_with_the_reviews_that_were_made_under_them(tides, write, tmp_path):
    nine = FOLLOWTABLE._replace(name="nine-1", title="The same, under another name")
    for name in ("nine-1", "abc-1"):
        save_rubric(project=tides.project, content=nine._replace(name=name), by=None)
    choose_rubric(project=tides.project, name="nine-1", by=None)
    Review.objects.update(rubric="nine-1")
    folder = write(tides.project, "jsonl").folder
    Project.objects.filter(pk=tides.project.pk).update(slug="before")

    load("pairs-jsonl", folder / "pairs.jsonl")
    counts = load("rubric-json", folder / "rubrics.jsonl")
    load("judgments-jsonl", folder / "reviews.jsonl")

    assert counts["new"] == 2
    project = Project.objects.get(slug="tides")
    assert rubrics.current_rubric(project.pk).name == "nine-1"
    again = write(project, "jsonl")
    for name in ("rubrics.jsonl", "reviews.jsonl"):
        assert again[name] == (folder / name).read_text("utf-8")
