"""Rows of a list are ticked one by one or all together; a bar appears once one is ticked."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.judgments.assignments import take
from annotate.models import Assignment
from tests import factories
from tests.second_pass import disputed, make_scene, submit_levels

__all__ = ["disputed"]


@pytest.fixture
def scene(live_server):
    return make_scene()


@pytest.fixture
def carla(live_server, disputed, new_person):
    return new_person("carla")


def test_ticked_disagreements_are_settled_together(carla, disputed, accessibility):
    other = factories.candidate(disputed.query, "S3")
    for member, relevance in ((disputed.ada, 0), (disputed.ben, 1)):
        factories.judgment(disputed.narrative, other, member, relevance)
    carla.goto(f"/projects/{disputed.project.slug}/disagreements/")
    bar = carla.get_by_role("button", name="Settle the ticked ones together")
    every = carla.get_by_label("Tick all of this page")
    expect(bar).to_be_hidden()

    every.check()
    expect(carla.get_by_label("Tick S3")).to_be_checked()
    expect(bar).to_be_visible()
    carla.get_by_label("Tick S1").uncheck()
    expect(every).not_to_be_checked()
    assert accessibility(carla) == []
    bar.click()

    expect(carla.get_by_text("the 1 that you ticked")).to_be_visible()


def test_what_was_ticked_is_still_ticked_after_a_refusal(live_server, scene, new_person):
    take(pair=scene.narrative.pair, task=Assignment.Task.REVIEW, by=scene.dan)
    submit_levels(scene.narrative, scene.dan, query_dependency="poor")
    carla = new_person("carla")
    carla.goto(f"/projects/{scene.project.slug}/reviews/?state=to-decide")
    box = carla.get_by_label(f"Tick instruction {scene.narrative.pair.pair_id}")
    box.check()

    carla.get_by_role("button", name="Accept the ticked ones").click()

    expect(carla.get_by_text("Nothing was decided.")).to_be_visible()
    expect(box).to_be_checked()
    expect(carla.get_by_label("Tick all of this page")).to_be_checked()
    expect(carla.get_by_role("button", name="Send the ticked ones back")).to_be_visible()
