"""A lead sends a disagreement back to one of the annotators, and it waits for their answer."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Condition, RejudgeRequest, Verdict
from audit.settling import queue as disagreements
from audit.settling.queue_filters import DisagreementKey, Kind, Wanted
from tests import factories

WORDS = "Read the second paragraph."


@pytest.fixture
def asked(disputed):
    """The scene with an assignment for ada, and names shown."""
    disputed.project.hide_names = False
    disputed.project.save()
    assignments.take(pair=disputed.pair, task=Assignment.Task.JUDGE, by=disputed.ada)
    return disputed


def url(scene, name: str = "disagreement") -> str:
    return reverse(f"audit:{name}", args=[scene.narrative.pk, scene.first.pk])


def listed(scene, **wanted) -> list[int]:
    found = disagreements.page(scene.carla, Wanted(**wanted)).items
    return [item.key.candidate for item in found]


def send(scene, client, query: str = "", **fields):
    client.force_login(scene.carla.user)
    given = {"judgment": scene.adas.pk, "words": WORDS, **fields}
    return client.post(url(scene, "rejudge_request") + query, given, follow=True)


def test_it_leaves_what_is_open_and_waits_for_the_annotator(asked, client):
    assert listed(asked) == [asked.first.pk]

    page = send(asked, client)

    assert "S1 is sent back, and waits for an annotator." in page.content.decode()
    rejudge_request = RejudgeRequest.objects.get()
    assert (rejudge_request.judgment, rejudge_request.words, rejudge_request.by) == (
        asked.adas,
        WORDS,
        asked.carla,
    )
    assert listed(asked) == []
    assert listed(asked, waiting=True) == [asked.first.pk]
    assert disagreements.count(asked.carla, Wanted()) == 0


def test_once_answered_it_is_open_again(asked, client):
    send(asked, client)

    judging.judge(narrative=asked.narrative, candidate=asked.first, relevance=0, by=asked.ada)

    assert listed(asked) == [asked.first.pk]
    assert listed(asked, waiting=True) == []
    rows = client.get(reverse("audit:disagreements", args=["tides"])).content.decode()
    assert "looked at again" in rows
    page = client.get(url(asked)).content.decode()
    assert "answered" in page
    assert "ada was asked to look again by carla" in page
    assert WORDS in page


def test_if_they_come_to_agree_nothing_is_left(asked, client):
    send(asked, client)

    judging.judge(narrative=asked.narrative, candidate=asked.first, relevance=2, by=asked.ada)

    assert listed(asked) == listed(asked, waiting=True) == []


def test_the_list_has_a_tab_for_what_waits(asked, client):
    client.force_login(asked.carla.user)
    address = reverse("audit:disagreements", args=["tides"])
    assert "Waiting for an annotator" not in client.get(address).content.decode()

    send(asked, client)

    waiting = client.get(address + "?state=waiting").content.decode()
    assert '<a href="?state=waiting" aria-current="page">' in waiting.replace(address, "")
    assert ">S1<" in waiting
    assert "sent back" in waiting
    assert "asked by carla" in waiting
    assert ">S1<" not in client.get(address).content.decode()


def test_the_lead_takes_it_back(asked, client):
    send(asked, client)
    rejudge_request = RejudgeRequest.objects.get()

    page = client.post(
        url(asked, "rejudge_request_withdrawal"),
        {"rejudge_request": rejudge_request.pk},
        follow=True,
    ).content.decode()

    assert "nobody is asked for it any more" in page
    assert listed(asked) == [asked.first.pk]
    assert not RejudgeRequest.objects.open().exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"words": "  "}, "Say in a few words what to look at."),
        ({"judgment": ""}, "Choose whose answer is to be looked at again."),
    ],
)
def test_what_is_missing_is_said_on_the_page(asked, client, fields, sentence):
    page = send(asked, client, **fields)

    assert sentence in page.content.decode()
    assert page.redirect_chain[-1][0] == url(asked)
    assert not RejudgeRequest.objects.exists()


@pytest.mark.parametrize("judgment", ["x", "999999", "9" * 30])
def test_an_answer_that_is_not_there_is_not_found(asked, client, judgment):
    assert send(asked, client, judgment=judgment).status_code == 404


@pytest.mark.parametrize("rejudge_request", ["", "x", "999999", "9" * 30])
def test_a_rejudge_request_that_is_not_there_is_not_found(asked, client, rejudge_request):
    client.force_login(asked.carla.user)

    assert (
        client.post(
            url(asked, "rejudge_request_withdrawal"), {"rejudge_request": rejudge_request}
        ).status_code
        == 404
    )


def test_hidden_names_stay_hidden(asked, client):
    asked.project.hide_names = True
    asked.project.save()
    send(asked, client)

    page = client.get(url(asked)).content.decode()

    assert "was asked to look again by carla" in page
    assert "ada" not in page.replace("data-", "")


def test_the_page_leads_to_the_guidelines_with_the_case(asked, client):
    client.force_login(asked.carla.user)

    page = client.get(url(asked)).content.decode()

    case = f"{asked.narrative.pk}-{asked.first.pk}"
    address = f"/projects/tides/guidelines/?edit=1&amp;case={case}"
    assert f'href="{address}"' in page
    editor = client.get(address.replace("&amp;", "&")).content.decode()
    assert f'id="case-{case}" form="guideline-form" checked' in editor


def test_from_a_condition_it_comes_back_to_the_condition(asked, client):
    condition = Condition.objects.create(narrative=asked.narrative, number=1, text="At sea.")
    for judgment, answer in ((asked.adas, "met"), (asked.bens, "not_met")):
        Verdict.objects.create(judgment=judgment, condition=condition, answer=answer)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, asked.narrative.pk, asked.first.pk, condition.pk
    )
    assert disagreements.is_open(asked.carla, disagreement_key)

    send(asked, client, condition=condition.pk)

    assert not disagreements.is_open(asked.carla, disagreement_key)
    assert disagreements.count(asked.carla, Wanted(kind=Kind.VERDICT, waiting=True)) == 1
    rejudge_request = RejudgeRequest.objects.get().pk
    sent = {"rejudge_request": rejudge_request, "condition": condition.pk}
    back = client.post(url(asked, "rejudge_request_withdrawal"), sent)
    assert back.url == reverse("audit:verdict_disagreement", args=[condition.pk, asked.first.pk])


def test_the_next_one_of_the_filter_opens(asked, client):
    other = asked.second
    said = asked.narrative.judgments.get(candidate=other, annotator=asked.ada)
    said.relevance = 0
    said.save()
    disagreement_key = DisagreementKey(Kind.JUDGMENT, asked.narrative.pk, other.pk, 0)
    key = disagreements.key_of(asked.carla, Wanted(), disagreement_key)

    page = send(asked, client, query="?order=age", next=str(key))

    assert page.redirect_chain[-1][0] == (
        reverse("audit:disagreement", args=[asked.narrative.pk, other.pk]) + "?order=age"
    )


def test_a_lead_who_judges_first_sends_nothing_back(asked, client):
    factories.assignment(asked.pair, asked.carla)

    assert send(asked, client).status_code == 403
    assert not RejudgeRequest.objects.exists()


def test_what_a_file_brought_can_be_sent_back_to_who_signs_in(disputed, client):
    """ben's judgment came from a file; he gets a free assignment."""
    send(disputed, client, judgment=disputed.bens.pk)

    assignment = disputed.ben.assignments.get(task=Assignment.Task.JUDGE)
    assert isinstance(assignment.touched_at, datetime)
    assert RejudgeRequest.objects.open().get().judgment == disputed.bens
