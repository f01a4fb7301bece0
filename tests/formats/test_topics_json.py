from __future__ import annotations

import json

import pytest

from formats.records import Topic
from formats.registry import lookup
from tests.formats.files import open_content, read, read_collecting, refusal, write_records

NO_ID = "query_id is missing (other accepted names: id, _id, qid, topic_id, number, tid)"


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ('{"id": "464", "title": "I want to know."}\n', [Topic("464", "I want to know.")]),
        (
            '{"_id": "a", "text": "t", "instruction": "i"}\n{"_id": 2, "text": "u"}\n',
            [Topic("a", "t", "", "i"), Topic("2", "u")],
        ),
        ('[{"qid": 1, "query": "q"}]', [Topic("1", "q")]),
        (
            json.dumps(
                {"e-1": {"Domain": "f", "Query": "How has “it”?", "Guidelines": "a\nb"}}, indent=4
            ),
            [Topic("e-1", "How has “it”?", "", "a\nb")],
        ),
        ('{"e-1": {"Query": "q"}, "e-2": {"Query": "r"}}', [Topic("e-1", "q"), Topic("e-2", "r")]),
        (
            (
                '{"tid": "7", "label": "Chips", "narrative": "Where?"}\n'
                '{"tid": "8", "label": "Ships"}\n'
            ),
            [Topic("7", "Chips", "", "Where?"), Topic("8", "Ships")],
        ),
    ],
    ids=["TREC RAG", "BEIR", "a list", "CODEC", "one line by topic id", "Change Detection"],
)
def test_the_usual_shapes_are_read(text, topics):
    assert read("topics-json", text) == topics


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('{"id": "1"}\n{"title": "t"}\n', 2, NO_ID),
        ('{"topic_key": "1"}\n{"topic_key": "2"}\n', 1, NO_ID),
        ('{"id": "1", "topics": []}\n', 1, "topic 1 has no text in any language"),
        ('{"id": "1"}\n{"id": "1 2"}\n', 2, "id '1 2' contains white space"),
        ('{"id": "1"}\n{"id": "1"}\n', 2, "topic 1 occurs twice"),
        ('{"id": "1"}\n{"id": \n', 2, "not JSON: Expecting value at column 8"),
        ('[{"id": "1"}]\n[]\n', 2, "not JSON: the value ends here, but more text follows"),
        ('{"id": "1"}\n[]\n', 2, "a topic must be a JSON object, not a list"),
        ('\n{\n "1": {"Query": "q"},\n "2"\n}', 5, "not JSON: Expecting ':' delimiter"),
        (
            '{\n "1": {"Query": "q"},\n "1 2": {"Query": "q"}}',
            1,
            "query_id '1 2' contains white space",
        ),
        ('[{"id": "1"}, {"id": "1"}]', 1, "topic 1 occurs twice"),
        ('[\n {"id": "1"},\n\n {"id": "1"}\n]', 4, "topic 1 occurs twice"),
        ('[\n {"id": "1"},\n {"id": "1 2"}]', 3, "id '1 2' contains white space"),
        ('[{"id": "1"},\n "2"]', 2, "a topic must be a JSON object, not text"),
        ('"topics"', 1, "a topic must be a JSON object, not text"),
    ],
)
def test_bad_files_are_refused_with_a_sentence(text, line, sentence):
    error = refusal("topics-json", text)

    assert (error.line, error.message) == (line, sentence)


def test_a_topic_in_several_languages_is_read_in_english_or_else_in_the_first():
    chinese = {"lang": "zho", "topic_title": "小行星", "topic_description": "危害地球"}
    english = {
        "lang": "eng",
        "topic_title": "Asteroids",
        "topic_description": "Near the earth.",
        "topic_narrative": "Name one.",
    }
    text = json.dumps({"topic_id": "100", "topics": [chinese, english]}) + "\n"
    source = open_content("topics-json", text)

    assert list(lookup("topics-json").read(source)) == [
        Topic("100", "Asteroids", "Near the earth.", "Name one.")
    ]
    assert source.left_out.sentences() == [
        "the field “topics in other languages than eng” of 1 record (line 1) is not kept"
    ]
    assert read("topics-json", json.dumps({"topic_id": "100", "topics": [chinese]})) == [
        Topic("100", "小行星", "危害地球")
    ]


def test_bad_lines_are_collected_and_the_others_read():
    topics, problems = read_collecting("topics-json", '{"id": "1"}\n{\n{"id": "3"}\n')

    assert [topic.query_id for topic in topics] == ["1", "3"]
    assert len(problems) == 1


def test_written_topics_name_every_field():
    assert write_records("topics-json", [Topic("1", "t", "", None)]) == (
        b'{"query_id": "1", "title": "t", "description": "", "narrative": null}\n'
    )
