"""Rubrics as JSON: valid ones are read, and faults are reported with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from formats.json_text import NotJson
from formats.records import CriterionRecord, LevelRecord, RubricRecord
from formats.rubrics import RubricFaults, format_rubric, parse_rubric
from tests.formats.files import read, read_collecting

FAIR = {"value": "fair", "name": "Fair"}
UNFAIR = {"value": "unfair", "name": "Unfair", "rejects": True}
CLEAR = {"key": "clear", "name": "Clear", "asks": "Do two readers understand the same?"}


def rubric(**changes: Any) -> dict[str, Any]:
    """Return a valid rubric with some fields changed."""
    made = {"name": "ours-1", "title": "Ours", "levels": [FAIR, UNFAIR], "criteria": [CLEAR]}
    return {**made, **changes}


def faults(value: object) -> list[str]:
    with pytest.raises(RubricFaults) as caught:
        parse_rubric(json.dumps(value))
    return list(caught.value.faults)


def test_a_rubric_is_read_with_its_levels_and_criteria():
    assert parse_rubric(json.dumps(rubric())) == RubricRecord(
        "ours-1",
        "Ours",
        (LevelRecord("fair", "Fair"), LevelRecord("unfair", "Unfair", "", True)),
        (CriterionRecord("clear", "Clear", "Do two readers understand the same?"),),
    )


def test_a_formatted_rubric_reads_back():
    made = parse_rubric(json.dumps(rubric()))

    assert parse_rubric(format_rubric(made)) == made


def test_a_file_has_one_rubric_over_many_lines_or_one_per_line():
    other = rubric(name="ours-2")

    assert [one.name for one in read("rubric-json", json.dumps(rubric(), indent=2))] == ["ours-1"]
    lines = f"{json.dumps(rubric())}\n\n{json.dumps(other)}\n"
    assert [one.name for one in read("rubric-json", lines)] == ["ours-1", "ours-2"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"levels": [FAIR]}, "levels: there is one; with one level every answer is the same"),
        ({"levels": []}, "levels: there are none; a rubric needs at least two levels, one of"),
        ({"levels": [FAIR] * 10}, "levels: there are 10; at most 9 are allowed"),
        ({"levels": None}, "levels: is missing"),
        ({"levels": "fair"}, "levels: must be a list, not text"),
        ({"levels": [FAIR, "unfair"]}, "levels 2: must be an object, not text"),
        (
            {"levels": [FAIR, {**UNFAIR, "rejects": False}]},
            "levels: none rejects; at least one must have “rejects”: true",
        ),
        (
            {"levels": [{**FAIR, "rejects": True}, UNFAIR]},
            "levels: all of them reject; the best must not",
        ),
        (
            {"levels": [UNFAIR, FAIR]},
            (
                "levels 2: is below one that rejects (unfair) but does not reject itself; the "
                "best comes first"
            ),
        ),
        (
            {"levels": [FAIR, {**UNFAIR, "value": "fair"}]},
            "levels 2, value: “fair” is already used by levels 1",
        ),
        (
            {"levels": [FAIR, {**UNFAIR, "rejects": "yes"}]},
            "levels 2, rejects: must be true or false, not text",
        ),
        ({"levels": [FAIR, {**UNFAIR, "value": "Not fair"}]}, "levels 2, value: must be small"),
        ({"criteria": []}, "criteria: there are none; a rubric asks at least one question"),
        (
            {"criteria": [CLEAR, {**CLEAR, "name": "Again"}]},
            "criteria 2, key: “clear” is already used by criteria 1",
        ),
        ({"criteria": [{"key": "clear", "name": "Clear"}]}, "criteria 1, asks: is missing"),
        ({"criteria": [{**CLEAR, "name": " "}]}, "criteria 1, name: is empty"),
        (
            {"criteria": [{**CLEAR, "poor-when": "x"}]},
            "criteria 1: there is no field “poor-when”; the fields are key, name, asks, poor_when,",
        ),
        (
            {"version": 2},
            "there is no field “version”; the fields are name, title, levels, criteria",
        ),
        ({"name": ""}, "name: is empty"),
        ({"name": 7}, "name: must be text, not a number"),
        ({"title": "x" * 121}, "title: has 121 characters; at most 120 are allowed"),
    ],
)
def test_a_fault_is_reported_with_its_place(changes, expected):
    [fault] = faults(rubric(**changes))

    assert fault.startswith(expected)


def test_all_faults_are_reported_at_once():
    assert faults(rubric(levels=[FAIR], criteria=[{**CLEAR, "key": "A b"}], title=None)) == [
        "title: is missing",
        "levels: there is one; with one level every answer is the same",
        (
            "criteria 1, key: must be small letters, digits, hyphens and underscores, beginning "
            "with a letter or digit, at most 40 characters"
        ),
    ]


def test_invalid_json_is_refused_with_line_and_column():
    with pytest.raises(NotJson) as caught:
        parse_rubric('{"name": "ours-1",\n "title": }')

    assert (caught.value.line, caught.value.column) == (2, 11)


def test_a_bad_file_names_the_line_and_every_fault():
    lines = f"{json.dumps(rubric())}\n{json.dumps(rubric(name='ours-2', levels=[FAIR]))}\n"

    records, problems = read_collecting("rubric-json", lines)

    assert [one.name for one in records] == ["ours-1"]
    assert len(problems) == 1
    assert "line 2: levels: there is one" in problems[0]


def test_the_same_name_twice_in_a_file_is_refused():
    lines = f"{json.dumps(rubric())}\n{json.dumps(rubric(title='Others'))}\n"

    _, problems = read_collecting("rubric-json", lines)

    assert len(problems) == 1
    assert "the rubric ours-1 occurs twice" in problems[0]


def test_a_file_too_long_for_a_rubric_is_refused():
    _, problems = read_collecting("rubric-json", json.dumps(rubric(title="x" * 200_001)))

    assert len(problems) == 1
    assert "the file is longer than 200,000 characters" in problems[0]
