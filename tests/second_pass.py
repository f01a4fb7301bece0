"""A pair that ada and ben judge, and ben and dan review; carla leads, eve is in another project."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Membership, Narrative
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from tests import factories


def make_scene() -> SimpleNamespace:
    """Make one query with two documents, its pair, and everybody."""
    project = factories.project(overlap_review=2)
    query = factories.query(project)
    made = SimpleNamespace(
        project=project,
        query=query,
        first=factories.candidate(query, "S1", text="Turbines in the Severn."),
        second=factories.candidate(query, "S2", text="A mill on the Rance."),
        pair=factories.pair(query, original="All plants at sea count."),
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        carla=factories.lead(project),
        dan=factories.member(project, "dan"),
        eve=factories.lead(factories.project("other"), "eve"),
    )
    made.narrative = factories.altered(made.pair)
    return made


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    """The scene's rows, made once for a file. A file may add to them what all its tests need."""
    return make_scene()


def take_reviews(scene: SimpleNamespace) -> SimpleNamespace:
    """Let ben and dan take the two review assignments."""
    for auditor in (scene.dan, scene.ben):
        assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=auditor)
    return scene


@pytest.fixture
def assigned(scene):
    """The scene, with the two review assignments taken by ben and dan."""
    return take_reviews(scene)


def dispute(scene: SimpleNamespace) -> SimpleNamespace:
    """Let ada and ben differ on S1 (0 and 2) and agree on S2."""
    scene.adas = factories.judgment(scene.narrative, scene.first, scene.ada, 0, note="On a river.")
    scene.bens = factories.judgment(scene.narrative, scene.first, scene.ben, 2)
    factories.judgment(scene.narrative, scene.second, scene.ada, 1)
    factories.judgment(scene.narrative, scene.second, scene.ben, 1)
    return scene


@pytest.fixture
def disputed(scene):
    """The scene, where ada and ben differ on S1 (0 and 2) and agree on S2."""
    return dispute(scene)


def levels(default: str = "excellent", **others: str) -> dict[str, tuple[str, str]]:
    """Return answers to all six criteria; a poor one has words."""
    level_by_key = {key: others.get(key, default) for key in FOLLOWTABLE.keys}
    return {key: (level, "Weak." if level == "poor" else "") for key, level in level_by_key.items()}


def submit_levels(narrative: Narrative, by: Membership, **others: str) -> None:
    """Submit a review with the answers of `levels`."""
    save_ratings(narrative=narrative, answers=levels(**others), by=by)
    submit_review(narrative=narrative, by=by)
