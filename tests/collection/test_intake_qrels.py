"""Intake of qrels: each line becomes a candidate with its earlier relevance."""

from __future__ import annotations

import pytest

from annotate.models import Assignment, Candidate, Document, Query
from formats.records import Qrel
from tests import factories
from tests.collection.arriving import counts, load, load_records, problems, rows

pytestmark = pytest.mark.both_databases

QRELS = "301 0 A 2\n301 0 B 0\n302 0 A 1\n"


@pytest.fixture
def project(db):
    return factories.project()


def pool(project) -> list[tuple[str, str, int | None]]:
    found = Candidate.objects.filter(query__project=project)
    return sorted(found.values_list("query__query_id", "document__doc_id", "prior_relevance"))


def test_queries_are_created_in_the_order_of_the_file(project):
    load(project, "trec-qrels", "2 0 A 1\n10 0 A 1\n1 0 A 1\n2 0 B 1\n")

    assert list(Query.objects.order_by("pk").values_list("query_id", flat=True)) == ["2", "10", "1"]


def test_each_line_becomes_a_candidate_of_a_query_and_a_document_known_by_id(project):
    report = load(project, "trec-qrels", QRELS)

    assert counts(report) == (3, 3, 0, 0, 0)
    assert rows(report) == {
        "queries": (2, 0, 0),
        "documents": (2, 0, 0),
        "candidates": (3, 0, 0),
        "prior": (3, 0, 0),
    }
    assert pool(project) == [("301", "A", 2), ("301", "B", 0), ("302", "A", 1)]
    assert set(Candidate.objects.values_list("origin", flat=True)) == {"prior"}
    assert list(Query.objects.values_list("title", flat=True)) == ["", ""]
    assert set(Document.objects.values_list("length", flat=True)) == {None}


def test_loading_again_changes_nothing(project):
    load(project, "trec-qrels", QRELS)

    report = load(project, "trec-qrels", QRELS)

    assert counts(report) == (3, 0, 0, 3, 0)
    assert rows(report) == {
        "queries": (0, 0, 2),
        "documents": (0, 0, 2),
        "candidates": (0, 0, 3),
        "prior": (0, 0, 3),
    }
    assert len(pool(project)) == 3


def test_another_relevance_changes_the_candidate(project):
    load(project, "trec-qrels", QRELS)

    report = load(project, "trec-qrels", "301 0 A 1\n301 0 B 0\n301 0 C 1\n")

    assert counts(report) == (3, 1, 1, 1, 0)
    assert rows(report)["candidates"] == (1, 1, 1)
    assert pool(project)[:3] == [("301", "A", 1), ("301", "B", 0), ("301", "C", 1)]


def test_qrels_add_a_relevance_to_a_candidate_without_one(project):
    factories.candidate(factories.query(project, "301"), "A", prior=None)

    report = load(project, "trec-qrels", "301 0 A 1\n")

    assert counts(report) == (1, 0, 1, 0, 0)
    assert pool(project) == [("301", "A", 1)]


@pytest.mark.parametrize(
    ("relevance", "notes"),
    [
        (-2, []),
        (-1, []),
        (
            16,
            [
                (
                    "1 line has a relevance above the project's highest grade, 2: 16 (1). It is "
                    "kept as it is"
                )
            ],
        ),
    ],
)
def test_the_relevance_is_kept_and_noted_if_it_is_above_the_grades(project, relevance, notes):
    factories.query(project, "301")
    factories.document(project, "A")

    report = load(project, "trec-qrels", f"301 0 A {relevance}\n")

    assert pool(project) == [("301", "A", relevance)]
    assert report.notes == notes


def test_the_value_that_means_no_grade_becomes_no_relevance(project):
    report = load(project, "trec-qrels", "301 0 A -1\n301 0 B 1\n", no_grade=-1)

    assert pool(project) == [("301", "A", None), ("301", "B", 1)]
    assert Candidate.objects.get(document__doc_id="A").origin == "listed"
    assert (rows(report)["candidates"], rows(report)["prior"]) == ((2, 0, 0), (1, 0, 0))
    assert report.notes == [
        (
            "1 line has the value -1, which means no grade: its document joins the pool without a "
            "relevance"
        ),
        "2 new documents have no text yet: load the texts of those to judge",
        "1 new query has no title and no narrative yet: load its topic",
    ]


def test_queries_without_a_topic_are_noted_until_their_topics_are_loaded(project):
    report = load(project, "trec-qrels", "301 0 A 1\n302 0 A 1\n")

    missing = "2 new queries have no title and no narrative yet: load their topics"
    assert missing in report.notes
    later = load(project, "trec-qrels", "301 0 B 1\n")
    assert later.notes == ["1 new document has no text yet: load it before people judge it"]


def test_the_no_grade_value_keeps_a_known_relevance(project):
    load(project, "trec-qrels", "301 0 A 1\n")

    report = load(project, "trec-qrels", "301 0 A -1\n", no_grade=-1)

    assert counts(report) == (1, 0, 0, 1, 0)
    assert pool(project) == [("301", "A", 1)]


def test_ids_are_kept_byte_for_byte(project):
    load(project, "trec-qrels", "051 0 a#1 1\n51 0 A#1 1\n51 0 é/文 1\n")

    assert pool(project) == [("051", "a#1", 1), ("51", "A#1", 1), ("51", "é/文", 1)]


