"""Of each side of a pair, the highest version that nobody withdrew is the current one."""

from __future__ import annotations

from io import BytesIO
from random import Random

import pytest
from django.db import IntegrityError, transaction

from annotate.models import InstructionPair, Narrative
from annotate.rewriting import actions as rewriting
from exporters.exports.selection.collection import pair_records
from formats.jsonl_pairs import write_pairs
from tests import factories
from tests.collection.arriving import load

pytestmark = pytest.mark.both_databases

SIDES = ("altered", "reversed")


@pytest.fixture
def pair(db):
    project = factories.project()
    return factories.pair(factories.query(project))


@pytest.fixture
def carla(pair):
    return factories.lead(pair.project)


def rewrite(pair, side, by, text):
    current = pair.current(side)
    return rewriting.rewrite_narrative(
        pair=pair, side=side, text=text, by=by, based_on=current.version if current else 0
    )


def marked(pair):
    """Return the versions that are marked as current, by side."""
    rows = pair.narratives.filter(is_current=True).values_list("side", "version")
    assert len(rows) == len({side for side, _ in rows})
    return dict(rows)


def highest(pair):
    """Return the highest version of each side that was not withdrawn, counted in Python."""
    rows = pair.narratives.filter(withdrawn_at=None).order_by("version")
    return dict(rows.values_list("side", "version"))


def written_file(pair):
    stream = BytesIO()
    write_pairs(pair_records(pair.project), stream)
    return stream.getvalue()


def test_a_new_version_is_current_and_the_one_before_is_not(pair, carla):
    rewrite(pair, "altered", carla, "At sea.")

    assert marked(pair) == {"original": 1, "altered": 2}
    assert pair.current("altered").text == "At sea."


def test_the_version_that_a_lead_goes_back_to_is_current(pair, carla):
    first = pair.current("altered")
    rewrite(pair, "altered", carla, "At sea.")
    second = pair.current("altered")

    rewriting.go_back(narrative=first, by=carla)
    assert marked(pair) == {"original": 1, "altered": 1}

    rewriting.go_back(narrative=second, by=carla)
    assert marked(pair) == {"original": 1, "altered": 2}


def test_an_earlier_version_that_arrives_late_does_not_become_current(pair):
    factories.narrative(pair, "altered", "Third.", version=3)
    factories.narrative(pair, "altered", "Second.", version=2)

    assert marked(pair) == {"original": 1, "altered": 3}


@pytest.mark.parametrize("seed", range(5))
def test_after_any_sequence_of_changes_the_highest_version_in_use_is_current(pair, carla, seed):
    random = Random(seed)
    for step in range(12):
        side = random.choice(SIDES)
        others = list(pair.narratives.filter(side=side, is_current=False))
        if others and random.random() < 0.5:
            rewriting.go_back(narrative=random.choice(others), by=carla)
        else:
            rewrite(pair, side, carla, f"Text {step}.")
        assert marked(pair) == highest(pair)

    load(factories.project("copy"), "pairs-jsonl", written_file(pair))
    copy = InstructionPair.objects.get(project__slug="copy")
    assert marked(copy) == highest(copy) == highest(pair)


def test_a_load_of_another_narrative_of_a_topic_makes_it_current(pair):
    load(pair.project, "topics-json", '{"query_id": "301", "narrative": "Any dam."}')

    assert marked(pair) == {"original": 2, "altered": 1}
    assert pair.current("original").text == "Any dam."


def test_the_database_refuses_two_current_versions_of_a_side(pair):
    factories.narrative(pair, "altered", "Second.", version=2)

    with pytest.raises(IntegrityError), transaction.atomic():
        pair.narratives.filter(side="altered").update(is_current=True)

    assert Narrative.objects.current().filter(pair=pair, side="altered").get().version == 2
