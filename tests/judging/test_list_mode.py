"""List mode: a pool as rows in the judge's order, page by page, filtered by the judge's answers."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.judging import judging_session
from annotate.judging.answer_rules import MAX_NOTE
from annotate.judging.views.list import filters, window
from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name
from annotate.models import Assignment, Candidate, Document, Flag, Judgment
from tests import factories


@pytest.fixture
def scene(db, client):
    class Scene:
        project = factories.project()
        query = factories.query(project)
        pair = factories.pair(query)
        narrative = factories.altered(pair)
        ada = factories.member(project, "ada")
        url = reverse("annotate:listing", args=[pair.pk])

        def order(self):
            return judging_session.read_judging_session(narrative=self.narrative, by=self.ada).order

        def rows(self, **parameters):
            """Return the candidates of the rows, in the order of the page."""
            page = client.get(self.url, parameters).content.decode()
            return [int(pk) for pk in re.findall(r'id="row-(\d+)"', page)]

        def judge(self, candidate, relevance=1, by=None):
            return factories.judgment(
                self.narrative, Candidate(pk=candidate), by or self.ada, relevance
            )

        def flag(self, candidate, kind):
            return Flag.objects.create(
                narrative=self.narrative,
                candidate_id=candidate,
                annotator=self.ada,
                flag=kind,
                note="" if kind == "later" else "Cut off.",
            )

    made = Scene()
    for doc_id in "ABCDE":
        factories.candidate(made.query, doc_id)
    assignments.take(pair=made.pair, task=Assignment.Task.JUDGE, by=made.ada)
    client.force_login(made.ada.user)
    return made


def row(page: str, candidate: int) -> str:
    """Return the row of one document, as HTML."""
    found = re.search(rf'<li[^>]* id="row-{candidate}".*?</li>', page, re.S)
    assert found is not None
    return found[0]


def test_the_list_has_all_documents_in_the_judging_order(scene):
    assert scene.rows() == scene.order()


def test_a_row_has_the_title_but_not_the_text(scene, client):
    factories.candidate(scene.query, "F", text="An unmistakable sentence.", title="Severn barrage")

    page = client.get(scene.url).content.decode()

    assert "Severn barrage" in page
    assert "unmistakable" not in page


def test_the_page_reads_no_text(scene, client):
    with CaptureQueriesContext(connection) as queries:
        client.get(scene.url)

    assert [query["sql"] for query in queries if "documenttext" in query["sql"]] == []


def test_a_row_shows_the_grade_i_gave_and_no_other(scene, client):
    first, second, *_ = scene.order()
    ben = factories.member(scene.project, "ben")
    scene.judge(first, 2)
    scene.judge(second, 1, by=ben)

    page = client.get(scene.url).content.decode()

    assert row(page, first).count('aria-pressed="true"') == 1
    assert '<span class="grade-value">2</span>' in row(page, first)
    assert 'aria-pressed="true"' not in row(page, second)
    assert "grade-value" not in row(page, second)


def test_a_row_shows_my_flag(scene, client):
    first, *_ = scene.order()
    scene.flag(first, "problem")

    assert "Problem with this document" in row(client.get(scene.url).content.decode(), first)


@pytest.mark.parametrize(
    ("show", "places"),
    [("", [0, 1, 2, 3, 4]), ("open", [4]), ("later", [2]), ("aside", [3]), ("0", [0]), ("2", [1])],
)
def test_a_filter_keeps_the_matching_rows(scene, show, places):
    order = scene.order()
    scene.judge(order[0], 0)
    scene.judge(order[1], 2)
    scene.flag(order[2], "later")
    scene.flag(order[3], "cannot_judge")

    assert scene.rows(show=show) == [order[place] for place in places]


def test_the_counts_are_of_my_answers_only(scene):
    ben = factories.member(scene.project, "ben")
    first, second, third, *_ = scene.order()
    scene.judge(first, 2)
    scene.judge(second, 2)
    scene.judge(first, 0, by=ben)
    scene.flag(third, "later")

    at = judging_session.read_judging_session(narrative=scene.narrative, by=scene.ada)
    counts = {
        one.name: one.count for one in filters(at, list(scene.project.grades.order_by("value")))
    }

    assert counts == {
        "All": 5,
        "Not yet judged": 2,
        "Later": 1,
        "Flagged": 0,
        "Not relevant": 0,
        "Relevant": 0,
        "Highly relevant": 2,
    }


@pytest.mark.parametrize("show", ["nonsense", "-", "9" * 5000, "²"])
def test_an_unknown_filter_never_fails(scene, client, show):
    response = client.get(scene.url, {"show": show, "after": "x", "at": "9" * 30})

    assert response.status_code == 200


def parts(at, query="", size=2):
    return window(at, QueryDict(query), size)


def session_of_five(**state):
    return judging_session.JudgingSession(
        **{"order": [50, 40, 30, 20, 10], "judged": {}, "flagged": {}, **state}
    )


def test_a_page_links_to_its_neighbours():
    first = parts(session_of_five())
    second = parts(session_of_five(), first.next.removeprefix("?"))
    third = parts(session_of_five(), second.next.removeprefix("?"))

    assert first.positions == [(1, 50), (2, 40)]
    assert (first.previous, first.next) == ("", "?after=2")
    assert second.positions == [(3, 30), (4, 20)]
    assert (second.first, second.last, second.of) == (3, 4, 5)
    assert third.positions == [(5, 10)]
    assert third.next == ""
    assert parts(session_of_five(), third.previous.removeprefix("?")).positions == second.positions


def test_judging_does_not_make_the_next_page_skip_rows():
    first = parts(session_of_five(), "show=open")

    then = parts(session_of_five(judged={50: 1, 40: 0}), first.next.removeprefix("?"))

    assert first.next == "?show=open&after=2"
    assert then.positions == [(3, 30), (4, 20)]


def test_a_document_is_shown_on_the_page_that_holds_it():
    assert parts(session_of_five(), "at=20").positions == [(3, 30), (4, 20)]


def test_a_document_that_the_filter_excludes_is_shown_in_the_whole_list():
    found = parts(session_of_five(judged={20: 1}), "show=open&at=20")

    assert (found.show, found.positions) == ("", [(3, 30), (4, 20)])


def test_an_empty_pool_says_what_will_be_here(scene, client):
    other = factories.query(scene.project, "302")
    candidate = factories.candidate(other)
    pair = factories.pair(other)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=scene.ada)
    candidate.delete()

    page = client.get(reverse("annotate:listing", args=[pair.pk])).content.decode()

    assert "No document to judge" in page


def test_an_empty_group_says_so(scene, client):
    page = client.get(scene.url, {"show": "later"}).content.decode()

    assert "No document here now" in page


def test_without_an_assignment_the_list_redirects_home(scene, client):
    client.force_login(factories.member(scene.project, "ben").user)

    response = client.get(scene.url, follow=True)

    assert response.redirect_chain[0][0] == reverse("annotate:home")
    assert "This is not your task" in response.content.decode()


def test_ten_thousand_documents_take_no_more_queries_than_five(scene, client):
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(scene.url).status_code == 200
        return len(queries)

    few = count()
    documents = Document.objects.bulk_create(
        Document(project=scene.project, doc_id=f"M{n}") for n in range(10_000)
    )
    Candidate.objects.bulk_create(
        Candidate(query=scene.query, document=document, prior_relevance=1, origin="prior")
        for document in documents
    )

    assert count() == few
    assert few <= 21
    assert len(scene.rows()) == 100
    assert "1 to 100 of 10,005" in client.get(scene.url).content.decode()


def test_a_row_says_which_grades_need_a_marked_passage(scene, client):
    scene.project.evidence_rule = "document"
    scene.project.save()

    page = client.get(scene.url).content.decode()

    # Relevant before, as every document of this pool: only the grade 0 needs evidence.
    assert 'data-wanted="0"' in row(page, scene.order()[0])


def test_a_row_says_when_its_judgment_holds_more_than_a_grade(scene, client):
    first, second, *_ = scene.order()
    scene.judge(first)
    scene.judge(second)
    Judgment.objects.filter(candidate=second).update(note="See line 3.")

    page = client.get(scene.url).content.decode()

    assert "data-more" not in row(page, first)
    assert "data-more" in row(page, second)


def test_a_grade_returns_to_the_list_without_script(scene, client):
    first, *_ = scene.order()

    response = client.post(
        reverse("annotate:judgment", args=[scene.pair.pk, first]),
        {"narrative": scene.narrative.pk, "relevance": 2, "back": "list"},
    )

    assert response.url == f"{scene.url}?at={first}#row-{first}"
    assert Judgment.objects.current().get().relevance == 2


def test_without_script_undo_returns_to_the_row(scene, client):
    first, *_ = scene.order()
    scene.judge(first)

    response = client.post(reverse("annotate:undo", args=[scene.pair.pk]), {"back": "list"})

    assert response.url == f"{scene.url}?at={first}#row-{first}"
    assert not Judgment.objects.current().exists()


def test_only_the_list_is_accepted_as_a_place_to_return_to(scene, client):
    response = client.post(
        reverse("annotate:judgment", args=[scene.pair.pk, scene.order()[0]]),
        {"narrative": scene.narrative.pk, "relevance": 2, "back": "//elsewhere.example"},
    )

    assert response.status_code == 422
    assert not Judgment.objects.exists()


def test_documents_are_found_by_words_of_their_title(scene):
    wanted = factories.candidate(scene.query, "F", title="Severn barrage of 1990")
    factories.candidate(scene.query, "G", title="Severn bridge")

    assert scene.rows(find="BARRAGE severn") == [wanted.pk]
    accented = factories.candidate(scene.query, "H", title="Éoliennes à Størdal")
    assert scene.rows(find="éOLIENNES STØR") == [accented.pk]
    assert scene.rows(find="nothing") == []


def test_a_hidden_id_matches_nothing(scene):
    hidden = factories.candidate(scene.query, "9_positive", title="Tides")
    judged = factories.candidate(scene.query, "8_positive", title="Weirs")
    assert scene.rows(find="positive") == []

    scene.judge(judged.pk)

    assert scene.rows(find="positive") == [judged.pk]
    assert hidden.pk in scene.rows(find="tides")


def test_a_document_is_found_by_the_neutral_name_that_the_list_shows(scene):
    hidden = factories.candidate(scene.query, "9_positive", title="")
    titled = factories.candidate(scene.query, "8_positive", title="Weirs")
    name = neutral_name(hidden.document_id, scene.query.project_id)

    assert scene.rows(find=name) == [hidden.pk]
    assert scene.rows(find=name.split()[1][:6]) == [hidden.pk]
    # A neutral name that is not shown finds nothing.
    assert scene.rows(find=neutral_name(titled.document_id, scene.query.project_id)) == []


def test_the_search_is_kept_on_the_next_page():
    at = judging_session.JudgingSession(order=list(range(1, 11)), judged={}, flagged={})

    part = window(at, QueryDict("find=weir"), 2, found={1, 3, 5}, find="weir")

    assert [number for _, number in part.positions] == [1, 3]
    assert part.next == "?find=weir&after=3"


def test_notes_and_flags_may_be_as_long_as_the_server_accepts(scene, client):
    first = reverse("annotate:judge", args=[scene.pair.pk, scene.order()[0]])
    limit = r'<textarea id="(?:note|flag-\w+)"[^>]* maxlength="(\d+)"'

    found = [re.findall(limit, client.get(url).content.decode()) for url in (first, scene.url)]

    assert [{int(one) for one in on_page} for on_page in found] == [{MAX_NOTE}, {MAX_NOTE}]


def test_an_answer_to_a_document_that_was_taken_out_is_counted_by_no_filter(scene, client):
    out, kept, *unanswered = scene.order()
    scene.judge(out)
    scene.judge(kept)
    Candidate.objects.filter(pk=out).update(removed_at=timezone.now(), removed_reason="Twice here.")

    shown = client.get(scene.url).context["filters"]

    counts = {row.name: row.count for row in shown}
    assert (counts["All"], counts["Not yet judged"], counts["Relevant"]) == (4, 3, 1)
    assert scene.rows(show="open") == unanswered
    assert scene.rows(show="1") == [kept]
