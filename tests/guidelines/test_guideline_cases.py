"""Cases that show a gap in the guidelines lead to a new version, which records them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.guidelines.actions import cases_waiting, write_guideline
from annotate.models import Adjudication, Guideline, GuidelineCase
from audit.settling import adjudication
from base.errors import Refused
from tests import factories
from tests.pages import shows


class Scene:
    """ada and ben disagree on A and B; carla settled A with the cause "gap in the guidelines"."""

    def __init__(self) -> None:
        self.project = factories.project()
        self.query = factories.query(self.project)
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.first, self.second = (
            factories.candidate(self.query, doc_id, title=f"Title of {doc_id}") for doc_id in "AB"
        )
        self.ada, self.ben = (factories.member(self.project, name) for name in ("ada", "ben"))
        self.carla = factories.lead(self.project)
        for candidate in (self.first, self.second):
            factories.judgment(self.narrative, candidate, self.ada, 0, note="On a river.")
            factories.judgment(self.narrative, candidate, self.ben, 2)
        write_guideline(text="Read it all.", by=self.carla, based_on=0)
        self.settled = self.settle(self.first, Adjudication.Cause.GUIDELINE)

    def settle(self, candidate, cause) -> Adjudication:
        return adjudication.adjudicate(
            narrative=self.narrative,
            candidate=candidate,
            relevance=0,
            reason="The narrative does not name rivers.",
            cause=cause,
            by=self.carla,
        )

    def key(self, candidate) -> str:
        return f"{self.narrative.pk}-{candidate.pk}"

    def url(self) -> str:
        return reverse("annotate:guidelines", args=["tides"])

    def write(self, *cases, text="Read it all. Rivers do not count.") -> Guideline:
        return write_guideline(
            text=text,
            by=self.carla,
            based_on=1,
            cases=[(self.narrative.pk, candidate.pk) for candidate in cases],
        )


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def test_a_case_settled_because_of_a_gap_waits_until_a_version_answers_it(scene):
    assert list(cases_waiting(scene.project)) == [scene.settled]

    scene.write(scene.first)

    assert not cases_waiting(scene.project).exists()


def test_a_withdrawn_decision_or_one_with_another_cause_does_not_wait(scene):
    scene.settle(scene.second, Adjudication.Cause.EDGE)
    adjudication.withdraw_adjudication(adjudication=scene.settled, by=scene.carla)

    assert not cases_waiting(scene.project).exists()


def test_the_editor_ticks_the_case_named_in_the_url(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(f"{scene.url()}?edit=1&case={scene.key(scene.second)}").content.decode()

    waits, ticked = (f'id="case-{scene.key(one)}"' for one in (scene.first, scene.second))
    assert page.index(ticked) < page.index(waits)
    assert shows(page, f'{ticked} form="guideline-form" checked')
    assert shows(page, f'{waits} form="guideline-form">')
    assert reverse("audit:disagreement", args=[scene.narrative.pk, scene.second.pk]) in page
    assert shows(page, "Title of B")


def test_the_answers_are_shown_without_names(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(f"{scene.url()}?edit=1").content.decode()

    assert "On a river." in page
    assert not re.search(r"\b(ada|ben)\b", page)


def test_a_lead_who_judges_the_pair_must_answer_first(scene, client):
    factories.assignment(scene.pair, scene.carla)
    client.force_login(scene.carla.user)

    page = client.get(f"{scene.url()}?edit=1").content.decode()

    assert "Title of A" in page
    assert "On a river." not in page
    assert "The narrative does not name rivers." not in page
    assert "You judge this document yourself" in page


def test_saving_keeps_the_ticked_cases_with_the_version(scene, client):
    client.force_login(scene.carla.user)
    fields = {
        "text": "Rivers do not count.",
        "based_on": 1,
        "case": [scene.key(scene.first), scene.key(scene.second), "nonsense", "1-2-3"],
    }

    answer = client.post(scene.url(), fields)

    assert answer.status_code == 302
    linked = GuidelineCase.objects.order_by("pk").values_list("guideline__version", "candidate")
    assert list(linked) == [(2, scene.first.pk), (2, scene.second.pk)]
    page = client.get(scene.url()).content.decode()
    assert "Cases that led to this version" in page
    assert "Title of A" in page
    assert "Title of A" not in client.get(f"{scene.url()}?version=1").content.decode()


def test_annotators_see_no_cases(scene, client):
    scene.write(scene.first)
    client.force_login(scene.ada.user)

    page = client.get(scene.url()).content.decode()

    assert "Rivers do not count." in page
    assert "Title of A" not in page
    assert "another look" not in page


def test_a_refused_version_keeps_the_ticks(scene, client):
    client.force_login(scene.carla.user)
    fields = {"text": "Read it all.", "based_on": 1, "case": [scene.key(scene.second)]}

    page = client.post(scene.url(), fields)

    assert page.status_code == 422
    assert shows(page, f'id="case-{scene.key(scene.second)}" form="guideline-form" checked')
    assert not GuidelineCase.objects.exists()


def test_a_case_of_another_project_is_refused_and_nothing_saved(scene):
    other = factories.candidate(factories.query(factories.project("other")))

    with pytest.raises(Refused, match="not in this project"):
        scene.write(scene.first, other)

    assert Guideline.objects.count() == 1
    assert not GuidelineCase.objects.exists()


def test_changes_since_the_previous_version_are_marked(scene, client):
    scene.write()
    client.force_login(scene.ada.user)

    page = client.get(f"{scene.url()}?version=2&changes=1").content.decode()

    assert "What changed since version 1" in page
    assert "<ins" in page
    assert "Rivers do not count." in page


def test_the_first_version_has_nothing_to_be_compared_with(scene, client):
    client.force_login(scene.ada.user)

    page = client.get(f"{scene.url()}?version=1&changes=1").content.decode()

    assert "What changed" not in page
    assert "Read it all." in page


def test_thirty_cases_are_shown_beside_the_editor_and_the_rest_is_counted(
    scene, client, django_assert_num_queries
):
    client.force_login(scene.carla.user)
    client.get(f"{scene.url()}?edit=1")
    with django_assert_num_queries(12):
        client.get(f"{scene.url()}?edit=1")
    for number in range(31):
        candidate = factories.candidate(scene.query, f"N{number}", title=f"New {number}")
        factories.judgment(scene.narrative, candidate, scene.ada, 0)
        factories.judgment(scene.narrative, candidate, scene.ben, 1)
        scene.settle(candidate, Adjudication.Cause.GUIDELINE)

    with django_assert_num_queries(12):
        page = client.get(f"{scene.url()}?edit=1&case={scene.key(scene.first)}").content.decode()

    assert page.count('name="case"') == 31
    assert "Title of A" in page
    assert "New 30" in page
    assert "and 1 more, settled earlier" in page


def test_the_project_page_says_how_many_wait(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(scene.project.get_absolute_url()).content.decode()

    assert shows(page, "Waiting for a guideline change</a></span> <strong>1</strong>")
