"""Draws in turn from labels that comply, violate and are off topic; the plan of a kind."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.urls import reverse

from audit.checks import actions
from audit.checks.claims import ClaimSelection, build_frame, narrative_name
from audit.checks.samples import plan
from audit.models import Sample
from base.errors import Refused
from base.sampling import draw as draw_names
from base.sampling import place
from tests import factories
from tests.checks.checking import claimed_scene, draw
from tests.pages import tight
from tests.programs import Program

pytestmark = pytest.mark.both_databases

# Of C1: 4 comply, 4 violate, 3 are off topic. Of S1: 1 complies, 5 violate, none is off topic.
COMPLY, VIOLATE, OFF = 4, 4, 3
CLAIMED = {
    "C1": {
        **{f"c{n}": 1 for n in range(COMPLY)},
        **{f"v{n}": 0 for n in range(VIOLATE)},
        **{f"o{n}": 0 for n in range(OFF)},
    },
    "S1": {"c9": 1, **{f"v{n}": 0 for n in range(10, 15)}},
}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    made = claimed_scene(CLAIMED)
    made.project.grades.filter(value=2).delete()
    for doc_id, candidate in made.candidates.items():
        candidate.prior_relevance = int(not doc_id.startswith("o"))
        candidate.save()
    made.selection = ClaimSelection(Sample.Source.MACHINE, made.model, asks=Sample.Asks.QUESTIONS)
    return made


def test_parts_are_drawn_in_turn_and_an_exhausted_part_is_skipped():
    parts = {"a": 0, "b": 0, "c": 0, "d": 1, "e": 2, "f": 2}

    for seed in range(20):
        (names,) = draw_names({"s": parts}, size=5, seed=seed, parts=parts).values()
        assert [parts[name] for name in names] == [0, 1, 2, 0, 2]
        # A larger sample contains the smaller one.
        assert draw_names({"s": parts}, size=6, seed=seed, parts=parts)["s"][:5] == names


def test_five_of_each_instruction_are_two_that_comply_two_that_violate_and_one_off_topic(scene):
    sample = draw(scene, stratify="label", per="instruction", size=5)

    drawn = sorted(
        sample.items.values_list("narrative__pair__category", "stratum", "candidate__document")
    )
    taken = {
        category: sorted(stratum for of, stratum, _ in drawn if of == category)
        for category in CLAIMED
    }
    assert taken == {
        "C1": ["complies"] * 2 + ["off topic"] + ["violates"] * 2,
        "S1": ["complies"] + ["violates"] * 4,
    }
    assert sample.frame == {"complies": 5, "off topic": 3, "violates": 9}


@pytest.mark.parametrize("per", ["instruction", "stratum"])
def test_the_order_of_checking_does_not_follow_what_is_claimed(scene, per):
    found = build_frame(scene.project, scene.selection)

    for seed in range(10):
        drawn = plan(found, stratify="label", per=per, size=3, seed=seed, fewer=True)
        names = [(narrative_name(one.narrative), one.name) for one, _stratum in drawn.units]
        assert names == sorted(names, key=lambda name: (name[0], place(seed, name[1])))


def test_the_same_seed_draws_the_same_tables(scene):
    found = build_frame(scene.project, scene.selection)
    choices: Any = {"stratify": "label", "per": "instruction", "size": 5}

    first, again, other = (plan(found, seed=seed, **choices) for seed in (7, 7, 8))

    assert first.units == again.units
    assert first.units != other.units


def test_a_size_per_stratum_draws_as_many_of_each_label(scene):
    sample = draw(scene, stratify="label", per="stratum", size=3)

    assert sorted(sample.items.values_list("stratum", flat=True)) == (
        ["complies"] * 3 + ["off topic"] * 3 + ["violates"] * 3
    )


def test_a_stratum_named_after_claims_is_hidden_until_the_label_is_checked(scene, client):
    sample = draw(scene, stratify="label", per="stratum", size=1)
    checked = sample.items.get(stratum="complies")
    client.force_login(scene.carla.user)

    def strata_of_labels():
        table = client.get(reverse("audit:sample_labels", args=[sample.pk])).getvalue().decode()
        rows = (
            Program("carla", "read", "lead").get(f"samples/{sample.pk}/labels/").json()["results"]
        )
        page = client.get(reverse("audit:sample", args=[sample.pk])).content.decode()
        return (
            sorted(row["stratum"] for row in csv.DictReader(io.StringIO(table))),
            sorted(row["stratum"] for row in rows),
            re.findall(r"<td><bdi>(complies|violates|off topic)</bdi></td>", tight(page)),
        )

    before = strata_of_labels()
    for checker in (scene.ada, scene.ben):
        actions.check(item=checked, questions={"topic": "yes", "constraint": "yes"}, by=checker)

    assert before == (["", "", ""], ["", "", ""], [])
    assert strata_of_labels() == (["", "", "complies"], ["", "", "complies"], ["complies"])


def test_labels_cannot_be_strata_of_condition_counts(scene):
    scene.narratives["C1"].conditions.create(number=1, text="One.")

    with pytest.raises(Refused, match="cannot have these strata"):
        draw(scene, selection=scene.selection._replace(asks="count"), stratify="label", size=1)


def test_a_lead_draws_what_the_kind_plans_without_choosing(scene, client):
    scene.project.kind = "followtable"
    scene.project.save()
    client.force_login(scene.carla.user)

    listed = client.get(reverse("audit:checks", args=["tides"])).content.decode()
    form = client.get(reverse("audit:new_sample", args=["tides"]), {"planned": 0}).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent = {name: value for name, value in sent.items() if value is not False}
    client.post(reverse("audit:new_sample", args=["tides"]), {**sent, "name": "Five each"})

    assert "?planned=0" in listed
    made = Sample.objects.get()
    assert (made.asks, made.stratify, made.per, made.size, made.shows_reason) == (
        "questions",
        "label",
        "instruction",
        5,
        True,
    )
    assert made.items.count() == 10


def test_documents_never_relevant_are_claimed_to_stay_so_under_every_altered_narrative(scene):
    factories.candidate(factories.query(scene.project, "400"), "x", 0)

    found = build_frame(scene.project, ClaimSelection(Sample.Source.NEVER))

    # Query 400 has no narrative under which its document could be checked.
    assert sorted((one.doc_id, one.narrative.side, one.relevance) for one in found.claims) == [
        ("o0", "altered", 0),
        ("o1", "altered", 0),
        ("o2", "altered", 0),
    ]


def test_the_kind_of_followir_plans_the_spot_check_of_these_documents(scene, client):
    scene.project.kind = "followir"
    scene.project.save()
    client.force_login(scene.carla.user)

    form = client.get(reverse("audit:new_sample", args=["tides"]), {"planned": 0}).context["form"]

    assert (form["claims"].value(), form["size"].value()) == ("never", 100)
