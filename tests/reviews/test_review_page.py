"""The review page: every key saves, nothing is lost, submitting needs words for a poor rating."""

from __future__ import annotations

import json
import re
from uuid import UUID

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name
from annotate.models import Assignment
from annotate.projects import actions as projects
from annotate.rewriting import actions as rewriting
from audit.models import Rating, Review
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.decisions import decide
from audit.reviews.passes import positions_of, pseudonym
from tests import factories
from tests.pages import shows, tight
from tests.second_pass import levels, take_reviews

HTMX = {"HX-Request": "true"}
KEY = "semantic_expansion"


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    return take_reviews(scene_of_file)


@pytest.fixture
def auditing(scene, client):
    """The scene, with dan signed in."""
    client.force_login(scene.dan.user)
    scene.url = reverse("audit:review", args=[scene.pair.pk])
    return scene


def rate(client, scene, answers):
    """Send the form of each criterion, and return the last response."""
    for key, (level, words) in answers.items():
        fields = {"narrative": scene.narrative.pk, "criterion": key, "level": level, "words": words}
        response = client.post(scene.url, {name: sent for name, sent in fields.items() if sent})
    return response


def summary_of(scene, answers):
    """Return the data of the form below a summary that shows these answers."""
    fields = {"narrative": scene.narrative.pk, "submit": "yes"}
    for key, (level, words) in answers.items():
        fields |= {f"level-{key}": level or "", f"words-{key}": words}
    return fields


def submit(client, scene, answers):
    """Submit the review as a person does: rate each criterion, then confirm the summary."""
    rate(client, scene, answers)
    return client.post(scene.url, summary_of(scene, answers))


def text_of(page):
    """Return the part of a page that shows the current criterion or the card at the end."""
    return page.content.decode().partition('id="document-view"')[2]


@pytest.mark.parametrize(
    ("close", "sentence"),
    [
        (rewriting.send_back, "This instruction was sent back. Review its next version."),
        (rewriting.remove, "This instruction was removed, so there is nothing to review."),
    ],
)
def test_what_was_sent_back_or_removed_is_not_begun(auditing, client, close, sentence):
    close(pair=auditing.pair, by=auditing.carla)

    page = client.get(auditing.url, follow=True)

    assert page.redirect_chain == [(reverse("annotate:home"), 302)]
    assert sentence in page.text


def test_the_page_asks_six_questions_of_query_and_instruction(auditing, client):
    page = client.get(auditing.url).content.decode()

    for criterion in FOLLOWTABLE.criteria:
        assert page.count(f'data-criterion="{criterion.key}"') == 1
    assert page.count('name="level"') == 3
    assert "tidal power" in page
    assert "</ins>" in page


def test_the_page_shows_one_criterion_after_the_other(auditing, client):
    first, second = FOLLOWTABLE.criteria[:2]

    page = client.get(auditing.url)
    beside = client.get(reverse("audit:criterion", args=[auditing.pair.pk, 2]))

    assert page.context["view"].criterion == first
    assert beside.context["view"].criterion == second
    assert f"<h2>{second.name}</h2>" in text_of(beside).partition("at-hand")[0]


@pytest.mark.parametrize("number", [0, 7, 10**15])
def test_a_criterion_that_the_rubric_does_not_have_leads_to_the_review(auditing, client, number):
    response = client.get(reverse("audit:criterion", args=[auditing.pair.pk, number]))

    assert (response.status_code, response.url) == (302, auditing.url)


def test_the_page_offers_the_instruction_without_marks_and_beside_its_original(auditing, client):
    page = client.get(auditing.url).content.decode()

    for view in ("clean", "marked", "split"):
        assert f'data-asked-view="{view}"' in page


def test_opening_the_page_writes_nothing(auditing, client):
    client.get(auditing.url)

    assert not Review.objects.exists()


