"""Decisions as the browser's journal sends them: once, in place of one's own, and undone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.models import Adjudication
from audit.settling.adjudication import adjudicate
from tests import factories

pytestmark = pytest.mark.both_databases


def uuid(number: int) -> str:
    return str(UUID(int=number, version=4))


@pytest.fixture
def led(disputed, client):
    """The scene with a second disagreement; carla sends."""
    disputed.third = factories.candidate(disputed.query, "S3")
    factories.judgment(disputed.narrative, disputed.third, disputed.ada, 0)
    factories.judgment(disputed.narrative, disputed.third, disputed.ben, 1)
    client.force_login(disputed.carla.user)
    disputed.client = client
    return disputed


def send(scene, candidate, number: int, **fields: Any) -> tuple[str, str]:
    """Send an entry about a document; return its state and sentence."""
    entry = {
        "kind": "decision",
        "uuid": uuid(number),
        "user": scene.carla.user_id,
        "made_at": timezone.now().isoformat(),
        "disagreement": f"judgment-{scene.narrative.pk}-{candidate.pk}-0",
        **fields,
    }
    body = {"entries": [entry]}
    reply = scene.client.post(
        reverse("annotate:api_journal"), body, content_type="application/json"
    )
    assert reply.status_code == 200, reply.content
    [answer] = reply.json()["answers"]
    return answer["state"], answer["sentence"]


def settle(scene, candidate, number: int, relevance: int, **more: Any) -> tuple[str, str]:
    fields = {"relevance": str(relevance), "reason": "So.", "cause": "edge"}
    return send(scene, candidate, number, fields=fields, **more)


def undo(scene, candidate, number: int, undoes: int) -> tuple[str, str]:
    return send(scene, candidate, number, kind="decision_withdrawal", undoes=uuid(undoes))


def current() -> list[tuple[str, int]]:
    rows = Adjudication.objects.current().order_by("candidate__document__doc_id")
    return list(rows.values_list("candidate__document__doc_id", "relevance"))


def test_a_decision_that_is_sent_twice_counts_once(led):
    for _ in range(2):
        assert settle(led, led.first, 1, 2) == ("saved", "")

    assert Adjudication.objects.count() == 1


def test_another_decision_under_the_same_uuid_is_refused(led):
    settle(led, led.first, 1, 2)

    for candidate, relevance in ((led.first, 1), (led.third, 2)):
        state, sentence = settle(led, candidate, 1, relevance)

        assert (state, sentence) == (
            "refused",
            "This was already sent with another decision. Reload the page.",
        )
    assert current() == [("S1", 2)]


def test_the_uuid_of_another_lead_is_refused(led):
    dora = factories.lead(led.project, "dora")
    adjudicate(
        narrative=led.narrative,
        candidate=led.first,
        relevance=2,
        reason="So.",
        cause="edge",
        uuid=UUID(uuid(1)),
        by=dora,
    )

    assert settle(led, led.first, 1, 2)[0] == "refused"


def test_undo_withdraws_the_decision_that_it_names_and_no_newer_one(led):
    settle(led, led.first, 1, 2)
    settle(led, led.first, 2, 1, instead_of=uuid(1))

    state, sentence = undo(led, led.first, 3, undoes=1)

    assert (state, sentence) == (
        "refused",
        "There is a newer decision on this. The newer one counts.",
    )
    assert current() == [("S1", 1)]
    for _ in range(2):
        assert undo(led, led.first, 4, undoes=2) == ("saved", "")
    assert current() == []


def test_undoing_a_decision_that_was_never_saved_is_refused(led):
    state, sentence = undo(led, led.first, 2, undoes=1)

    assert state == "refused"
    assert sentence.startswith("This decision is not there")