def test_a_line_that_repeats_another_counts_as_unchanged(project):
    report = load(project, "trec-qrels", "301 0 A 1\n301 0 A 1\n")

    assert counts(report) == (2, 1, 0, 1, 0)
    assert pool(project) == [("301", "A", 1)]


def test_contradicting_lines_are_refused_even_if_the_reader_misses_them(project):
    report = load_records(
        project, Qrel("301", "A", 1), Qrel("301", "B", 1), Qrel("301", "A", 1), Qrel("301", "A", 2)
    )

    assert counts(report) == (4, 0, 0, 0, 1)
    assert problems(report) == [
        "file.txt:4: document A of query 301 has another relevance on line 1"
    ]
    assert pool(project) == []


def test_another_project_keeps_its_own_queries_and_documents(project):
    other = factories.project("other")
    load(other, "trec-qrels", "301 0 A 0\n")

    report = load(project, "trec-qrels", "301 0 A 1\n")

    assert counts(report) == (1, 1, 0, 0, 0)
    assert pool(other) == [("301", "A", 0)]
    assert pool(project) == [("301", "A", 1)]


def test_qrels_that_grow_a_pool_reopen_judging(project):
    ada = factories.member(project, "ada")
    assignments = {}
    for query_id in ("301", "302"):
        pair = factories.pair(factories.query(project, query_id))
        assignments[query_id] = Assignment.objects.create(
            pair=pair, task="judge", seat=1, member=ada, **_done()
        )
    load(project, "trec-qrels", "301 0 A 1\n302 0 B 1\n")
    Assignment.objects.update(**_done())

    # B was not relevant enough to be judged, so nothing is added for 302.
    load(project, "trec-qrels", "301 0 C 1\n302 0 D 0\n")

    assert {key: _is_done(assignment) for key, assignment in assignments.items()} == {
        "301": False,
        "302": True,
    }


def _done() -> dict[str, str]:
    return dict.fromkeys(("touched_at", "done_at"), "2026-01-01T00:00:00Z")


def _is_done(assignment) -> bool:
    assignment.refresh_from_db()
    return assignment.done_at is not None


NOT_IN_PROJECT = (
    "no query of this file is in the project: the file has 1.3, 1.4, the project has 1, 2; "
    "2 new queries without a title are created: correct the ids if this is not intended"
)


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trec-qrels", "1.3 0 A 1\n1.4 0 A 1\n"),
        ("trec-labels", "1.3 Q0 A 1 1 judge\n1.4 Q0 A 1 1 judge\n"),
        ("judgments-csv", "query_id,doc_id,annotator,relevance\n1.3,A,ada,1\n1.4,A,ada,1\n"),
    ],
)
def test_a_file_that_names_no_query_of_the_project_is_reported(project, name, text, dry_run):
    load(project, "topics-json", '{"id": "1"}\n{"id": "2"}\n')

    assert NOT_IN_PROJECT in load(project, name, text, dry_run=dry_run).notes


def test_three_queries_of_the_file_and_of_the_project_are_named(project):
    load(project, "topics-json", "".join(f'{{"id": "{number}"}}\n' for number in (1, 2, 3, 4)))

    [note] = [
        note
        for note in load(project, "trec-qrels", "5 0 A 1\n6 0 A 1\n7 0 A 1\n8 0 A 1\n").notes
        if note.startswith("no query")
    ]

    assert "the file has 5, 6, 7 …, the project has 1, 2, 3 …;" in note


def test_a_first_file_or_one_that_names_a_known_query_or_has_topics_is_not_reported(project):
    files = [
        ("trec-qrels", "1 0 A 1\n2 0 A 1\n"),
        ("trec-qrels", "2 0 A 1\n3 0 A 1\n"),
        ("topics-json", '{"id": "4", "title": "t"}\n'),
    ]

    notes = [note for name, text in files for note in load(project, name, text).notes]

    assert [note for note in notes if note.startswith("no query")] == []


def test_three_columns_are_noted_as_another_kind_of_qrels(project):
    report = load(project, "smart-qrels", "1 184 2\n")

    assert report.notes[0] == (
        "the three columns are read as query, document and relevance, and a higher number is more "
        "relevant. In Cranfield's file it is the reverse: there 1 is the best"
    )


@pytest.mark.parametrize(
    ("kind", "text", "looks"),
    [
        ("trec-qrels", "1.00E+06 0 d-1 1\n", "1 id looks like a number"),
        ("trec-qrels", "301 0 1.23457E+12 1\n301 0 2E+05 0\n", "2 ids look like a number"),
        ("docs-jsonl", '{"doc_id": "1.00E+06", "text": "Tides."}\n', "1 id looks like a number"),
        ("topics-json", '[{"query_id": "1.00E+06", "title": "Tides"}]', "1 id looks like a number"),
    ],
)
def test_ids_that_a_spreadsheet_has_rounded_are_noted(project, kind, text, looks):
    [note] = [note for note in load(project, kind, text).notes if "spreadsheet" in note]

    assert note.startswith(looks)
    assert "E+" in note


def test_ids_with_the_same_letters_are_not_noted(project):
    report = load(project, "trec-qrels", "301 0 GE+2024 1\n301 0 LA-1E+6-x 1\n301 0 1e6 1\n")

    assert not any("spreadsheet" in note for note in report.notes)
