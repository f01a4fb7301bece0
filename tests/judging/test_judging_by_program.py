"""Judging through the API: the same action as on the page, in JSON."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Judgment
from tests import factories

ONE = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def scene(db, client):
    class Scene:
        def __init__(self) -> None:
            self.project = factories.project()
            self.query = factories.query(self.project)
            self.candidate = factories.candidate(self.query, "A")
            self.pair = factories.pair(self.query)
            self.narrative = factories.altered(self.pair)
            self.ada = factories.member(self.project, "ada")
            self.url = reverse("annotate:api_judgments", args=[self.pair.pk])

        def post(self, **more):
            sent = {
                "uuid": ONE,
                "narrative": self.narrative.pk,
                "candidate": self.candidate.pk,
                "relevance": 2,
            }
            return client.post(self.url, {**sent, **more}, content_type="application/json")

    made = Scene()
    assignments.take(pair=made.pair, task=Assignment.Task.JUDGE, by=made.ada)
    client.force_login(made.ada.user)
    return made


def test_a_judgment_is_saved_and_listed(scene, client):
    response = scene.post(note="see line 3")

    assert response.status_code == 201
    (listed,) = client.get(scene.url).json()["results"]
    assert listed["uuid"] == ONE
    assert (listed["relevance"], listed["note"]) == (2, "see line 3")
    assert Judgment.objects.get().uuid == UUID(ONE)


def test_a_judgment_sent_twice_counts_once(scene):
    first, second = scene.post(), scene.post()

    assert first.json() == second.json()
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize(
    ("invalid", "status", "sentence"),
    [
        ({"relevance": 7}, 422, "not a grade"),
        ({"relevance": "two"}, 400, "valid integer"),
        ({"uuid": "one"}, 400, "valid UUID"),
        ({"candidate": 999_999}, 404, ""),
        ({"narrative": 999_999}, 404, ""),
        ({"note": "x" * 10_001}, 422, "10,000"),
        ({"made_at": "9998-01-01T00:00:00Z"}, 400, "before 1970 or in the future"),
        ({"made_at": "1066-10-14T09:00:00Z"}, 400, "before 1970 or in the future"),
    ],
)
def test_invalid_input_is_refused_and_changes_nothing(scene, invalid, status, sentence):
    response = scene.post(**invalid)

    assert response.status_code == status
    assert sentence in response.content.decode()
    assert not Judgment.objects.exists()


def test_an_old_narrative_is_a_conflict(scene):
    factories.narrative(scene.pair, text="In estuaries only.", version=2)

    response = scene.post()

    assert response.status_code == 409
    assert "changed while you were reading" in response.json()["detail"]
    assert not Judgment.objects.exists()


def test_others_judgments_are_not_listed(scene, client):
    ben = factories.member(scene.project, "ben")
    factories.judgment(scene.narrative, scene.candidate, ben, 1)

    assert client.get(scene.url).json()["results"] == []
