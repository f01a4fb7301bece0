"""The judge page as the server renders it, its prefetched documents, and its forms without
JavaScript.
"""

from __future__ import annotations

import datetime
import html
import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.judging import judging_session
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment
from tests import factories
from tests.pages import tight, without_random


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
            return client.post(
                reverse(f"annotate:{name}", args=[self.pair.pk, candidate.pk]),
                {"narrative": self.narrative.pk, **data},
            )

        def next_after(self, response):
            """Return the URL that a judge is sent to after a form was saved."""
            return client.get(response.url).url

        def judging_session(self, candidate):
            page = client.get(self.url(candidate)).content.decode()
            (found,) = re.findall(
                r'<script id="judging-session" type="application/json">(.*?)</script>', page
            )
            return json.loads(found)

        def documents(self, *candidates):
            url = reverse("annotate:documents", args=[self.pair.pk])
            return client.get(url, {"candidate": [str(one) for one in candidates]})

        def order(self):
            found = judging_session.read_judging_session(
                narrative=self.narrative, by=self.ada
            ).order
            return [self.query.candidates.get(pk=pk) for pk in found]

        def url(self, candidate):
            return reverse("annotate:judge", args=[self.pair.pk, candidate.pk])

    made = Scene()
    assignments.take(pair=made.pair, task=Assignment.Task.JUDGE, by=made.ada)
    client.force_login(made.ada.user)
    return made


def test_judging_begins_with_the_first_document_of_my_order(scene, client):
    response = client.get(reverse("annotate:judging", args=[scene.pair.pk]))

    assert response.url == scene.url(scene.order()[0])


def test_the_page_shows_query_narrative_and_document(scene, client):
    page = client.get(scene.url(scene.candidates[0])).content.decode()

    assert "tidal power" in page
    # The change is marked within its clauses.
    assert '>Any plant counts<ins>,</ins></span><ins> </ins><span class="clause"' in page
    assert "><ins>but only at sea</ins>.</span>" in page
    assert "Turbines in the Severn." in page


def test_nothing_in_a_document_can_run(scene, client):
    page = client.get(scene.url(scene.candidates[1])).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_grade_is_saved_and_the_next_document_comes(scene):
    first, second = scene.order()

    response = scene.post("judgment", first, relevance=2)

    assert scene.next_after(response) == scene.url(second)
    assert Judgment.objects.current().get().relevance == 2


def end_counts(page: str) -> dict[str, int]:
    """Return the counts on the end page by their names on screen, without hidden rows."""
    (block,) = re.findall(r'<ul class="finished__sums">(.*?)</ul>', page, re.DOTALL)
    rows = re.findall(r"<li>(.*?)</li>", block, re.DOTALL)
    found = {}
    for row in rows:
        if count := re.search(r"<span[^>]+data-sum=[^>]*>(\d+)<", row):
            name = re.sub(r"<[^>]+>", " ", row[: count.start()])
            found[re.sub(r"^[\s\d]+|\s+$", "", name)] = int(count[1])
    return found


def test_the_page_says_that_no_document_is_left(scene, client):
    for candidate in scene.order():
        response = scene.post("judgment", candidate, relevance=1)
    page = client.get(response.url).content.decode()

    assert "Query finished" in page
    assert "Judge the next query" not in page


def test_one_key_leads_from_a_finished_pool_to_the_next(scene, client):
    other = factories.query(scene.project, "302")
    factories.candidate(other)
    factories.pair(other)
    first, second = scene.order()
    scene.post("judgment", first, relevance=1)
    scene.post("flag", second, kind="cannot_judge", words="Cut off.")

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert end_counts(page) == {
        "Not relevant": 0,
        "Relevant": 1,
        "Highly relevant": 0,
        "Cannot judge": 1,
    }
    assert "Judge the next query" in page


