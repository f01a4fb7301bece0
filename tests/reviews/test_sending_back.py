"""A lead sends a disagreement back to one of the annotators, and it waits for their answer."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Condition, Project, RejudgeRequest, Statement, Verdict
from audit.settling import queue as disagreements
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter
from tests import factories
from tests.pages import shows, without_random

WORDS = "Read the second paragraph."


@pytest.fixture
def disagreement(disputed):
    """The scene with an assignment for ada, and names shown."""
    disputed.project.hide_names = False
    disputed.project.save()
    assignments.take(pair=disputed.pair, task=Assignment.Task.JUDGE, by=disputed.ada)
    return disputed


def url(scene, name: str = "disagreement") -> str:
    return reverse(f"audit:{name}", args=[scene.narrative.pk, scene.first.pk])


def listed(scene, **wanted) -> list[int]:
    found = disagreements.read_page(scene.carla, QueueFilter(**wanted)).items
    return [item.key.candidate for item in found]


def send(scene, client, query: str = "", **fields):
    client.force_login(scene.carla.user)
    data = {"answer": scene.adas.pk, "words": WORDS, **fields}
    return client.post(url(scene, "rejudge_request") + query, data, follow=True)


def test_a_disagreement_sent_back_is_not_open_and_waits_for_the_annotator(disagreement, client):
    assert listed(disagreement) == [disagreement.first.pk]

    page = send(disagreement, client)

    assert "S1 was sent back and waits for an annotator." in page.content.decode()
    rejudge_request = RejudgeRequest.objects.get()
    assert (rejudge_request.statement, rejudge_request.words, rejudge_request.by) == (
        disagreement.adas,
        WORDS,
        disagreement.carla,
    )
    assert listed(disagreement) == []
    assert listed(disagreement, waiting=True) == [disagreement.first.pk]
    assert disagreements.count_disagreements(disagreement.carla, QueueFilter()) == 0


def test_an_answered_request_reopens_the_disagreement(disagreement, client):
    send(disagreement, client)

    judging.judge(
        narrative=disagreement.narrative,
        candidate=disagreement.first,
        relevance=0,
        by=disagreement.ada,
    )

    assert listed(disagreement) == [disagreement.first.pk]
    assert listed(disagreement, waiting=True) == []
    rows = client.get(reverse("audit:disagreements", args=["tides"])).content.decode()
    assert "looked at again" in rows
    page = client.get(url(disagreement)).content.decode()
    assert "answered" in page
    assert "ada was asked to look again by carla" in page
    assert WORDS in page


def flag(scene, kind: str) -> Statement:
    return judging.flag(
        narrative=scene.narrative, candidate=scene.first, kind=kind, words="Blurred.", by=scene.ada
    )


def test_a_lead_asks_about_a_flag_and_reads_what_came_of_it(disagreement, client):
    asked = flag(disagreement, "cannot_judge")
    client.force_login(disagreement.carla.user)
    assert f'value="{asked.pk}"' in client.get(url(disagreement)).content.decode()

    sent = send(disagreement, client, answer=asked.pk)
    waiting = client.get(url(disagreement))
    flag(disagreement, "problem")
    answered = client.get(url(disagreement))

    assert "S1 was sent back and waits for an annotator." in sent.content.decode()
    assert sent.redirect_chain[-1][0] == url(disagreement)
    assert shows(waiting, "ada was asked to look again by carla")
    assert "waits for an annotator" in waiting.content.decode()
    words = re.sub("<[^>]*>", " ", answered.content.decode())
    assert re.search(r"answered\s+ada was asked to look again by carla", words)
    assert re.search(r"Cannot judge\s+→\s+Problem with this document", words)


def test_a_flag_later_is_not_offered_to_be_asked_about(disagreement, client):
    later = flag(disagreement, "later")
    client.force_login(disagreement.carla.user)

    page = client.get(url(disagreement)).content.decode()
    refused = send(disagreement, client, answer=later.pk).content.decode()

    assert f'value="{later.pk}"' not in page
    assert "This was put off, and waits for an answer already." in refused


def test_who_flagged_is_not_named_where_names_are_hidden(disagreement, client):
    Project.objects.update(hide_names=True)
    asked = flag(disagreement, "problem")

    send(disagreement, client, answer=asked.pk)
    page = without_random(client.get(url(disagreement)))

    assert shows(page, "Somebody was asked to look again by carla")
    assert not re.search(r"\bada\b", page)


def test_an_answered_request_about_a_flag_does_not_say_which_grade_is_whose(disagreement, client):
    Project.objects.update(hide_names=True)
    send(disagreement, client, answer=flag(disagreement, "problem").pk)
    judging.judge(
        narrative=disagreement.narrative,
        candidate=disagreement.first,
        relevance=1,
        by=disagreement.ada,
    )

    page = client.get(url(disagreement))

    assert shows(page, "Somebody was asked to look again by carla")
    assert [request["answer"] for request in page.context["rejudge_requests"]] == [None]


def test_a_request_that_leads_to_agreement_closes_the_disagreement(disagreement, client):
    send(disagreement, client)

    judging.judge(
        narrative=disagreement.narrative,
        candidate=disagreement.first,
        relevance=2,
        by=disagreement.ada,
    )

    assert listed(disagreement) == listed(disagreement, waiting=True) == []


def test_the_list_has_a_tab_for_waiting_disagreements(disagreement, client):
    client.force_login(disagreement.carla.user)
    address = reverse("audit:disagreements", args=["tides"])
    assert "Waiting for an annotator" not in client.get(address).content.decode()

    send(disagreement, client)

    waiting = client.get(address + "?state=waiting").content.decode()
    assert '<a href="?state=waiting" aria-current="page">' in waiting.replace(address, "")
    assert ">S1<" in waiting
    assert "sent back" in waiting
    assert "asked by carla" in waiting
    assert not shows(client.get(address), ">S1<")


def test_a_lead_withdraws_the_request(disagreement, client):
    send(disagreement, client)
    rejudge_request = RejudgeRequest.objects.get()

    page = client.post(
        url(disagreement, "rejudge_request_withdrawal"),
        {"rejudge_request": rejudge_request.pk},
        follow=True,
    ).content.decode()

    assert "The request is withdrawn." in page
    assert listed(disagreement) == [disagreement.first.pk]
    assert not RejudgeRequest.objects.open().exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"words": "  "}, "Say in a few words what to look at."),
        ({"answer": ""}, "Choose whose answer to send back."),
    ],
)
def test_the_page_names_missing_input(disagreement, client, fields, sentence):
    page = send(disagreement, client, **fields)

    assert sentence in page.content.decode()
    assert page.redirect_chain[-1][0] == url(disagreement)
    assert not RejudgeRequest.objects.exists()


@pytest.mark.parametrize("answer", ["x", "999999", "9" * 30])
def test_an_unknown_answer_is_not_found(disagreement, client, answer):
    assert send(disagreement, client, answer=answer).status_code == 404


@pytest.mark.parametrize("rejudge_request", ["", "x", "999999", "9" * 30])
def test_an_unknown_rejudge_request_is_not_found(disagreement, client, rejudge_request):
    client.force_login(disagreement.carla.user)

    assert (
        client.post(
            url(disagreement, "rejudge_request_withdrawal"), {"rejudge_request": rejudge_request}
        ).status_code
        == 404
    )


def test_hidden_names_stay_hidden(disagreement, client):
    disagreement.project.hide_names = True
    disagreement.project.save()
    send(disagreement, client)

    page = client.get(url(disagreement)).content.decode()

    assert "was asked to look again by carla" in page
    assert "ada" not in without_random(page).replace("data-", "")


def test_the_page_leads_to_the_guidelines_with_the_case(disagreement, client):
    client.force_login(disagreement.carla.user)

    page = client.get(url(disagreement)).content.decode()

    case = f"{disagreement.narrative.pk}-{disagreement.first.pk}"
    address = f"/projects/tides/guidelines/?edit=1&amp;case={case}"
    assert shows(page, f'href="{address}"')
    editor = client.get(address.replace("&amp;", "&")).content.decode()
    assert shows(editor, f'id="case-{case}" form="guideline-form" checked')


def test_a_request_from_a_condition_returns_to_the_condition(disagreement, client):
    condition = Condition.objects.create(narrative=disagreement.narrative, number=1, text="At sea.")
    for judgment, answer in ((disagreement.adas, "met"), (disagreement.bens, "not_met")):
        Verdict.objects.create(statement=judgment, condition=condition, answer=answer)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, disagreement.narrative.pk, disagreement.first.pk, condition.pk
    )
    assert disagreements.is_open(disagreement.carla, disagreement_key)

    send(disagreement, client, condition=condition.pk)

    assert not disagreements.is_open(disagreement.carla, disagreement_key)
    assert (
        disagreements.count_disagreements(
            disagreement.carla, QueueFilter(kind=Kind.VERDICT, waiting=True)
        )
        == 1
    )
    rejudge_request = RejudgeRequest.objects.get().pk
    sent = {"rejudge_request": rejudge_request, "condition": condition.pk}
    back = client.post(url(disagreement, "rejudge_request_withdrawal"), sent)
    assert back.url == reverse(
        "audit:verdict_disagreement", args=[condition.pk, disagreement.first.pk]
    )


def test_sending_back_opens_the_next_disagreement_of_the_filter(disagreement, client):
    other = disagreement.second
    judgment = disagreement.narrative.statements.get(candidate=other, annotator=disagreement.ada)
    judgment.relevance = 0
    judgment.save()
    key = DisagreementKey(Kind.JUDGMENT, disagreement.narrative.pk, other.pk, 0)

    page = send(disagreement, client, query="?order=age", next=str(key))

    assert page.redirect_chain[-1][0] == (
        reverse("audit:disagreement", args=[disagreement.narrative.pk, other.pk]) + "?order=age"
    )


def test_a_lead_who_owes_judgments_cannot_send_back(disagreement, client):
    factories.assignment(disagreement.pair, disagreement.carla)

    assert send(disagreement, client).status_code == 403
    assert not RejudgeRequest.objects.exists()


def test_a_judgment_from_a_file_can_be_sent_back_to_its_author(disputed, client):
    """ben's judgment came from a file; he gets a free assignment."""
    send(disputed, client, answer=disputed.bens.pk)

    assignment = disputed.ben.assignments.get(task=Assignment.Task.JUDGE)
    assert isinstance(assignment.touched_at, datetime)
    assert RejudgeRequest.objects.open().get().statement == disputed.bens
