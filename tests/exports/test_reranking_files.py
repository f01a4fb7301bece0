"""The TREC export has the input of rerankers: candidates as a run, and topics for Pyserini."""

from __future__ import annotations

import json

import pytest

from annotate.models import InstructionPair
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_candidates_of_each_topic_are_a_run_in_order_of_ids(tides, write):
    lines = write(tides.project)["candidates.run"].splitlines()

    assert lines == [
        "301 Q0 B 1 6.0 candidates",
        "301 Q0 FT-10 2 5.0 candidates",
        "301 Q0 FT-9 3 4.0 candidates",
        "301 Q0 Z 4 3.0 candidates",
        "301 Q0 a 5 2.0 candidates",
        "301 Q0 é 6 1.0 candidates",
        "302 Q0 C 1 2.0 candidates",
        "302 Q0 D 2 1.0 candidates",
    ]


def test_pyserini_topics_are_a_line_each_in_a_table_and_an_object_of_fields(tides, write):
    folder = write(tides.project)

    assert folder["pyserini/topics.changed.tsv"].splitlines()[0] == (
        "301\ttidal power Only plants at sea, in use."
    )
    assert json.loads(folder["pyserini/topics.changed.json"])["301"] == {
        "title": "tidal power",
        "description": "",
        "narrative": "Only plants at sea, in use.",
    }
    assert list(json.loads(folder["pyserini/topics.original.json"])) == ["301", "302"]


def test_a_narrative_of_several_lines_is_one_line_in_the_table(tides, write):
    reverse = factories.narrative(tides.pair, side="reversed", text="Plants\n\ton land.")
    tides.judge(reverse, tides.pool["B"], tides.ada, 2)

    folder = write(tides.project)

    assert folder["pyserini/topics.reversed.tsv"] == "301\ttidal power Plants on land.\n"
    assert json.loads(folder["pyserini/topics.reversed.json"])["301"]["narrative"] == (
        "Plants\n\ton land."
    )


def test_an_untouched_project_has_nothing_to_rerank(tides, write):
    InstructionPair.objects.update(removed_at="2026-03-02T09:30Z", removed_by=tides.carla)

    assert "candidates.run" not in write(tides.project).bytes()