def test_the_end_page_names_the_instruction_if_its_query_has_several(scene, client):
    other = factories.pair(scene.query, pair_id="301_2")
    assignments.take(pair=other, task=Assignment.Task.JUDGE, by=scene.ada)
    for candidate in scene.candidates:
        data = {"narrative": factories.altered(other).pk, "relevance": 1}
        client.post(reverse("annotate:judgment", args=[other.pk, candidate.pk]), data)

    page = client.get(reverse("annotate:judging", args=[other.pk])).content.decode()

    assert "<h2>Instruction finished</h2>" in page
    assert "Query finished" not in page


def test_the_end_page_counts_each_flag_by_its_own_name(scene, client):
    first, second = scene.order()
    scene.post("flag", first, kind="cannot_judge", words="Cut off.")
    scene.post("flag", second, kind="problem", words="In two columns.")

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert end_counts(page) == {
        "Not relevant": 0,
        "Relevant": 0,
        "Highly relevant": 0,
        "Cannot judge": 1,
        "Problem with this document": 1,
    }
    for place, number in ((1, first), (2, second)):
        assert f'<a href="{scene.url(number)}">{place}</a>' in page


def test_the_end_page_counts_notes_and_shows_the_time(scene, client):
    first, second = scene.order()
    scene.post("judgment", first, relevance=1, note="Only in the table.", active_ms=61_000)
    scene.post("judgment", second, relevance=2, active_ms=4_000)

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert end_counts(page)["With a note"] == 1
    assert f'<a href="{scene.url(first)}">1</a>' in page
    assert "1 min" in page


def test_the_time_on_the_end_page_is_that_of_all_answers_to_each_judged_document(scene, client):
    first, second = scene.order()
    scene.post("judgment", first, relevance=1, active_ms=61_000)
    scene.post("judgment", first, relevance=1, note="Only in the table.", active_ms=59_000)
    scene.post("judgment", second, relevance=2, active_ms=300_000)
    client.post(reverse("annotate:undo", args=[scene.pair.pk]))
    scene.post("flag", second, kind="cannot_judge", words="It is in Dutch.")

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert "2 min" in page


def test_one_key_leads_to_the_next_task_after_the_last_query(scene, client):
    for candidate in scene.order():
        scene.post("judgment", candidate, relevance=1)

    page = client.get(reverse("annotate:judging", args=[scene.pair.pk])).content.decode()

    assert re.search(r'href="/" data-key="Enter"', page)


def test_undo_shows_the_document_again(scene, client):
    first, _ = scene.order()
    scene.post("judgment", first, relevance=2)

    response = client.post(reverse("annotate:undo", args=[scene.pair.pk]))

    assert response.url == scene.url(first)
    assert not Judgment.objects.current().exists()


def test_a_sentence_says_that_there_is_nothing_to_undo(scene, client):
    response = client.post(reverse("annotate:undo", args=[scene.pair.pk]), follow=True)

    assert "nothing to take back" in response.content.decode()


def test_the_words_of_a_refused_flag_are_still_there(scene):
    first, _ = scene.order()

    response = scene.post("flag", first, kind="problem", words="Cut off.\x00")

    assert response.status_code == 422
    page = response.content.decode()
    assert 'details class="menu menu--up" open' in page
    assert page.count("Cut off.") == 1
    assert Flag.objects.count() == 0


def test_a_flag_with_words_brings_the_next_document(scene):
    first, second = scene.order()

    response = scene.post("flag", first, kind="problem", words="Cut off.")

    assert scene.next_after(response) == scene.url(second)
    assert Flag.objects.get().note == "Cut off."


def test_a_grade_that_does_not_exist_is_refused_and_the_note_kept(scene):
    response = scene.post("judgment", scene.candidates[0], relevance=7, note="see line 3")

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


