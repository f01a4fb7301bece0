"""Files loaded under another format's name: the error names the format to use."""

from __future__ import annotations

import pytest

from formats.reading import guess_format
from formats.registry import FORMATS
from formats.source import HEAD, Source
from tests.formats.files import read, read_collecting, refusal

EXAMPLES = {
    "trec-topics": "<top>\n<num> Number: 1\n<title> t\n</top>\n",
    "trec-topics-xml": '<topics>\n<topic number="1">\n<query>q</query>\n</topic>\n</topics>\n',
    "topics-json": '{"id": "1", "title": "t"}\n',
    "trec-qrels": "1 0 a 1\n1 0 b 0\n",
    "trec-run": "1 Q0 a 1 2.5 tag\n1 Q0 b 2 1.5 tag\n",
    "trec-docs": "<DOC>\n<DOCNO> a </DOCNO>\n<TEXT>t</TEXT>\n</DOC>\n",
    "docs-jsonl": '{"doc_id": "a", "title": "", "text": "t"}\n',
    "pairs-jsonl": '{"pair_id": "1", "query_id": "1", "narratives": []}\n',
    "judgments-csv": "query_id,doc_id,annotator,relevance\n1,a,ada,1\n",
    "judgments-jsonl": '{"query_id": "1", "doc_id": "a", "annotator": "ada", "relevance": 1}\n',
    "trec-labels": "1 Q0 a 3 1 judge\n1 Q0 b 0 1 judge\n1 Q0 c 3 0.5 judge\n",
    "umbrela-json": '{"query": {"qid": "1"}, "candidates": [{"docid": "a", "judgment": 1}]}\n',
    "lara-csv": "topic_id,doc_id,annotation,prob_0,prob_1\n1,a,1,0.2,0.8\n",
    "collection-jsonl": '{"type": "candidate", "query_id": "1", "doc_id": "a"}\n',
    "multiconir": "Query1,Positive,HN1\nBooks: 1. Bees.,bees,ants\n",
    "multi-infosearch": (
        '{"query_id": "1", "combo_id": 1, "query": "q", "document": "d", "relevance": 1, '
        '"attributes": {"a": "b"}, "instructed_query": "i", "positive_doc": "p", '
        '"hard_negative_doc": "n", "violated_attributes": ["a"]}\n'
    ),
    "smart-docs": ".I 1\n.T\nt\n.A\n.B\n.W\nw\n",
    "smart-queries": ".I 1\n.W\nw\n",
    "smart-qrels": "1 184 2\n1 29 4\n",
}

# Formats that look the same: topics and documents are both JSON objects with an id.
ALSO_READ_AS = {
    "topics-json": {"docs-jsonl"},
    "docs-jsonl": {"topics-json"},
    "pairs-jsonl": {"topics-json"},
    "multi-infosearch": {"topics-json", "pairs-jsonl"},
    "judgments-jsonl": {"docs-jsonl", "pairs-jsonl", "topics-json"},
    "trec-labels": {"trec-run"},
    "collection-jsonl": {"docs-jsonl", "topics-json"},
    "smart-docs": {"smart-queries"},
    "smart-queries": {"smart-docs"},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_format_is_recognised(name):
    assert guess_format(EXAMPLES[name]) == name
    assert read(name, EXAMPLES[name])


def test_a_file_under_the_wrong_name_is_refused_with_the_right_one():
    messages = {
        (given, right): refusal(given, EXAMPLES[right]).message
        for right in EXAMPLES
        for given in EXAMPLES
        if given != right and given not in ALSO_READ_AS.get(right, ())
    }

    assert {
        (given, right): message
        for (given, right), message in messages.items()
        if not message.endswith(f"; the file looks like {right}: load it as {right}")
    } == {}
    assert len(messages) >= 200


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1 Q0 a 1 0.9 bm25\n1 Q0 b 2 0.7 bm25\n", "trec-run"),
        ("1 Q0 a 7 2.5 bm25\n1 Q0 b 3 9.5 bm25\n", "trec-run"),
        # Ranks that repeat or miss the first places beside numbers from 0 to 1.
        ("1 Q0 a 3 1 my-judge\n", "trec-labels"),
        ("1 Q0 a 2 0.9 my-judge\n1 Q0 b 2 0.7 my-judge\n", "trec-labels"),
        ("1 Q0 a -2 1 my-judge\n1 Q0 b -1 1 my-judge\n", "trec-labels"),
        # Equal small scores, one line for each query, and ranks that do not follow the scores.
        ("1 Q0 a 1 1 x\n1 Q0 b 2 1 x\n", None),
        ("1 Q0 a 1 3 x\n1 Q0 b 2 3 x\n", None),
        ("1 Q0 a 1 0.9 x\n2 Q0 a 1 0.7 x\n", None),
        ("1 Q0 a 1 2.5 x\n1 Q0 b 2 9.5 x\n", None),
        # Qrels with several judgments on a line.
        ("101 0 a 2 1 -1\n101 0 b -2 0 1\n", None),
        ("101 0 a 2 7 -1\n101 0 b 3 5 -2\n", None),
    ],
)
def test_six_columns_are_a_run_only_if_they_are_a_ranking(text, name):
    assert guess_format(text) == name