def journal(scene, client, number=1, fields=None, **more):
    """Send one entry of the page's journal, and return its answer; `fields`: those of its form."""
    entry = {
        "uuid": str(UUID(int=number, version=4)),
        "user": scene.dan.user_id,
        "kind": "rating",
        "pair": scene.pair.pk,
        "narrative": scene.narrative.pk,
        "made_at": "2026-11-21T12:03:07.250+01:00",
        "criterion": KEY,
        "fields": fields or {},
        **more,
    }
    response = client.post(
        "/api/v1/journal/", json.dumps({"entries": [entry]}), content_type="application/json"
    )
    assert response.status_code == 200, response.content
    [answer] = response.json()["answers"]
    return answer


def test_a_key_is_journaled_and_saved(auditing, client):
    answer = journal(auditing, client, fields={"level": "poor"})

    assert (answer["state"], answer["sentence"]) == ("saved", "")
    assert answer["at"] is not None
    rating = Rating.objects.get()
    assert (rating.level, rating.words, rating.rejects) == ("poor", "", True)


def test_words_are_saved_before_a_level_is_chosen(auditing, client):
    journal(auditing, client, fields={"words": "Which of the"})

    assert "Which of the</textarea>" in client.get(auditing.url).content.decode()


def test_a_repeated_entry_changes_nothing_and_the_last_entry_wins(auditing, client):
    for number, level in ((1, "poor"), (1, "poor"), (2, "excellent")):
        assert journal(auditing, client, number, {"level": level})["state"] == "saved"
    journal(auditing, client, 3, {"words": "Fine."})

    rating = Rating.objects.get()
    assert (rating.level, rating.words) == ("excellent", "Fine.")


def test_an_old_entry_that_arrives_again_changes_nothing(auditing, client):
    journal(auditing, client, 1, {"level": "poor", "words": "Vague."})
    journal(auditing, client, 2, {"level": "excellent"})
    before = Rating.objects.values().get()

    assert journal(auditing, client, 1, {"level": "poor", "words": "Vague."})["state"] == "saved"

    assert Rating.objects.values().get() == before
    assert (before["level"], before["words"]) == ("excellent", "")


def test_an_old_entry_arrives_again_after_the_review_was_submitted(auditing, client):
    journal(auditing, client, 1, {"level": "poor", "words": "Vague."})
    others = {key: given for key, given in levels().items() if key != KEY}
    save_ratings(narrative=auditing.narrative, answers=others, by=auditing.dan)
    submit_review(narrative=auditing.narrative, by=auditing.dan)

    again = journal(auditing, client, 1, {"level": "poor", "words": "Vague."})

    assert again["state"] == "saved"


def at(minute):
    return f"2026-11-21T12:{minute:02}:00+00:00"


def test_an_older_entry_never_replaces_a_newer_one(auditing, client):
    journal(auditing, client, 2, {"level": "excellent"}, made_at=at(30))

    answer = journal(auditing, client, 1, {"level": "poor"}, made_at=at(10))

    assert answer["state"] == "refused"
    assert answer["sentence"] == "You have rated this criterion again. The newer answer counts."
    assert Rating.objects.get().level == "excellent"


def test_an_older_entry_never_replaces_what_the_form_saved(auditing, client):
    rate(client, auditing, {**levels(), KEY: ("excellent", "")})

    answer = journal(auditing, client, 1, {"level": "poor"}, made_at=at(10))

    assert answer["state"] == "refused"
    assert Rating.objects.get(criterion=KEY).level == "excellent"


