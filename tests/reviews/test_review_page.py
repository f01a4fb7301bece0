"""The review page: every key saves, nothing is lost, submitting needs words for a poor rating."""

from __future__ import annotations

import json
import re
from uuid import UUID

import pytest
from django.urls import reverse

from annotate.judgments.document_names import neutral_name
from annotate.projects import rules
from annotate.rewriting import actions as rewriting
from audit.models import Rating, Review
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.decisions import decide
from tests import factories
from tests.second_pass import levels

HTMX = {"HX-Request": "true"}
KEY = "semantic_expansion"


@pytest.fixture
def asked(assigned, client):
    """The scene, with dan signed in."""
    client.force_login(assigned.dan.user)
    assigned.url = reverse("audit:review", args=[assigned.pair.pk])
    return assigned


def sent(scene, answers, **more):
    """Return the data of the form, filled in."""
    fields = {"narrative": scene.narrative.pk, **more}
    for key, (level, words) in answers.items():
        fields |= {f"words-{key}": words} | ({f"level-{key}": level} if level else {})
    return fields


def digest_in(page):
    """Return the digest of the summary on a page, or ""."""
    return "".join(re.findall(r'name="confirmed" value="(\w+)"', page.content.decode()))


def submit(client, scene, answers):
    """Submit the review as a person does: request the summary, then confirm it."""
    summary = client.post(scene.url, sent(scene, answers, submit="yes"))
    confirmed = sent(scene, answers, submit="yes", confirmed=digest_in(summary))
    return client.post(scene.url, confirmed)


def test_the_page_asks_six_questions_of_query_and_instruction(asked, client):
    page = client.get(asked.url).content.decode()

    for criterion in FOLLOWTABLE.criteria:
        assert criterion.name in page
        assert page.count(f'name="level-{criterion.key}"') == 3
    assert "tidal power" in page
    assert "</ins>" in page


def test_an_instruction_can_be_read_without_marks_beside_its_original(asked, client):
    page = client.get(asked.url).content.decode()

    unmarked = page.partition('id="unmarked"')[2].partition("</details>")[0]
    assert "All plants at sea count." in unmarked
    assert "Only plants at sea count." in unmarked
    assert "<ins>" not in unmarked


def test_looking_writes_nothing(asked, client):
    client.get(asked.url)

    assert not Review.objects.exists()


def journal(scene, client, number=1, **fields):
    """Send one entry of the page's journal, and return its answer."""
    entry = {
        "uuid": str(UUID(int=number, version=4)),
        "user": scene.dan.user_id,
        "kind": "rating",
        "pair": scene.pair.pk,
        "narrative": scene.narrative.pk,
        "made_at": "2026-11-21T12:03:07.250+01:00",
        "criterion": KEY,
        **fields,
    }
    response = client.post(
        "/api/v1/journal/", json.dumps({"entries": [entry]}), content_type="application/json"
    )
    assert response.status_code == 200, response.content
    [answer] = response.json()["answers"]
    return answer


def test_a_key_is_journaled_and_saved(asked, client):
    answer = journal(asked, client, level="poor")

    assert (answer["state"], answer["sentence"]) == ("saved", "")
    assert answer["at"] is not None
    rating = Rating.objects.get()
    assert (rating.level, rating.words, rating.rejects) == ("poor", "", True)


def test_words_are_saved_before_a_level_is_chosen(asked, client):
    journal(asked, client, words="Which of the")

    assert "Which of the</textarea>" in client.get(asked.url).content.decode()


def test_an_entry_that_comes_twice_changes_nothing_and_the_last_one_stands(asked, client):
    for number, level in ((1, "poor"), (1, "poor"), (2, "excellent")):
        assert journal(asked, client, number, level=level)["state"] == "saved"
    journal(asked, client, 3, words="Fine.")

    rating = Rating.objects.get()
    assert (rating.level, rating.words) == ("excellent", "Fine.")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"level": "great"}, "“great” is not a level. Choose one of: excellent, acceptable, poor."),
        ({"words": "x" * 10_001}, "You wrote 10,001 characters; at most 10,000 are kept."),
        ({"criterion": "beauty", "level": "poor"}, "“beauty” is not one of the criteria."),
        ({"criterion": 7}, "The field “criterion” must be a text."),
        ({"words": 7}, "The field “words” must be a text."),
        ({"narrative": 999_999}, "There is no such narrative of this pair."),
    ],
)
def test_what_cannot_be_saved_is_answered_with_a_sentence(asked, client, fields, sentence):
    answer = journal(asked, client, **fields)

    assert (answer["state"], answer["sentence"]) == ("refused", sentence)
    assert not Review.objects.exists()


