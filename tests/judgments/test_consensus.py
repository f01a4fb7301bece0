from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.judgments.consensus import DISPUTED, RULES, UNJUDGED, Outcome, State, consensus
from annotate.models import Project

GRADES = st.lists(st.integers(-2, 16), max_size=9)
RULE = st.sampled_from(sorted(RULES))


@pytest.mark.parametrize(
    ("grades", "unanimous", "majority"),
    [
        ([], UNJUDGED, UNJUDGED),
        ([2], Outcome(2, State.JUDGED), Outcome(2, State.JUDGED)),
        ([0], Outcome(0, State.JUDGED), Outcome(0, State.JUDGED)),
        ([0, 0], Outcome(0, State.JUDGED), Outcome(0, State.JUDGED)),
        ([0, 1], DISPUTED, DISPUTED),
        ([1, 1, 2], DISPUTED, Outcome(1, State.JUDGED)),
        ([0, 1, 2], DISPUTED, DISPUTED),
        ([0, 1, 1, 0], DISPUTED, DISPUTED),
        ([0, 2, 2, 1, 2], DISPUTED, Outcome(2, State.JUDGED)),
    ],
)
def test_grades_combine_into_one_relevance(grades, unanimous, majority):
    assert consensus(grades, "unanimous") == unanimous
    assert consensus(grades, "majority") == majority


@pytest.mark.parametrize("grades", [[], [1], [0, 2]])
def test_a_settling_decision_wins(grades):
    assert consensus(grades, "unanimous", settled=0) == Outcome(0, State.SETTLED)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="unknown rule of consensus 'loudest'"):
        consensus([], "loudest")


def test_state_reads_as_its_word():
    assert consensus([0, 1], "unanimous").state == "disputed"


def test_the_rules_are_those_a_project_may_choose():
    assert set(RULES) == set(Project.Consensus.values)


@given(GRADES, RULE, st.randoms(use_true_random=False))
def test_order_does_not_matter(grades, rule, random):
    shuffled = random.sample(grades, len(grades))

    assert consensus(shuffled, rule) == consensus(grades, rule)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9))
def test_a_majority_is_more_than_half(grades):
    outcome = consensus(grades, "majority")

    grade, holders = Counter(grades).most_common(1)[0]
    assert outcome == (Outcome(grade, State.JUDGED) if 2 * holders > len(grades) else DISPUTED)


@given(GRADES)
def test_a_unanimous_grade_is_a_majority(grades):
    strict = consensus(grades, "unanimous")

    assert strict == DISPUTED or consensus(grades, "majority") == strict


@given(GRADES, RULE, st.none() | st.integers(-2, 16))
def test_relevance_is_missing_exactly_when_unjudged_or_disputed(grades, rule, settled):
    outcome = consensus(grades, rule, settled)

    assert (outcome.relevance is None) == (outcome.state in {State.UNJUDGED, State.DISPUTED})
