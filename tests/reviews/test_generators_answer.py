"""Before anything is written, the check of a generator's answer says in a sentence what is odd."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.models import Judgment
from tests import factories
from tests.collection.arriving import jsonl, load

pytestmark = pytest.mark.both_databases

NEXT = "Only plants built since 2000."


@pytest.fixture
def made(scene):
    """Version 1 of an instruction of a model, with a claim of gen-1."""
    pair = factories.pair(scene.query, pair_id="301_1", origin="llm", model="some-model")
    factories.judgment(
        factories.altered(pair), scene.first, factories.machine(scene.project, "gen-1")
    )
    return pair


def answer(version: int = 2, text: str = NEXT):
    narrative = {"side": "altered", "version": version, "text": text}
    return {"pair_id": "301_1", "query_id": "301", "origin": "llm", "narratives": [narrative]}


def claim(rater: str, relevance: int = 1):
    kind = {"type": "claim", "pair_id": "301_1", "doc_id": "S1"}
    return {**kind, "relevance": relevance, "rater": rater}


def preview(made, *records):
    """Return what the check of an answer says: whether it is refused, and its sentences."""
    report = load(made.project, "pairs-jsonl", jsonl(*records), dry_run=True)
    assert made.narratives.filter(side="altered").count() == 1
    assert Judgment.objects.count() == 1
    said = [*(problem.message for problem in report.problems), *report.notes]
    return bool(report.refused), " · ".join(said)


def test_two_raters_who_differ_are_counted_and_a_lead_chooses(made):
    refused, said = preview(made, answer(), claim("gen-1"), claim("gen-2", 0))

    assert not refused
    assert "1 label is claimed differently by several machines" in said
    assert "choose whose claims count" in said


def test_an_answer_without_claims_says_what_becomes_void_and_can_be_carried_over(made):
    refused, said = preview(made, answer())

    assert not refused
    assert "Answers under the present one: 1 claimed label." in said
    assert "1 claimed label of the version before can be carried over" in said


def test_an_answer_for_an_older_version_is_refused(made):
    refused, said = preview(made, answer(version=1))

    assert refused
    assert "version 1 of the altered narrative of 301_1 already exists with other words" in said
    assert "load these as version 2" in said


def test_an_answer_for_an_instruction_that_was_removed_meanwhile_says_so(made, scene):
    made.removed_at, made.removed_by = timezone.now(), scene.carla
    made.save()

    refused, said = preview(made, answer(), claim("gen-1"))

    assert not refused
    assert "1 instruction of this file is taken out (301_1)" in said
    assert "count only once the instruction is brought back" in said


def test_the_same_answer_twice_changes_nothing(made):
    content = jsonl(answer(), claim("gen-1"))
    load(made.project, "pairs-jsonl", content)

    again = load(made.project, "pairs-jsonl", content, dry_run=True)

    assert (again.new, again.changed, again.refused) == (0, 0, 0)
