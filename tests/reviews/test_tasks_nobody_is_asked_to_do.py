"""A project may leave a task out: if it wants nobody to do it, no assignment of it is offered."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.judgments.completion import judging
from annotate.models import Assignment
from annotate.overview.progress import task_progress
from annotate.projects import actions as projects
from annotate.projects.kinds import KindGrade
from audit.reviews.passes import narratives_to_decide
from base.errors import Refused
from tests import factories
from tests.pages import shows

GRADES = [KindGrade(0, "No"), KindGrade(1, "Yes"), KindGrade(2, "Very")]


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


def leave_out(task, carla):
    return projects.change_rules(changes={f"overlap_{task}": 0}, grades=GRADES, by=carla)


@pytest.fixture
def audited(carla):
    """A pair with a narrative that a model wrote, in a project where people only review."""
    pair = factories.pair(factories.query(carla.project))
    factories.candidate(pair.query)
    unwritten = factories.query(carla.project, "302")
    carla.project.pairs.create(query=unwritten, pair_id="302")
    for task in ("rewrite", "judge"):
        carla.project = leave_out(task, carla)
    return pair


@pytest.mark.parametrize("task", ["rewrite", "judge"])
def test_no_assignment_of_the_left_out_task_is_given(audited, task):
    ada = factories.member(audited.project, "ada")
    ada.project.refresh_from_db()

    assert assignments.take_next(task=task, by=ada) is None
    with pytest.raises(Refused, match="Every task on this one is taken"):
        assignments.take(pair=audited, task=task, by=ada)


def test_the_other_tasks_go_on(audited, client):
    ada = factories.member(audited.project, "ada")
    ada.project.refresh_from_db()

    assert [one.task for one in task_progress(ada, judging(ada.project))] == ["review"]
    assignment = assignments.take_next(task=Assignment.Task.REVIEW, by=ada)
    assert assignment is not None
    assert assignment.pair == audited

    client.force_login(ada.user)
    home = client.get(reverse("annotate:home")).content.decode()
    assert 'name="task"' not in home


def test_instructions_do_not_wait_for_a_decision_if_nobody_reviews(carla):
    factories.pair(factories.query(carla.project))
    carla.project = leave_out("review", carla)

    assert list(narratives_to_decide(carla)) == []


@pytest.mark.parametrize("has_instruction", [True, False])
def test_the_list_says_that_nobody_is_asked_to_review(carla, client, has_instruction):
    if has_instruction:
        factories.pair(factories.query(carla.project))
    carla.project = leave_out("review", carla)
    setting = reverse("annotate:settings", args=["tides"])

    pages = {}
    for member in (carla, factories.member(carla.project, "ada")):
        client.force_login(member.user)
        pages[member.name] = client.get(reverse("audit:reviews", args=["tides"])).content.decode()

    for page in pages.values():
        main = page[page.index("<h1>Reviews") :]
        assert "Nobody is asked to review" in main
        assert "Every instruction is reviewed" not in main
        assert "0 of 0" not in main
        assert (f'href="{setting}' in main) == (page is pages["carla"])


def test_the_pages_of_the_project_open_without_the_task(audited, client):
    lead = audited.project.memberships.get(role="lead")
    client.force_login(lead.user)

    for name in ("project", "progress", "matrix", "queries"):
        assert client.get(reverse(f"annotate:{name}", args=["tides"])).status_code == 200
    assert client.get(reverse("audit:reviews", args=["tides"])).status_code == 200


@pytest.mark.parametrize("name", ["project", "progress", "queries", "home"])
def test_pages_show_no_number_of_judgments_if_nobody_is_asked_to_judge(audited, client, name):
    client.force_login(audited.project.memberships.get(role="lead").user)

    where = [] if name == "home" else ["tides"]
    page = client.get(reverse(f"annotate:{name}", args=where)).content.decode()

    # The list of queries has no column of judgments then.
    assert "obody is asked to judge" in page or name in {"home", "queries"}
    assert name != "queries" or not shows(page, ">Answered<")
    # Reviews are wanted, and counted.
    of_judgments = re.sub(r"reviews, of [0-9,]+ wanted", "", page)
    assert not re.search(r"\bof [0-9,]+ (judgments|wanted)|[0-9] of 0", of_judgments)


@pytest.mark.parametrize("name", ["project", "progress"])
def test_pages_show_no_number_of_judgments_before_anybody_judges(carla, client, name):
    pair = factories.pair(factories.query(carla.project))
    factories.candidate(pair.query)
    client.force_login(carla.user)
    url = reverse(f"annotate:{name}", args=["tides"])

    before = client.get(url).content.decode()
    assignments.take(pair=pair, task="judge", by=factories.member(carla.project, "ada"))
    after = client.get(url).content.decode()

    assert "obody judges yet" in before
    assert not re.search(r"\bof [0-9,]+ (judgments|wanted)", before)
    assert re.search(r"\bof 2 (judgments|wanted)", after)
