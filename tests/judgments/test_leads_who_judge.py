"""A lead is warned before taking an assignment that hides the project's figures from them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.judgments.blindness import must_answer_first
from annotate.models import Assignment, InstructionPair
from audit.reviews.actions import take_review
from tests import factories
from tests.programs import Program

JUDGE, REWRITE, REVIEW = Assignment.Task.JUDGE, Assignment.Task.REWRITE, Assignment.Task.REVIEW


@pytest.fixture
def tides(db):
    """A pair to judge and to review, and one to rewrite; ada judges, carla leads."""
    project = factories.project()
    query = factories.query(project)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    unwritten = InstructionPair.objects.create(project=project, query=query, pair_id="301-b")
    factories.narrative(unwritten, "original", "Any plant counts.")
    return SimpleNamespace(
        project=project,
        pair=pair,
        candidate=candidate,
        ada=factories.member(project, "ada"),
        carla=factories.lead(project),
    )


def assignment_form(tides: SimpleNamespace, task: str) -> tuple[str, dict[str, Any]]:
    """Return the URL at which a page asks for an assignment, and the form it sends."""
    return {
        "judge the next": (reverse("annotate:assignment", args=["tides"]), {"task": JUDGE}),
        "review the next": (reverse("annotate:assignment", args=["tides"]), {"task": REVIEW}),
        "judge this pair": (
            reverse("annotate:pair_assignment", args=[tides.pair.pk]),
            {"task": JUDGE},
        ),
        "review": (reverse("audit:review_assignment", args=["tides"]), {}),
    }[task]


FORMS = ["judge the next", "review the next", "judge this pair", "review"]


@pytest.mark.parametrize("task", FORMS)
def test_a_lead_confirms_an_assignment_that_hides_figures(tides, client, task):
    client.force_login(tides.carla.user)
    url, form = assignment_form(tides, task)

    response = client.post(url, form)
    before = Assignment.objects.count()
    taken = client.post(url, {**form, "become_blind": "yes"})

    assert "you see no agreement and no report of it" in response.content.decode()
    assert 'name="become_blind" value="yes"' in response.content.decode()
    assert (before, taken.status_code, Assignment.objects.count()) == (0, 302, 1)


@pytest.mark.parametrize("task", FORMS)
def test_an_annotator_confirms_nothing(tides, client, task):
    client.force_login(tides.ada.user)
    url, form = assignment_form(tides, task)

    assert client.post(url, form).status_code == 302
    assert Assignment.objects.count() == 1


def test_a_lead_confirms_no_rewriting(tides):
    assert assignments.take_next(task=REWRITE, by=tides.carla) is not None
    assert not must_answer_first(tides.carla)


def test_a_lead_who_is_blind_already_is_not_asked_again(tides):
    assignments.take(pair=tides.pair, task=JUDGE, by=tides.carla, become_blind=True)

    assert take_review(by=tides.carla) is not None


def test_an_untouched_assignment_that_is_given_back_shows_the_figures_again(tides, client):
    assignment = assignments.take_next(task=JUDGE, by=tides.carla, become_blind=True)
    assert assignment is not None
    client.force_login(tides.carla.user)
    agreement = reverse("audit:agreement", args=["tides"])
    hidden = client.get(agreement).content.decode()

    client.post(reverse("annotate:give_back_assignment", args=["tides", assignment.pk]))

    assert "You have judging or reviewing left in this project" in hidden
    assert 'id="compute"' not in hidden
    assert "You have judging or reviewing left" not in client.get(agreement).content.decode()
    assert not must_answer_first(tides.carla)


def test_the_overview_offers_such_an_assignment_to_leads_below_everything_else(tides, client):
    client.force_login(tides.carla.user)
    overview = client.get(reverse("annotate:project", args=["tides"]))
    home = client.get(reverse("annotate:home"))
    page = overview.content.decode()

    assert [task.task for task in overview.context["offered"]] == ["rewrite"]
    assert [task.task for task in overview.context["hiding"]] == ["judge", "review"]
    assert page.index("Who is where") < page.index("Judge or review yourself")
    offered, hiding = home.content.decode().split("home-hiding")
    assert re.findall(r'name="task" value="(\w+)"', offered) == ["rewrite"]
    assert re.findall(r'name="task" value="(\w+)"', hiding) == ["judge", "review"]

    client.force_login(tides.ada.user)
    offered = client.get(reverse("annotate:project", args=["tides"])).context
    assert [task.task for task in offered["offered"]] == ["rewrite", "judge", "review"]
    assert offered["hiding"] == []


@pytest.mark.parametrize("task", ["next", "pair", "review"])
def test_a_program_of_a_lead_sends_the_confirmation(tides, task):
    program = Program("carla", "judge")
    address, sent = {
        "next": ("projects/tides/assignments/", {"task": "judge"}),
        "pair": (f"pairs/{tides.pair.pk}/assignments/", {"task": "judge"}),
        "review": ("projects/tides/reviews/assignment/", {}),
    }[task]

    refused = program.send("POST", address, sent)
    before = Assignment.objects.count()
    taken = program.send("POST", address, {**sent, "become_blind": True})

    assert (refused.status_code, before) == (422, 0)
    assert "Send “become_blind” as true" in refused.json()["detail"]
    assert (taken.status_code, Assignment.objects.count()) == (200, 1)


def test_a_lead_who_judged_everything_sees_the_figures_again(tides):
    assignments.take(pair=tides.pair, task=JUDGE, by=tides.carla, become_blind=True)

    judging.judge(
        narrative=factories.altered(tides.pair),
        candidate=tides.candidate,
        relevance=1,
        by=tides.carla,
    )

    assert not must_answer_first(tides.carla)
