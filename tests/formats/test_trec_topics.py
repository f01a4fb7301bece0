from __future__ import annotations

import pytest

from formats.records import Topic
from tests.formats.files import read, read_collecting, refusal, write_records

WITH_LABELS = """
<top>

<num> Number: 321
<title> Women in  Parliaments

<desc> Description:
Which parliaments have
more women than men?

<narr> Narrative:
Relevant documents name a parliament.
A count without a name is not relevant.

</top>
"""

WITHOUT_LABELS = """
<top>
<num> Number: 322
<title>
Harbour dredging

<desc>
Find plans to deepen harbours.

<narr>
Only plans count.
</top>
"""


def test_labels_in_the_text_are_not_part_of_it():
    assert read("trec-topics", WITH_LABELS) == [
        Topic(
            "321",
            "Women in Parliaments",
            "Which parliaments have\nmore women than men?",
            "Relevant documents name a parliament.\nA count without a name is not relevant.",
        )
    ]


def test_topics_without_labels_and_with_the_title_on_the_next_line():
    assert read("trec-topics", WITHOUT_LABELS) == [
        Topic("322", "Harbour dredging", "Find plans to deepen harbours.", "Only plans count.")
    ]


def test_a_label_without_a_colon_is_alone_on_its_line():
    text = "<top>\n<num> 1\n<desc> Description \nWhat?\n<narr>Narrative\nThat.\n</top>\n"

    assert read("trec-topics", text) == [Topic("1", "", "What?", "That.")]


def test_a_label_is_stripped_only_at_the_start_of_the_field():
    text = (
        "<top>\n<num> 1\n<title> Topic: Narrative: theory\n"
        "<desc> Description of a bridge.\n<narr> A Narrative: is told.\n</top>\n"
    )

    assert read("trec-topics", text) == [
        Topic("1", "Narrative: theory", "Description of a bridge.", "A Narrative: is told.")
    ]


@pytest.mark.parametrize(
    ("num", "query_id"),
    [
        ("<num> Number: 307", "307"),
        ("<num> Number: 321 </num>", "321"),
        ("<num>176</num>", "176"),
        ("<num> Number:  051 ", "051"),
        ("<num> Number: MB001 </num>", "MB001"),
        ("<num> Number: AR26", "AR26"),
    ],
)
def test_numbers_are_kept_byte_for_byte(num, query_id):
    assert read("trec-topics", f"<top>\n{num}\n<title> t\n</top>\n") == [Topic(query_id, "t")]


def test_every_tag_may_be_closed():
    text = (
        "<topics>\n<top lang='hi'>\n<num>176</num>\n<title>वाई एस आर</title>\n"
        "<desc>मौत</desc>\n<narr>हेलिकॉप्टर</narr>\n</top>\n</topics>\n"
    )

    assert read("trec-topics", text) == [Topic("176", "वाई एस आर", "मौत", "हेलिकॉप्टर")]


def test_a_missing_end_of_topic_ends_at_the_next_topic():
    text = (
        "<top lang='hi'>\n<num>1</num>\n<title>one</title>\n"
        "<top lang='hi'>\n<num>2</num>\n<title>two</title>\n</top>\n</topics>\n"
    )

    assert read("trec-topics", text) == [Topic("1", "one"), Topic("2", "two")]


def test_other_tags_end_a_field_and_are_not_kept():
    text = (
        "<top>\n<head> Tipster Topic Description\n<num> Number:  051\n"
        "<dom> Domain:  Economics\n<title> Topic:  Subsidies\n"
        "<desc> Description:\n\nHelp for builders.\n\n<smry> Summary:\n\nHelp.\n"
        "<narr> Narrative:\n\nAny help.\n\n<con> Concept(s):\n1. aid\n"
        "<fac> Factor(s):\n<nat> Nationality: none\n</fac>\n<def> Definition(s):\n</top>\n"
    )

    assert read("trec-topics", text) == [
        Topic("051", "Subsidies", "Help for builders.", "Any help.")
    ]


