"""Rejudge requests as a judge sees them: on the home, project and judge pages and in the list."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Judgment, Project, RejudgeRequest
from tests import factories
from tests.pages import without_random

WORDS = "Look at the second table."
NOTICE = "carla asks you to look again:"


class Scene:
    """ada judged A (1) and B (0), ben A (2) and B (0); carla asks ada to rejudge A."""

    def __init__(self) -> None:
        self.project = factories.project(judge_order=Project.Order.DOC_ID, order_seed=3)
        self.query = factories.query(self.project)
        self.first = factories.candidate(self.query, "A")
        self.second = factories.candidate(self.query, "B")
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.carla = factories.lead(self.project)
        self.ada = self._judge("ada", 1)
        self.ben = self._judge("ben", 2)
        self.judgment = Judgment.objects.get(annotator=self.ada, candidate=self.first)
        self.rejudge_request = rejudge_requests.ask(
            statement=self.judgment, words=WORDS, by=self.carla
        )

    def _judge(self, name: str, relevance: int) -> Any:
        judge = factories.member(self.project, name)
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=judge)
        for candidate, grade in ((self.first, relevance), (self.second, 0)):
            judging.judge(narrative=self.narrative, candidate=candidate, relevance=grade, by=judge)
        return judge

    def url(self, name: str, *args: Any) -> str:
        return reverse(f"annotate:{name}", args=[self.pair.pk, *args])


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def page(client, url):
    return client.get(url, follow=True).content.decode()


def test_home_says_how_many_documents_to_judge_again(scene, client):
    client.force_login(scene.ada.user)

    home = page(client, reverse("annotate:home"))

    assert "Look again: 1 document" in home
    assert scene.url("judging") in home


def test_the_project_page_says_how_many_documents_to_judge_again(scene, client):
    client.force_login(scene.ada.user)

    assert "Look again: 1 document" in page(client, scene.project.get_absolute_url())


def test_nobody_else_sees_the_request(scene, client):
    client.force_login(scene.ben.user)

    for url in (
        reverse("annotate:home"),
        scene.project.get_absolute_url(),
        scene.url("judge", scene.first.pk),
        scene.url("listing"),
        scene.url("documents") + f"?candidate={scene.first.pk}",
    ):
        shown = page(client, url)
        assert "Look again:" not in shown
        assert "data-again" not in shown
        assert WORDS not in shown


def test_judging_goes_to_the_document_with_the_words_above_it(scene, client):
    client.force_login(scene.ada.user)

    shown = page(client, scene.url("judging"))

    assert NOTICE in shown
    assert WORDS in shown
    assert f'data-again="{scene.judgment.uuid}">' in shown
    assert f'data-candidate="{scene.first.pk}"' in shown


def test_the_page_reveals_no_answers_of_others(scene, client):
    client.force_login(scene.ada.user)

    shown = page(client, scene.url("judge", scene.first.pk))

    assert "ben" not in without_random(shown)
    assert 'value="1" data-key="1"' in " ".join(shown.split())
    judging_session = json.loads(
        shown.split('id="judging-session" type="application/json">')[1].split("<")[0]
    )
    assert judging_session["asked"] == [str(scene.judgment.uuid)]
    assert judging_session["answers"][str(scene.first.pk)] == [
        "judgment",
        1,
        str(scene.judgment.uuid),
    ]


def test_without_script_the_same_grade_answers_and_all_is_done(scene, client):
    client.force_login(scene.ada.user)

    answered = client.post(
        scene.url("judgment", scene.first.pk),
        {"narrative": scene.narrative.pk, "relevance": 1, "uuid": str(uuid4())},
        follow=True,
    )

    assert "Query finished" in answered.content.decode()
    assert not RejudgeRequest.objects.open().exists()
    assert Judgment.objects.current().get(annotator=scene.ada, candidate=scene.first).replaces == (
        scene.judgment
    )
    assert "Look again" not in page(client, reverse("annotate:home"))


def test_without_script_undo_shows_the_request_again(scene, client):
    client.force_login(scene.ada.user)
    fields = {"narrative": scene.narrative.pk, "relevance": 2, "uuid": str(uuid4())}
    client.post(scene.url("judgment", scene.first.pk), fields)
    answered = page(client, scene.url("judge", scene.first.pk))

    back = client.post(scene.url("undo"), follow=True).content.decode()

    assert f'data-again="{scene.judgment.uuid}" hidden>' in answered
    assert f'data-again="{scene.judgment.uuid}">' in back


def test_a_journal_confirms_the_grade(scene, client):
    client.force_login(scene.ada.user)
    entry = {
        "uuid": str(uuid4()),
        "kind": "judgment",
        "user": scene.ada.user_id,
        "pair": scene.pair.pk,
        "narrative": scene.narrative.pk,
        "candidate": scene.first.pk,
        "made_at": "2026-11-21T12:00:00Z",
        "relevance": 1,
        "instead_of": str(scene.judgment.uuid),
    }

    answer = client.post(
        reverse("annotate:api_journal"),
        json.dumps({"entries": [entry]}),
        content_type="application/json",
    ).json()

    assert [(one["state"], one["sentence"]) for one in answer["answers"]] == [("saved", "")]
    assert not RejudgeRequest.objects.open().exists()
    assert scene.ada.assignments.get().done_at is not None


def test_the_list_shows_the_words_and_has_a_filter_for_requests(scene, client):
    client.force_login(scene.ada.user)

    whole = page(client, scene.url("listing"))
    again = page(client, scene.url("listing") + "?show=again")

    assert whole.count(NOTICE) == 1
    assert [f'id="row-{one.pk}"' in again for one in (scene.first, scene.second)] == [True, False]


def test_the_list_has_no_such_filter_without_requests(scene, client):
    client.force_login(scene.ben.user)

    assert "show=again" not in page(client, scene.url("listing"))


def test_words_of_a_lead_are_escaped(scene, client):
    RejudgeRequest.objects.update(words="<script>alert(1)</script>\nSecond line.")
    client.force_login(scene.ada.user)

    shown = page(client, scene.url("judging"))

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>alert" not in shown


def test_a_withdrawn_rejudge_request_is_not_shown(scene, client):
    rejudge_requests.withdraw(rejudge_request=scene.rejudge_request, by=scene.carla)
    client.force_login(scene.ada.user)

    assert WORDS not in page(client, scene.url("judge", scene.first.pk))
    assert "Look again" not in page(client, reverse("annotate:home"))


def test_rejudge_requests_cost_the_same_however_many_there_are(
    scene, client, django_assert_num_queries
):
    client.force_login(scene.ada.user)
    page(client, scene.url("listing"))
    with django_assert_num_queries(21) as one:
        client.get(scene.url("listing"))
    other = Judgment.objects.get(annotator=scene.ada, candidate=scene.second)
    rejudge_requests.ask(statement=other, words="And this.", by=scene.carla)

    with django_assert_num_queries(len(one)):
        client.get(scene.url("listing"))
