"""What migrations of the second pass do to rows that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [("annotate", "0004_draft_places"), ("audit", "0002_checks")]


@pytest.fixture
def before_rubrics(transactional_db) -> Iterator[Any]:
    """The rows' classes as they were before 0003; afterwards everything is as it is now."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    try:
        yield executor.loader.project_state(BEFORE).apps
    finally:
        MigrationExecutor(connection).migrate(latest)


def test_ratings_from_before_get_their_place_and_reviews_keep_the_name_of_their_rubric(
    before_rubrics,
):
    old = before_rubrics.get_model
    project = old("annotate", "Project").objects.create(slug="tides", name="Tides")
    query = old("annotate", "Query").objects.create(project=project, query_id="301")
    pair = old("annotate", "InstructionPair").objects.create(
        project=project, query=query, pair_id="301"
    )
    narrative = old("annotate", "Narrative").objects.create(
        pair=pair, side="altered", text="At sea."
    )
    for name, rubric in (("ben", "followtable-1"), ("dan", "ours")):
        auditor = old("annotate", "Membership").objects.create(project=project, name=name)
        review = old("audit", "Review").objects.create(
            narrative=narrative, auditor=auditor, rubric=rubric
        )
        levels = {
            "semantic_expansion": "poor",
            "query_dependency": "excellent",
            "category_focus": "acceptable",
            "internal_consistency": "",
        }
        for criterion, level in levels.items():
            old("audit", "Rating").objects.create(review=review, criterion=criterion, level=level)

    executor = MigrationExecutor(connection)
    executor.migrate([("audit", "0003_rubrics")])

    new = executor.loader.project_state([("audit", "0003_rubrics")]).apps.get_model
    ratings = new("audit", "Rating").objects.filter(review__auditor__name="dan")
    assert set(ratings.values_list("level", "place", "rejects")) == {
        ("poor", 2, True),
        ("excellent", 0, False),
        ("acceptable", 1, False),
        ("", None, None),
    }
    [kept] = new("audit", "Rubric").objects.all()
    assert (kept.project.slug, kept.name, kept.chosen_at) == ("tides", "ours", None)
    assert [level["value"] for level in kept.levels] == ["excellent", "acceptable", "poor"]
    assert len(kept.criteria) == 6
