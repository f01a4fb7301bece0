"""Leads filter instructions by words, category, author, auditor and criterion, and stay blind."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Narrative
from audit.reviews.criteria import MULTICONIR
from audit.reviews.decisions import decide
from audit.reviews.rubrics import choose_rubric, chosen_rubrics
from audit.settling.forms import QueueFilterForm
from tests import factories
from tests.programs import Program
from tests.second_pass import submit_levels, take_reviews


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    return take_reviews(scene_of_file)


@pytest.fixture
def several(scene):
    """The scene with two more instructions: on dunes, which dan rejects, and on birds."""
    project = scene.project
    scene.pair.category = "scope"
    scene.pair.save()
    for name, title, text, category in (
        ("302", "Dunes", "Only dunes that move count.", "scope"),
        ("303", "Birds", "Only waders count.", ""),
    ):
        query = factories.query(project, name, title=title)
        pair = factories.pair(query, pair_id=f"{name}_1", altered=text, category=category)
        setattr(scene, title.lower(), pair)
        narrative = factories.altered(pair)
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=scene.dan)
        poor = {"query_dependency": "poor"} if title == "Dunes" else {}
        submit_levels(narrative, scene.dan, **poor)
    Narrative.objects.filter(pair=scene.birds, side="altered").update(author=scene.ben)
    return scene


def listed(client, scene, **parameters):
    response = client.get(reverse("audit:reviews", args=[scene.project.slug]), parameters)
    return [row.pair.pair_id for row in response.context["rows"]]


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"search": "WADERS"}, ["303_1"]),
        ({"search": "dunes"}, ["302_1"]),
        ({"search": "303_"}, ["303_1"]),
        ({"search": "no such words"}, []),
        ({"category": "-"}, ["303_1"]),
        ({"criterion": "query_dependency"}, ["302_1"]),
        ({"criterion": "semantic_expansion"}, []),
    ],
)
def test_instructions_can_be_found_by_words_category_and_criterion(
    several, client, parameters, found
):
    client.force_login(several.carla.user)

    assert listed(client, several, **parameters) == found


def test_instructions_can_be_found_by_criteria_of_earlier_rubrics(several, client):
    client.force_login(several.carla.user)
    address = reverse("audit:reviews", args=[several.project.slug])
    before = client.get(address).context["form"].fields["criterion"].choices
    choose_rubric(project=several.project, name="multiconir-1", by=several.carla)

    offered = client.get(address).context["form"].fields["criterion"].choices

    # "Any", the criteria of the current rubric, then those of the reviews that there are.
    current = [(one.key, one.name) for one in MULTICONIR.criteria]
    assert offered == [("", "Any"), *current, *before[1:]]
    assert listed(client, several, criterion="query_dependency") == ["302_1"]
    criteria = QueueFilterForm(several.carla)["criterion"].field.widget
    assert list(criteria.choices)[1:] == offered[1:]


def test_criteria_of_a_rubric_that_nobody_used_are_not_offered(scene):
    choose_rubric(project=scene.project, name="multiconir-1", by=scene.carla)

    assert chosen_rubrics(scene.project.pk) == [MULTICONIR]


def test_instructions_can_be_found_by_author_and_auditor(several, client):
    client.force_login(several.carla.user)

    assert listed(client, several, author=several.ben.pk) == ["303_1"]
    assert listed(client, several, auditor=several.dan.pk) == ["302_1", "303_1"]


def test_a_filter_and_a_state_combine(several, client):
    client.force_login(several.carla.user)

    assert listed(client, several, state="to-decide") == ["302_1"]
    assert listed(client, several, state="to-decide", search="waders") == []


def test_instructions_are_listed_by_the_outcome_of_their_decision(several, client):
    client.force_login(several.carla.user)
    decide(
        narrative=factories.altered(several.dunes),
        outcome="accepted",
        reason="Clear enough.",
        by=several.carla,
    )

    assert listed(client, several, state="to-decide") == []
    assert listed(client, several, state="accepted") == ["302_1"]
    assert listed(client, several, state="removed") == []


def test_filters_reveal_nothing_to_a_lead_who_owes_a_review(several, client):
    assignments.take(
        pair=several.dunes, task=Assignment.Task.REVIEW, by=several.carla, become_blind=True
    )
    client.force_login(several.carla.user)

    assert listed(client, several, criterion="query_dependency") == []
    assert listed(client, several, auditor=several.dan.pk) == ["303_1"]
    assert "302_1" in listed(client, several)


def test_members_can_filter_only_by_words_and_category(several, client):
    client.force_login(several.ada.user)
    response = client.get(reverse("audit:reviews", args=[several.project.slug]))

    assert list(response.context["form"].fields) == ["search", "category"]
    every = [
        "303_1" in listed(client, several, auditor=several.ben.pk),
        len(response.context["rows"]),
    ]
    assert every == [True, 3]


def test_programs_find_the_same(several):
    leads, judges = Program("carla", "lead"), Program("ada")
    address = "projects/tides/reviews/"

    found = leads.get(f"{address}?criterion=query_dependency").json()["results"]
    assert [row["pair_id"] for row in found] == ["302_1"]
    assert judges.get(f"{address}?search=dunes").json()["results"][0]["pair_id"] == "302_1"
    assert judges.get(f"{address}?auditor={several.dan.pk}").status_code == 403


def test_only_categories_of_instructions_are_offered(several, client):
    client.force_login(several.carla.user)
    # A topic without an instruction.
    factories.pair(factories.query(several.project, "304"), category="unwritten", altered=None)

    page = client.get(reverse("audit:reviews", args=[several.project.slug]))

    choices = page.context["form"].fields["category"].choices
    assert choices == [("", "Any"), ("-", "None named"), ("scope", "scope")]