def test_an_unknown_tag_is_text():
    text = "<top>\n<num> 1\n<title> x < y <z> & <10\n</top>\n"

    assert read("trec-topics", text) == [Topic("1", "x < y <z> & <10")]


def test_a_topic_may_have_no_title_and_no_narrative():
    text = (
        "<top>\n  <num> Number: 886 </num>\n  <docid>AEQ</docid>\n"
        "  <url>https://example.org/a</url>\n</top>\n"
    )

    assert read("trec-topics", text) == [Topic("886", "", "", None)]


def test_a_field_may_be_closed_by_its_own_opening_tag():
    text = "<top>\n<num> 1 </num>\n<docid>A</docid>\n<url>https://example.org<url>\n</top>\n"

    assert read("trec-topics", text) == [Topic("1", "")]


def test_an_empty_narrative_is_not_a_missing_one():
    text = "<top>\n<num> 1\n<title> t\n<narr> Narrative:\n</top>\n"

    assert read("trec-topics", text) == [Topic("1", "t", "", "")]


def test_a_right_to_left_topic_is_kept():
    text = "<top>\n<num> Number: AR26\n<title> مجلس المقاومة الوطني\n</top>\n"

    assert read("trec-topics", text)[0].title == "مجلس المقاومة الوطني"


def test_a_topic_without_number_is_refused():
    error = refusal("trec-topics", WITH_LABELS + "<top>\n<title> no number\n</top>\n")

    assert str(error) == "file, line 16: a topic has no number (<num>)"


def test_a_number_with_a_space_is_refused():
    error = refusal("trec-topics", "<top>\n<num> Number: 3 21\n<title> t\n</top>\n")

    assert str(error) == "file, line 1: the topic's number '3 21' contains white space"


def test_the_same_number_twice_is_refused_with_both_lines():
    error = refusal("trec-topics", WITH_LABELS + WITH_LABELS)

    assert str(error) == "file, line 17: topic 321 was already on line 2"


def test_a_second_number_in_one_topic_is_refused():
    error = refusal("trec-topics", "<top>\n<num> 1\n<title> t\n<num> 2\n<title> u\n</top>\n")

    assert str(error) == "file, line 4: a second <num> in one topic"


def test_text_outside_of_a_field_is_refused():
    error = refusal("trec-topics", "<top>\n<num>1</num>\nlost words\n</top>\n")

    assert str(error) == "file, line 3: text outside of a field: lost words"


def test_a_bad_topic_does_not_hide_the_next():
    topics, problems = read_collecting(
        "trec-topics", "<top>\n<title> a\n</top>\n<top>\n<num> 2\n<title> b\n</top>\n"
    )

    assert topics == [Topic("2", "b")]
    assert problems == ["file, line 1: a topic has no number (<num>)"]


def test_written_topics_have_the_shape_of_robust04():
    topic = Topic("321", "Women", "Which?", "These.\nNot those.")

    assert write_records("trec-topics", [topic]).decode() == (
        "<top>\n\n<num> Number: 321\n<title> Women\n\n"
        "<desc> Description:\nWhich?\n\n<narr> Narrative:\nThese.\nNot those.\n\n</top>\n\n"
    )


@pytest.mark.parametrize(
    "topic",
    [
        Topic("1", "Topic: of the day", "Description: twice", "Narrative: twice"),
        Topic("1", "t", "", ""),
        Topic("1", "", "", None),
    ],
)
def test_written_topics_keep_texts_that_begin_like_a_label(topic):
    assert read("trec-topics", write_records("trec-topics", [topic])) == [topic]


def test_a_text_with_a_tag_of_the_format_is_not_written():
    with pytest.raises(ValueError, match="the narrative of topic 1 holds <title>"):
        write_records("trec-topics", [Topic("1", "t", "", "the <title> tag")])


def test_a_query_id_with_a_space_is_not_written():
    with pytest.raises(ValueError, match="query_id '3 21' contains white space"):
        write_records("trec-topics", [Topic("3 21", "t")])
