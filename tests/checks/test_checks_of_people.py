"""Samples of what people's judgments come to stay closed to a lead who still has to judge."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.models import Assignment, Run
from audit.checks.claims import ClaimSelection
from audit.models import Sample
from base.errors import Refused
from tests import factories
from tests.checks.checking import claimed_scene, draw
from tests.programs import Program

PEOPLE = ClaimSelection(Sample.Source.CONSENSUS)


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    """ada has judged every document of a pair that carla, who leads, has yet to judge."""
    made = claimed_scene()
    narrative = made.narratives["C1"]
    for doc_id, relevance in (("A", 2), ("B", 0), ("C", 0)):
        factories.judgment(narrative, made.candidates[doc_id], made.ada, relevance)
    factories.assignment(narrative.pair, made.carla, Assignment.Task.JUDGE)
    made.run = Run.objects.create(project=made.project, name="bm25")
    return made


SENTENCE = "you may not know what people's judgments come to"


def test_the_form_does_not_count_what_people_judged(scene, client):
    client.force_login(scene.carla.user)
    sent = {"claims": "consensus", "stratify": "label", "size": 1, "per": "stratum", "seed": 1}

    page = client.post(
        reverse("audit:new_sample", args=["tides"]), {"name": "People", "preview": "1", **sent}
    )

    assert page.status_code == 422
    assert page.context["plans"] == []
    assert SENTENCE in page.context["form"].errors["claims"][0]


def test_suspects_do_not_list_what_people_judged_relevant(scene, client):
    client.force_login(scene.carla.user)
    rule = {"claims": "consensus", "runs": scene.run.pk, "at_least": 1, "depth": 10}

    page = client.get(reverse("audit:suspects", args=["tides"]), rule)

    assert page.context["result"] is None
    assert SENTENCE in page.context["form"].errors["claims"][0]


def test_a_sample_of_what_people_judged_is_closed_until_the_lead_has_judged(scene, client):
    client.force_login(scene.carla.user)
    scene.carla.assignments.all().delete()
    sample = draw(scene, selection=PEOPLE, stratify="none")
    assert "figures" in client.get(sample.get_absolute_url()).context
    factories.assignment(scene.narratives["C1"].pair, scene.carla, Assignment.Task.JUDGE)

    page = client.get(sample.get_absolute_url())
    table = client.get(reverse("audit:sample_labels", args=[sample.pk]))
    read = [
        Program("carla", "lead").send("GET", f"samples/{sample.pk}/{part}/").status_code
        for part in ("figures", "labels")
    ]

    assert "figures" not in page.context
    assert "these labels are what people" in page.text
    assert (table.status_code, read) == (403, [403, 403])


def test_programs_do_not_read_it_either(scene):
    carla = Program("carla", "lead")
    plan = {"source": "consensus", "stratify": "label", "size": 1, "per": "stratum", "seed": 1}

    planned = carla.send("POST", "projects/tides/samples/plan/", plan)
    suspects = carla.send("GET", "projects/tides/suspects/?source=consensus&at_least=1&depth=10")

    assert (planned.status_code, suspects.status_code) == (422, 422)


def test_no_sample_is_drawn_until_the_lead_has_judged(scene):
    with pytest.raises(Refused, match=SENTENCE):
        draw(scene, selection=PEOPLE, stratify="none")

    for doc_id in "ABC":
        judging.judge(
            narrative=scene.narratives["C1"],
            candidate=scene.candidates[doc_id],
            relevance=0,
            by=scene.carla,
        )

    assert draw(scene, selection=PEOPLE, stratify="none", size=1).items.count() == 1
