"""The judge page: one document, one key, the next document; with and without htmx."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.actions import pool, seats
from annotate.models import Assignment, Flag, Judgment
from tests import factories

HTMX = {"HX-Request": "true"}


@pytest.fixture
def scene(db, client):
    class Scene:
        project = factories.project()
        query = factories.query(project)
        candidates = [
            factories.candidate(query, "A", text="Turbines in the Severn."),
            factories.candidate(query, "B", text="<script>alert(1)</script>"),
        ]
        pair = factories.pair(query, altered="Any plant counts, but only at sea.")
        narrative = factories.altered(pair)
        ada = factories.member(project, "ada")

        def post(self, name, candidate, **data):
            htmx = data.pop("htmx", False)
            return client.post(
                reverse(f"annotate:{name}", args=[self.pair.pk, candidate.pk]),
                {"narrative": self.narrative.pk, **data},
                headers=HTMX if htmx else {},
            )

        def order(self):
            found = pool.sitting(narrative=self.narrative, by=self.ada).order
            return [self.query.candidates.get(pk=pk) for pk in found]

        def url(self, candidate):
            return reverse("annotate:judge", args=[self.pair.pk, candidate.pk])

    made = Scene()
    seats.take(pair=made.pair, task=Assignment.Task.JUDGE, by=made.ada)
    client.force_login(made.ada.user)
    return made


def test_judging_begins_with_the_first_document_of_my_order(scene, client):
    response = client.get(reverse("annotate:judging", args=[scene.pair.pk]))

    assert response.url == scene.url(scene.order()[0])


def test_the_page_shows_query_narrative_and_document(scene, client):
    page = client.get(scene.url(scene.candidates[0])).content.decode()

    assert "tidal power" in page
    assert "Any plant counts<ins>, but only at sea</ins>." in page
    assert "Turbines in the Severn." in page


def test_nothing_in_a_document_can_run(scene, client):
    page = client.get(scene.url(scene.candidates[1])).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_grade_is_saved_and_the_next_document_comes(scene):
    first, second = scene.order()

    response = scene.post("judgment", first, relevance=2)

    assert response.url == scene.url(second)
    assert Judgment.objects.current().get().relevance == 2


def test_with_htmx_the_next_document_takes_this_ones_place(scene):
    first, second = scene.order()

    response = scene.post("judgment", first, relevance=2, htmx=True)

    assert response.headers["HX-Push-Url"] == scene.url(second)
    assert response.content.decode().lstrip().startswith('<div class="judge__candidate"')
    assert "Saved" in response.content.decode()


def test_after_the_last_document_the_page_says_so(scene, client):
    for candidate in scene.order():
        response = scene.post("judgment", candidate, relevance=1)
    page = client.get(response.url).content.decode()

    assert "Everything here is done" in page
    assert "Judge the next query" not in page


def test_from_a_finished_pool_one_key_goes_on_to_the_next(scene, client):
    other = factories.query(scene.project, "302")
    factories.candidate(other)
    factories.pair(other)
    first, second = scene.order()
    scene.post("judgment", first, relevance=1)
    scene.post("flag", second, kind="cannot_judge", words="Cut off.")

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert "One of them you could not judge." in page
    assert "Judge the next query" in page


def test_undo_brings_the_document_back(scene, client):
    first, _ = scene.order()
    scene.post("judgment", first, relevance=2)

    response = client.post(reverse("annotate:undo", args=[scene.pair.pk]))

    assert response.url == scene.url(first)
    assert not Judgment.objects.current().exists()


def test_with_nothing_to_undo_a_sentence_says_so(scene, client):
    response = client.post(reverse("annotate:undo", args=[scene.pair.pk]), follow=True)

    assert "nothing to take back" in response.content.decode()


def test_a_flag_with_words_brings_the_next_document(scene):
    first, second = scene.order()

    response = scene.post("flag", first, kind="problem", words="Cut off.")

    assert response.url == scene.url(second)
    assert Flag.objects.get().words == "Cut off."


@pytest.mark.parametrize("htmx", [False, True])
def test_a_grade_that_does_not_exist_is_refused_and_the_note_kept(scene, htmx):
    response = scene.post(
        "judgment", scene.candidates[0], relevance=7, note="see line 3", htmx=htmx
    )

    assert response.status_code == 422
    assert "7 is not a grade of this project" in response.content.decode()
    assert "see line 3" in response.content.decode()
    assert not Judgment.objects.exists()


def test_a_judgment_under_an_old_narrative_is_refused_and_the_new_one_shown(scene):
    factories.narrative(scene.pair, text="Only plants in estuaries count.", version=2)

    response = scene.post("judgment", scene.candidates[0], relevance=1)

    assert response.status_code == 422
    assert "The narrative changed while you were reading" in response.content.decode()
    assert "estuaries" in response.content.decode()
    assert not Judgment.objects.exists()


def test_with_htmx_a_changed_narrative_brings_the_whole_page_anew(scene):
    factories.narrative(scene.pair, text="Only plants in estuaries count.", version=2)

    response = scene.post("judgment", scene.candidates[0], relevance=1, htmx=True)

    assert response.headers["HX-Redirect"] == scene.url(scene.candidates[0])
    assert not Judgment.objects.exists()


def test_earlier_relevance_is_hidden_unless_the_lead_shows_it(scene, client):
    url = scene.url(scene.candidates[0])
    hidden = client.get(url).content.decode()
    scene.project.show_prior = True
    scene.project.save()
    shown = client.get(url).content.decode()

    assert "came with" not in hidden
    assert "came with" in shown


def test_what_others_said_is_nowhere_on_the_page(scene, client):
    ben = factories.member(scene.project, "ben")
    factories.judgment(scene.narrative, scene.candidates[0], ben, 2, note="ben's secret note")

    page = client.get(scene.url(scene.candidates[0])).content.decode()

    assert "secret" not in page
    assert "ben" not in page


def test_someone_elses_seat_is_refused_with_a_sentence(scene, client):
    client.force_login(factories.member(scene.project, "ben").user)

    shown = client.get(scene.url(scene.candidates[0]), follow=True)
    response = scene.post("judgment", scene.candidates[0], relevance=1)

    assert "not your seat" in shown.content.decode()
    assert response.url == reverse("annotate:home")
    assert not Judgment.objects.exists()


def test_a_stranger_finds_nothing(scene, client):
    client.force_login(factories.member(factories.project("other"), "eve").user)

    assert client.get(scene.url(scene.candidates[0])).status_code == 404
    assert scene.post("judgment", scene.candidates[0], relevance=1).status_code == 404
    assert not Judgment.objects.exists()


def test_a_document_of_another_query_is_not_found(scene):
    stranger = factories.candidate(factories.query(scene.project, "302"))

    assert scene.post("judgment", stranger, relevance=1).status_code == 404


def test_saving_and_bringing_the_next_takes_few_queries(scene, django_assert_max_num_queries):
    first, _ = scene.order()

    with django_assert_max_num_queries(25) as queries:
        scene.post("judgment", first, relevance=2, htmx=True)

    texts = [query for query in queries.captured_queries if "documenttext" in query["sql"]]
    assert len(texts) == 1