@pytest.mark.parametrize("prefix", ["", "stored-"], ids=["of the page", "of the server"])
def test_an_entry_by_a_slow_clock_replaces_the_answer_that_its_page_showed(
    auditing, client, prefix
):
    journal(auditing, client, 2, {"level": "excellent"}, made_at=at(30))
    shown = f"{prefix}{Rating.objects.get().uuid}"

    answer = journal(auditing, client, 3, {"level": "poor"}, made_at=at(10), instead_of=shown)

    assert answer["state"] == "saved"
    assert Rating.objects.get().level == "poor"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"fields": {"level": "great"}},
            "“great” is not a level. Choose one of: excellent, acceptable, poor.",
        ),
        (
            {"fields": {"words": "x" * 10_001}},
            "You wrote 10,001 characters; at most 10,000 are kept.",
        ),
        (
            {"criterion": "beauty", "fields": {"level": "poor"}},
            "“beauty” is not one of the criteria.",
        ),
        ({"criterion": ["beauty"]}, "The field “criterion”: Not a valid string."),
        ({"fields": {"words": ["So."]}}, "The field “fields”, “words”: Not a valid string."),
        ({"narrative": 999_999}, "There is no such narrative of this pair."),
    ],
)
def test_an_invalid_entry_is_answered_with_a_sentence(auditing, client, fields, sentence):
    answer = journal(auditing, client, **fields)

    assert (answer["state"], answer["sentence"]) == ("refused", sentence)
    assert not Review.objects.exists()


def test_an_undoing_puts_back_what_stood_before(auditing, client):
    journal(auditing, client, 1, {"level": "poor", "words": "Vague."})
    journal(auditing, client, 2, {"level": "excellent", "words": ""})

    for number in (3, 3):
        undoing = {"level": "poor", "words": "Vague."}
        assert journal(auditing, client, number, undoing, undone="excellent")["state"] == "saved"
    assert Rating.objects.values_list("level", "words").get() == ("poor", "Vague.")

    journal(auditing, client, 4, {"level": "", "words": ""}, undone="poor")
    rating = Rating.objects.get()
    assert (rating.level, rating.words, rating.rejects) == ("", "", None)


def test_a_newer_level_is_not_undone(auditing, client):
    journal(auditing, client, 1, {"level": "poor", "words": "Vague."})
    journal(auditing, client, 2, {"level": "acceptable"})

    answer = journal(auditing, client, 3, {"level": "", "words": ""}, undone="poor")

    assert answer["state"] == "refused"
    assert answer["sentence"] == "You have rated this criterion again. The newer answer counts."
    assert Rating.objects.get().level == "acceptable"


def test_an_entry_for_a_superseded_version_is_refused(auditing, client):
    rewriting.rewrite_narrative(
        pair=auditing.pair, text="Only fences count.", based_on=1, by=auditing.carla
    )

    answer = journal(auditing, client, fields={"level": "poor", "words": "Typed for an hour."})

    assert answer["state"] == "refused"
    assert "changed while you were reading" in answer["sentence"]
    assert not Review.objects.exists()


def test_the_journal_refuses_members_without_an_assignment_and_strangers(auditing, client):
    client.force_login(auditing.ada.user)
    poor = {"level": "poor"}
    mine = journal(auditing, client, fields=poor, user=auditing.ada.user_id)
    client.force_login(auditing.eve.user)
    strange = journal(auditing, client, fields=poor, user=auditing.eve.user_id)
    foreign = journal(auditing, client, fields=poor, user=auditing.dan.user_id)

    assert (mine["state"], strange["state"], foreign["state"]) == ("refused", "refused", "foreign")
    assert not Review.objects.exists()


def test_without_scripts_the_form_saves_a_draft(auditing, client):
    response = rate(client, auditing, {**levels(), KEY: (None, "Hm")})

    assert (response.status_code, response.url) == (302, auditing.url)
    assert Rating.objects.count() == 6
    assert Review.objects.get().submitted_at is None
    assert client.get(auditing.url).context["view"].criterion.key == KEY


def test_confirming_the_summary_saves_and_submits(auditing, client):
    response = submit(client, auditing, levels(query_dependency="poor"))

    assert (response.status_code, response.url) == (302, auditing.url)
    assert Review.objects.get().submitted_at is not None
    assert Rating.objects.get(criterion="query_dependency").words == "Weak."


