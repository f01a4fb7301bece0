"""Why a table violates: stored with the label, shown after the answer, which then cannot change."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.models import Judgment
from audit.checks import actions
from audit.checks.claims import build_frame
from audit.models import Check
from audit.settling.views.kind_pages import recent_decisions
from base.errors import Refused
from tests.checks.checking import claimed_scene, draw

pytestmark = pytest.mark.both_databases

WHY = "It is about inland harbours."


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    made = claimed_scene({"C1": {"A": 1, "B": 0, "C": 0}})
    for doc_id in "AB":
        Judgment.objects.filter(candidate=made.candidates[doc_id]).update(note=WHY)
    return made


@pytest.fixture
def sample(scene):
    return draw(scene, shows_reason=True)


def item(sample, doc_id="B"):
    return sample.items.get(candidate__document__doc_id=doc_id)


def test_a_label_that_is_not_relevant_carries_the_note_of_its_claim(scene, sample):
    claims = {one.doc_id: one.reason for one in build_frame(scene.project, scene.selection).claims}

    assert claims == {"A": "", "B": WHY, "C": ""}
    assert item(sample).reason == WHY


def test_nobody_sees_the_reason_before_having_answered(scene, sample, client):
    client.force_login(scene.ada.user)

    shown = client.get(reverse("audit:check", args=[item(sample).pk])).content.decode()
    answer = client.get(reverse("audit:api_label", args=[item(sample).pk])).json()
    refused = client.post(reverse("audit:api_label_reason", args=[item(sample).pk]))

    assert WHY not in shown
    assert re.search(r'id="read-reason"[^>]* disabled>', shown)
    assert (answer["reason"], answer["shows_reason"]) == (None, True)
    assert refused.status_code == 422
    assert WHY not in refused.content.decode()


def test_the_page_offers_the_reason_after_the_answer_of_labels_with_and_without_one(
    scene, sample, client
):
    client.force_login(scene.ada.user)
    for doc_id in "BC":
        actions.check(item=item(sample, doc_id), relevance=0, by=scene.ada)
        answered = client.get(reverse("audit:check", args=[item(sample, doc_id).pk]))
        assert not re.search(r'id="read-reason"[^>]* disabled>', answered.content.decode())
        assert WHY not in answered.content.decode()

    shown = client.post(reverse("audit:check_reason", args=[item(sample, "B").pk]), follow=True)
    other = client.post(reverse("audit:check_reason", args=[item(sample, "C").pk]), follow=True)

    assert WHY in shown.content.decode()
    assert "No reason is given" in other.content.decode()


def test_reading_the_reason_makes_a_check_final(scene, sample):
    actions.check(item=item(sample), relevance=1, by=scene.ada)
    read = actions.read_reason(item=item(sample), by=scene.ada)

    assert actions.read_reason(item=item(sample), by=scene.ada).reason_read_at == (
        read.reason_read_at
    )
    with pytest.raises(Refused, match="You have read the reason"):
        actions.check(item=item(sample), relevance=0, by=scene.ada)
    with pytest.raises(Refused, match="You have read the reason"):
        actions.withdraw_check(item=item(sample), by=scene.ada)
    assert Check.objects.current().get().relevance == 1


def test_reading_the_reason_makes_a_settlement_final(scene, sample):
    actions.check(item=item(sample), relevance=1, by=scene.ada)
    actions.check(item=item(sample), relevance=0, by=scene.ben)
    actions.settle(item=item(sample), relevance=1, by=scene.dan)
    actions.read_reason(item=item(sample), by=scene.dan)

    with pytest.raises(Refused, match="You have read the reason"):
        actions.settle(item=item(sample), relevance=0, by=scene.dan)
    with pytest.raises(Refused, match="You have read the reason"):
        actions.withdraw_check(item=item(sample), by=scene.dan)


def test_a_settlement_whose_reason_was_read_is_not_offered_to_be_undone(scene, sample):
    actions.check(item=item(sample), relevance=1, by=scene.ada)
    actions.check(item=item(sample), relevance=0, by=scene.ben)
    settled = actions.settle(item=item(sample), relevance=1, by=scene.dan)
    before = recent_decisions(scene.dan)

    actions.read_reason(item=item(sample), by=scene.dan)

    assert before == [settled]
    assert recent_decisions(scene.dan) == []


def test_a_sample_that_does_not_show_reasons_refuses(scene, client):
    sample = draw(scene)
    actions.check(item=item(sample), relevance=1, by=scene.ada)
    client.force_login(scene.ada.user)

    shown = client.get(reverse("audit:check", args=[item(sample).pk])).content.decode()

    assert "read-reason" not in shown
    with pytest.raises(Refused, match="does not show why"):
        actions.read_reason(item=item(sample), by=scene.ada)


def test_programs_read_the_reason_once_they_have_answered(scene, sample, client):
    client.force_login(scene.ada.user)
    actions.check(item=item(sample), relevance=1, by=scene.ada)

    answer = client.post(reverse("audit:api_label_reason", args=[item(sample).pk])).json()

    assert answer["reason"] == WHY


def test_leads_read_the_reason_in_the_list_once_the_label_is_checked(scene, sample, client):
    client.force_login(scene.carla.user)
    before = client.get(reverse("audit:sample", args=[sample.pk])).content.decode()
    for by in (scene.ada, scene.ben):
        actions.check(item=item(sample), relevance=1, by=by)

    after = client.get(reverse("audit:sample", args=[sample.pk])).content.decode()

    assert WHY not in before
    assert WHY in after