def test_the_page_says_that_the_judge_judged_an_earlier_version(scene, client):
    ben = factories.member(scene.project, "ben")
    factories.judgment(scene.narrative, scene.candidates[0], ben)
    factories.narrative(scene.pair, text="Any plant counts, but only at night.", version=2)
    address = scene.url(scene.candidates[0])
    others_only = client.get(address).content.decode()

    factories.judgment(scene.narrative, scene.candidates[0], scene.ada)
    pages = [
        client.get(url).content.decode()
        for url in (address, reverse("annotate:listing", args=[scene.pair.pk]))
    ]

    sentence = "You judged version 1; this is version 2."
    assert sentence not in others_only
    for page in pages:
        assert sentence in page
        assert '<del>sea</del><ins class="instead">night</ins>' in page


def test_earlier_relevance_is_hidden_unless_the_lead_shows_it(scene, client):
    url = scene.url(scene.candidates[0])
    hidden = client.get(url).content.decode()
    scene.project.show_prior = True
    scene.project.save()
    shown = client.get(url).content.decode()

    assert "earlier relevance:" not in hidden
    assert "earlier relevance:" in shown


def test_others_answers_are_not_on_the_page(scene, client):
    ben = factories.member(scene.project, "ben")
    factories.judgment(scene.narrative, scene.candidates[0], ben, 2, note="ben's secret note")

    page = client.get(scene.url(scene.candidates[0])).content.decode()

    assert "secret" not in page
    assert "ben" not in without_random(page)


def test_someone_elses_assignment_is_refused_with_a_sentence(scene, client):
    client.force_login(factories.member(scene.project, "ben").user)

    shown = client.get(scene.url(scene.candidates[0]), follow=True)
    response = scene.post("judgment", scene.candidates[0], relevance=1)

    assert "not your task" in shown.content.decode()
    assert response.url == reverse("annotate:home")
    assert not Judgment.objects.exists()


def test_a_document_of_another_query_is_not_found(scene):
    stranger = factories.candidate(factories.query(scene.project, "302"))

    assert scene.post("judgment", stranger, relevance=1).status_code == 404


def test_a_grade_takes_few_queries_up_to_its_redirect(scene, django_assert_max_num_queries):
    first, _ = scene.order()
    # Beginning an assignment takes one more statement.
    Assignment.objects.update(touched_at=timezone.now())

    with django_assert_max_num_queries(10):
        scene.post("judgment", first, relevance=2)


@pytest.mark.parametrize(
    "invalid",
    [
        {"note": "half of one: \N{REPLACEMENT CHARACTER}"},
        {"note": "a\x00b"},
        {"note": "bell \x07"},
        {"note": "x" * 1_000_000},
        {"evidence": ["0-400"]},
        {"evidence": ["one-two"]},
        {"clauses": ["5-5"]},
        {"verdict-1": "met"},
        {"verdict-x": "met"},
        {"active_ms": "-1"},
        {"pressed": "foot"},
        {"narrative": "x"},
    ],
)
def test_invalid_input_is_refused_with_a_sentence(scene, invalid):
    response = scene.post("judgment", scene.candidates[0], **{"relevance": 1, **invalid})

    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("narrative", ["0", str(10**30), "-3"])
def test_what_cannot_be_a_narrative_is_refused(scene, narrative):
    response = scene.post("judgment", scene.candidates[0], relevance=1, narrative=narrative)

    assert response.status_code == 422
    assert not Judgment.objects.exists()


def test_marked_passages_and_verdicts_are_saved_from_a_form(scene):
    condition = scene.narrative.conditions.create(number=1, text="At sea.")
    fields = {"evidence": ["0-8", "5-12"], "clauses": ["0-3"], f"verdict-{condition.pk}": "met"}

    scene.post("judgment", scene.candidates[0], relevance=1, pressed="click", **fields)

    judgment = Judgment.objects.get()
    assert judgment.evidence == [{"start": 0, "end": 12}]
    assert judgment.clauses == [{"start": 0, "end": 3}]
    assert judgment.pressed == "click"
    assert [verdict.answer for verdict in judgment.verdicts.all()] == ["met"]


