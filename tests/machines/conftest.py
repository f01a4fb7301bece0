"""A machine's labels, and people who judge the same documents and check drawn labels."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests import factories
from tests.checks.checking import claimed_scene

# Before the machine's labels, which have the time of the test.
EARLIER = datetime(2026, 1, 1, tzinfo=UTC)
LABELS = {
    "C1": {"A": 0, "B": 1, "C": 2, "D": 2},
    "S1": {"E": 0, "F": 1, "G": 2, "H": 0},
}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    return claimed_scene(LABELS)


def judge(scene, doc_id: str, **grades: int) -> None:
    """Record people's judgments of a document on the page: `judge(scene, "A", ada=1, ben=0)`."""
    candidate = scene.candidates[doc_id]
    category = next(key for key, labels in LABELS.items() if doc_id in labels)
    for name, grade in grades.items():
        by = scene.project.memberships.get(name=name)
        factories.judgment(scene.narratives[category], candidate, by, grade)


@pytest.fixture
def judged(scene):
    """Ada and ben have judged six of the documents: they differ on D, and agree on five."""
    judge(scene, "A", ada=0, ben=0)
    judge(scene, "B", ada=2, ben=2)
    judge(scene, "C", ada=2, ben=2)
    judge(scene, "D", ada=2, ben=0)
    judge(scene, "E", ada=0, ben=0)
    judge(scene, "F", ada=0, ben=0)
    return scene