@pytest.mark.parametrize(
    "line",
    [
        '{"docid": "msmarco_v2.1_doc_00_0#0_0", "title": "T", "segment": "s", "start_char": 0}',
        '{"docid": "msmarco_v2.1_doc_00_0", "title": "T", "body": "b"}',
    ],
)
def test_documents_of_ms_marco_are_recognised_and_read(line):
    assert guess_format(line + "\n") == "docs-jsonl"
    (doc,) = read("docs-jsonl", line)
    assert (doc.doc_id[:20], doc.text) in {
        ("msmarco_v2.1_doc_00_", "s"),
        ("msmarco_v2.1_doc_00_", "b"),
    }


@pytest.mark.parametrize("keys", ['"topic_id": "1", "topics": []', '"tid": "1", "label": "t"'])
def test_topics_of_recent_tracks_are_recognised(keys):
    assert guess_format(f"{{{keys}}}\n") == "topics-json"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('[\n {"query": "q", "query_positive": []}\n]', "followtable"),
        ('{"_id": "0", "text": "q", "instruction_changed": "i"}\n', "infosearch"),
        ("query-id\tcorpus-id\tscore\r\n1\ta\t1\r\n", "beir"),
    ],
)
def test_a_file_of_a_folder_format_names_the_folder(text, right):
    error = refusal("trec-qrels", text)

    assert error.message.endswith(
        f"; the file looks like a part of {right}: load its folder as {right}"
    )


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        (EXAMPLES["trec-run"], "trec-run"),
        (EXAMPLES["trec-qrels"], None),
        # A part of a folder, and a bad line.
        ("query-id\tcorpus-id\tscore\n1\ta\t1\n", None),
        ("1 0 a\n", None),
    ],
)
def test_a_source_names_the_likely_format_of_the_file_alone(text, likely):
    source = Source(text.encode(), "file", collect=True)

    list(FORMATS["trec-qrels"].read(source))

    assert source.likely_format == likely


def test_a_wrong_format_is_one_problem_when_collecting():
    text = "1 Q0 a 1 2.5 tag\n" + "".join(f"1 Q0 d{n} 2 1.5 tag\n" for n in range(5_000))

    records, problems = read_collecting("trec-qrels", text)

    assert records == []
    assert len(problems) == 1
    assert problems[0] == (
        "file, line 1: a qrels line has 4 columns (query_id iteration doc_id relevance), "
        "this has 6 columns; the file looks like trec-run: load it as trec-run: "
        "1 Q0 a 1 2.5 tag"
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("docs-jsonl", '{"_id": "a b", "text": "t"}'),
        ("docs-jsonl", '{"id": "a b", "contents": "t"}'),
        ("topics-json", '{"_id": "a b", "text": "t"}'),
        ("judgments-jsonl", '{"query_id": "1", "doc_id": "a", "relevance": 1}'),
        ("pairs-jsonl", '{"query_id": "1 2", "altered": "t"}'),
        ("trec-qrels", "301 0 FBIS3-1"),
        ("trec-run", "301 Q0 FBIS3-1 1 high tag"),
    ],
)
def test_a_bad_first_line_is_not_mistaken_for_another_format(name, line):
    error = refusal(name, line + "\n")

    assert error.line == 1
    assert "looks like" not in error.message


