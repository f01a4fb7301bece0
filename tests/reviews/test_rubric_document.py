"""docs/rubric.md agrees with audit/reviews/criteria.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from audit.reviews.criteria import FOLLOWTABLE, MULTICONIR, Verdict, straddles, verdict
from formats.rubrics import parse_rubric

CRITERIA = FOLLOWTABLE.criteria
EXCELLENT, ACCEPTABLE, POOR = FOLLOWTABLE.levels


@pytest.fixture(scope="module")
def page():
    return (Path(settings.BASE_DIR) / "docs/rubric.md").read_text()


def rows(page, heading):
    """Return the cells of the table that starts with `heading`."""
    lines = page[page.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_lists_the_criteria_in_their_order(page):
    assert rows(page, "| criterion | key | asks | poor when |") == [
        [one.name, f"`{one.key}`", one.asks, one.poor_when] for one in CRITERIA
    ]


def test_the_examples_are_those_of_the_review_page(page):
    assert rows(page, "| criterion | good |") == [
        [one.name, one.good_example, one.poor_example] for one in CRITERIA
    ]


def test_the_table_of_multiconir_is_that_of_the_rubric(page):
    assert rows(page, "| criterion | key | asks | fails when |") == [
        [one.name, f"`{one.key}`", one.asks, one.poor_when] for one in MULTICONIR.criteria
    ]


def test_the_rubric_that_is_shown_as_an_example_can_be_read(page):
    example = page.partition("```\n")[2].partition("```")[0]

    assert parse_rubric(example).name == "ours-1"


def test_version_levels_and_verdicts_are_named(page):
    assert f"`{FOLLOWTABLE.name}`" in page
    assert "poor 0, acceptable 1, excellent 2" in " ".join(page.split())
    for word in ("rejects", "passes", "*incomplete*", "*unreviewed*"):
        assert word in page


@pytest.mark.parametrize(
    ("reviews", "expected"),
    [
        ([], Verdict.UNREVIEWED),
        ([[EXCELLENT, ACCEPTABLE]], Verdict.INCOMPLETE),
        ([[EXCELLENT, ACCEPTABLE], [ACCEPTABLE, ACCEPTABLE]], Verdict.PASSED),
        ([[EXCELLENT, POOR]], Verdict.REJECTED),
        ([[EXCELLENT, ACCEPTABLE], [POOR, ACCEPTABLE]], Verdict.REJECTED),
        ([[EXCELLENT, EXCELLENT]] * 3, Verdict.PASSED),
    ],
)
def test_the_verdict_of_two_auditors_follows_the_page(reviews, expected):
    assert verdict(reviews, 2) == expected


@pytest.mark.parametrize(
    ("levels", "differ"),
    [
        ([POOR, EXCELLENT], True),
        ([ACCEPTABLE, POOR, POOR], True),
        ([POOR, POOR], False),
        ([EXCELLENT, ACCEPTABLE], False),
        ([POOR], False),
        ([], False),
    ],
)
def test_auditors_straddle_if_some_rate_poor_and_some_do_not(levels, differ):
    assert straddles(levels) is differ
