"""Every file in the folder of real collections is read and has the records it should have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from formats.problems import FormatError
from formats.recognition import recognize
from formats.records import Claim, Doc, JudgmentRecord, PairRecord, Qrel, Topic
from formats.registry import lookup
from formats.tables import parse_table
from measures.runs import Scores


class File(NamedTuple):
    """A file, its format, how many records it has, and of how many topics."""

    path: str
    name: str
    records: int
    topics: int | None = None


FILES = [
    File("trec/topics.adhoc.51-100.txt", "trec-topics", 50),
    File("trec/topics.backgroundlinking20.txt", "trec-topics", 50),
    File("trec/topics.core17.txt", "trec-topics", 50),
    File("trec/topics.covid-round1.xml", "trec-topics-xml", 30),
    File("trec/topics.covid-round5.xml", "trec-topics-xml", 50),
    File("trec/topics.fire12hi.176-225.txt", "trec-topics", 50),
    File("trec/topics.rag25.test.jsonl", "topics-json", 105),
    File("trec/topics.robust04.txt", "trec-topics", 250),
    File("trec/topics.robust05.txt", "trec-topics", 50),
    File("trec/topics.terabyte04.701-750.txt", "trec-topics", 50),
    File("trec/topics.web.1-50.txt", "trec-topics-xml", 50),
    File("trec/qrels.backgroundlinking20.txt", "trec-qrels", 17_764, 49),
    File("trec/qrels.core17.txt", "trec-qrels", 30_030, 50),
    File("trec/qrels.covid-round1.txt", "trec-qrels", 8_691, 30),
    File("trec/qrels.covid-round5.txt", "trec-qrels", 23_151, 50),
    File("trec/qrels.rag25.test-umbrela2.txt", "trec-qrels", 10_284, 22),
    File("trec/qrels.rag25.test.txt", "trec-qrels", 10_284, 22),
    File("trec/qrels.robust05.txt", "trec-qrels", 37_798, 50),
    File("runs/birco_clinical_trial/GPT-4_score_O.run", "trec-run", 1_503, 20),
    File("runs/birco_clinical_trial/Monot5.run", "trec-run", 1_503, 20),
    File("runs/birco_clinical_trial/e5_rank.run", "trec-run", 1_503, 20),
    File("runs/codec/document_ance-maxp+t5-maxp.top100.run", "trec-run", 4_200, 42),
    File("runs/codec/document_binary.qrels", "trec-qrels", 6_186, 42),
    File("runs/codec/document_bm25+rm3-tuned.top100.run", "trec-run", 4_200, 42),
    File("runs/codec/document_bm25-tuned+t5-maxp.top100.run", "trec-run", 4_200, 42),
    File("runs/codec/document_bm25-tuned.top100.run", "trec-run", 4_200, 42),
    File("runs/codec/document_ndcg.qrels", "trec-qrels", 6_186, 42),
    File("runs/codec/raw_document_judgments.txt", "trec-qrels", 6_186, 42),
    File("runs/codec/topics.json", "topics-json", 42),
    File("runs/csfcube_bm25/ins.run", "trec-run", 1_520, 12),
    File("runs/csfcube_bm25/ori.run", "trec-run", 1_520, 12),
    File("runs/csfcube_bm25/rev.run", "trec-run", 1_520, 12),
    File("runs/followtable_bm25/IndusTR.base.run", "trec-run", 1_200, 12),
    File("runs/followtable_bm25/IndusTR.instr.run", "trec-run", 4_500, 45),
    File("runs/followtable_bm25/TArX.base.run", "trec-run", 400, 4),
    File("runs/followtable_bm25/TArX.instr.run", "trec-run", 1_200, 12),
    File("runs/followtable_bm25/WTR.base.run", "trec-run", 1_200, 12),
    File("runs/followtable_bm25/WTR.instr.run", "trec-run", 4_700, 47),
    File("runs/trec_covid_round1/irc_entrez.top100.run", "trec-run", 3_000, 30),
    File("runs/trec_covid_round1/irc_pmc.top100.run", "trec-run", 3_000, 30),
    File("runs/trec_covid_round1/irc_pubmed.top100.run", "trec-run", 3_000, 30),
    File("runs/trec_eval/qrels-302.test", "trec-qrels", 1_061, 1),
    File("runs/trec_eval/qrels.test", "trec-qrels", 3_681, 3),
    File("runs/trec_eval/qrels.test.with-comments", "trec-qrels", 3_681, 3),
    File("runs/trec_eval/results-302.test", "trec-run", 500, 1),
    File("runs/trec_eval/results.test", "trec-run", 1_500, 3),
    File("runs/trec_eval/results.trunc", "trec-run", 584, 2),
    File("infosearch/Language-v1_ch_retrieval_results.json", "infosearch-results", 3, 1),
    File("multi_infosearch/final_sorted.jsonl", "multi-infosearch", 44),
    File("multi_infosearch/query-doc.json", "multi-infosearch-docs", 23),
    File("multiconir/Sample_Task1.csv", "multiconir", 429),
    File("multiconir/Sample_Task2_&_3.csv", "multiconir", 789),
    File("text/cranfield/cran.all.1400", "smart-docs", 1_400),
    File("text/cranfield/cran.qry", "smart-queries", 225),
    File("text/cranfield/cranqrel", "smart-qrels", 1_837, 225),
]

REFUSED = {
    "runs/codec/document_bm25+rm3-tuned.economics-3.full-with-duplicate.run": (
        "trec-run",
        (
            "document 37628a7f0c952520fc6a8fc4ed7093f1 occurs twice in topic economics-3: "
            "first on line 280, again on line 281"
        ),
    ),
}

# Files that are not loaded: output of an evaluator, descriptions of the data.
NO_COLLECTION = {
    "runs/trec_eval/out.test",
    "runs/trec_eval/out.test.a",
    "runs/trec_eval/out.test.aq",
    "runs/trec_eval/out.test.aqc",
    "runs/trec_eval/out.test.aqcM",
    "runs/trec_eval/out.test.meas_params",
    "text/cranfield/cranqrel.readme",
    "followtable/stats.json",
    "multiconir/conditions.json",
}

FOLLOWTABLE = ["IndusTR", "TArX", "WTR"]


def read(folder: Path, path: str, name: str) -> list[Any]:
    entry = lookup(name)
    with entry.open(folder / path) as open_content:
        return list(entry.read(open_content))


def of_kind(kind: type, records: list[Any]) -> Iterator[Any]:
    return (record for record in records if isinstance(record, kind))


def test_every_file_has_an_expectation(shared_data):
    rooms = ["trec", "runs", "followtable", "text/cranfield", "infosearch", "multiconir"]
    rooms.append("multi_infosearch")
    there = {
        path.relative_to(shared_data).as_posix()
        for room in rooms
        for path in (shared_data / room).rglob("*")
        if path.is_file()
    }
    folders = (
        *(f"followtable/{name}/" for name in FOLLOWTABLE),
        *(f"infosearch/{name}" for name in ("queries", "corpus", "qrels")),
    )

    assert {path for path in there if not path.startswith(folders)} == {
        *(file.path for file in FILES),
        *REFUSED,
        *NO_COLLECTION,
    }


def test_every_file_shows_its_format(shared_data):
    recognized = {}
    for file in FILES:
        with (shared_data / file.path).open("rb") as stream:
            found = recognize(stream)
        recognized[file.path] = found.name if found else None

    assert recognized == {file.path: file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_a_file_has_the_records_of_its_description(shared_data, file):
    records = read(shared_data, file.path, file.name)

    assert len(records) == file.records
    if file.topics is not None:
        assert len({record.query_id for record in records}) == file.topics


@pytest.mark.parametrize("path", REFUSED)
def test_a_run_with_a_duplicate_is_refused_with_both_lines(shared_data, path):
    name, sentence = REFUSED[path]

    with pytest.raises(FormatError) as caught:
        read(shared_data, path, name)

    assert (caught.value.line, caught.value.message) == (281, sentence)


@pytest.mark.parametrize("path", sorted(path for path in NO_COLLECTION if "out.test" in path))
def test_the_output_of_an_evaluator_is_refused(shared_data, path):
    for name in ("trec-qrels", "trec-run", "trec-topics"):
        with pytest.raises(FormatError):
            read(shared_data, path, name)


@pytest.mark.parametrize(
    ("path", "grades"),
    [
        ("trec/qrels.core17.txt", {0: 21_028, 1: 5_549, 2: 3_453}),
        ("trec/qrels.covid-round5.txt", {0: 12_239, 1: 4_233, 2: 6_677, -1: 2}),
        ("trec/qrels.backgroundlinking20.txt", {0: 15_348, 2: 1_603, 4: 631, 8: 132, 16: 50}),
    ],
)
def test_grades_are_kept_unchanged(shared_data, path, grades):
    qrels = read(shared_data, path, "trec-qrels")

    assert Counter(qrel.relevance for qrel in qrels) == grades


def test_people_and_the_model_judged_the_same_pairs(shared_data):
    people, model = (
        {(qrel.query_id, qrel.doc_id) for qrel in read(shared_data, path, "trec-qrels")}
        for path in ("trec/qrels.rag25.test.txt", "trec/qrels.rag25.test-umbrela2.txt")
    )

    assert people == model


@pytest.mark.parametrize(
    ("path", "name", "titles", "descriptions", "narratives"),
    [
        ("topics.core17.txt", "trec-topics", 50, 50, 50),
        ("topics.robust04.txt", "trec-topics", 250, 250, 250),
        ("topics.adhoc.51-100.txt", "trec-topics", 50, 50, 50),
        ("topics.fire12hi.176-225.txt", "trec-topics", 50, 50, 50),
        ("topics.backgroundlinking20.txt", "trec-topics", 0, 0, 0),
        ("topics.covid-round5.xml", "trec-topics-xml", 50, 50, 50),
        ("topics.web.1-50.txt", "trec-topics-xml", 50, 50, 0),
        ("topics.rag25.test.jsonl", "topics-json", 105, 0, 0),
    ],
)
def test_topics_have_the_texts_of_their_tracks(
    shared_data, path, name, titles, descriptions, narratives
):
    topics = read(shared_data, f"trec/{path}", name)

    assert [sum(map(bool, column)) for column in list(zip(*topics, strict=True))[1:]] == [
        titles,
        descriptions,
        narratives,
    ]
    assert all(topic.narrative is None for topic in topics) == (narratives == 0)


def test_no_label_is_left_in_a_topic(shared_data):
    for file in FILES:
        if file.name == "trec-topics":
            for topic in read(shared_data, file.path, file.name):
                for text in topic:
                    assert not (text or "").startswith(
                        ("Number:", "Topic:", "Description:", "Narrative", "<")
                    )


def test_numbers_of_the_adhoc_topics_keep_their_zero(shared_data):
    topics = read(shared_data, "trec/topics.adhoc.51-100.txt", "trec-topics")

    assert [topics[0].query_id, topics[-1].query_id] == ["051", "100"]


def test_codes_of_cranfield_are_kept(shared_data):
    qrels = read(shared_data, "text/cranfield/cranqrel", "smart-qrels")
    queries = read(shared_data, "text/cranfield/cran.qry", "smart-queries")
    docs = read(shared_data, "text/cranfield/cran.all.1400", "smart-docs")

    assert Counter(qrel.relevance for qrel in qrels)[-1] == 225
    assert {qrel.query_id for qrel in qrels} == {query.query_id for query in queries}
    assert [doc.doc_id for doc in docs if not doc.text] == ["471", "995"]


class FollowTable(NamedTuple):
    """The numbers of one data set as its description gives them."""

    name: str
    queries: int
    categories: dict[str, int]
    tables: int
    markup: str
    claimed: int
    positive: int
    beir_lines: int


SETS = [
    FollowTable(
        "IndusTR",
        12,
        {"C1": 10, "C2": 10, "S1": 11, "S2": 3, "S3": 11},
        518,
        "html",
        651,
        392,
        1_045,
    ),
    FollowTable(
        "TArX", 5, {"C1": 1, "C2": 3, "S1": 3, "S2": 2, "S3": 3}, 173, "html", 242, 112, 350
    ),
    FollowTable(
        "WTR", 12, {"C1": 8, "C2": 8, "S1": 12, "S2": 9, "S3": 10}, 894, "markdown", 835, 435, 1_271
    ),
]


@pytest.mark.parametrize("expected", SETS, ids=lambda expected: expected.name)
def test_followtable_has_queries_tables_instructions_and_claims(shared_data, expected):
    records = read(shared_data, f"followtable/{expected.name}", "followtable")

    docs = list(of_kind(Doc, records))
    pairs = list(of_kind(PairRecord, records))
    assert len(list(of_kind(Topic, records))) == expected.queries
    assert Counter(pair.category for pair in pairs) == expected.categories
    assert len(docs) == expected.tables
    assert {doc.markup for doc in docs} == {expected.markup}
    assert sum(qrel.relevance for qrel in of_kind(Qrel, records)) == expected.positive
    assert sum(claim.relevance for claim in of_kind(Claim, records)) == expected.claimed


@pytest.mark.parametrize("expected", SETS, ids=lambda expected: expected.name)
def test_followtable_has_the_ids_of_its_beir_files(shared_data, expected):
    records = read(shared_data, f"followtable/{expected.name}", "followtable")
    beir = read(shared_data, f"followtable/{expected.name}/beir", "beir")

    pairs = {pair.pair_id: pair for pair in of_kind(PairRecord, records)}
    topics = {topic.query_id: topic for topic in of_kind(Topic, beir)}
    assert pairs.keys() == {query_id for query_id in topics if "_" in query_id}
    for pair_id, pair in pairs.items():
        assert pair.narratives[0].text == topics[pair_id].narrative
        assert pair.title == topics[pair_id].title
    qrels = [(qrel.query_id, qrel.doc_id) for qrel in of_kind(Qrel, beir)]
    claimed = {
        (claim.pair_id, claim.doc_id) for claim in of_kind(Claim, records) if claim.relevance
    }
    positive = {(qrel.query_id, qrel.doc_id) for qrel in of_kind(Qrel, records) if qrel.relevance}
    assert len(qrels) == expected.beir_lines
    # Queries without instructions are not in the BEIR files.
    assert claimed | {pair for pair in positive if pair[0] in topics} == set(qrels)


@pytest.mark.parametrize("name", ["IndusTR", "TArX"])
def test_tables_are_the_documents_of_the_beir_corpus(shared_data, name):
    records = read(shared_data, f"followtable/{name}", "followtable")
    beir = read(shared_data, f"followtable/{name}/beir", "beir")

    corpus = {doc.doc_id: (doc.markup, doc.text.strip()) for doc in of_kind(Doc, beir)}
    tables = {doc.doc_id: (doc.markup, doc.text.strip()) for doc in of_kind(Doc, records)}
    assert tables == corpus


@pytest.mark.parametrize("name", FOLLOWTABLE)
def test_every_table_is_rebuilt_without_gaps(shared_data, name):
    for doc in of_kind(Doc, read(shared_data, f"followtable/{name}", "followtable")):
        table = parse_table(doc.text, doc.markup)

        places = sum(cell.rowspan * cell.colspan for row in table.rows for cell in row)
        assert places == table.width * len(table.rows), doc.doc_id
        assert table.caption == doc.title, doc.doc_id
        assert table.notes == (), doc.doc_id


@pytest.mark.parametrize(
    ("path", "width"),
    [
        ("WTR/tables/4956.txt", 1_331),
        ("WTR/tables/1840.txt", 1_240),
        ("IndusTR/tables/1312.txt", 34),
    ],
)
def test_the_widest_tables_have_their_columns(shared_data, path, width):
    text = (shared_data / "followtable" / path).read_text(encoding="utf-8")

    assert parse_table(text, "markdown" if path.startswith("WTR") else "html").width == width


def test_labels_of_csfcube_are_read_with_their_minus_ones(shared_data):
    judgments = read(shared_data, "text/csfcube/converted/annotator_labels.csv", "judgments-csv")

    assert len(judgments) == 3_040
    assert sum(judgment.relevance == -1 for judgment in judgments) == 5
    assert {judgment.annotator for judgment in judgments} == {
        "annotator1",
        "annotator2",
        "annotator3",
        "annotator4",
    }


@pytest.mark.parametrize(
    ("path", "queries", "docs"),
    [("text/csfcube/converted", 12, 737), ("text/birco_clinical_trial", 20, 1_481)],
)
def test_folders_in_the_shape_of_beir_are_read(shared_data, path, queries, docs):
    records = read(shared_data, path, "beir")

    assert Counter(type(record) for record in records) == {Topic: queries, Doc: docs}


def test_multiconir_has_the_conditions_that_its_description_lists(shared_data):
    described = json.loads((shared_data / "multiconir/conditions.json").read_text("utf-8"))
    pairs = {
        pair.pair_id: pair
        for pair in of_kind(
            PairRecord, read(shared_data, "multiconir/Sample_Task1.csv", "multiconir")
        )
    }

    for row, entry in enumerate(described):
        texts = [condition["condition"] for condition in entry["conditions"]]
        conditions = pairs[f"{row}_10"].narratives[0].conditions
        assert [condition.text for condition in conditions] == texts


@pytest.mark.parametrize(
    ("file", "met"),
    [
        ("Sample_Task1.csv", [10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]),
        ("Sample_Task2_&_3.csv", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ],
)
def test_hard_negatives_of_multiconir_meet_the_number_of_conditions_of_their_task(
    shared_data, file, met
):
    claims = read(shared_data, f"multiconir/{file}", "multiconir")

    of_ten = [one for one in of_kind(JudgmentRecord, claims) if one.pair_id == "1_10"]
    assert [one.relevance for one in of_ten] == met


def test_infosearch_has_the_qrels_of_the_three_narratives(shared_data):
    records = read(shared_data, "infosearch", "infosearch")

    counts = Counter((one.side, one.relevance) for one in of_kind(JudgmentRecord, records))
    assert Counter(one.relevance for one in of_kind(Qrel, records)) == {1: 13}
    assert counts == {
        ("altered", 1): 5,
        ("altered", 0): 8,
        ("reversed", 1): 8,
        ("reversed", 0): 5,
    }


@pytest.mark.parametrize("query_id", ["301", "302", "303"])
def test_the_order_by_score_equals_the_ranks_of_nist(shared_data, query_id):
    lines = read(shared_data, "runs/trec_eval/results.test", "trec-run")

    of_query = {line.doc_id: line for line in lines if line.query_id == query_id}
    scores = {doc_id: line.score for doc_id, line in of_query.items()}
    ordered = Scores({query_id: scores}).top(query_id, 500)

    assert [of_query[doc_id].rank for doc_id in ordered] == list(range(1, 501))
    assert len(set(scores.values())) < 500  # some are tied
