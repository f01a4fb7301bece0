from __future__ import annotations

import pytest

from formats.records import (
    ConditionRecord,
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    Topic,
    VerdictRecord,
)
from tests.formats.files import read, read_collecting, refusal

HEADER = "Query1,Query2,Positive,HN1,HN2\n"
ROW = "Books: 1. On bees.,Books: 1. On bees. 2. Short.,short bees,short ants,long bees\n"
NATURAL = (
    "Query1,Query2,Natural_Query1,Natural_Query2,Positive,HN1,HN2\n"
    "Books: 1. On bees.,Books: 1. On bees. 2. Short.,Books on bees.,Short books on bees.,"
    "short bees,short ants,long ants\n"
)
BEES, SHORT = ConditionRecord("", "On bees"), ConditionRecord("", "Short")


def claim(pair_id, doc_id, *answers):
    return JudgmentRecord(
        "0",
        doc_id,
        "multiconir-claims",
        answers.count("met"),
        "altered",
        pair_id,
        1,
        machine=True,
        verdicts=tuple(VerdictRecord(k, answer) for k, answer in enumerate(answers, 1)),
    )


def pair(pair_id, category, text, style, *conditions, restates=""):
    return PairRecord(
        pair_id,
        "0",
        "Books: 1. On bees.",
        category=category,
        origin="llm",
        narratives=(NarrativeRecord("altered", 1, text, note=style, conditions=conditions),),
        restates=restates,
    )


def test_a_row_becomes_a_query_with_a_pair_for_each_number_of_conditions():
    assert read("multiconir", HEADER + ROW) == [
        Topic("0", "Books: 1. On bees."),
        Doc("0_positive", "", "short bees"),
        Qrel("0", "0_positive", 2),
        Doc("0_hn1", "", "short ants"),
        Qrel("0", "0_hn1", 1),
        Doc("0_hn2", "", "long bees"),
        Qrel("0", "0_hn2", 1),
        pair("0_1", "1 condition", "Books: 1. On bees.", "as a list", BEES),
        claim("0_1", "0_positive", "met"),
        claim("0_1", "0_hn1", "not_met"),
        claim("0_1", "0_hn2", "met"),
        pair("0_2", "2 conditions", "Books: 1. On bees. 2. Short.", "as a list", BEES, SHORT),
        claim("0_2", "0_positive", "met", "met"),
        claim("0_2", "0_hn1", "not_met", "met"),
        claim("0_2", "0_hn2", "met", "not_met"),
    ]


def test_with_running_text_a_hard_negative_violates_all_conditions_up_to_its_own():
    records = read("multiconir", NATURAL)

    assert [r for r in records if isinstance(r, Qrel)] == [
        Qrel("0", "0_positive", 2),
        Qrel("0", "0_hn1", 1),
        Qrel("0", "0_hn2", 0),
    ]
    pairs = [r for r in records if isinstance(r, PairRecord)]
    assert [one.pair_id for one in pairs] == ["0_1", "0_1n", "0_2", "0_2n"]
    assert pairs[3] == pair(
        "0_2n",
        "2 conditions",
        "Short books on bees.",
        "in running words",
        BEES,
        SHORT,
        restates="0_2",
    )
    assert claim("0_2n", "0_hn2", "not_met", "not_met") in records


def test_a_domain_column_groups_the_rows_and_names_their_queries():
    text = "Domain," + HEADER + "".join(f"{domain},{ROW}" for domain in ("Books", "Legal Cases"))
    records = read("multiconir", text + "Books," + ROW)

    topics = [record.query_id for record in records if isinstance(record, Topic)]
    assert topics == ["Books-0", "Legal-Cases-0", "Books-1"]
    pairs = [record for record in records if isinstance(record, PairRecord)]
    assert [(one.pair_id, one.domain) for one in pairs[2:5]] == [
        ("Legal-Cases-0_1", "Legal Cases"),
        ("Legal-Cases-0_2", "Legal Cases"),
        ("Books-1_1", "Books"),
    ]


def test_a_row_may_have_fewer_conditions_and_hard_negatives():
    records = read("multiconir", HEADER + "Books: 1. On bees.,,bees,ants,\n" + ROW)

    assert [r.doc_id for r in records if isinstance(r, Doc)] == [
        "0_positive",
        "0_hn1",
        "1_positive",
        "1_hn1",
        "1_hn2",
    ]
    assert [r.pair_id for r in records if isinstance(r, PairRecord)] == ["0_1", "1_1", "1_2"]


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("Query1,HN1", "the header line lacks Positive"),
        (
            "Query1,Query3,Positive,HN1",
            "the query columns must be Query1, Query2 and so on, up to Query20 at most",
        ),
    ],
)
def test_a_bad_header_line_is_refused(header, sentence):
    error = refusal("multiconir", header + "\n")

    assert (error.line, error.message) == (1, sentence)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (",Books: 1. a. 2. b.,p,n,n", "Query1 is empty"),
        ("Books: 1. a.,Books: 1. a. 2. b.,,n,n", "Positive is missing"),
        (
            "Books on bees.,,p,n,n",
            "no condition “1.” in Query1, which should number 1: Books on bees.",
        ),
        (
            "Books: 1. a.,Books: 1. a. 3. b.,p,n,n",
            "no condition “2.” in Query2, which should number 2: Books: 1. a. 3. b.",
        ),
        (
            "Books: 1. a.,Books: 1. c. 2. b.,p,n,n",
            "Query1 has other conditions than Query2",
        ),
        (
            "Books: 1. a.,Books: 1. . 2. b.,p,n,n",
            "a condition of Query2 is empty: Books: 1. . 2. b.",
        ),
    ],
)
def test_bad_rows_are_refused_with_a_sentence_and_the_others_read(row, sentence):
    records, problems = read_collecting("multiconir", HEADER + row + "\n" + ROW)

    assert [problem.split(": ", 1)[1].startswith(sentence) for problem in problems] == [True]
    assert [r.query_id for r in records if isinstance(r, Topic)] == ["1"]
