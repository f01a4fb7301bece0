"""The overview shows the steps of the project's kind: done, now or later, and the next one."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.judgments.completion import JudgingProgress
from annotate.models import Assignment
from annotate.overview.progress import TaskProgress
from annotate.overview.steps import Key, next_step, steps
from annotate.projects.kinds import KINDS
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.both_databases

NOTHING = JudgingProgress(0, 0, 0, 0)
Task = Assignment.Task


def states_of(member, *, judging=NOTHING, tasks=(), **context):
    found = steps(member, judging, tasks, context)
    return {one.key.value: (one.state.value, one.count) for one in found}


def task(name: Task, done: int, total: int) -> TaskProgress:
    return TaskProgress(name, str(name.label), done, total, 0)


class Scene:
    """A FollowIR project."""

    def __init__(self) -> None:
        self.project = factories.project(kind="followir", overlap_review=0)
        self.carla = factories.lead(self.project)

    def load(self) -> None:
        self.queries = [factories.query(self.project, str(301 + number)) for number in range(2)]
        for query in self.queries:
            factories.candidate(query, prior=1)


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def test_every_step_that_a_kind_names_exists():
    assert {step for kind in KINDS.values() for step in kind.steps} <= {key.value for key in Key}


def test_a_new_project_loads_first(scene):
    assert states_of(scene.carla) == {
        "load": ("now", ""),
        "choose": ("later", ""),
        "rewrite": ("later", ""),
        "judge": ("later", ""),
        "settle": ("later", ""),
        "release": ("later", ""),
    }


def test_the_next_step_follows_from_the_data(scene):
    scene.load()
    following = next_step(steps(scene.carla, NOTHING, (), {}))
    assert following is not None
    assert following.key is Key.CHOOSE

    QUERIES.remove(project=scene.project, keys=[scene.queries[0].pk], reason="No.", by=scene.carla)
    found = states_of(scene.carla, tasks=[task(Task.REWRITE, 0, 1)])
    assert (found["choose"], found["rewrite"]) == (("done", "1 of 2"), ("now", "0 of 1"))


def test_qrels_without_their_topics_do_not_finish_the_first_step(scene):
    for query_id in ("301", "302"):
        factories.candidate(factories.query(scene.project, query_id, title=""), prior=1)
    assert states_of(scene.carla)["load"] == ("now", "2 queries, 2 without a topic")
    following = next_step(steps(scene.carla, NOTHING, (), {}))
    assert following is not None
    assert following.key is Key.LOAD

    # A topic may have a narrative and no title.
    factories.pair(scene.project.queries.get(query_id="301"))

    assert states_of(scene.carla)["load"] == ("done", "2 queries, 1 without a topic")


def test_steps_that_are_under_way_together_are_all_now(scene):
    scene.load()
    found = states_of(
        scene.carla,
        judging=JudgingProgress(4, 2, 2, 1),
        tasks=[task(Task.REWRITE, 1, 2)],
        disputed=3,
    )

    assert [state for state, _count in found.values()] == [
        *("done", "done", "now", "now", "now", "later")
    ]
    assert found["settle"] == ("now", "3 to settle")
    # Each narrative that is still to be written adds documents to judge.
    everything = JudgingProgress(4, 4, 2, 2)
    all_judged = states_of(scene.carla, judging=everything, tasks=[task(Task.REWRITE, 1, 2)])
    assert all_judged["judge"] == ("now", "4 of 4")


def test_everything_done_leaves_nothing_next(scene):
    scene.load()
    release = type("Release", (), {"name": "v1"})()
    judged, rewritten = JudgingProgress(4, 4, 2, 2), task(Task.REWRITE, 2, 2)

    found = steps(scene.carla, judged, [rewritten], {"disputed": 0, "release": release})

    assert {one.state.value for one in found} == {"done"}
    assert next_step(found) is None


def test_a_step_that_a_release_does_not_wait_for_is_not_next_before_somebody_begins_it(db):
    project = factories.project(kind="own", overlap_review=2)
    carla = factories.lead(project)
    factories.candidate(factories.query(project, "301"), prior=1)
    judged = JudgingProgress(4, 4, 2, 2)

    def reviewed(count: int):
        tasks = [task(Task.REWRITE, 1, 1), task(Task.REVIEW, count, 2)]
        found = steps(carla, judged, tasks, {})
        states = {one.key.value: one.state.value for one in found}
        following = next_step(found)
        assert following is not None
        return states["review"], states["release"], following.key.value

    assert reviewed(0) == ("optional", "now", "release")
    assert reviewed(1) == ("now", "later", "review")
    assert reviewed(2) == ("done", "now", "release")


def test_a_step_that_nobody_is_asked_to_do_is_left_out(scene):
    scene.project.overlap_judge = 0
    scene.carla.project = scene.project

    assert "judge" not in states_of(scene.carla)


def test_steps_cost_one_query(scene, django_assert_num_queries):
    scene.load()
    with django_assert_num_queries(1):
        steps(scene.carla, NOTHING, (), {})


def test_the_page_and_the_api_show_the_steps_to_leads_alone(scene, client):
    scene.load()
    ada = factories.member(scene.project, "ada")
    address = reverse("annotate:project", args=["tides"])
    client.force_login(scene.carla.user)
    shown = client.get(address).content.decode()
    client.force_login(ada.user)
    hidden = client.get(address).content.decode()
    body = Program("carla", "lead").get("projects/tides/steps/").json()

    assert "Choose topics" in shown
    assert 'aria-current="step"' in shown
    assert "Choose topics" not in hidden
    assert (body["kind"], body["next"]) == ("followir", "choose")


@pytest.mark.django_db
def test_labels_that_are_sampled_are_a_step_where_labels_are_claimed(client):
    project = factories.project("tables", kind="followtable", overlap_rewrite=0, overlap_judge=0)
    carla = factories.lead(project)
    client.force_login(carla.user)

    page = client.get(reverse("annotate:project", args=["tables"])).content.decode()

    listed = page.split('<ol class="steps">')[1].split("</ol>")[0]
    assert "Audit five tables each" in listed
    assert "Rewrite" not in listed


def test_a_step_that_leads_do_is_what_needs_a_lead(scene, client):
    scene.load()
    factories.member(scene.project, "ada")
    client.force_login(scene.carla.user)

    page = client.get(reverse("annotate:project", args=["tides"])).content.decode()

    needed = page.partition('id="needs-title"')[2].partition("</section>")[0]
    assert "Choose topics" in needed
    assert "Nothing right now" not in needed


@pytest.mark.parametrize(("colleague", "words"), [(False, "Add members"), (True, "Re-judge")])
def test_the_way_on_leads_to_the_members_while_nobody_else_can_do_the_step(
    db, client, colleague, words
):
    project = factories.project("tides", kind="followir", overlap_rewrite=0)
    carla = factories.lead(project, "carla")
    factories.candidate(factories.query(project), "A", prior=1)
    gone = factories.query(project, "302")
    QUERIES.remove(project=project, keys=[gone.pk], reason="Off topic.", by=carla)
    if colleague:
        factories.member(project, "ada")

    link = Template("{% next_step member %}").render(Context({"member": carla}))

    assert f"Next: {words}" in link