def test_the_last_rating_shows_a_summary_and_only_saves(auditing, client):
    rate(client, auditing, levels(query_dependency="poor"))

    page = client.get(auditing.url)

    assert page.context["at_end"]
    summary = page.content.decode().partition("data-criteria")[2].partition("</ol>")[0]
    assert summary.count("<li") == 6
    assert summary.count("Excellent") == 5
    assert "Weak." in summary
    assert "Submit this review?" in text_of(page)
    assert Rating.objects.count() == 6
    assert Review.objects.get().submitted_at is None


def test_no_key_that_rates_submits_when_pressed_again(auditing, client):
    page = client.get(auditing.url).content.decode()

    form = page.partition('id="submit-review"')[2].partition("</form>")[0]
    assert re.findall(r'data-key="(\w+)"', form) == ["Enter"]
    assert re.findall(r'name="level" value="\w+" data-key="(\w+)"', tight(page)) == ["1", "2", "3"]


def test_a_review_that_differs_from_its_summary_shows_a_new_one(auditing, client):
    rate(client, auditing, levels(query_dependency="poor"))

    response = client.post(auditing.url, summary_of(auditing, levels()), follow=True)

    page = response.content.decode()
    assert "Read what you are about to submit, then submit it." in page
    assert "Weak." in page.partition("data-criteria")[2].partition("</ol>")[0]
    assert Review.objects.get().submitted_at is None


def test_the_ends_of_lines_make_no_difference_to_the_summary(auditing, client):
    journal(auditing, client, fields={"level": "poor", "words": "One.\nTwo."})
    others = {key: answer for key, answer in levels().items() if key != KEY}
    rate(client, auditing, others)

    client.post(auditing.url, summary_of(auditing, {KEY: ("poor", "One.\r\nTwo."), **others}))

    assert Review.objects.get().submitted_at is not None


def test_submitting_a_poor_rating_without_words_saves_it_and_names_the_row(auditing, client):
    response = submit(client, auditing, {**levels(), KEY: ("poor", "")})

    assert response.status_code == 422
    assert "Say in words why it fails on: semantic expansion." in response.content.decode()
    assert Rating.objects.get(criterion=KEY).level == "poor"
    assert Review.objects.get().submitted_at is None


def test_submitting_too_early_saves_the_answers(auditing, client):
    answers = dict.fromkeys(FOLLOWTABLE.keys, (None, "")) | {KEY: ("acceptable", "Fine.")}

    response = submit(client, auditing, answers)

    assert response.status_code == 422
    assert "Not rated yet: semantic consistency," in response.content.decode()
    assert Rating.objects.get().level == "acceptable"


def test_submitting_a_superseded_version_is_refused_and_shows_the_new_one(auditing, client):
    rewriting.rewrite_narrative(
        pair=auditing.pair, text="Only fences count.", based_on=1, by=auditing.carla
    )

    response = client.post(auditing.url, summary_of(auditing, levels()), follow=True)

    page = response.content.decode()
    assert "changed while you were reading" in page
    assert "version 2" in page
    assert not Review.objects.exists()


def test_a_new_version_shows_the_auditors_words_on_the_previous_one(auditing, client):
    save_ratings(
        narrative=auditing.narrative, answers=levels(query_dependency="poor"), by=auditing.dan
    )
    submit_review(narrative=auditing.narrative, by=auditing.dan)
    rewriting.rewrite_narrative(
        pair=auditing.pair, text="Only fences count.", based_on=1, by=auditing.carla
    )

    page = client.get(auditing.url)

    assert "Since version 1" in page.content.decode()
    assert "Weak." in page.content.decode()
    assert page.context["session"].rated == []


