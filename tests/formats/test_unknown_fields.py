"""A field that a format does not know is refused or reported, never dropped silently."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from formats.problems import LeftOutFields
from formats.registry import FORMATS
from tests.formats.files import open_content, read_collecting, refusal


class Example(NamedTuple):
    """A file with a field that its format does not know, its line, and the sentence about it."""

    content: str | dict[str, str]
    line: int | None
    sentence: str


JUDGMENT = '"query_id": "1", "doc_id": "a", "annotator": "ada", "relevance": 1'
FILTERED = '"query_id": "1", "machine": "gpt", "decision": "keep"'
ONE = "the field {} of 1 record (line 1) is not kept"
TWO = "the field {} of 2 records is not kept"

EXAMPLES = {
    "trec-topics": Example(
        "<top>\n<num> 1\n<title> t\n<dom> trade\n</top>\n", None, ONE.format("“<dom>”")
    ),
    "trec-topics-xml": Example(
        '<topics><topic number="1" type="faceted"><query>q</query><subtopic>s</subtopic></topic>'
        "</topics>\n",
        None,
        "the fields “type” and “<subtopic>” of 1 record (line 1) are not kept",
    ),
    "topics-json": Example(
        '{"id": "1", "title": "t", "colour": "red"}\n{"id": "2", "title": "t", "colour": "red"}\n',
        None,
        TWO.format("“colour”"),
    ),
    "trec-qrels": Example("1 0 a 1\n1 0 b 1 red\n", 2, "this has 5 columns"),
    "trec-run": Example("1 Q0 a 1 2 tag red\n", None, ONE.format("“column 7 and after”")),
    "trec-docs": Example(
        "<DOC>\n<DOCNO>a</DOCNO>\n<DATE> May </DATE>\n<TEXT>t</TEXT>\n</DOC>\n",
        None,
        ONE.format("“<DATE>”"),
    ),
    "docs-jsonl": Example(
        '{"doc_id": "a", "text": "t", "url": "u"}\n{"doc_id": "b", "text": "t", "url": "u"}\n',
        None,
        TWO.format("“url”"),
    ),
    "beir": Example(
        {"queries.jsonl": '{"_id": "1", "text": "t", "metadata": {"colour": "red"}}\n'},
        None,
        "the field “metadata.colour” of 1 record of queries.jsonl (line 1) is not kept",
    ),
    **{
        name: Example(
            {
                "queries.jsonl": (
                    '{"_id": "1-og", "text": "t"}\n{"_id": "1-changed", "text": "t"}\n'
                ),
                "instructions.jsonl": (
                    '{"query-id": "1-og", "instruction": "a"}\n'
                    '{"query-id": "1-changed", "instruction": "b"}\n'
                ),
                "qrels.jsonl": '{"query-id": "1-og", "corpus-id": "d", "score": 1, "by": "x"}\n',
            },
            None,
            "the field “by” of 1 record of qrels.jsonl (line 1) is not kept",
        )
        for name in ("mteb", "hf")
    },
    "followtable": Example(
        {
            "query_instruction.json": (
                '[{"query": "q", "query_positive": ["1"], "outs": [{"instruction": "i", '
                '"instruction_type": "1.1", "instruction_positive": ["1"], "all_tables": ["1"], '
                '"colour": "red"}]}]'
            )
        },
        None,
        "the field “outs.colour” of 1 record of query_instruction.json (line 1) is not kept",
    ),
    "infosearch": Example(
        {
            "queries.jsonl": '{"_id": "0", "text": "q", "instruction_og": "", "url": "u"}\n',
            "corpus.jsonl": '{"_id": "d", "text": "t"}\n',
        },
        None,
        "the field “url” of 1 record of queries.jsonl (line 1) is not kept",
    ),
    "infosearch-results": Example(
        '[{"query": {"qid": "0"}, "candidates": [{"docid": "a", "score": 1, "colour": "red"}]}]',
        None,
        ONE.format("“candidates.colour”"),
    ),
    "multiconir": Example(
        "Query1,Positive,HN1,Colour\nBooks: 1. Bees.,bees,ants,red\n",
        None,
        ONE.format("“Colour”").replace("line 1", "line 2"),
    ),
    "multi-infosearch": Example(
        '{"query_id": "1", "combo_id": 1, "query": "q", "document": "d", "relevance": 1, '
        '"attributes": {"a": "b"}, "instructed_query": "i", "positive_doc": "p", '
        '"hard_negative_doc": "n", "violated_attributes": ["a"], "url": "d"}\n',
        None,
        ONE.format("“url”"),
    ),
    "multi-infosearch-docs": Example(
        '{"query_id": "1", "query": "q", "documents": [{"doc_id": "d", "type": "positive", '
        '"text": "t", "colour": "red"}]}\n',
        None,
        ONE.format("“documents.colour”"),
    ),
    "multi-infosearch-folder": Example(
        {
            "final_sorted.jsonl": '{"query_id": "1", "combo_id": 1, "query": "q", "document": "d", '
            '"relevance": 1, "attributes": {"a": "b"}, "instructed_query": "i", '
            '"positive_doc": "p", "hard_negative_doc": "n", "violated_attributes": ["a"]}\n',
            "query-doc.json": '[{"query_id": "1", "query": "q", "documents": [{"doc_id": "d", '
            '"type": "positive", "text": "p", "colour": "red"}]}]\n',
        },
        None,
        "the field “documents.colour” of 1 record of query-doc.json (line 1) is not kept",
    ),
    "pairs-jsonl": Example(
        '{"query_id": "1", "altered": "a"}\n{"query_id": "2", "altred": "a"}\n',
        2,
        "there is no field “altred”; the fields are type, query_id, model, origin, restates, "
        "pair_id, title, description, category, narratives, original, altered, reversed, domain, "
        "core, source_fields",
    ),
    "judgments-csv": Example(
        "query_id,doc_id,annotator,relevance,evidence\n1,a,ada,1,0-4\n",
        1,
        "there is no column “evidence”; the columns are query_id, doc_id, annotator, relevance, "
        "side, at, note, pair_id, version, uuid, machine, active_ms, pressed, made_at, "
        "text_version",
    ),
    "judgments-jsonl": Example(
        f'{{{JUDGMENT}}}\n{{{JUDGMENT}, "machne": true}}\n',
        2,
        "there is no field “machne”; the fields are type, query_id, doc_id, annotator, relevance, "
        "label, side, ",
    ),
    "trec-labels": Example("1 Q0 a 1 1 x\n1 Q0 b 1 1 x red\n", 2, "this has 7 columns"),
    "umbrela-json": Example(
        '{"query": {"qid": "1"}, "candidates": [{"docid": "a", "judgment": 1, "prompt": "p"}]}\n',
        None,
        ONE.format("“candidates.prompt”"),
    ),
    "lara-csv": Example(
        "topic_id,doc_id,prob_0,prob_1,colour\n1,a,0.1,0.9,red\n",
        None,
        ONE.format("“colour”").replace("line 1", "line 2"),
    ),
    "rubric-json": Example(
        '{"name": "ours", "title": "t", "colour": "red", "levels": [{"value": "a"}, '
        '{"value": "b", "rejects": true}], "criteria": [{"key": "k", "asks": "a"}]}',
        1,
        "there is no field “colour”; the fields are name, title, levels, criteria",
    ),
    "filter-jsonl": Example(
        f'{{{FILTERED}}}\n{{{FILTERED}, "colour": "red"}}\n', 2, "there is no field “colour”"
    ),
    "filter-csv": Example(
        "query_id,machine,decision,colour\n1,gpt,keep,red\n",
        1,
        "there is no column “colour”; the columns are query_id, doc_id, pair_id, machine, decision",
    ),
    "collection-jsonl": Example(
        '{"type": "query", "query_id": "1", "reason": "r"}\n'
        '{"type": "query", "query_id": "2", "doc_id": "a"}\n',
        2,
        "there is no field “doc_id”; the fields are type, query_id, title, description, reason, "
        "at, by, machine",
    ),
    "smart-docs": Example(".I 1\n.A\nwho\n.W\nw\n", None, ONE.format("“.A”")),
    "smart-queries": Example(".I 1\n.T\nt\n.W\nw\n", None, ONE.format("“.T”")),
    "smart-qrels": Example("1 184 2\n1 29 4 red\n", 2, "this has 4"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_unknown_fields_are_refused_or_reported(name):
    content, line, sentence = EXAMPLES[name]

    if FORMATS[name].unknown == "refused":
        error = refusal(name, content)
        assert error.line == line
        assert sentence in error.message
    else:
        source = open_content(name, content)
        assert list(FORMATS[name].read(source))
        assert source.left_out.sentences() == [sentence]


@pytest.mark.parametrize(
    ("name", "line", "sentence"),
    [
        (
            "judgments-jsonl",
            f'{{{JUDGMENT}, "evidence": [{{"start": 0, "end": 4, "text": "word"}}]}}',
            "evidence: there is no field “text”; the fields are start, end",
        ),
        (
            "judgments-jsonl",
            f'{{{JUDGMENT}, "label": 2}}',
            "relevance and label are the same field; keep one of them",
        ),
        (
            "pairs-jsonl",
            '{"query_id": "1", "narratives": [{"side": "altered", "text": "t", "words": "t"}]}',
            (
                "narratives: there is no field “words”; the fields are "
                "side, version, text, author, at, note, conditions, model, origin, "
                "withdrawn_by, withdrawn_at"
            ),
        ),
        (
            "pairs-jsonl",
            (
                '{"query_id": "1", "narratives": [{"side": "altered", "text": "t", '
                '"conditions": [{"text": "t", "weight": 2}]}]}'
            ),
            "condition 1: there is no field “weight”; the fields are name, text, negated",
        ),
        (
            "pairs-jsonl",
            (
                '{"type": "claim", "pair_id": "1", "doc_id": "a", "relevance": 1, "rater": "m", '
                '"side": "reversed"}'
            ),
            (
                "there is no field “side”; the fields are type, pair_id, doc_id, relevance, rater, "
                "reason"
            ),
        ),
    ],
)
def test_a_field_inside_a_record_is_refused_with_its_place(name, line, sentence):
    assert refusal(name, line + "\n").message == sentence


def test_an_unknown_field_is_one_problem_of_one_line():
    records, problems = read_collecting(
        "judgments-jsonl", f'{{{JUDGMENT}}}\n{{{JUDGMENT}, "x": 1}}\n{{{JUDGMENT}}}\n'
    )

    assert len(records) == 2
    assert [problem.partition(":")[0] for problem in problems] == ["file, line 2"]


def test_a_column_without_a_name_is_refused_if_it_has_values():
    header = "query_id,doc_id,annotator,relevance,\n"

    assert len(read_collecting("judgments-csv", f"{header}1,a,ada,1,\n")[0]) == 1
    error = refusal("judgments-csv", f"{header}1,a,ada,1,red\n")
    assert (error.line, error.message.partition(";")[0]) == (2, "there is no field “column 5”")


def test_an_empty_unknown_field_is_not_reported():
    source = open_content(
        "docs-jsonl", '{"doc_id": "a", "text": "t", "url": null, "metadata": {}}\n'
    )

    assert list(FORMATS["docs-jsonl"].read(source))
    assert source.left_out.sentences() == []


def test_a_second_name_of_a_field_is_reported_in_formats_of_other_tools():
    source = open_content("topics-json", '{"id": "1", "title": "t", "query": "another"}\n')

    assert list(FORMATS["topics-json"].read(source))
    assert source.left_out.sentences() == [ONE.format("“query”")]


def test_too_many_names_are_reported_together():
    left_out = LeftOutFields()
    for number in range(250):
        left_out.add("", f"x{number}")

    assert len(left_out.sentences()) == 2
    assert left_out.sentences()[1] == "the field “(others)” of 150 records is not kept"
