"""Intake of instruction pairs: with all versions, and without overwriting any."""

from __future__ import annotations

import pytest

from annotate.models import Assignment, Condition, InstructionPair, Membership, Narrative, Query
from formats.records import ConditionRecord, NarrativeRecord, PairRecord
from tests import factories
from tests.collection.arriving import counts, jsonl, load, load_records, problems, rows

pytestmark = pytest.mark.both_databases

AT = "2026-03-01T09:30:00+00:00"
PAIR = {
    "pair_id": "110_0",
    "query_id": "110",
    "title": "ferry timetables",
    "category": "C1",
    "origin": "llm",
    "model": "some-model",
    "narratives": [
        {"side": "original", "version": 1, "text": "Any timetable."},
        {"side": "altered", "version": 1, "text": "Only in winter.", "author": "ada", "at": AT},
        {"side": "altered", "version": 2, "text": "Only in January.", "author": "ada", "note": "n"},
        {"side": "reversed", "version": 1, "text": "Not in winter."},
    ],
}


@pytest.fixture
def project(db):
    return factories.project()


def narratives(pair_id: str) -> list[tuple[str, int, str, str | None]]:
    found = Narrative.objects.filter(pair__pair_id=pair_id).order_by("side", "version")
    return list(found.values_list("side", "version", "text", "author__name"))


def changed(**fields: object) -> str:
    return jsonl({**PAIR, **fields})


def test_a_pair_is_loaded_with_all_versions_and_their_authors(project):
    report = load(project, "pairs-jsonl", jsonl(PAIR))

    assert counts(report) == (1, 1, 0, 0, 0)
    assert rows(report) == {
        "queries": (1, 0, 0),
        "pairs": (1, 0, 0),
        "narratives": (4, 0, 0),
        "raters": (1, 0, 0),
    }
    pair = InstructionPair.objects.get(pair_id="110_0")
    assert (pair.query.title, pair.category, pair.origin, pair.model) == (
        "ferry timetables",
        "C1",
        "llm",
        "some-model",
    )
    assert narratives("110_0") == [
        ("altered", 1, "Only in winter.", "ada"),
        ("altered", 2, "Only in January.", "ada"),
        ("original", 1, "Any timetable.", None),
        ("reversed", 1, "Not in winter.", None),
    ]
    first = Narrative.objects.get(side="altered", version=1)
    assert first.created_at.isoformat() == AT
    author = Membership.objects.get(name="ada")
    assert (author.user, author.role, author.is_machine) == (None, "annotator", False)


def test_loading_again_changes_nothing(project):
    load(project, "pairs-jsonl", jsonl(PAIR))

    report = load(project, "pairs-jsonl", jsonl(PAIR))

    assert counts(report) == (1, 0, 0, 1, 0)
    assert rows(report)["narratives"] == (0, 0, 4)


def test_members_of_the_project_are_known_by_their_names(project):
    ada = factories.member(project, "ada")

    load(project, "pairs-jsonl", jsonl(PAIR))

    assert Narrative.objects.get(side="altered", version=1).author == ada
    assert project.memberships.count() == 1


def test_a_further_version_changes_the_pair_and_reopens_judging(project):
    load(project, "pairs-jsonl", jsonl(PAIR))
    pair = InstructionPair.objects.get()
    times = dict.fromkeys(("touched_at", "done_at"), "2026-01-01T00:00:00Z")
    ben = factories.member(project, "ben")
    assignment = Assignment.objects.create(pair=pair, task="judge", seat=1, member=ben, **times)
    third = {"side": "altered", "version": 3, "text": "Only on Sundays."}

    report = load(project, "pairs-jsonl", changed(narratives=[*PAIR["narratives"], third]))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert rows(report)["narratives"] == (1, 0, 4)
    assignment.refresh_from_db()
    assert assignment.done_at is None


def test_other_words_for_an_existing_version_are_refused(project):
    load(project, "pairs-jsonl", jsonl(PAIR))

    report = load(
        project,
        "pairs-jsonl",
        changed(narratives=[{"side": "altered", "version": 1, "text": "Only at night."}]),
    )

    assert problems(report) == [
        (
            "file.txt:1: version 1 of the altered narrative of 110_0 already exists with other "
            "words, and no version is overwritten: load these as version 3"
        )
    ]
    assert len(narratives("110_0")) == 4


