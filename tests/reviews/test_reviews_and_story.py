"""The list of instructions, and the story of one: its versions, reviews and decisions."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Project
from annotate.rewriting import actions as rewriting
from audit.models import Decision
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide
from audit.reviews.passes import words_for
from tests import factories
from tests.second_pass import levels

WORDS = "Marmalade."


@pytest.fixture
def told(assigned, client):
    """Dan has rated the instruction poor; ben has not reviewed it yet."""
    answers = {**levels(), "query_dependency": ("poor", WORDS)}
    save_ratings(narrative=assigned.narrative, answers=answers, by=assigned.dan)
    submit_review(narrative=assigned.narrative, by=assigned.dan)
    assigned.story = reverse("audit:story", args=[assigned.pair.pk])
    assigned.list = reverse("audit:reviews", args=[assigned.project.slug])
    assigned.decision = reverse("audit:decision", args=[assigned.narrative.pk])

    def read(who, url=assigned.story):
        client.force_login(who.user)
        return client.get(url).content.decode()

    assigned.read = read
    return assigned


def rewrite(scene):
    return rewriting.rewrite_narrative(
        pair=scene.pair, text="Only fences count.", based_on=1, by=scene.carla
    )


def send_back(scene):
    return decide(
        narrative=scene.narrative, outcome="revise", reason="Do not repeat it.", by=scene.carla
    )


def test_who_has_submitted_reads_what_was_said(told):
    assert WORDS in told.read(told.dan)


def test_a_lead_reads_what_was_said_and_by_whom(told):
    page = told.read(told.carla)

    assert WORDS in page
    assert "dan" in page
    assert "rejected" in page


@pytest.mark.parametrize("who", ["ben", "ada"])
def test_who_has_not_submitted_reads_nothing_of_it(told, who):
    send_back(told)

    page = told.read(getattr(told, who))

    assert WORDS not in page
    assert "rejected" not in page
    assert "Do not repeat it." not in page
    assert "once you have submitted your own review" in page


def test_a_lead_who_has_yet_to_review_reads_nothing_of_it(told):
    Project.objects.update(overlap_review=3)
    told.carla.refresh_from_db()
    factories.assignment(told.pair, told.carla, Assignment.Task.REVIEW)

    assert WORDS not in told.read(told.carla)


def test_the_author_reads_it_once_it_is_sent_back_without_names(told):
    told.narrative.author = told.ada
    told.narrative.save()
    before = told.read(told.ada)

    send_back(told)

    page = told.read(told.ada)
    assert WORDS not in before
    assert WORDS in page
    assert "Do not repeat it." in page
    assert "Auditor 1" in page
    assert ">dan<" not in page


def test_what_was_said_of_an_older_version_everybody_reads(told):
    send_back(told)
    rewrite(told)

    page = told.read(told.ben)

    assert WORDS in page
    assert "Version 2" in page
    assert "<del>" in page


def test_an_instruction_nobody_wrote_has_no_story_yet(scene, client):
    pair = factories.pair(factories.query(scene.project, "302"), altered=None)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:story", args=[pair.pk])).content.decode()

    assert "Nothing is written yet" in page


def test_a_stranger_finds_no_story(told, client):
    client.force_login(told.eve.user)

    assert client.get(told.story).status_code == 404
    assert client.get(told.list).status_code == 404


def test_a_lead_decides_in_the_story(told, client):
    client.force_login(told.carla.user)

    response = client.post(told.decision, {"outcome": "revise", "reason": "Do not repeat it."})

    assert response.url == told.story
    assert Decision.objects.get().outcome == "revise"
    assert "Do not repeat it." in client.get(told.story).content.decode()


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"outcome": "revise", "reason": ""}, "Give a reason"),
        ({"outcome": "accepted", "reason": ""}, "An auditor rejects it"),
        ({"outcome": "maybe", "reason": "So."}, "maybe is not one of the available choices"),
        ({"reason": "So."}, "This field is required"),
    ],
)
def test_what_is_no_decision_is_explained_and_what_was_typed_stays(told, client, sent, sentence):
    client.force_login(told.carla.user)

    response = client.post(told.decision, sent)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert sent["reason"] in response.content.decode()
    assert not Decision.objects.exists()


def test_a_lead_withdraws_in_the_story(told, client):
    send_back(told)
    client.force_login(told.carla.user)
    url = reverse("audit:decision_withdrawal", args=[told.narrative.pk])

    response = client.post(url)

    assert response.url == told.story
    assert not Decision.objects.current().exists()
    assert "withdrawn by carla" in client.get(told.story).content.decode()
    assert client.post(url).status_code == 404


def test_what_was_rewritten_since_is_not_withdrawn(told, client):
    made = send_back(told)
    rewrite(told)
    client.force_login(told.carla.user)

    page = client.post(
        reverse("audit:decision_withdrawal", args=[told.narrative.pk]), follow=True
    ).content.decode()

    assert "this decision is history" in page
    assert Decision.objects.current().get() == made


@pytest.mark.parametrize("who", ["dan", "eve"])
def test_only_leads_of_the_project_decide(told, client, who):
    client.force_login(getattr(told, who).user)

    response = client.post(told.decision, {"outcome": "removed", "reason": "So."})

    assert response.status_code == {"dan": 403, "eve": 404}[who]
    assert not Decision.objects.exists()


def test_words_for_an_author_carry_no_names(told):
    assert [
        (said.criterion.key, said.level.value, said.words) for said in words_for(told.narrative)
    ] == [("query_dependency", "poor", WORDS)]


def test_the_list_tells_each_what_they_may_know(told):
    send_back(told)

    assert "Sent back for revision" in told.read(told.carla, told.list)
    assert "Sent back for revision" in told.read(told.dan, told.list)
    for who in (told.ben, told.ada):
        page = told.read(who, told.list)
        assert "Send back" not in page
        assert "rejected" not in page


def test_the_list_leads_to_my_own_reviews(told):
    review = reverse("audit:review", args=[told.pair.pk])

    assert f'<a href="{review}">submitted</a>' in told.read(told.dan, told.list)
    assert f'<a href="{review}">review it</a>' in told.read(told.ben, told.list)
    assert review not in told.read(told.ada, told.list)


def test_the_list_shows_versions_in_force_only(told):
    rewrite(told)

    page = told.read(told.carla, told.list)

    assert "Only fences count." in page
    assert "Only plants at sea count." not in page


def test_what_waits_for_a_decision_can_be_asked_for(told, client):
    fine = factories.altered(factories.pair(factories.query(told.project, "302")))
    asked = told.list + "?state=to-decide"

    def waiting():
        client.force_login(told.carla.user)
        return [row.narrative for row in client.get(asked).context["rows"]]

    assert waiting() == [told.narrative]
    for auditor in (told.dan, told.ben):
        assignments.take(pair=fine.pair, task=Assignment.Task.REVIEW, by=auditor)
        assert fine not in waiting()
        save_ratings(narrative=fine, answers=levels(), by=auditor)
        submit_review(narrative=fine, by=auditor)
    assert waiting() == [told.narrative, fine]
    send_back(told)
    assert waiting() == [fine]


def test_a_lead_who_owes_a_review_is_not_told_that_it_waits_for_a_decision(told, client):
    Project.objects.update(overlap_review=3)
    told.carla.refresh_from_db()
    factories.assignment(told.pair, told.carla, Assignment.Task.REVIEW)
    client.force_login(told.carla.user)

    assert client.get(told.list + "?state=to-decide").context["rows"] == []


def test_who_does_not_lead_cannot_ask_what_waits_for_a_decision(told, client):
    factories.pair(factories.query(told.project, "302"))
    client.force_login(told.ben.user)

    rows = client.get(told.list + "?state=to-decide").context["rows"]

    # The whole list: a list of only rejected ones would reveal dan's review.
    assert [row.pair.pair_id for row in rows] == ["301", "302"]


@pytest.mark.parametrize("more", [0, 12])
def test_the_list_costs_the_same_however_long(told, client, django_assert_max_num_queries, more):
    for number in range(more):
        factories.pair(factories.query(told.project, f"4{number:02}"))
    client.force_login(told.carla.user)

    with django_assert_max_num_queries(17):
        client.get(told.list)


def test_what_is_missing_is_said_at_the_box_where_it_goes(told, client):
    client.force_login(told.carla.user)

    page = client.post(told.decision, {"outcome": "revise", "reason": ""})

    assert page.context["form"].errors == {"reason": ["Give a reason; its author will read it."]}
    assert 'aria-describedby="reason-help id_reason_error" aria-invalid="true"' in (
        page.content.decode()
    )


def test_the_story_leads_to_the_next_that_waits_for_a_decision_and_around(told, client):
    pairs = [told.pair]
    for number in ("302", "303"):
        pair = factories.pair(factories.query(told.project, number))
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=told.dan)
        answers = {**levels(), "query_dependency": ("poor", WORDS)}
        save_ratings(narrative=factories.altered(pair), answers=answers, by=told.dan)
        submit_review(narrative=factories.altered(pair), by=told.dan)
        pairs.append(pair)
    stories = [reverse("audit:story", args=[pair.pk]) for pair in pairs]
    client.force_login(told.carla.user)

    assert [client.get(story).context["next_url"] for story in stories] == [
        *(stories[1], stories[2], stories[0])
    ]
    for pair in pairs[1:]:
        decide(narrative=factories.altered(pair), outcome="revise", reason="No.", by=told.carla)
    assert client.get(stories[0]).context["next_url"] == ""
    assert "next-to-decide" not in client.get(stories[0]).content.decode()
    client.force_login(told.dan.user)
    assert "next-to-decide" not in client.get(stories[1]).content.decode()


def test_the_story_leads_an_auditor_to_the_review_that_is_still_to_be_made(told):
    review = reverse("audit:review", args=[told.pair.pk])

    assert f'id="review-it" href="{review}"' in told.read(told.ben)
    assert "review-it" not in told.read(told.dan)
    assert "review-it" not in told.read(told.ada)
    rewrite(told)
    assert f'id="review-it" href="{review}"' in told.read(told.dan)


def test_a_version_that_a_person_wrote_is_not_said_to_be_a_models(told, client):
    told.pair.narratives.filter(side="altered").update(origin="llm", model="some-model")
    review = reverse("audit:review", args=[told.pair.pk])
    query = reverse("annotate:query", args=[told.project.slug, told.query.pk])

    assert "written by some-model" in told.read(told.ben, review)
    assert "written by some-model" in told.read(told.ben, query)
    assert "written by some-model" in told.read(told.ben)
    rewrite(told)
    assert "written by" not in told.read(told.ben, review)
    assert "written by" not in told.read(told.ben, query)
    assert "written by some-model" in told.read(told.ben)


def test_a_lead_is_asked_what_to_do_and_told_what_was_done(told, client):
    client.force_login(told.carla.user)
    page = client.get(told.story).content.decode()
    assert [word for word in ("> Accept\n", "> Send back", "> Remove\n") if word not in page] == []

    page = client.post(told.decision, {"outcome": "removed", "reason": "No."}, follow=True)

    assert "301: removed." in page.content.decode()


def test_the_page_of_a_query_leads_to_the_story_of_its_instruction(told):
    query = reverse("annotate:query", args=[told.project.slug, told.query.pk])

    assert f'href="{told.story}"' in told.read(told.ada, query)


@pytest.mark.parametrize("more", [0, 5])
def test_the_story_costs_the_same_however_long(told, client, django_assert_num_queries, more):
    for number in range(more):
        factories.narrative(told.pair, text=f"Version of {number}.", version=2 + number)
    client.force_login(told.dan.user)

    with django_assert_num_queries(15):
        client.get(told.story)
