"""Simultaneous checks of one label: never more than two checks and one settlement."""

from __future__ import annotations

import uuid

import pytest

from audit.checks import actions
from audit.models import Check, Sample
from base.errors import Refused
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.reviews.test_at_once import at_once, fresh

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.both_databases,
]


@pytest.fixture
def scene(transactional_db):
    made = claimed_scene()
    made.sample = draw(made)
    made.item = made.sample.items.order_by("pk").first()
    return made


def names(outcomes):
    return sorted(type(outcome).__name__ for outcome in outcomes)


def test_two_of_four_simultaneous_checks_are_recorded(scene):
    outcomes = at_once(
        *(
            lambda who=who: actions.check(item=scene.item, relevance=1, by=fresh(who))
            for who in (scene.ada, scene.ben, scene.carla, scene.dan)
        )
    )

    assert names(outcomes) == ["Check", "Check", "Refused", "Refused"]
    assert sorted(Check.objects.current().values_list("place", flat=True)) == [1, 2]


def test_one_of_two_simultaneous_settlements_is_refused(scene):
    other = factories.member(scene.project, "dora")
    check_label(scene.sample, scene.item.candidate.document.doc_id, ada=0, ben=2)

    outcomes = at_once(
        *(
            lambda who=who: actions.settle(item=scene.item, relevance=1, by=fresh(who))
            for who in (scene.dan, other)
        )
    )

    assert names(outcomes) == ["Check", "Refused"]
    assert Check.objects.current().filter(place=3).count() == 1


def test_one_answer_sent_several_times_at_once_counts_once(scene):
    sent = uuid.uuid4()

    outcomes = at_once(
        *(
            lambda: actions.check(item=scene.item, relevance=1, uuid=sent, by=fresh(scene.ada))
            for _ in range(3)
        )
    )

    assert names(outcomes) == ["Check"] * 3
    assert Check.objects.count() == 1


def test_one_of_two_simultaneous_samples_with_the_same_name_is_drawn(scene):
    outcomes = at_once(*(lambda: draw(scene, name="Same", by=fresh(scene.carla)) for _ in range(2)))

    assert names(outcomes) == ["Refused", "Sample"]
    assert isinstance(next(one for one in outcomes if not isinstance(one, Sample)), Refused)
    assert Sample.objects.filter(name="Same").count() == 1