def test_another_category_or_model_changes_the_pair(project):
    load(project, "pairs-jsonl", jsonl(PAIR))

    report = load(project, "pairs-jsonl", changed(category="C2", model="other-model"))

    assert counts(report) == (1, 0, 1, 0, 0)
    pair = InstructionPair.objects.get()
    assert (pair.category, pair.model) == ("C2", "other-model")


def test_a_pair_without_an_original_narrative_gets_that_of_the_topic(project):
    load(project, "trec-topics", "<top>\n<num> 110\n<title> t\n<narr> Any timetable.\n</top>\n")

    load(project, "pairs-jsonl", changed(narratives=[PAIR["narratives"][1]]))

    assert narratives("110_0")[1] == ("original", 1, "Any timetable.", None)


def test_the_original_is_empty_without_a_topic(project):
    load(project, "pairs-jsonl", changed(narratives=[PAIR["narratives"][1]]))

    assert narratives("110_0")[1] == ("original", 1, "", None)


def test_a_pair_of_another_query_is_refused(project):
    load(project, "pairs-jsonl", jsonl(PAIR))

    report = load(project, "pairs-jsonl", changed(query_id="111"))

    assert problems(report) == [
        "file.txt:1: instruction pair 110_0 belongs to query 110 in this project, not to 111"
    ]
    assert list(Query.objects.values_list("query_id", flat=True)) == ["110"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"narratives": [{"side": "altered", "version": 1, "text": " "}]},
            "version 1 of the altered narrative has no words",
        ),
        ({"category": "C" * 61}, "the category is longer than 60 characters"),
        ({"model": "m" * 121}, "the model is longer than 120 characters"),
        (
            {"narratives": [{"side": "original", "text": "x", "note": "n" * 501}]},
            "the note of a narrative is longer than 500 characters",
        ),
        (
            {"narratives": [{"side": "original", "text": "x", "author": "a" * 151}]},
            "an author's name has 1 to 150 characters",
        ),
    ],
)
def test_invalid_pairs_are_refused_with_their_line(project, fields, sentence):
    other = {**PAIR, "pair_id": "110_1"}

    report = load(project, "pairs-jsonl", jsonl(other) + changed(**fields))

    assert problems(report) == [f"file.txt:2: {sentence}"]
    assert InstructionPair.objects.count() == 0


# --- conditions -----------------------------------------------------------------------------------

ASKS = [{"name": "", "text": "It is winter."}, {"name": "mode", "text": "It is a ferry."}]


def asking(*conditions: object) -> str:
    narrative = {"side": "altered", "version": 1, "text": "Only in winter."}
    return changed(narratives=[{**narrative, "conditions": list(conditions)}])


def conditions() -> list[tuple[int, str, str]]:
    return list(Condition.objects.order_by("number").values_list("number", "name", "text"))


def test_a_narrative_comes_with_its_conditions(project):
    report = load(project, "pairs-jsonl", asking(*ASKS))

    assert rows(report)["conditions"] == (2, 0, 0)
    assert conditions() == [(1, "", "It is winter."), (2, "mode", "It is a ferry.")]
    assert {str(one.narrative) for one in Condition.objects.all()} == {"altered 1"}


def test_loading_conditions_again_changes_nothing(project):
    load(project, "pairs-jsonl", asking(*ASKS))

    report = load(project, "pairs-jsonl", asking(*ASKS))

    assert counts(report) == (1, 0, 0, 1, 0)
    assert rows(report)["conditions"] == (0, 0, 2)
    assert len(conditions()) == 2


@pytest.mark.parametrize(
    "others",
    [
        [],
        ASKS[:1],
        [*ASKS, "It is blue."],
        ASKS[::-1],
        [ASKS[0], {"name": "mode", "text": "It is a bus."}],
        [ASKS[0], {"name": "vehicle", "text": "It is a ferry."}],
    ],
    ids=["none", "fewer", "more", "turned", "words", "name"],
)
def test_other_conditions_for_an_existing_version_are_refused(project, others):
    load(project, "pairs-jsonl", asking(*ASKS))

    report = load(project, "pairs-jsonl", asking(*others))

    assert problems(report) == [
        (
            "file.txt:1: version 1 of the altered narrative of 110_0 already exists with other "
            "conditions, and no version is overwritten: load these as version 2"
        )
    ]
    assert len(conditions()) == 2