def test_an_entry_for_a_superseded_version_is_refused_and_so_stays_in_the_browser(asked, client):
    rewriting.rewrite_narrative(
        pair=asked.pair, text="Only fences count.", based_on=1, by=asked.carla
    )

    answer = journal(asked, client, level="poor", words="Typed for an hour.")

    assert answer["state"] == "refused"
    assert "changed while you were reading" in answer["sentence"]
    assert not Review.objects.exists()


def test_who_has_no_assignment_or_is_a_stranger_changes_nothing_by_the_journal(asked, client):
    client.force_login(asked.ada.user)
    mine = journal(asked, client, user=asked.ada.user_id, level="poor")
    client.force_login(asked.eve.user)
    strange = journal(asked, client, user=asked.eve.user_id, level="poor")
    foreign = journal(asked, client, user=asked.dan.user_id, level="poor")

    assert (mine["state"], strange["state"], foreign["state"]) == ("refused", "refused", "foreign")
    assert not Review.objects.exists()


def test_without_script_the_form_keeps_a_draft(asked, client):
    answers = {**levels(), KEY: (None, "Hm")}

    response = client.post(asked.url, sent(asked, answers))

    assert (response.status_code, response.url) == (302, asked.url)
    assert Rating.objects.count() == 6
    assert Review.objects.get().submitted_at is None


def test_handing_in_saves_and_submits(asked, client):
    response = submit(client, asked, levels(query_dependency="poor"))

    assert (response.status_code, response.url) == (302, asked.url)
    assert Review.objects.get().submitted_at is not None
    assert Rating.objects.get(criterion="query_dependency").words == "Weak."


def test_submitting_shows_a_summary_first_and_only_saves(asked, client):
    answers = levels(query_dependency="poor")

    page = client.post(asked.url, sent(asked, answers, submit="yes")).content.decode()

    summary = page.partition("data-summary")[2].partition("</section>")[0]
    assert "Submit this review?" in summary
    assert summary.count("<li>") == 6
    assert summary.count("excellent") == 5
    assert "Weak." in summary
    assert Rating.objects.count() == 6
    assert Review.objects.get().submitted_at is None


def test_the_key_that_asks_for_the_summary_does_not_submit_when_pressed_again(asked, client):
    before = client.get(asked.url).content.decode()
    after = client.post(asked.url, sent(asked, levels(), submit="yes")).content.decode()

    assert re.findall(r'name="submit" value="yes" data-key="(\w+)"', before) == ["s"]
    assert re.findall(r'name="submit" value="yes" data-key="(\w+)"', after) == ["Enter"]
    assert 'data-key="s"' not in after


def test_what_changed_since_the_summary_is_shown_in_a_new_one(asked, client):
    shown = client.post(asked.url, sent(asked, levels(), submit="yes"))

    changed = sent(asked, levels(query_dependency="poor"), submit="yes", confirmed=digest_in(shown))
    response = client.post(asked.url, changed)

    assert "Weak." in response.content.decode().partition("data-summary")[2]
    assert Review.objects.get().submitted_at is None


def test_handing_in_what_is_poor_without_words_keeps_it_and_says_where_words_are_missing(
    asked, client
):
    answers = {**levels(), KEY: ("poor", "")}

    response = client.post(asked.url, sent(asked, answers, submit="yes"))

    page = response.content.decode()
    assert response.status_code == 422
    assert "Say in words why it fails on: semantic expansion." in page
    assert page.count("Say in words why it is poor.") == 1
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

    submit(client, asked, levels())

    after = client.get(asked.url).content.decode()
    assert "Marmalade." not in before
    assert "Marmalade." in after
    assert "Auditor 1" in after
    assert ">ben<" not in after


