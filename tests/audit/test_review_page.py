"""The review page: every key saves, nothing is lost, handing in needs words for what is poor."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.actions import rewriting, rules
from audit.actions import save_ratings, submit_review
from audit.criteria import FOLLOWTABLE
from audit.models import Rating, Review
from tests.audit.conftest import levels

HTMX = {"HX-Request": "true"}
KEY = "semantic_expansion"


@pytest.fixture
def asked(seated, client):
    """The scene, with dan signed in before the page."""
    client.force_login(seated.dan.user)
    seated.url = reverse("audit:review", args=[seated.pair.pk])
    seated.rating = reverse("audit:rating", args=[seated.pair.pk, KEY])
    return seated


def sent(scene, answers, **more):
    """The form of the page, filled in."""
    fields = {"narrative": scene.narrative.pk, **more}
    for key, (level, words) in answers.items():
        fields |= {f"words-{key}": words} | ({f"level-{key}": level} if level else {})
    return fields


def test_the_page_asks_six_questions_of_query_and_instruction(asked, client):
    page = client.get(asked.url).content.decode()

    for criterion in FOLLOWTABLE.criteria:
        assert criterion.name in page
        assert page.count(f'name="level-{criterion.key}"') == 3
    assert "tidal power" in page
    assert "</ins>" in page


def test_looking_writes_nothing(asked, client):
    client.get(asked.url)

    assert not Review.objects.exists()


def test_a_key_saves_its_row(asked, client):
    response = client.post(
        asked.rating,
        {"narrative": asked.narrative.pk, f"level-{KEY}": "poor", f"words-{KEY}": ""},
        headers=HTMX,
    )

    assert response.status_code == 200
    assert "1 of 6 rated" in response.content.decode()
    assert "Saved" in response.content.decode()
    assert "<html" not in response.content.decode()
    assert (Rating.objects.get().level, Rating.objects.get().words) == ("poor", "")


def test_words_are_saved_before_a_level_is_chosen(asked, client):
    client.post(
        asked.rating,
        {"narrative": asked.narrative.pk, f"words-{KEY}": "Which of the"},
        headers=HTMX,
    )

    assert "Which of the</textarea>" in client.get(asked.url).content.decode()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"narrative": "", f"level-{KEY}": "poor"}, "does not say which version"),
        ({f"level-{KEY}": "great"}, "great is not one of the available choices"),
        ({f"words-{KEY}": "x" * 10_001}, "at most 10000 characters"),
    ],
)
def test_what_cannot_be_saved_is_said_in_place(asked, client, fields, sentence):
    response = client.post(asked.rating, {"narrative": asked.narrative.pk, **fields}, headers=HTMX)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Review.objects.exists()


def test_an_unknown_criterion_is_not_found(asked, client):
    url = reverse("audit:rating", args=[asked.pair.pk, "beauty"])

    assert client.post(url, {"narrative": asked.narrative.pk}).status_code == 404


def test_without_script_the_form_keeps_a_draft(asked, client):
    answers = {**levels(), KEY: (None, "Hm")}

    response = client.post(asked.url, sent(asked, answers))

    assert (response.status_code, response.url) == (302, asked.url)
    assert Rating.objects.count() == 6
    assert Review.objects.get().submitted_at is None


def test_handing_in_saves_and_submits(asked, client):
    response = client.post(asked.url, sent(asked, levels(query_dependency="poor"), submit="yes"))

    assert (response.status_code, response.url) == (302, asked.url)
    assert Review.objects.get().submitted_at is not None
    assert Rating.objects.get(criterion="query_dependency").words == "Weak."


def test_handing_in_what_is_poor_without_words_keeps_it_and_says_where_words_are_missing(
    asked, client
):
    answers = {**levels(), KEY: ("poor", "")}

    response = client.post(asked.url, sent(asked, answers, submit="yes"))

    page = response.content.decode()
    assert response.status_code == 422
    assert "Say in words what is poor about: semantic expansion." in page
    assert page.count("Say in words what is poor about it.") == 1
    assert Rating.objects.get(criterion=KEY).level == "poor"
    assert Review.objects.get().submitted_at is None


def test_handing_in_too_early_keeps_what_is_there(asked, client):
    answers = dict.fromkeys(FOLLOWTABLE.keys, (None, "")) | {KEY: ("acceptable", "Fine.")}

    response = client.post(asked.url, sent(asked, answers, submit="yes"))

    page = response.content.decode()
    assert response.status_code == 422
    assert page.count("Choose a level.") == 5
    assert Rating.objects.get().level == "acceptable"


def test_a_version_that_was_superseded_meanwhile_is_refused_and_the_new_one_shown(asked, client):
    rewriting.rewrite_narrative(
        pair=asked.pair, text="Only fences count.", based_on=1, by=asked.carla
    )

    response = client.post(asked.url, sent(asked, levels(), submit="yes"), follow=True)

    page = response.content.decode()
    assert "changed while you were reading" in page
    assert "version 2" in page
    assert not Review.objects.exists()


def test_a_new_version_comes_with_what_was_said_of_the_last(asked, client):
    save_ratings(narrative=asked.narrative, answers=levels(query_dependency="poor"), by=asked.dan)
    submit_review(narrative=asked.narrative, by=asked.dan)
    rewriting.rewrite_narrative(
        pair=asked.pair, text="Only fences count.", based_on=1, by=asked.carla
    )

    page = client.get(asked.url).content.decode()

    assert "Since version 1" in page
    assert "Weak." in page
    assert "0 of 6 rated" in page


def test_before_handing_in_nothing_of_the_others_is_shown_and_afterwards_it_is(asked, client):
    answers = {**levels(), KEY: ("poor", "Marmalade.")}
    save_ratings(narrative=asked.narrative, answers=answers, by=asked.ben)
    submit_review(narrative=asked.narrative, by=asked.ben)
    before = client.get(asked.url).content.decode()

    client.post(asked.url, sent(asked, levels(), submit="yes"))

    after = client.get(asked.url).content.decode()
    assert "Marmalade." not in before
    assert "Marmalade." in after
    assert "Auditor 1" in after
    assert ">ben<" not in after


def test_a_submitted_review_cannot_be_changed(asked, client):
    client.post(asked.url, sent(asked, levels(), submit="yes"))

    response = client.post(asked.url, sent(asked, levels(query_dependency="poor")))

    assert response.status_code == 422
    assert "You have submitted this review" in response.content.decode()
    assert not Rating.objects.filter(level="poor").exists()


def test_handing_in_twice_changes_nothing(asked, client):
    client.post(asked.url, sent(asked, levels(), submit="yes"))
    before = Review.objects.get().submitted_at

    client.post(asked.url, sent(asked, levels(), submit="yes"))

    assert Review.objects.get().submitted_at == before


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_who_has_no_seat_is_sent_home_with_a_sentence(asked, client, headers):
    client.force_login(asked.ada.user)

    response = client.post(
        asked.rating, {"narrative": asked.narrative.pk, f"level-{KEY}": "poor"}, headers=headers
    )

    assert response.headers.get("Location", response.headers.get("HX-Redirect")) == "/"
    assert not Review.objects.exists()


def test_a_stranger_finds_nothing(asked, client):
    client.force_login(asked.eve.user)

    assert client.get(asked.url).status_code == 404
    assert client.post(asked.rating, {"narrative": asked.narrative.pk}).status_code == 404


def test_the_author_is_told_that_somebody_else_reviews(asked, client):
    asked.narrative.author = asked.dan
    asked.narrative.save()

    page = client.get(asked.url).content.decode()
    response = client.post(asked.url, sent(asked, levels(), submit="yes"))

    assert "somebody else reviews it" in page
    assert 'name="submit"' not in page
    assert response.status_code == 422
    assert not Review.objects.exists()


def test_words_are_shown_as_text(asked, client):
    answers = {**levels(), KEY: ("poor", "</textarea><script>alert(1)</script>")}
    client.post(asked.url, sent(asked, answers))

    assert "<script>alert(1)" not in client.get(asked.url).content.decode()


def test_in_an_archived_project_the_answer_says_so(asked, client):
    rules.archive(by=asked.carla)

    response = client.post(asked.url, sent(asked, levels()))

    assert response.status_code == 422
    assert "archived" in response.content.decode()


def test_the_page_costs_a_fixed_number_of_queries(asked, client, django_assert_max_num_queries):
    client.post(asked.url, sent(asked, levels(), submit="yes"))

    with django_assert_max_num_queries(16) as queries:
        client.get(asked.url)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)


def test_taking_a_seat_leads_to_the_page(asked, client):
    url = reverse("audit:review_seat", args=[asked.project.slug])

    assert client.post(url).url == asked.url
    assert client.get(url).status_code == 405


def test_where_nothing_waits_the_list_says_so(asked, client):
    client.force_login(asked.ada.user)

    response = client.post(reverse("audit:review_seat", args=[asked.project.slug]), follow=True)

    assert "nothing to review now" in response.content.decode()