def test_conditions_come_with_a_further_version(project):
    load(project, "pairs-jsonl", jsonl(PAIR))
    third = {"side": "altered", "version": 3, "text": "Only on Sundays.", "conditions": ASKS}

    report = load(project, "pairs-jsonl", changed(narratives=[*PAIR["narratives"], third]))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert {one.narrative.version for one in Condition.objects.all()} == {3}


def test_the_same_narrative_with_other_conditions_on_another_line_is_refused(project):
    def pair(*asks: str) -> PairRecord:
        conditions = tuple(ConditionRecord("", text) for text in asks)
        narrative = NarrativeRecord("altered", 1, "a", conditions=conditions)
        return PairRecord("7_0", "7", narratives=(narrative,))

    same = load_records(project, pair("x", "y"), pair("x", "y"))
    report = load_records(factories.project("lakes"), pair("x", "y"), pair("x"))

    assert rows(same)["conditions"] == (2, 0, 0)
    assert problems(report) == [
        (
            "file.txt:2: version 1 of the altered narrative of 7_0 has other words, "
            "conditions or another writer on line 1"
        )
    ]


@pytest.mark.parametrize(
    ("asks", "sentence"),
    [
        (
            ["c"] * 21,
            "version 1 of the altered narrative has 21 conditions; at most 20 are allowed",
        ),
        (
            ["a", "x" * 2_001],
            "condition 2 of the altered narrative is longer than 2,000 characters",
        ),
        (
            [{"name": "n" * 121, "text": "a"}],
            "the name of condition 1 of the altered narrative is longer than 120 characters",
        ),
    ],
)
def test_conditions_that_cannot_be_kept_are_refused(project, asks, sentence):
    report = load(project, "pairs-jsonl", asking(*asks))

    assert problems(report) == [f"file.txt:1: {sentence}"]
    assert Condition.objects.count() == 0


def test_pairs_that_give_their_query_different_titles_are_refused(project):
    report = load(
        project, "pairs-jsonl", jsonl(PAIR, {**PAIR, "pair_id": "110_1", "title": "trains"})
    )

    assert problems(report) == [
        f"file.txt:{line}: query 110 has another title or description on another line"
        for line in (1, 2)
    ]


def test_a_repeated_pair_that_differs_is_refused_even_if_the_reader_misses_it(project):
    def pair(text: str) -> PairRecord:
        return PairRecord("7_0", "7", narratives=(NarrativeRecord("altered", 1, text),))

    report = load_records(project, pair("a"), pair("a"), pair("b"))

    assert problems(report) == [
        (
            "file.txt:3: version 1 of the altered narrative of 7_0 has other words, "
            "conditions or another writer on line 1"
        )
    ]


def test_title_and_description_of_a_query_come_from_whichever_of_its_pairs_has_them(project):
    content = jsonl(
        {"pair_id": "110_0", "query_id": "110", "title": "ferries", "narratives": []},
        {
            "pair_id": "110_1",
            "query_id": "110",
            "description": "When do they go?",
            "narratives": [],
        },
    )

    load(project, "pairs-jsonl", content)

    query = Query.objects.get(project=project)
    assert (query.title, query.description) == ("ferries", "When do they go?")
    assert counts(load(project, "pairs-jsonl", content)) == (2, 0, 0, 2, 0)


def test_another_core_query_is_a_change(project):
    load(project, "pairs-jsonl", changed(core="110"))

    report = load(project, "pairs-jsonl", changed(core="111"))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert Query.objects.get(project=project).core == "111"
    assert counts(load(project, "pairs-jsonl", changed(core="111"))) == (1, 0, 0, 1, 0)


def test_the_answer_whether_a_condition_is_negated_is_a_change(project):
    def with_condition(**fields):
        narrative = {"side": "altered", "version": 1, "text": "Only in winter."}
        return changed(narratives=[{**narrative, "conditions": [{"text": "winter", **fields}]}])

    load(project, "pairs-jsonl", with_condition())

    report = load(project, "pairs-jsonl", with_condition(negated=True))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert rows(report)["conditions"] == (0, 1, 0)
    assert Condition.objects.get().negated is True
    assert counts(load(project, "pairs-jsonl", with_condition(negated=True))) == (1, 0, 0, 1, 0)
