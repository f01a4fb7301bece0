"""Valid spans of evidence, the grades that need it, and notes in place of it."""

from __future__ import annotations

import pytest

from annotate.collection.marking import Span
from annotate.judgments.evidence import (
    DOCUMENT,
    NARRATIVE,
    NONE,
    merge_spans,
    missing_evidence,
    needs_evidence,
)
from annotate.models import Project


def test_the_rules_are_those_of_a_project():
    assert {NONE, DOCUMENT, NARRATIVE} == set(Project.EvidenceRule.values)


def test_spans_that_touch_or_overlap_are_merged():
    spans = [Span(8, 12), Span(0, 4), Span(4, 6), Span(10, 20)]

    assert merge_spans(spans, 20) == [Span(0, 6), Span(8, 20)]


@pytest.mark.parametrize("span", [Span(3, 3), Span(5, 3), Span(-1, 3), Span(3, 21)])
def test_a_span_that_is_not_within_the_text_is_refused(span):
    with pytest.raises(ValueError, match="is not within the text, which has 20 characters"):
        merge_spans([Span(0, 1), span], 20)


def test_more_passages_than_anyone_reads_are_refused():
    spans = [Span(2 * number, 2 * number + 1) for number in range(51)]

    with pytest.raises(ValueError, match="51 passages are marked; at most 50"):
        merge_spans(spans, 200)


@pytest.mark.parametrize(
    ("relevance", "prior", "prior_known", "wanted"),
    [
        (0, 1, True, True),
        (2, 1, True, False),
        (1, 0, True, True),
        (0, 0, True, False),
        # Asking only on a change would reveal what the judge may not know.
        (1, 1, False, True),
        (0, None, True, True),
    ],
)
def test_a_grade_needs_evidence_when_relevance_changes(relevance, prior, prior_known, wanted):
    needed = needs_evidence(
        relevance=relevance, prior=prior, relevant_from=1, prior_known=prior_known
    )

    assert needed is wanted


def message(rule, *, passages=0, clauses=0, markable=True, note="", wanted=True):
    return missing_evidence(
        rule=rule,
        wanted=wanted,
        passages=passages,
        clauses=clauses,
        markable=markable,
        note=note,
    )


def test_the_document_rule_needs_a_passage_and_accepts_no_note():
    assert message(DOCUMENT, note="See the end.").startswith("Mark the passage")
    assert message(DOCUMENT, clauses=1).startswith("Mark the passage")
    assert message(DOCUMENT, passages=1) == ""


def test_the_narrative_rule_needs_a_clause():
    assert message(NARRATIVE, passages=1).startswith("Mark the clause")
    assert message(NARRATIVE, clauses=1) == ""


@pytest.mark.parametrize(("rule", "wanted"), [(NONE, True), (DOCUMENT, False), (NARRATIVE, False)])
def test_nothing_is_needed_without_a_rule_or_a_change(rule, wanted):
    assert message(rule, wanted=wanted) == ""


def test_a_note_replaces_the_passage_for_a_table():
    assert "Mark a cell of the table" in message(DOCUMENT, markable=False, note=" ")
    assert message(DOCUMENT, markable=False, note="Row 3, costs.") == ""
