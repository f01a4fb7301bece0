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
from tests.pages import shows
from tests.second_pass import levels, submit_levels, take_reviews

WORDS = "Marmalade."


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Dan has rated the instruction poor; ben has not reviewed it yet."""
    scene = take_reviews(scene_of_file)
    answers = {**levels(), "query_dependency": ("poor", WORDS)}
    save_ratings(narrative=scene.narrative, answers=answers, by=scene.dan)
    submit_review(narrative=scene.narrative, by=scene.dan)
    return scene


@pytest.fixture
def reviewed(scene, client):
    """The scene, with a function that reads a page as one of its people."""
    scene.story = reverse("audit:story", args=[scene.pair.pk])
    scene.list = reverse("audit:reviews", args=[scene.project.slug])
    scene.decision = reverse("audit:decision", args=[scene.narrative.pk])

    def read(who, url=scene.story):
        client.force_login(who.user)
        return client.get(url).content.decode()

    scene.read = read
    return scene


def rewrite(scene):
    return rewriting.rewrite_narrative(
        pair=scene.pair, text="Only fences count.", based_on=1, by=scene.carla
    )


def send_back(scene):
    return decide(
        narrative=scene.narrative, outcome="revise", reason="Do not repeat it.", by=scene.carla
    )


def test_an_auditor_who_has_submitted_reads_the_reviews(reviewed):
    assert WORDS in reviewed.read(reviewed.dan)


def test_a_lead_reads_the_reviews_with_names(reviewed):
    page = reviewed.read(reviewed.carla)

    assert WORDS in page
    assert "dan" in page
    assert "rejected" in page


@pytest.mark.parametrize(
    ("wanted", "words"), [(0, "1 review,"), (1, "1 of 1 review,"), (2, "1 of 2 reviews,")]
)
def test_the_story_counts_reviews_and_those_that_are_wanted(reviewed, wanted, words):
    Project.objects.update(overlap_review=wanted)

    page = reviewed.read(reviewed.carla)

    assert shows(page, f">{words} made under")


def test_more_reviews_than_are_wanted_are_only_counted(reviewed):
    submit_levels(reviewed.narrative, reviewed.ben)
    Project.objects.update(overlap_review=1)

    listed = reviewed.read(reviewed.carla, reviewed.list)

    assert shows(reviewed.read(reviewed.carla), ">2 reviews, made under")
    assert shows(listed, '<td class="number">2</td>')


@pytest.mark.parametrize("who", ["ben", "ada"])
def test_members_who_have_not_submitted_read_no_reviews(reviewed, who):
    send_back(reviewed)

    page = reviewed.read(getattr(reviewed, who))

    assert WORDS not in page
    assert "rejected" not in page
    assert "Do not repeat it." not in page
    assert "once you have submitted your own review" in page


def test_a_lead_who_owes_a_review_reads_no_reviews(reviewed):
    Project.objects.update(overlap_review=3)
    reviewed.carla.refresh_from_db()
    factories.assignment(reviewed.pair, reviewed.carla, Assignment.Task.REVIEW)

    assert WORDS not in reviewed.read(reviewed.carla)


def test_the_author_reads_the_reviews_without_names_once_sent_back(reviewed):
    reviewed.narrative.author = reviewed.ada
    reviewed.narrative.save()
    before = reviewed.read(reviewed.ada)

    send_back(reviewed)

    page = reviewed.read(reviewed.ada)
    assert WORDS not in before
    assert WORDS in page
    assert "Do not repeat it." in page
    assert "Auditor 1" in page
    assert not shows(page, ">dan<")


def test_everybody_reads_the_reviews_of_an_older_version(reviewed):
    send_back(reviewed)
    rewrite(reviewed)

    page = reviewed.read(reviewed.ben)

    assert WORDS in page
    assert "Version 2" in page
    assert "<del>" in page


def test_after_going_back_a_lead_decides_on_the_version_that_is_current_again(reviewed):
    rewrite(reviewed)
    rewriting.go_back(narrative=reviewed.narrative, by=reviewed.carla)

    page = reviewed.read(reviewed.carla)

    assert f'action="{reviewed.decision}"' in page


def test_going_back_from_a_version_that_was_sent_back_makes_the_earlier_one_count(reviewed):
    second = rewrite(reviewed)
    reviewed.narrative = second
    submit_levels(second, reviewed.dan)
    send_back(reviewed)
    first = reviewed.pair.narratives.get(side="altered", version=1)

    rewriting.go_back(narrative=first, by=reviewed.carla)

    assert reviewed.project.pairs.reviewable().get() == reviewed.pair
    decide(narrative=first, outcome="accepted", reason="After all.", by=reviewed.carla)
    rewriting.go_back(narrative=second, by=reviewed.carla)
    assert reviewed.project.pairs.to_rewrite().get() == reviewed.pair


def test_a_pair_without_an_altered_narrative_has_no_story_yet(scene, client):
    pair = factories.pair(factories.query(scene.project, "302"), altered=None)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:story", args=[pair.pk])).content.decode()

    assert "Nothing is written yet" in page


def test_a_lead_decides_in_the_story(reviewed, client):
    client.force_login(reviewed.carla.user)

    response = client.post(reviewed.decision, {"outcome": "revise", "reason": "Do not repeat it."})

    assert response.url == reviewed.story
    assert Decision.objects.get().outcome == "revise"
    assert "Do not repeat it." in client.get(reviewed.story).content.decode()


@pytest.mark.parametrize(("overlap_judge", "is_said"), [(2, True), (0, False)])
def test_the_decision_form_says_that_a_new_version_is_judged_again(
    reviewed, overlap_judge, is_said
):
    Project.objects.update(overlap_judge=overlap_judge)

    page = reviewed.read(reviewed.carla)

    assert ("the new version is judged from the start" in page) is is_said


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"outcome": "revise", "reason": ""}, "Give a reason"),
        ({"outcome": "accepted", "reason": ""}, "An auditor rejects it"),
        ({"outcome": "maybe", "reason": "So."}, "maybe is not one of the available choices"),
        ({"reason": "So."}, "This field is required"),
    ],
)
def test_an_invalid_decision_is_explained_and_the_input_is_kept(reviewed, client, sent, sentence):
    client.force_login(reviewed.carla.user)

    response = client.post(reviewed.decision, sent)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert sent["reason"] in response.content.decode()
    assert not Decision.objects.exists()


def test_a_lead_withdraws_in_the_story(reviewed, client):
    send_back(reviewed)
    client.force_login(reviewed.carla.user)
    url = reverse("audit:decision_withdrawal", args=[reviewed.narrative.pk])

    response = client.post(url)

    assert response.url == reviewed.story
    assert not Decision.objects.current().exists()
    assert "withdrawn by carla" in client.get(reviewed.story).content.decode()
    assert client.post(url).status_code == 404


def test_a_decision_on_a_rewritten_version_cannot_be_withdrawn(reviewed, client):
    made = send_back(reviewed)
    rewrite(reviewed)
    client.force_login(reviewed.carla.user)

    page = client.post(
        reverse("audit:decision_withdrawal", args=[reviewed.narrative.pk]), follow=True
    ).content.decode()

    assert "this decision is history" in page
    assert Decision.objects.current().get() == made


def test_words_for_an_author_carry_no_names(reviewed):
    assert [
        (one.criterion.key, one.level and one.level.value, one.words)
        for one in words_for(reviewed.narrative)
    ] == [("query_dependency", "poor", WORDS)]


def test_the_list_shows_each_reader_only_what_they_may_see(reviewed):
    send_back(reviewed)

    assert "Sent back for revision" in reviewed.read(reviewed.carla, reviewed.list)
    assert "Sent back for revision" in reviewed.read(reviewed.dan, reviewed.list)
    for who in (reviewed.ben, reviewed.ada):
        page = reviewed.read(who, reviewed.list)
        assert "Send back" not in page
        assert "rejected" not in page


def test_the_list_links_to_the_readers_own_reviews(reviewed):
    review = reverse("audit:review", args=[reviewed.pair.pk])

    dans, bens = (reviewed.read(who, reviewed.list) for who in (reviewed.dan, reviewed.ben))
    assert shows(dans, f'<a href="{review}">submitted</a>')
    assert shows(bens, f'<a href="{review}">review it</a>')
    assert review not in reviewed.read(reviewed.ada, reviewed.list)


def test_the_list_shows_only_current_versions(reviewed):
    rewrite(reviewed)

    page = reviewed.read(reviewed.carla, reviewed.list)

    assert "Only fences count." in page
    assert "Only plants at sea count." not in page


def test_the_list_can_be_limited_to_instructions_to_decide(reviewed, client):
    fine = factories.altered(factories.pair(factories.query(reviewed.project, "302")))
    address = reviewed.list + "?state=to-decide"

    def listed_narratives():
        client.force_login(reviewed.carla.user)
        return [row.narrative for row in client.get(address).context["rows"]]

    assert listed_narratives() == [reviewed.narrative]
    for auditor in (reviewed.dan, reviewed.ben):
        assignments.take(pair=fine.pair, task=Assignment.Task.REVIEW, by=auditor)
        assert fine not in listed_narratives()
        submit_levels(fine, auditor)
    assert listed_narratives() == [reviewed.narrative, fine]
    send_back(reviewed)
    assert listed_narratives() == [fine]


@pytest.mark.parametrize("state", ["accepted", "removed", "sent-back"])
def test_an_empty_list_of_decided_instructions_says_what_it_lists(reviewed, state):
    page = reviewed.read(reviewed.carla, f"{reviewed.list}?state={state}")

    assert "An instruction is listed here after a lead" in page
    assert "The instructions will appear here" not in page


def test_instructions_of_which_a_lead_owes_a_review_are_not_listed_to_decide(reviewed, client):
    Project.objects.update(overlap_review=3)
    reviewed.carla.refresh_from_db()
    factories.assignment(reviewed.pair, reviewed.carla, Assignment.Task.REVIEW)
    client.force_login(reviewed.carla.user)

    assert client.get(reviewed.list + "?state=to-decide").context["rows"] == []


def test_only_leads_can_list_instructions_to_decide(reviewed, client):
    factories.pair(factories.query(reviewed.project, "302"))
    client.force_login(reviewed.ben.user)

    rows = client.get(reviewed.list + "?state=to-decide").context["rows"]

    # The whole list: a list of only rejected ones would reveal dan's review.
    assert [row.pair.pair_id for row in rows] == ["301", "302"]


@pytest.mark.parametrize("more", [0, 12])
def test_the_list_costs_the_same_however_long(
    reviewed, client, django_assert_max_num_queries, more
):
    for number in range(more):
        factories.pair(factories.query(reviewed.project, f"4{number:02}"))
    client.force_login(reviewed.carla.user)

    with django_assert_max_num_queries(17):
        client.get(reviewed.list)


def test_a_missing_reason_is_an_error_of_its_field(reviewed, client):
    client.force_login(reviewed.carla.user)

    page = client.post(reviewed.decision, {"outcome": "revise", "reason": ""})

    assert page.context["form"].errors == {"reason": ["Give a reason; its author will read it."]}
    assert shows(page, 'aria-describedby="reason-help id_reason_error" aria-invalid="true"')


def test_the_story_links_to_the_next_instruction_to_decide_and_wraps_around(reviewed, client):
    pairs = [reviewed.pair]
    for number in ("302", "303"):
        pair = factories.pair(factories.query(reviewed.project, number))
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=reviewed.dan)
        answers = {**levels(), "query_dependency": ("poor", WORDS)}
        save_ratings(narrative=factories.altered(pair), answers=answers, by=reviewed.dan)
        submit_review(narrative=factories.altered(pair), by=reviewed.dan)
        pairs.append(pair)
    stories = [reverse("audit:story", args=[pair.pk]) for pair in pairs]
    client.force_login(reviewed.carla.user)

    assert [client.get(story).context["next_url"] for story in stories] == [
        *(stories[1], stories[2], stories[0])
    ]
    for pair in pairs[1:]:
        decide(narrative=factories.altered(pair), outcome="revise", reason="No.", by=reviewed.carla)
    assert client.get(stories[0]).context["next_url"] == ""
    assert "next-to-decide" not in client.get(stories[0]).content.decode()
    client.force_login(reviewed.dan.user)
    assert "next-to-decide" not in client.get(stories[1]).content.decode()


def test_the_story_links_an_auditor_to_their_pending_review(reviewed):
    review = reverse("audit:review", args=[reviewed.pair.pk])

    assert f'id="review-it" href="{review}"' in reviewed.read(reviewed.ben)
    assert "review-it" not in reviewed.read(reviewed.dan)
    assert "review-it" not in reviewed.read(reviewed.ada)
    rewrite(reviewed)
    assert f'id="review-it" href="{review}"' in reviewed.read(reviewed.dan)


def test_a_version_by_a_person_is_not_attributed_to_a_model(reviewed, client):
    reviewed.pair.narratives.filter(side="altered").update(origin="llm", model="some-model")
    review = reverse("audit:review", args=[reviewed.pair.pk])
    query = reverse("annotate:query", args=[reviewed.project.slug, reviewed.query.pk])

    assert "written by some-model" in reviewed.read(reviewed.ben, review)
    assert "written by some-model" in reviewed.read(reviewed.ben, query)
    assert "written by some-model" in reviewed.read(reviewed.ben)
    rewrite(reviewed)
    assert "written by" not in reviewed.read(reviewed.ben, review)
    assert "written by" not in reviewed.read(reviewed.ben, query)
    assert "written by some-model" in reviewed.read(reviewed.ben)


def test_a_lead_chooses_a_decision_and_sees_its_confirmation(reviewed, client):
    client.force_login(reviewed.carla.user)
    page = client.get(reviewed.story).content.decode()
    assert [word for word in ("> Accept\n", "> Send back", "> Remove\n") if word not in page] == []

    page = client.post(reviewed.decision, {"outcome": "removed", "reason": "No."}, follow=True)

    assert "301: removed." in page.content.decode()


def test_the_page_of_a_query_leads_to_the_story_of_its_instruction(reviewed):
    query = reverse("annotate:query", args=[reviewed.project.slug, reviewed.query.pk])

    assert f'href="{reviewed.story}"' in reviewed.read(reviewed.ada, query)


@pytest.mark.parametrize("more", [0, 5])
def test_the_story_costs_the_same_however_long(reviewed, client, django_assert_num_queries, more):
    for number in range(more):
        factories.narrative(reviewed.pair, text=f"Version of {number}.", version=2 + number)
    client.force_login(reviewed.dan.user)

    with django_assert_num_queries(17):
        client.get(reviewed.story)
