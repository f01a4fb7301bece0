from __future__ import annotations

import json

import pytest

from formats.records import Doc
from tests.formats.files import read, read_collecting, refusal, write_records


def test_title_text_and_markup_are_kept():
    line = json.dumps({"doc_id": "d1", "title": "T", "text": "x | y", "markup": "plain"})

    assert read("docs-jsonl", line) == [Doc("d1", "T", "x | y", "plain")]


@pytest.mark.parametrize(
    ("line", "doc"),
    [
        ('{"_id": "388", "title": "T", "text": "t"}', Doc("388", "T", "t")),
        ('{"id": 388, "contents": "t"}', Doc("388", "", "t")),
        ('{"docno": "FT-1", "body": "t", "source": "FT"}', Doc("FT-1", "", "t")),
        ('{"_id": "a"}', Doc("a", "", None)),
        ('{"_id": "a", "text": null, "title": null}', Doc("a", "", None)),
        ('{"_id": "a", "text": ""}', Doc("a", "", "")),
        (
            '{"_id": "a", "text": "<table><tr><td>1</td></tr></table>"}',
            Doc("a", "", "<table><tr><td>1</td></tr></table>", "html"),
        ),
        (
            '{"_id": "a", "text": "# t\\n\\n| a |\\n|---|\\n| 1 |"}',
            Doc("a", "", "# t\n\n| a |\n|---|\n| 1 |", "markdown"),
        ),
        ('{"_id": "a", "text": "\\u00e9 \\ud83d\\ude00"}', Doc("a", "", "é 😀")),
    ],
)
def test_field_names_and_shapes_of_other_tools_are_read(line, doc):
    assert read("docs-jsonl", line) == [doc]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            '{"title": "t"}',
            "doc_id is missing (other accepted names: _id, id, docno, docid)",
        ),
        ('{"_id": "a b"}', "doc_id 'a b' contains white space"),
        ('{"doc_id": ""}', "doc_id is empty"),
        ('{"doc_id": ["a"]}', "doc_id must be text, not a list"),
        ('{"doc_id": true}', "doc_id must be text, not true or false"),
        ('{"doc_id": "a", "text": 5}', "text must be text, not a number"),
        (
            '{"doc_id": "a", "markup": "word"}',
            "markup is 'word'; it is one of plain, html, markdown",
        ),
        ('{"doc_id": "a", "text": "x\\u0000"}', "a string contains the control character U+0000"),
        (
            '{"doc_id": "a", "text": "\\ud800"}',
            "a string contains half of a surrogate pair, U+D800",
        ),
        ('{"doc_id": "a", "size": NaN}', "not JSON: NaN is not allowed at column 1"),
        ('["a"]', "a line must be one JSON object, not a list"),
        ('{"doc_id": "a"', "not JSON: Expecting ',' delimiter at column 15"),
        (
            '{"doc_id": "a", "size": ' + "9" * 5_000 + "}",
            "a whole number in this JSON has thousands of digits",
        ),
        ("[" * 100_000, "this JSON is nested too deeply at column 1"),
    ],
)
def test_bad_lines_are_refused_with_a_sentence(line, sentence):
    error = refusal("docs-jsonl", '{"doc_id": "first"}\n' + line + "\n")

    assert (error.line, error.message) == (2, sentence.replace("doc_id 'a b'", "_id 'a b'"))


def test_the_same_document_twice_is_refused_with_both_lines():
    error = refusal("docs-jsonl", '{"_id": "a"}\n\n{"_id": "a"}\n')

    assert (error.line, error.message) == (3, "document a was already on line 1")


def test_bad_lines_are_collected_and_the_others_read():
    docs, problems = read_collecting("docs-jsonl", '{"_id": "a"}\n{\n{"_id": "b"}\n')

    assert docs == [Doc("a"), Doc("b")]
    assert len(problems) == 1


def test_a_line_separator_inside_a_text_does_not_end_the_line():
    assert read("docs-jsonl", '{"_id": "a", "text": "x\u2028y"}\n') == [Doc("a", "", "x\u2028y")]


def test_a_document_is_written_as_one_readable_line():
    assert write_records("docs-jsonl", [Doc("a", "é", "x\ny")]).decode() == (
        '{"doc_id": "a", "title": "é", "text": "x\\ny", "markup": "plain"}\n'
    )


@pytest.mark.parametrize("doc", [Doc("a b"), Doc("a", "\0"), Doc("a", "", "\ud800")])
def test_records_that_would_not_read_back_are_not_written(doc):
    with pytest.raises(ValueError):
        write_records("docs-jsonl", [doc])


@pytest.mark.parametrize("begin", ["[", "{", '[{"doc_id": "a"},'])
def test_json_over_several_lines_is_refused_with_the_way_to_write_it(begin):
    _, problems = read_collecting("docs-jsonl", begin + '\n"doc_id": "b"}\n')

    hint = "this format has one whole object on each line (`jq -c .` or `jq -c '.[]'` write it so)"
    assert f"; {hint}" in problems[0]
    assert hint not in problems[1]
