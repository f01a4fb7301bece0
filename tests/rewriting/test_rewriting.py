"""Rewriting a narrative inserts a version; nothing is ever overwritten."""

from __future__ import annotations

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Narrative
from annotate.rewriting import actions as rewriting
from base.errors import Refused, Stale
from tests import factories

pytestmark = pytest.mark.both_databases


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query)
    return factories.pair(query, altered=None)


@pytest.fixture
def ada(pair):
    person = factories.member(pair.project, "ada")
    assignments.take_next(task=Assignment.Task.REWRITE, by=person)
    return person


def versions(pair) -> list[tuple[int, str]]:
    altered = pair.narratives.filter(side=Narrative.Side.ALTERED).order_by("version")
    return list(altered.values_list("version", "text"))


def test_each_rewriting_inserts_a_version(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)
    rewriting.rewrite_narrative(pair=pair, text="At sea, in use.", by=ada, based_on=1)

    assert versions(pair) == [(1, "At sea."), (2, "At sea, in use.")]


def test_paragraphs_and_every_script_are_kept(pair, ada):
    text = "At sea.\n\n\tNot in rivers: 潮汐, المد."

    narrative = rewriting.rewrite_narrative(
        pair=pair, text=text.replace("\n", "\r\n"), by=ada, based_on=0
    )

    assert narrative.text == text


def test_the_author_is_recorded(pair, ada):
    narrative = rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    assert narrative.author == ada


def test_a_version_that_was_saved_meanwhile_is_not_replaced(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    with pytest.raises(Stale, match="Version 1 was saved while you were writing"):
        rewriting.rewrite_narrative(pair=pair, text="In rivers.", by=ada, based_on=0)

    assert versions(pair) == [(1, "At sea.")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("Any plant counts.", "Nothing has changed"),
        ("x" * 100_001, "100,001 characters"),
        ("At\x00sea.", r"U\+0000"),
    ],
)
def test_empty_unchanged_or_invalid_text_is_refused(pair, ada, text, sentence):
    with pytest.raises(Refused, match=sentence):
        rewriting.rewrite_narrative(pair=pair, text=text, by=ada, based_on=0)

    assert versions(pair) == []


def test_the_original_is_never_rewritten(pair, ada):
    with pytest.raises(Refused, match="original stays"):
        rewriting.rewrite_narrative(pair=pair, text="New.", by=ada, based_on=1, side="original")


def test_only_a_lead_rewrites_without_an_assignment(pair, ada):
    ben, carla = factories.member(pair.project, "ben"), factories.lead(pair.project)

    with pytest.raises(Refused, match="not your task"):
        rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ben, based_on=0)
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=carla, based_on=0)

    assert versions(pair) == [(1, "At sea.")]


def test_the_assignment_is_done_with_the_first_version(pair, ada):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    assert ada.assignments.get().done_at is not None


def test_an_unwritten_narrative_cannot_be_sent_back(pair):
    with pytest.raises(Refused, match="no altered narrative yet"):
        rewriting.send_back(pair=pair, by=factories.lead(pair.project))


def test_an_annotator_cannot_send_back_or_remove(pair, ada):
    for action in (rewriting.send_back, rewriting.remove):
        with pytest.raises(Refused, match="Only leads"):
            action(pair=pair, by=ada)


def test_a_removed_pair_is_not_rewritten_until_that_is_undone(pair, ada):
    carla = factories.lead(pair.project)
    rewriting.remove(pair=pair, by=carla)

    with pytest.raises(Refused, match="removed"):
        rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)
    rewriting.undo_decision(pair=pair, by=carla)
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    assert versions(pair) == [(1, "At sea.")]
