"""Intake of runs: the file is stored unchanged, its lines are ranked by score."""

from __future__ import annotations

import hashlib

import pytest

from annotate import models
from annotate.models import Candidate, Document, Query, Run
from base.errors import Refused
from formats.records import RunLine
from tests import factories
from tests.collection.arriving import counts, load, load_records, problems, rows

pytestmark = pytest.mark.both_databases

RUN = "301\tQ0\tA\t7\t  0.5\tbm25\n301 Q0 B 1 2.5 bm25\n301 Q0 a 2 0.5 bm25\n302 Q0 A 1 -3 bm25\n"


@pytest.fixture
def project(db, storage):
    return factories.project()


def ranks() -> list[tuple[str, int, str, float]]:
    found = models.RunLine.objects.order_by("query__query_id", "rank")
    return list(found.values_list("query__query_id", "rank", "document__doc_id", "score"))


def stored_files(storage) -> list[str]:
    return [path.name for path in storage.rglob("*") if path.is_file()]


def test_ranks_come_from_scores_and_ties_from_ids_downwards(project):
    report = load(project, "trec-run", RUN, "bm25.run")

    assert counts(report) == (4, 4, 0, 0, 0)
    assert rows(report) == {
        "queries": (2, 0, 0),
        "documents": (3, 0, 0),
        "runs": (1, 0, 0),
        "run_lines": (4, 0, 0),
    }
    # In bytes "a" sorts after "A", so with equal scores it comes first.
    assert ranks() == [
        ("301", 1, "B", 2.5),
        ("301", 2, "a", 0.5),
        ("301", 3, "A", 0.5),
        ("302", 1, "A", -3.0),
    ]


def test_the_file_is_stored_byte_for_byte(project):
    load(project, "trec-run", RUN, "folder/bm25.run")

    run = Run.objects.get()
    assert (run.name, run.tag) == ("bm25.run", "bm25")
    assert run.sha256 == hashlib.sha256(RUN.encode()).hexdigest()
    with run.file.open("rb") as stream:
        assert stream.read() == RUN.encode()


def test_loading_again_changes_nothing(project, storage):
    load(project, "trec-run", RUN, "bm25.run")

    report = load(project, "trec-run", RUN, "bm25.run")

    assert counts(report) == (4, 0, 0, 4, 0)
    assert rows(report)["runs"] == (0, 0, 1)
    assert stored_files(storage) == ["bm25.run"]


def test_other_lines_under_the_same_name_are_refused(project, storage):
    load(project, "trec-run", RUN, "bm25.run")

    report = load(project, "trec-run", RUN.replace("2.5", "0.1"), "bm25.run")

    assert problems(report) == [
        (
            "bm25.run: a run called bm25.run already exists, from a file with other bytes; a run "
            "is never overwritten: give this file another name"
        )
    ]
    assert len(ranks()) == 4
    assert stored_files(storage) == ["bm25.run"]


def test_the_same_lines_under_another_name_are_another_run_with_a_note(project):
    load(project, "trec-run", RUN, "bm25.run")

    report = load(project, "trec-run", RUN, "copy.run")

    assert counts(report) == (4, 4, 0, 0, 0)
    assert report.notes == ["the same lines already exist as the run bm25.run"]


def test_a_run_adds_no_candidates(project):
    load(project, "trec-run", RUN, "bm25.run")

    assert Candidate.objects.count() == 0


def test_the_first_documents_of_each_query_join_the_pool_when_asked(project):
    load(project, "trec-qrels", "301 0 B 1\n302 0 Z 0\n")

    report = load(project, "trec-run", RUN, "bm25.run", pool=2)

    assert rows(report)["candidates"] == (2, 0, 1)
    found = Candidate.objects.filter(origin="run")
    assert sorted(found.values_list("query__query_id", "document__doc_id")) == [
        ("301", "a"),
        ("302", "A"),
    ]


def test_a_repeated_document_is_refused_even_if_the_reader_misses_it(project):
    report = load_records(
        project, RunLine("301", "A", 1, 2.0, "t"), RunLine("301", "A", 2, 1.0, "t")
    )

    assert problems(report) == [
        (
            "file.txt:2: document A of query 301 was already on line 1: trec_eval refuses a run "
            "with a document twice"
        )
    ]
    assert (Run.objects.count(), Document.objects.count()) == (0, 0)


def test_a_run_for_another_collection_is_refused(project):
    factories.query(project, "301")

    report = load(project, "trec-run", RUN, "bm25.run")

    assert problems(report) == [
        (
            "bm25.run:4: 1 of the queries is not in this project (302): load their topics first, "
            "or this run into the project of its collection"
        )
    ]
    assert Run.objects.count() == 0
    assert list(Query.objects.values_list("query_id", flat=True)) == ["301"]


INSTRUCTED = "110_0 Q0 A 1 2.0 t\n110_1 Q0 A 1 1.0 t\n110_1 Q0 B 2 3.0 t\n"


@pytest.fixture
def instructed(project):
    """A project whose query has two instructions."""
    query = factories.query(project, "110")
    for pair_id in ("110_0", "110_1"):
        factories.pair(query, pair_id=pair_id)
    return project