def test_other_reviews_are_shown_only_after_submitting(auditing, client):
    answers = {**levels(), KEY: ("poor", "Marmalade.")}
    save_ratings(narrative=auditing.narrative, answers=answers, by=auditing.ben)
    submit_review(narrative=auditing.narrative, by=auditing.ben)
    before = client.get(auditing.url).content.decode()

    submit(client, auditing, levels())

    after = client.get(auditing.url).content.decode()
    assert "Marmalade." not in before
    assert "Marmalade." in after
    assert shows(after, f">{pseudonym_of(auditing, auditing.ben)}<")
    assert not shows(after, ">ben<")


def pseudonym_of(scene, auditor):
    """Return the pseudonym of ben or dan while they differ and names are hidden."""
    places = positions_of((scene.narrative.pk, 0, 0), (scene.ben.pk, scene.dan.pk))
    return pseudonym(places[auditor.pk])


def test_a_lead_who_reviewed_reads_no_name_of_an_auditor_who_differs(scene, client):
    Assignment.objects.filter(member=scene.dan).update(member=scene.carla)
    for by, answers in (
        (scene.ben, levels(query_dependency="poor")),
        (scene.carla, levels()),
    ):
        save_ratings(narrative=scene.narrative, answers=answers, by=by)
        submit_review(narrative=scene.narrative, by=by)
    client.force_login(scene.carla.user)
    url = reverse("audit:review", args=[scene.pair.pk])

    hidden = client.get(url).content.decode()
    decide(narrative=scene.narrative, outcome="revise", reason="Why.", by=scene.carla)
    decided = client.get(url).content.decode()

    assert [shows(page, ">ben<") for page in (hidden, decided)] == [False, True]


def test_auditors_have_the_same_numbers_on_the_page_and_in_the_story(auditing, client):
    auditing.project.overlap_review = 3
    auditing.project.save()
    assignments.take(pair=auditing.pair, task=Assignment.Task.REVIEW, by=auditing.ada)
    submit(client, auditing, levels())
    for auditor, words in ((auditing.ben, "Marmalade."), (auditing.ada, "Cheese.")):
        answers = {**levels(), KEY: ("acceptable", words)}
        save_ratings(narrative=auditing.narrative, answers=answers, by=auditor)
        submit_review(narrative=auditing.narrative, by=auditor)

    pages = (auditing.url, reverse("audit:story", args=[auditing.pair.pk]))
    named = [
        re.findall(r"Auditor \d|Marmalade|Cheese", client.get(url).content.decode())
        for url in pages
    ]

    assert named == [["Auditor 1", "Auditor 2", "Marmalade", "Cheese"]] * 2


def test_a_submitted_review_cannot_be_changed(auditing, client):
    submit(client, auditing, levels())

    response = rate(client, auditing, levels(query_dependency="poor"))

    assert response.status_code == 422
    assert "You have submitted this review" in response.content.decode()
    assert not Rating.objects.filter(level="poor").exists()


def test_submitting_twice_on_the_page_changes_nothing(auditing, client):
    submit(client, auditing, levels())
    before = Review.objects.get().submitted_at

    submit(client, auditing, levels())

    assert Review.objects.get().submitted_at == before


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_members_without_an_assignment_are_redirected_home(auditing, client, headers):
    client.force_login(auditing.ada.user)

    response = client.post(auditing.url, summary_of(auditing, levels()), headers=headers)

    assert response.headers.get("Location", response.headers.get("HX-Redirect")) == "/"
    assert not Review.objects.exists()


def test_the_author_reads_that_somebody_else_reviews(auditing, client):
    auditing.narrative.author = auditing.dan
    auditing.narrative.save()

    page = client.get(auditing.url).content.decode()
    response = submit(client, auditing, levels())

    assert "somebody else reviews it" in page
    assert 'name="submit"' not in page
    assert 'name="level"' not in page
    assert response.status_code == 422
    assert not Review.objects.exists()


