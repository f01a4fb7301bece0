"""The work of a load of pairs grows with their number, not with its square."""

from __future__ import annotations

import pytest
from django.db import connection

from annotate.models import InstructionPair, Narrative
from tests import factories
from tests.collection.arriving import counts, jsonl, load

pytestmark = pytest.mark.sqlite


def pairs(number: int, *, version: int) -> str:
    """Return pairs that restate the one before, each with one version of its instruction."""
    return jsonl(
        *(
            {
                "pair_id": f"{n // 2}_{n}",
                "query_id": str(n // 2),
                "restates": f"{n // 2}_{n - 1}" if n % 2 else "",
                "narratives": [{"side": "altered", "version": version, "text": f"{n}, {version}"}],
            }
            for n in range(number)
        )
    )


def steps_of_new_versions(number: int) -> int:
    """Load pairs, then a new version of each; return the thousands of steps of the database."""
    project = factories.project(slug=f"of-{number}")
    load(project, "pairs-jsonl", pairs(number, version=1))
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    connection.connection.set_progress_handler(count, 1_000)
    report = load(project, "pairs-jsonl", pairs(number, version=2))
    connection.connection.set_progress_handler(None, 0)

    assert counts(report) == (number, 0, number, 0, 0)
    return steps


def test_twice_as_many_new_versions_take_at_most_three_times_the_steps(db):
    few, many = steps_of_new_versions(300), steps_of_new_versions(600)

    assert many < 3 * few
    assert InstructionPair.objects.filter(restates__isnull=False).count() == 450
    assert Narrative.objects.filter(side="altered", version=2, is_current=True).count() == 900