def test_a_run_over_instructions_loads_beside_one_over_queries(instructed):
    load(instructed, "trec-run", "110 Q0 A 1 9.0 t\n", "queries.run")

    report = load(instructed, "trec-run", INSTRUCTED, "instructed.run")

    assert problems(report) == []
    assert rows(report) == {
        "queries": (0, 0, 1),
        "documents": (1, 0, 1),
        "runs": (1, 0, 0),
        "run_lines": (3, 0, 0),
    }
    assert dict(Run.objects.values_list("name", "side")) == {
        "queries.run": "original",
        "instructed.run": "altered",
    }
    lines = models.RunLine.objects.order_by("run__name", "pair__pair_id", "rank")
    assert list(
        lines.values_list("query__query_id", "pair__pair_id", "document__doc_id", "rank")
    ) == [
        ("110", "110_0", "A", 1),
        ("110", "110_1", "B", 1),
        ("110", "110_1", "A", 2),
        ("110", None, "A", 1),
    ]


def test_a_run_over_instructions_loaded_again_changes_nothing(instructed):
    load(instructed, "trec-run", INSTRUCTED, "instructed.run")

    report = load(instructed, "trec-run", INSTRUCTED, "instructed.run")

    assert counts(report) == (3, 0, 0, 3, 0)


def test_the_first_documents_under_each_instruction_join_the_pool_of_their_query(instructed):
    report = load(instructed, "trec-run", INSTRUCTED, "instructed.run", pool=2)

    # A is among the first two under both.
    assert rows(report)["candidates"] == (2, 0, 0)
    found = Candidate.objects.values_list("query__query_id", "document__doc_id")
    assert sorted(found) == [("110", "A"), ("110", "B")]


def test_ids_that_name_queries_and_pairs_mean_queries(project):
    factories.pair(factories.query(project, "301"))

    load(project, "trec-run", "301 Q0 A 1 2.0 t\n")

    assert Run.objects.get().side == "original"
    assert models.RunLine.objects.get().pair is None


def test_a_run_over_queries_and_instructions_at_once_is_refused(instructed):
    report = load(instructed, "trec-run", "110 Q0 A 1 2.0 t\n110_0 Q0 A 1 2.0 t\n")

    assert problems(report) == [
        (
            "file.txt:2: 110_0: in this project these are ids of instruction pairs, and other "
            "lines name queries; a run names either pairs or queries: split the file in two"
        )
    ]
    assert Run.objects.count() == 0


# --- the side of a run ----------------------------------------------------------------------------


def test_a_run_over_reversed_instructions_needs_a_given_side(instructed):
    load(instructed, "trec-run", INSTRUCTED, "bm25.run", side="reversed")

    assert Run.objects.get().side == "reversed"
    assert models.RunLine.objects.filter(pair__isnull=False).count() == 3


def test_a_given_side_makes_ambiguous_ids_name_pairs(project):
    factories.pair(factories.query(project, "301"), pair_id="301")

    load(project, "trec-run", "301 Q0 A 1 2.0 t\n", side="altered")

    assert Run.objects.get().side == "altered"
    assert models.RunLine.objects.filter(pair__pair_id="301").count() == 1


@pytest.mark.parametrize(
    ("lines", "side", "sentence"),
    [
        ("110 Q0 A 1 2.0 t\n", "reversed", "1 of 1 ids are not instruction pairs"),
        ("110_0 Q0 A 1 2.0 t\n", "original", "the lines name instruction pairs"),
    ],
)
def test_a_side_that_does_not_fit_the_ids_is_refused(instructed, lines, side, sentence):
    report = load(instructed, "trec-run", lines, side=side)

    assert sentence in problems(report)[0]
    assert not Run.objects.exists()


def test_the_side_of_an_existing_run_does_not_change(instructed):
    load(instructed, "trec-run", INSTRUCTED, "bm25.run")

    report = load(instructed, "trec-run", INSTRUCTED, "bm25.run", side="reversed")

    assert "already exists with the side altered" in problems(report)[0]
    assert Run.objects.get().side == "altered"


@pytest.mark.parametrize(
    ("kind", "side", "sentence"),
    [("trec-qrels", "reversed", "Only a run has a side"), ("trec-run", "up", "up is not a side")],
)
def test_an_unknown_side_or_a_side_for_another_format_is_refused(project, kind, side, sentence):
    with pytest.raises(Refused, match=sentence):
        load(project, kind, RUN, side=side)


def test_a_dry_run_stores_no_file(project, storage):
    report = load(project, "trec-run", RUN, "bm25.run", dry_run=True)

    assert counts(report) == (4, 4, 0, 0, 0)
    assert Run.objects.count() == 0
    assert stored_files(storage) == []


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "1 Q0 A 2 0.9 my-judge\n1 Q0 B 2 0.7 my-judge\n",
            "the file looks like trec-labels: if its lines are judgments, load it as trec-labels",
        ),
        (
            "1 0 A 2 1 -1\n1 0 B 2 0 -1\n",
            (
                "the ranks and scores of the first lines are not clearly a ranking: if they are "
                "judgments, do not load the file as a run"
            ),
        ),
    ],
)
def test_a_file_that_is_not_clearly_a_ranking_is_reported(project, text, note):
    assert note in load(project, "trec-run", text, dry_run=True).notes
    assert load(project, "trec-run", RUN).notes[:1] == [
        "3 new documents have no text yet: load the texts of those to judge"
    ]
