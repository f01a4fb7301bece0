"""Intake of topics: queries, and original narratives of pairs with the query's id."""

from __future__ import annotations

import pytest

from annotate.models import InstructionPair, Narrative, Query
from tests import factories
from tests.collection.arriving import counts, folder, jsonl, load, problems, rows

pytestmark = pytest.mark.both_databases

TOPICS = """
<top>
<num> Number: 301
<title> tidal power
<desc> Description:
Which plants are at work?
<narr> Narrative:
Plants at sea count.
</top>
<top>
<num> Number: 302
<title> wave power
<narr> Narrative:
Any plant counts.
</top>
"""


@pytest.fixture
def project(db):
    return factories.project()


def originals(pair_id: str) -> list[tuple[int, str]]:
    found = Narrative.objects.filter(pair__pair_id=pair_id, side="original").order_by("version")
    return list(found.values_list("version", "text"))


def test_a_topic_becomes_a_query_and_a_pair_with_its_original_narrative(project):
    report = load(project, "trec-topics", TOPICS)

    assert counts(report) == (2, 2, 0, 0, 0)
    assert rows(report) == {"queries": (2, 0, 0), "pairs": (2, 0, 0), "narratives": (2, 0, 0)}
    query = Query.objects.get(query_id="301")
    assert (query.title, query.description) == ("tidal power", "Which plants are at work?")
    pair = InstructionPair.objects.get(query=query)
    assert (pair.pair_id, pair.origin, pair.category) == ("301", "human", "")
    assert originals("301") == [(1, "Plants at sea count.")]


def test_loading_again_changes_nothing(project):
    load(project, "trec-topics", TOPICS)

    report = load(project, "trec-topics", TOPICS)

    assert counts(report) == (2, 0, 0, 2, 0)
    assert rows(report) == {"queries": (0, 0, 2), "pairs": (0, 0, 2), "narratives": (0, 0, 2)}


def test_another_narrative_becomes_a_new_version_and_overwrites_nothing(project):
    load(project, "trec-topics", TOPICS)

    report = load(project, "trec-topics", TOPICS.replace("Plants at sea", "Plants in rivers"))

    assert counts(report) == (2, 0, 1, 1, 0)
    assert rows(report)["narratives"] == (0, 1, 1)
    assert originals("301") == [(1, "Plants at sea count."), (2, "Plants in rivers count.")]


def test_another_title_changes_the_query(project):
    load(project, "trec-topics", TOPICS)

    report = load(project, "trec-topics", TOPICS.replace("wave power", "power of waves"))

    assert counts(report) == (2, 0, 1, 1, 0)
    assert rows(report)["queries"] == (0, 1, 1)
    assert Query.objects.get(query_id="302").title == "power of waves"


def test_queries_known_from_qrels_get_their_titles(project):
    load(project, "trec-qrels", "301 0 A 1\n")

    report = load(project, "trec-topics", TOPICS)

    assert counts(report) == (2, 2, 0, 0, 0)
    assert rows(report)["queries"] == (1, 1, 0)
    assert Query.objects.get(query_id="301").title == "tidal power"


def test_a_topic_without_narrative_has_an_empty_one_and_the_report_says_so(project):
    report = load(project, "trec-topics", "<top>\n<num> Number: 886\n<title> x\n</top>\n")

    assert originals("886") == [(1, "")]
    assert report.notes == ["1 topic has no narrative: its original one is empty"]


def test_a_file_without_narratives_keeps_the_known_narratives(project):
    load(project, "trec-topics", TOPICS)

    report = load(project, "topics-json", jsonl({"id": "301", "title": "tidal power"}))

    assert counts(report) == (1, 0, 0, 1, 0)
    assert originals("301") == [(1, "Plants at sea count.")]


def test_topics_without_narrative_leave_queries_that_have_instructions_alone(project):
    factories.pair(factories.query(project, "110"), pair_id="110_0")

    report = load(project, "topics-json", jsonl({"id": "110", "title": "tidal power"}))

    assert rows(report) == {"queries": (0, 0, 1)}
    assert InstructionPair.objects.count() == 1


def test_a_topic_with_the_id_of_another_querys_pair_is_refused(project):
    factories.pair(factories.query(project, "110"), pair_id="301")

    report = load(project, "trec-topics", TOPICS)

    assert problems(report) == [
        "file.txt:2: instruction pair 301 belongs to query 110 in this project, not to 301"
    ]
    assert Query.objects.count() == 1


def test_a_beir_folder_brings_queries_documents_and_qrels_together(project):
    content = folder(
        queries_jsonl=jsonl({"_id": "q1", "text": "tides"}, {"_id": "q2", "text": "waves"}),
        corpus_jsonl=jsonl(
            {"_id": "d1", "title": "T", "text": "Of tides."}, {"_id": "d2", "text": "Of waves."}
        ),
        qrels__test_tsv="query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td3\t1\r\n",
    )

    first, second = (load(project, "beir", content, "tides.zip") for _ in range(2))

    assert counts(first) == (6, 6, 0, 0, 0)
    assert rows(first) == {
        "queries": (2, 0, 0),
        "documents": (3, 0, 0),
        "candidates": (2, 0, 0),
        "prior": (2, 0, 0),
        "pairs": (2, 0, 0),
        "narratives": (2, 0, 0),
    }
    assert counts(second) == (6, 0, 0, 6, 0)
    assert rows(second)["documents"] == (0, 0, 3)


def test_a_bad_line_in_a_folder_is_named_with_its_file(project):
    content = folder(
        queries_jsonl=jsonl({"_id": "q1", "text": "tides"}),
        qrels__test_tsv="query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\n",
    )

    report = load(project, "beir", content, "tides.zip")

    assert counts(report) == (3, 0, 0, 0, 1)
    assert problems(report) == [
        (
            "tides.zip/qrels/test.tsv:3: a line has 3 columns separated by tabs "
            "(query-id corpus-id score), this has 2"
        )
    ]
    assert Query.objects.count() == 0


def test_topics_without_a_word_are_named(project):
    report = load(project, "topics-json", '{"id": "1"}\n{"id": "2", "title": "t"}\n{"id": "3"}\n')

    assert report.notes[0] == "2 topics have no title, description or narrative: 1, 3"


LONG_TITLE = "I want to know " + "which harbours lie at the sea and how large each of them is."


@pytest.mark.parametrize(
    ("kind", "narrative", "note"),
    [
        ("own", "", "if the title is the narrative, give it as “narrative” in the file"),
        ("followir", LONG_TITLE, "the title is also loaded as the narrative"),
    ],
)
def test_a_title_that_may_be_the_narrative_is_reported_and_used_by_followir(
    db, kind, narrative, note
):
    project = factories.project(kind=kind)

    report = load(project, "topics-json", jsonl({"id": "464", "title": LONG_TITLE}))

    assert report.notes[0] == (f"1 topic has no narrative, and a title of 15 words or more: {note}")
    assert originals("464") == [(1, narrative)]
    assert project.queries.get().title == LONG_TITLE