def test_the_page_gives_its_script_the_judging_session(scene):
    first, second = scene.order()
    scene.post("judgment", first, relevance=2)
    scene.post("flag", second, kind="later")

    found = scene.judging_session(first)

    assert found["order"] == [first.pk, second.pk]
    assert found["answers"] == {
        str(first.pk): ["judgment", 2, str(Judgment.objects.get().uuid)],
        str(second.pk): ["flag", "later", str(Flag.objects.get().uuid)],
    }
    assert found["grades"][0] == {"value": 0, "name": "Not relevant", "key": "0"}
    assert (found["narrative"], found["candidate"]) == (scene.narrative.pk, first.pk)
    assert found["user"] == scene.ada.user_id
    assert found["urls"]["candidate"] == f"/pairs/{scene.pair.pk}/candidates/0/"


def test_documents_are_rendered_in_the_requested_order(scene):
    first, second = scene.order()
    scene.post("judgment", first, relevance=2, note="see “line 3”")

    drawn = scene.documents(second.pk, first.pk).content.decode()

    assert re.findall(r'data-candidate="(\d+)"\s+data-position="(\d+)"', drawn) == [
        (str(second.pk), "2"),
        (str(first.pk), "1"),
    ]
    answers = [
        json.loads(html.unescape(one)) for one in re.findall(r'data-answer="([^"]*)"', drawn)
    ]
    assert answers[0] == {}
    assert (answers[1]["relevance"], answers[1]["note"]) == (2, "see “line 3”")
    assert "Turbines in the Severn." in drawn
    assert "<script>alert(1)" not in drawn


def test_documents_of_other_pools_are_left_out(scene):
    stranger = factories.candidate(factories.query(scene.project, "302"))

    drawn = scene.documents(stranger.pk, 10**18, "x").content.decode()

    assert "judge__document-view" not in drawn


def test_someone_without_the_assignment_gets_no_documents(scene, client):
    client.force_login(factories.member(scene.project, "ben").user)

    response = scene.documents(scene.candidates[0].pk)

    assert response.status_code == 409
    assert "Turbines" not in response.content.decode()


def test_many_documents_take_as_many_queries_as_one(scene, django_assert_num_queries):
    more = [factories.candidate(scene.query, text="More.").pk for _ in range(20)]
    scene.documents(more[0])
    with CaptureQueriesContext(connection) as one:
        scene.documents(more[0])

    with django_assert_num_queries(len(one)):
        response = scene.documents(*more)

    assert response.content.decode().count("judge__document-view") == 20


def test_at_most_fifty_documents_come_at_once(scene):
    more = [factories.candidate(scene.query, text="More.").pk for _ in range(51)]

    assert scene.documents(*more).content.decode().count("judge__document-view") == 50


def test_a_document_view_names_the_grades_that_need_evidence(scene):
    scene.project.evidence_rule = "document"
    scene.project.save()

    drawn = scene.documents(scene.candidates[0].pk).content.decode()

    assert 'data-evidence-wanted="0"' in drawn


def test_ranks_are_hidden_unless_the_lead_shows_them(scene):
    run = scene.project.runs.create(name="bm25.run", sha256="0" * 64)
    document = scene.candidates[0].document
    run.lines.create(query=scene.query, document=document, rank=7, score=1.5)
    hidden = scene.documents(scene.candidates[0].pk).content.decode()
    scene.project.show_rank = True
    scene.project.save()
    shown = scene.documents(scene.candidates[0].pk).content.decode()

    assert "bm25.run" not in hidden
    assert "bm25.run" in shown


def test_an_answer_from_another_day_shows_its_date(scene, client):
    judgment = factories.judgment(scene.narrative, scene.candidates[0], scene.ada, 1)
    Judgment.objects.filter(pk=judgment.pk).update(
        at=datetime.datetime(2025, 9, 17, 8, 31, 15, tzinfo=datetime.UTC)
    )

    page = client.get(scene.url(scene.candidates[0])).content.decode()

    (line,) = re.findall(r'id="save-line">(.*?)</p>', tight(page))
    assert 'data-local="datetime"' in line
    assert "17 Sep 2025, 08:31 UTC" in line
