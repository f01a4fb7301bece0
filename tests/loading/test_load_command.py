"""`manage.py load`: its output, its exit code, and bad input."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotate.collection.intake import KINDS
from annotate.models import Candidate, Judgment, Project, Query, Run, RunLine
from base import commands
from tests import factories

QRELS = "301 0 A 2\n301 0 B 0\n"


class Ended(NamedTuple):
    """The exit code and the output of the command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def load(*arguments: object) -> Ended:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command("load", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as end:
        code = int(end.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text(QRELS)
    return path


# --- what it prints -------------------------------------------------------------------------------


def test_counts_are_printed_for_the_file_and_for_each_kind_of_row(db, qrels):
    ended = load("tides", "trec-qrels", qrels, "--create")

    assert ended == Ended(
        0,
        f"{qrels}: 2 read, 2 new, 0 changed, 0 unchanged, 0 refused\n"
        "  queries                             1 new        0 changed        0 unchanged\n"
        "  documents                           2 new        0 changed        0 unchanged\n"
        "  candidates                          2 new        0 changed        0 unchanged\n"
        "  earlier relevance                   2 new        0 changed        0 unchanged\n"
        "  2 new documents have no text yet: load the texts of those to judge\n"
        "  1 new query has no title and no narrative yet: load its topic\n",
        "",
    )


@pytest.mark.parametrize(
    ("bad", "options", "shown", "last"),
    [
        (20, (), 20, "qrels.txt:20: "),
        (1_000, (), 20, "qrels.txt: and 980 more; --all-errors shows them"),
        (1_500, (), 20, "qrels.txt: and 1,480 more; --all-errors shows the first 1,000"),
        (1_000, ("--all-errors",), 1_000, "qrels.txt:1000: "),
        (1_500, ("--all-errors",), 1_000, "qrels.txt: and 500 more"),
    ],
)
def test_a_bad_file_does_not_fill_the_terminal(db, tmp_path, bad, options, shown, last):
    path = tmp_path / "qrels.txt"
    path.write_text("301 0 A high\n" * bad)

    ended = load("tides", "trec-qrels", path, "--create", *options)

    lines = ended.err.splitlines()
    assert ended.code == 1
    assert sum("is not a whole number" in line for line in lines) == shown
    assert lines[-1].removeprefix(f"{tmp_path}/").startswith(last)
    assert ended.out.rstrip().endswith(f"{bad:,} refused; nothing was loaded")


def test_json_has_the_counts_of_each_file_and_of_all(db, qrels, tmp_path):
    other = tmp_path / "more.txt"
    other.write_text("301 0 A 2\n302 0 A 1\n")

    ended = load("tides", "trec-qrels", qrels, other, "--create", "--json")

    rows = {
        "queries": {"new": 1, "changed": 0, "unchanged": 0},
        "documents": {"new": 2, "changed": 0, "unchanged": 0},
        "candidates": {"new": 2, "changed": 0, "unchanged": 0},
        "prior": {"new": 2, "changed": 0, "unchanged": 0},
    }
    assert ended.json | {"files": ended.json["files"][:1]} == {
        "project": "tides",
        "format": "trec-qrels",
        "dry_run": False,
        "read": 4,
        "new": 3,
        "changed": 0,
        "unchanged": 1,
        "refused": 0,
        "files": [
            {
                "file": str(qrels),
                "read": 2,
                "new": 2,
                "changed": 0,
                "unchanged": 0,
                "refused": 0,
                "rows": rows,
                "problems": [],
                "broken": 0,
                "broken_rules": [],
                "claims_to_carry": 0,
                "likely_format": None,
                "notes": [
                    "2 new documents have no text yet: load the texts of those to judge",
                    "1 new query has no title and no narrative yet: load its topic",
                ],
            }
        ],
    }


def test_loading_a_second_time_adds_nothing(db, qrels):
    load("tides", "trec-qrels", qrels, "--create")

    ended = load("tides", "trec-qrels", qrels, "--json")

    assert (ended.json["read"], ended.json["new"], ended.json["unchanged"]) == (2, 0, 2)


def test_a_dry_run_prints_the_changes_and_does_not_create_the_project(db, qrels):
    ended = load("tides", "trec-qrels", qrels, "--create", "--dry-run")

    assert ended.code == 0
    assert ended.out.startswith("Dry run: nothing was written. This would happen:\n")
    assert "2 read, 2 new" in ended.out
    assert Project.objects.count() == 0


def test_one_bad_file_does_not_stop_the_others(db, qrels, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("301 0 A 2\n301 B 0\n")

    ended = load("tides", "trec-qrels", bad, qrels, "--create", "--json")

    assert ended.code == 1
    assert ended.err == (
        f"{bad}:2: a qrels line has 4 columns (query_id iteration doc_id relevance), this has 3 "
        "columns: 301 B 0\n"
    )
    assert [file["refused"] for file in ended.json["files"]] == [1, 0]
    assert ended.json["files"][0]["problems"] == [
        {
            "file": str(bad),
            "line": 2,
            "text": "301 B 0",
            "message": "a qrels line has 4 columns (query_id iteration doc_id relevance), this has "
            "3 columns",
        }
    ]
    assert Candidate.objects.count() == 2


def test_the_value_that_means_no_grade_may_be_negative(db, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,doc_id,annotator,label\n301,A,ada,1\n301,B,ada,-1\n")

    ended = load("tides", "judgments-csv", path, "--create", "--no-grade", "-1")

    assert ended.code == 0
    assert Judgment.objects.count() == 1
    assert "1 line has the value -1, which means no grade: kept as a flag" in ended.out


def test_the_first_documents_of_a_run_can_join_the_pool(db, tmp_path, storage):
    path = tmp_path / "bm25.run"
    path.write_text("301 Q0 A 1 2.0 t\n301 Q0 B 2 1.0 t\n")

    load("tides", "trec-run", path, "--create", "--pool", "1")

    assert list(Candidate.objects.values_list("document__doc_id", "origin")) == [("A", "run")]
    assert RunLine.objects.count() == 2


def test_the_command_accepts_the_side_of_a_run(db, tmp_path, storage):
    path = tmp_path / "bm25.run"
    path.write_text("301 Q0 A 1 2.0 t\n")

    load("tides", "trec-run", path, "--create", "--side", "original")

    assert Run.objects.get().side == "original"


def test_a_folder_is_loaded_as_one_file(db, tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "tides"}\n')

    ended = load("tides", "beir", tmp_path, "--create", "--json")

    assert ended.json["new"] == 2
    assert Query.objects.get().title == "tides"


# --- the project ----------------------------------------------------------------------------------


def test_a_project_is_made_with_its_grades(db, qrels):
    load("tides", "trec-qrels", qrels, "--create", "--grades", "0,1,2,3")

    project = Project.objects.get(slug="tides")
    assert project.name == "tides"
    assert list(project.grades.order_by("value").values_list("value", "name")) == [
        (0, "Not relevant"),
        (1, "Marginally relevant"),
        (2, "Relevant"),
        (3, "Highly relevant"),
    ]


def test_creating_an_existing_project_changes_nothing(db, qrels):
    factories.project("tides", grades=(0, 1))

    ended = load("tides", "trec-qrels", qrels, "--create")

    assert ended.code == 0
    assert Project.objects.get().grades.count() == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["unknown", "trec-qrels"],
            (
                "There is no project “unknown”. Add --create to create it, and --grades if its "
                "grades are not 0,1,2."
            ),
        ),
        (
            ["tides", "trec-qrels", "--create", "--grades", "0,1"],
            (
                "The project “tides” already exists, with the grades 0, 1, 2. Change them in its "
                "settings, or leave --grades out."
            ),
        ),
        (
            ["tides", "trec-qrels", "--grades", "0,1"],
            "--grades needs --create. Change the grades of an existing project on its page.",
        ),
        (
            ["Tide!", "trec-qrels", "--create"],
            "“Tide!” cannot be a project's short name",
        ),
        (["new", "trec-qrels", "--create", "--grades", "1"], "at least two different grades"),
        (
            ["new", "trec-qrels", "--create", "--grades", "0,x"],
            "'0,x' is not a list of whole numbers",
        ),
        (
            ["tides", "trec-grels"],
            "Unknown format 'trec-grels'; the formats are: trec-topics, trec-topics-xml,",
        ),
        (["tides", "trec-qrels", "--pool", "3"], "Only a run can add documents"),
    ],
)
def test_the_command_explains_invalid_arguments(db, qrels, arguments, sentence):
    factories.project("tides")

    with pytest.raises(CommandError) as error:
        load(*arguments[:2], qrels, *arguments[2:])

    assert sentence in str(error.value)
    assert Candidate.objects.count() == 0
    assert list(Project.objects.values_list("slug", flat=True)) == ["tides"]


def test_a_refused_file_does_not_leave_a_new_project(db, tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("301 A 1\n")

    ended = load("tides", "trec-qrels", path, "--create")

    assert ended.code == 1
    assert Project.objects.count() == 0


# --- bad input ------------------------------------------------------------------------------------

TOPIC = "<top>\n<num> Number: 1\n<title> a\n</top>\n"
RUN = "1 Q0 A 1 2.0 t\n1 Q0 B 2 1.5 t\n"


@pytest.mark.parametrize(
    ("kind", "content", "sentence"),
    [
        (
            "trec-qrels",
            gzip.compress(QRELS.encode() * 900, mtime=0)[:-20],
            ": the gzip file is cut off",
        ),
        (
            "trec-qrels",
            b"301 0 A 1\n301 0 caf\xe9 1\n",
            ":2: not UTF-8: byte 10 of the line",
        ),
        ("trec-qrels", b"301 0 A 1\n301 A 1\n", ":2: a qrels line has 4 columns"),
        ("trec-run", f"{RUN}1 Q0 A 3 1.0 t\n".encode(), ":3: document A occurs twice in topic 1"),
        (
            "docs-jsonl",
            b'{"doc_id": "a"}\n{"doc_id": "a b"}\n',
            ":2: doc_id 'a b' contains white",
        ),
        (
            "trec-topics",
            f"{TOPIC}<top>\n<title> b\n</top>\n".encode(),
            ":5: a topic has no num",
        ),
        ("trec-qrels", b"", ": the file is empty"),
        ("trec-qrels", b"301 0 A 1\n" + b"x" * 17_000_000, ":2: the line is longer than 16 MiB"),
        ("trec-qrels", TOPIC.encode(), "the file looks like trec-topics: load it as trec-topics"),
        ("beir", b"query-id\tcorpus-id\tscore\n", ": this is a file; a folder or a zip archive"),
    ],
    ids=[
        "truncated gzip",
        "wrong encoding",
        "three columns",
        "duplicate document",
        "blank in an id",
        "no number",
        "empty",
        "endless line",
        "another format",
        "file for a folder",
    ],
)
def test_bad_input_gets_one_sentence_with_file_and_line(db, tmp_path, kind, content, sentence):
    path = tmp_path / "given"
    path.write_bytes(content)

    ended = load("tides", kind, path, "--create")

    assert ended.code == 1
    [line] = ended.err.splitlines()
    assert line.startswith(str(path))
    assert sentence in line
    assert "; nothing was loaded" in ended.out
    assert Project.objects.count() == 0


def test_a_folder_for_a_file_is_refused(db, tmp_path):
    ended = load("tides", "trec-qrels", tmp_path, "--create")

    assert (ended.code, ended.err) == (1, f"{tmp_path}: this is a folder; a file is needed\n")


def test_a_missing_file_is_refused(db, tmp_path):
    ended = load("tides", "trec-qrels", tmp_path / "nowhere.txt", "--create")

    assert (ended.code, ended.err) == (1, f"{tmp_path}/nowhere.txt: there is no such file\n")


# --- progress -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(monkeypatch, stream: io.StringIO, seconds: float) -> str:
    """Return the output of a step at half way, that many seconds after the start."""
    clock = iter([0.0, 0.1, seconds])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    shown = commands.Bar("qrels.txt")
    shown.start(200, "Reading the file")
    shown.advance(100)
    return stream.getvalue()


def test_a_terminal_sees_progress_after_a_second(monkeypatch):
    assert progress(monkeypatch, Terminal(), 1.5) == (
        "\rqrels.txt: Reading the file [############............] 50%"
    )


def test_a_quick_load_shows_no_progress(monkeypatch):
    assert progress(monkeypatch, Terminal(), 0.9) == ""


def test_no_progress_is_written_to_a_file(monkeypatch):
    assert progress(monkeypatch, io.StringIO(), 9) == ""


def test_the_progress_line_is_cleared_at_the_end(monkeypatch):
    stream = Terminal()
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    shown = commands.Bar("q")

    shown.start(None, "Reading")
    shown.clear()

    assert stream.getvalue() == "\rq: Reading\r          \r"


def test_every_kind_of_row_has_a_title():
    assert all(words and words[0].isupper() for words in KINDS.values())