def test_words_are_shown_as_text(auditing, client):
    answers = {**levels(), KEY: ("poor", "</textarea><script>alert(1)</script>")}
    rate(client, auditing, answers)

    assert "<script>alert(1)" not in client.get(auditing.url).content.decode()


def test_the_page_refuses_answers_in_an_archived_project(auditing, client):
    projects.archive(by=auditing.carla)

    response = rate(client, auditing, levels())

    assert response.status_code == 422
    assert "archived" in response.content.decode()


def test_the_page_costs_a_fixed_number_of_queries(auditing, client, django_assert_max_num_queries):
    submit(client, auditing, levels())

    with django_assert_max_num_queries(23) as queries:
        client.get(auditing.url)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)


def test_taking_an_assignment_leads_to_the_page(auditing, client):
    url = reverse("audit:review_assignment", args=[auditing.project.slug])

    assert client.post(url).url == auditing.url
    assert client.get(url).status_code == 405


def test_the_list_says_if_there_is_nothing_to_review(auditing, client):
    client.force_login(auditing.ada.user)

    response = client.post(
        reverse("audit:review_assignment", args=[auditing.project.slug]), follow=True
    )

    assert "nothing to review now" in response.content.decode()


def test_relevant_and_other_documents_are_shown_in_the_order_of_neutral_names(auditing, client):
    for number in range(6):
        factories.candidate(auditing.query, f"R{number}", prior=2)
        factories.candidate(auditing.query, f"A{number}", prior=0)
    page = client.get(auditing.url)

    documents = [one.document for one in page.context["candidates"]]
    shown = sorted(one.doc_id for one in documents)
    names = [neutral_name(one.pk, one.project_id) for one in documents]

    assert names == sorted(names)
    # The first four that came as relevant, and the first four that did not.
    assert shown == ["A0", "A1", "A2", "A3", "R0", "R1", "S1", "S2"]
    assert page.context["pool"] == 14
    assert "8 of the query’s 14 documents" in page.content.decode()


def test_a_machines_claim_takes_precedence_over_the_earlier_relevance(auditing, client):
    model = factories.machine(auditing.project)
    for number in range(8):
        one = factories.candidate(auditing.query, f"M{number}", prior=0)
        factories.judgment(auditing.narrative, one, model, 2 if number >= 4 else 0)
    for one in (auditing.first, auditing.second):
        factories.judgment(auditing.narrative, one, model, 0)

    shown = client.get(auditing.url).context["candidates"]

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
def test_the_earlier_relevance_is_shown_only_if_the_project_shows_it(auditing, client, shows):
    auditing.project.show_prior = shows
    auditing.project.save()
    factories.candidate(auditing.query, "R", prior=2)

    page = client.get(auditing.url).content.decode()

    assert ("Highly relevant" in page) is shows


def test_the_page_shows_why_the_previous_version_was_sent_back(auditing, client):
    save_ratings(
        narrative=auditing.narrative, answers=levels(query_dependency="poor"), by=auditing.dan
    )
    submit_review(narrative=auditing.narrative, by=auditing.dan)
    decide(
        narrative=auditing.narrative,
        outcome="revise",
        reason="Do not repeat it.",
        by=auditing.carla,
    )
    rewriting.rewrite_narrative(
        pair=auditing.pair, text="Only fences count.", based_on=1, by=auditing.carla
    )

    page = client.get(auditing.url).content.decode()

    assert "Decided: sent back for revision." in page
    assert "Do not repeat it." in page


def test_changes_are_shown_since_the_version_that_was_reviewed_and_not_since_a_withdrawn_one(
    auditing, client
):
    def rewrite(text, based_on):
        return rewriting.rewrite_narrative(
            pair=auditing.pair, text=text, based_on=based_on, by=auditing.carla
        )

    rewrite("Only fences count.", 1)
    rewriting.go_back(narrative=auditing.narrative, by=auditing.carla)
    rewrite("Only hedges count.", 1)

    assert "Since version 1" in client.get(auditing.url).content.decode()