def test_a_bad_line_in_the_right_format_is_not_mistaken_for_another_format():
    error = refusal("trec-qrels", "1 0 a 1\n1 Q0 b 1 2.5 tag\n")

    assert error.line == 2


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].kind == "file"])
def test_prose_is_refused_by_every_format(name):
    text = "It was a bright cold day in April, and the clocks were striking thirteen today.\n"

    assert str(refusal(name, text)).startswith("file")


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].kind == "file"])
def test_an_empty_file_is_refused_by_every_format(name):
    assert str(refusal(name, "")) == "file: the file is empty"


# Files that look like another format, which refuses them or does not keep all their fields.
@pytest.mark.parametrize(
    ("name", "text"),
    [
        # As trec-run: a document id with a space, a word as a score, a document twice.
        ("trec-qrels", "301 Q0 FBIS3 1 2 0.5 tag\n"),
        ("trec-qrels", "301 Q0 a 1 2 tag\n301 Q0 b 2 high tag\n"),
        ("trec-qrels", "301 Q0 a 1 2 tag\n301 Q0 a 2 1 tag\n"),
        ("trec-qrels", "301 Q0 a 1 2 tag and more\n"),
        # As topics-json: objects without ids, other values, fields that are not kept.
        ("trec-topics", '[{"name": "a"}, {"name": "b"}]\n'),
        ("trec-topics", "[1, 2, 3]\n"),
        ("trec-topics", '[{"id": "1", "title": "t", "colour": "red"}]\n'),
        ("trec-topics", '{"id": "1", "title": "t", "colour": "red"}\n'),
        # As docs-jsonl.
        ("trec-docs", '{"doc_id": "a", "text": "t", "url": "u"}\n'),
        # As trec-qrels.
        ("trec-run", "301 0 a 1\n301 0 b high\n"),
        # As judgments-csv: a column that is not known.
        ("trec-qrels", "query_id,doc_id,annotator,relevance,colour\n1,a,ada,1,red\n"),
    ],
)
def test_a_format_that_would_refuse_the_file_or_drop_fields_is_not_named(name, text):
    assert "looks like" not in refusal(name, text).message


LONG = "A word of it. " * 40


@pytest.mark.parametrize(
    ("name", "text", "right"),
    [
        (
            "trec-topics",
            "[" + ",\n".join(f'{{"id": "{n}", "title": "{LONG}"}}' for n in range(20)) + "]",
            "topics-json",
        ),
        (
            "trec-topics",
            "{" + ",\n".join(f'"e-{n}": {{"Query": "{LONG}"}}' for n in range(20)) + "}",
            "topics-json",
        ),
        ("trec-docs", '{"doc_id": "a", "text": "t"}\n' * 400, None),
        ("trec-qrels", "".join(f"1 Q0 d{n} {n} {-n} tag\n" for n in range(999)), "trec-run"),
        (
            "trec-topics",
            "".join(f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TEXT>{LONG}</TEXT>\n</DOC>\n" for n in range(20)),
            "trec-docs",
        ),
    ],
    ids=["list", "object by id", "a document twice", "run", "SGML"],
)
def test_a_file_longer_than_the_inspected_head_is_recognised(name, text, right):
    message = refusal(name, text).message

    assert len(text) > HEAD
    if right is None:
        assert "looks like" not in message
    else:
        assert message.endswith(f"; the file looks like {right}: load it as {right}")