def test_a_submitted_review_cannot_be_changed(asked, client):
    submit(client, asked, levels())

    response = client.post(asked.url, sent(asked, levels(query_dependency="poor")))

    assert response.status_code == 422
    assert "You have submitted this review" in response.content.decode()
    assert not Rating.objects.filter(level="poor").exists()


def test_handing_in_twice_changes_nothing(asked, client):
    submit(client, asked, levels())
    before = Review.objects.get().submitted_at

    submit(client, asked, levels())

    assert Review.objects.get().submitted_at == before


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_who_has_no_assignment_is_sent_home_with_a_sentence(asked, client, headers):
    client.force_login(asked.ada.user)

    response = client.post(asked.url, sent(asked, levels()), headers=headers)

    assert response.headers.get("Location", response.headers.get("HX-Redirect")) == "/"
    assert not Review.objects.exists()


def test_a_stranger_finds_nothing(asked, client):
    client.force_login(asked.eve.user)

    assert client.get(asked.url).status_code == 404
    assert client.post(asked.url, sent(asked, levels())).status_code == 404


def test_the_author_is_told_that_somebody_else_reviews(asked, client):
    asked.narrative.author = asked.dan
    asked.narrative.save()

    page = client.get(asked.url).content.decode()
    response = submit(client, asked, levels())

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
    submit(client, asked, levels())

    with django_assert_max_num_queries(22) as queries:
        client.get(asked.url)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)


def test_taking_an_assignment_leads_to_the_page(asked, client):
    url = reverse("audit:review_assignment", args=[asked.project.slug])

    assert client.post(url).url == asked.url
    assert client.get(url).status_code == 405


def test_where_nothing_waits_the_list_says_so(asked, client):
    client.force_login(asked.ada.user)

    response = client.post(
        reverse("audit:review_assignment", args=[asked.project.slug]), follow=True
    )

    assert "nothing to review now" in response.content.decode()


def test_documents_of_either_kind_lie_at_hand_in_the_order_of_neutral_names(asked, client):
    for number in range(6):
        factories.candidate(asked.query, f"R{number}", prior=2)
        factories.candidate(asked.query, f"A{number}", prior=0)
    page = client.get(asked.url)

    documents = [one.document for one in page.context["candidates"]]
    shown = sorted(one.doc_id for one in documents)
    names = [neutral_name(one.pk, one.project_id) for one in documents]

    assert names == sorted(names)
    # The first four that came as relevant, and the first four that did not.
    assert shown == ["A0", "A1", "A2", "A3", "R0", "R1", "S1", "S2"]
    assert page.context["pool"] == 14
    assert "8 of the query’s 14 documents" in page.content.decode()


def test_what_a_machine_claims_goes_before_what_a_document_came_with(asked, client):
    model = factories.machine(asked.project)
    for number in range(8):
        one = factories.candidate(asked.query, f"M{number}", prior=0)
        factories.judgment(asked.narrative, one, model, 2 if number >= 4 else 0)
    for one in (asked.first, asked.second):
        factories.judgment(asked.narrative, one, model, 0)

    shown = client.get(asked.url).context["candidates"]

    assert sorted(one.document.doc_id for one in shown) == [
        "M0",
        "M1",
        "M4",
        "M5",
        "M6",
        "M7",
        "S1",
        "S2",
    ]


@pytest.mark.parametrize("shows", [True, False])
def test_the_relevance_documents_came_with_shows_only_where_the_lead_shows_it(asked, client, shows):
    asked.project.show_prior = shows
    asked.project.save()
    factories.candidate(asked.query, "R", prior=2)

    page = client.get(asked.url).content.decode()

    assert ("Highly relevant" in page) is shows


def test_why_the_last_version_was_sent_back_stands_beside_the_new_one(asked, client):
    save_ratings(narrative=asked.narrative, answers=levels(query_dependency="poor"), by=asked.dan)
    submit_review(narrative=asked.narrative, by=asked.dan)
    decide(narrative=asked.narrative, outcome="revise", reason="Do not repeat it.", by=asked.carla)
    rewriting.rewrite_narrative(
        pair=asked.pair, text="Only fences count.", based_on=1, by=asked.carla
    )

    page = client.get(asked.url).content.decode()

    assert "Decided: sent back for revision." in page
    assert "Do not repeat it." in page
