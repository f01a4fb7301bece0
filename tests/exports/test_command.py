"""`manage.py export` writes the same files into a folder, whole or not at all."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from annotate.models import Adjudication, Judgment, Run
from tests import factories
from tests.exports.conftest import files_of


def export(*args) -> str:
    out = StringIO()
    call_command("export", *map(str, args), stdout=out)
    return out.getvalue()


def test_the_folder_holds_what_the_page_offers(tides, write, tmp_path):
    export("tides", "trec", "--output", tmp_path / "new" / "out")

    out = tmp_path / "new" / "out"
    assert files_of(out) == write(tides.project).bytes()


def test_counts_and_files_are_printed(tides, tmp_path):
    printed = export("tides", "trec", "--output", tmp_path / "out")

    assert "           3  judged\n           1  settled by a lead\n" in printed
    assert "1 document is disputed and left out; see disputed.tsv.\n" in printed
    assert f"{tmp_path / 'out' / 'qrels.changed.txt'}  5 lines\n" in printed


def test_a_table_without_rows_is_printed_as_its_heading(tides, tmp_path):
    Adjudication.objects.create(
        narrative=tides.narrative,
        candidate=tides.pool["FT-9"],
        relevance=1,
        reason="So.",
        cause="edge",
        by=tides.carla,
    )

    printed = export("tides", "trec", "--output", tmp_path / "out")

    assert f"{tmp_path / 'out' / 'disputed.tsv'}  1 line, only the heading\n" in printed


def test_counts_are_printed_as_json(tides, tmp_path):
    printed = json.loads(export("tides", "jsonl", "--output", tmp_path / "out", "--json"))

    assert printed["output"] == str(tmp_path / "out")
    assert printed["counts"]["judgments"] == 13
    assert {entry["name"] for entry in printed["files"]} > {"judgments.jsonl", "pairs.jsonl"}


def test_an_earlier_export_is_replaced(tides, write, tmp_path):
    out = tmp_path / "out"
    Run.objects.create(project=tides.project, name="r", sha256="0", file=ContentFile(b"", "r"))
    export("tides", "trec", "--output", out)
    Run.objects.all().delete()
    Judgment.objects.update(relevance=1)

    export("tides", "trec", "--output", out)

    files = files_of(out)
    assert b"301 0 B 1\n" in files["qrels.changed.txt"]
    assert set(files) == set(write(tides.project).bytes())
    assert not (out / "runs").exists()


def test_an_earlier_export_in_folders_within_folders_is_replaced(tides, write, tmp_path):
    export("tides", "ir-datasets", "--output", tmp_path / "out")

    export("tides", "trec", "--output", tmp_path / "out")

    assert set(files_of(tmp_path / "out")) == set(write(tides.project).bytes())
    assert not (tmp_path / "out" / "irds_tides").exists()


def test_another_format_replaces_it_too(tides, write, tmp_path):
    export("tides", "trec", "--output", tmp_path / "out")

    export("tides", "jsonl", "--output", tmp_path / "out")

    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == set(write(tides.project, "jsonl").bytes())


@pytest.mark.parametrize(
    ("name", "content"),
    [("thesis.tex", ""), ("manifest.json", "{}"), ("manifest.json", "not JSON")],
)
def test_a_folder_with_other_files_is_refused_and_unchanged(tides, tmp_path, name, content):
    (tmp_path / name).write_text(content)

    with pytest.raises(CommandError, match=f"holds {name}, which no export wrote"):
        export("tides", "trec", "--output", tmp_path)

    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_file_in_place_of_the_folder_is_refused(tides, tmp_path):
    (tmp_path / "out").write_text("")

    with pytest.raises(CommandError, match="out is not a folder"):
        export("tides", "trec", "--output", tmp_path / "out")


def test_a_failed_export_keeps_the_earlier_files(tides, tmp_path):
    export("tides", "trec", "--output", tmp_path / "out")
    before = files_of(tmp_path / "out")
    newest = factories.narrative(tides.pair, text="Only <num> at sea.", version=3)
    tides.judge(newest, tides.pool["FT-9"], tides.ada, 1)

    for folder in ("out", "new"):
        with pytest.raises(CommandError, match="This cannot be written: the narrative of topic"):
            export("tides", "trec", "--output", tmp_path / folder)

    assert files_of(tmp_path / "out") == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("project", "format_name", "sentence"),
    [
        ("nowhere", "trec", "There is no project “nowhere”. Choose one of: tides."),
        (
            "tides",
            "xml",
            (
                "“xml” is not a format of exports. Choose one of: trec, jsonl, mteb, hf, beir, "
                "ir-datasets, followtable, infosearch, multiconir, multi-infosearch, citation."
            ),
        ),
    ],
)
def test_an_unknown_project_or_format_is_named_in_the_error(
    tides, tmp_path, project, format_name, sentence
):
    with pytest.raises(CommandError) as refused:
        export(project, format_name, "--output", tmp_path / "out")

    assert str(refused.value) == sentence
    assert refused.value.returncode == 1
    assert not (tmp_path / "out").exists()
