from __future__ import annotations

import pytest

from formats.records import Topic
from tests.formats.files import read, refusal, write_records

COVID = (
    '<topics task="COVIDSearch 2020" batch="1">\r\n'
    '  <topic number="1">\r\n'
    "    <query>mask wearing</query>\r\n"
    "    <question>do masks help &amp; when</question>\r\n"
    "    <narrative>studies of masks</narrative>\r\n"
    "  </topic>\r\n"
    "</topics>\r\n"
)

WEB = """<?xml version="1.0"?>
<!DOCTYPE webtrack2009 [
  <!ELEMENT webtrack2009 (topic)*>
  <!ELEMENT topic (query, description, subtopic+)>
    <!ATTLIST topic
              number CDATA #REQUIRED
              type (ambiguous|faceted|other) "ambiguous">
]>
<webtrack2009>
<topic number="1" type="faceted">
  <query>garden birds</query>
  <description>Find birds
  seen in gardens.
  </description>
  <subtopic number="1" type="nav">
    <description>Find a list.</description>
  </subtopic>
</topic>
</webtrack2009>
"""

BOMB = """<?xml version="1.0"?>
<!DOCTYPE topics [
  <!ENTITY a "aaaaaaaaaaaaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<topics><topic number="1"><query>&b;</query></topic></topics>
"""


def test_query_question_and_narrative_make_a_topic():
    assert read("trec-topics-xml", COVID) == [
        Topic("1", "mask wearing", "do masks help & when", "studies of masks")
    ]


def test_a_file_with_a_dtd_is_read_and_subtopics_are_not_kept():
    assert read("trec-topics-xml", WEB) == [
        Topic("1", "garden birds", "Find birds\nseen in gardens.", None)
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, "file, line 3: the file declares XML entities; write out what they stand for"),
        (
            '<!DOCTYPE t [\n<!ENTITY f SYSTEM "file:///etc/passwd">\n]>\n<t/>',
            "file, line 2: the file declares XML entities; write out what they stand for",
        ),
        (
            '<!DOCTYPE t SYSTEM "other.dtd">\n<t>\n<topic number="1"><query>&f;</query></topic>',
            "file, line 3: the entity &f; is not known",
        ),
    ],
    ids=["a bomb", "a file of this machine", "an unknown name"],
)
def test_entities_are_refused(text, sentence):
    assert str(refusal("trec-topics-xml", text)).startswith(sentence)


def test_malformed_xml_names_the_line():
    error = refusal("trec-topics-xml", '<topics>\n<topic number="1">\n<query>x</topic>\n')

    assert str(error) == "file, line 3: not well-formed XML: mismatched tag: <query>x</topic>"


def test_a_file_cut_off_is_refused():
    error = refusal("trec-topics-xml", '<topics>\n<topic number="1">\n<query>x</query>\n')

    assert "not well-formed XML: no element found" in str(error)


def test_a_topic_without_number_is_refused():
    error = refusal("trec-topics-xml", "<topics>\n<topic>\n<query>x</query></topic></topics>")

    assert str(error) == "file, line 2: a topic has no number"


def test_a_number_with_a_space_is_refused():
    error = refusal("trec-topics-xml", '<topics><topic number="1 2"></topic></topics>')

    assert "the topic's number '1 2' contains white space" in str(error)


def test_the_text_of_a_topic_without_fields_is_its_title():
    text = '<topics>\n<topic number="1">\nA 45-year-old man\nwith <b>x</b>pain.\n</topic></topics>'

    assert read("trec-topics-xml", text) == [Topic("1", "A 45-year-old man with pain.")]


def test_text_beside_the_fields_of_a_topic_is_refused():
    text = '<topics>\n<topic number="1">A man.<query>pain</query></topic></topics>'

    assert str(refusal("trec-topics-xml", text)) == (
        "file, line 2: text outside of a field in topic 1: A man."
    )


def test_the_same_number_twice_is_refused():
    text = '<topics>\n<topic number="1"></topic>\n<topic number="1"></topic>\n</topics>'

    assert str(refusal("trec-topics-xml", text)) == "file, line 3: topic 1 was already on line 2"


def test_characters_that_xml_does_not_allow_are_not_written():
    with pytest.raises(ValueError, match="contains a character that XML does not allow"):
        write_records("trec-topics-xml", [Topic("1", "a \uffff b")])


def test_written_topics_have_the_shape_of_trec_covid():
    assert write_records("trec-topics-xml", [Topic("1", "a < b", "q", "n")]).decode() == (
        '<topics>\n  <topic number="1">\n    <query>a &lt; b</query>\n'
        "    <question>q</question>\n    <narrative>n</narrative>\n  </topic>\n</topics>\n"
    )
