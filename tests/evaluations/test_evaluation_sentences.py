"""Sentences of an evaluation fit what was measured: how many ids, and by which test."""

from __future__ import annotations

import pytest

from exporters.evaluations.systems import _notes_on_ids
from tests.evaluations.evaluating import make_evaluation, scene


@pytest.mark.parametrize(
    ("others", "notes"),
    [
        (set(), []),
        ({"z"}, ["r: 1 id belongs to no judged pair and is not measured."]),
        (
            {"Q_1"},
            [
                "r: 1 id belongs to no judged pair and is not measured.",
                "r: Q_1 differs from the id of a judged pair only in case.",
            ],
        ),
        (
            {"Q_1", "Q_2", "z"},
            [
                "r: 3 ids belong to no judged pair and are not measured.",
                "r: Q_1, Q_2 differ from the ids of judged pairs only in case.",
            ],
        ),
    ],
)
def test_notes_on_ids_agree_with_their_number(others, notes):
    assert _notes_on_ids("r", others, {"q_1", "q_2"}) == notes


@pytest.mark.parametrize(
    ("options", "test"),
    [({}, "randomization test"), ({"differences.test": "t"}, "paired t test")],
)
def test_the_page_names_the_test_of_the_differences(db, client, options, test):
    made = scene()
    client.force_login(made.carla.user)

    page = client.get(make_evaluation(made, options=options).get_absolute_url()).content.decode()

    named = [one for one in ("randomization test", "paired t test") if f"p of the {one}" in page]
    assert named == [test]


@pytest.mark.parametrize(
    ("options", "over"), [({}, "pairs"), ({"intervals.clusters": "query"}, "queries")]
)
def test_the_page_says_what_intervals_are_over(db, client, options, over):
    made = scene()
    client.force_login(made.carla.user)

    page = client.get(make_evaluation(made, options=options).get_absolute_url()).content.decode()

    text = " ".join(page.split())
    assert f"Below each value is its 95% bootstrap interval over {over}." in text
    assert f"Differences with bootstrap intervals over {over};" in text
