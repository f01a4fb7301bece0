"""The pages and the API say how far a machine may be trusted, to leads who are not blind."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.projects.actions import archive
from audit.machines import trust, views
from tests import factories
from tests.checks.checking import check_label, draw
from tests.machines.conftest import LABELS, judge


@pytest.fixture
def led(judged, client):
    """The scene of people who have judged, with its addresses; carla, its lead, is signed in."""
    client.force_login(judged.carla.user)
    judged.keys = [judged.project.slug, judged.model.pk]
    judged.page = reverse("audit:trust", args=judged.keys)
    judged.documents = reverse("audit:trust_documents", args=judged.keys)
    judged.api = reverse("audit:api_trust", args=judged.keys)
    return judged


def text(response):
    assert response.status_code == 200
    return " ".join(response.getvalue().decode().split())


def test_the_page_shows_the_figures_that_the_api_returns(led, client):
    page = text(client.get(led.page))
    answer = client.get(led.api).json()

    assert "12 answers of 2 people on 6 documents" in page
    assert (answer["chosen"], answer["answers"], answer["documents"]) == ("otherwise", 12, 6)
    percent, kappa, *_rest = answer["with_agreed"]
    assert (percent["key"], percent["figure"]["value"]) == ("percent", 0.6)
    assert kappa["figure"]["value"] == pytest.approx(0.412, abs=5e-4)
    assert "0.412" in page
    assert answer["grades"][0] == {"people": 0, "counts": {"0": 2, "1": 1, "2": 0}}
    assert (answer["whole"]["found"]["count"], answer["whole"]["found"]["of"]) == (2, 2)
    assert "few documents" in page
    assert [person["name"] for person in answer["each"]] == ["ada", "ben"]


def test_an_interval_without_width_is_said_to_show_no_uncertainty(scene, client):
    for doc_id, grade in LABELS["C1"].items():
        judge(scene, doc_id, ada=grade, ben=grade)
    client.force_login(scene.carla.user)

    page = text(client.get(reverse("audit:trust", args=[scene.project.slug, scene.model.pk])))

    remark = '<span class="below small muted">cannot show the uncertainty</span>'
    assert f"1.000 to 1.000</span> {remark}" in page


def test_the_page_computes_only_the_shares_that_it_shows(led, client, monkeypatch):
    for number in range(3):
        scene_query = factories.query(led.project, f"more{number}")
        narrative = factories.altered(factories.pair(scene_query))
        candidate = factories.candidate(scene_query)
        factories.judgment(narrative, candidate, led.ada, 1)
        factories.judgment(narrative, candidate, led.model, 1)
    monkeypatch.setattr(views, "QUERIES", 2)
    computed, grades_of = {}, trust.Shares._grades

    def note_and_read(shares):
        computed[shares.key] = True
        return grades_of(shares)

    monkeypatch.setattr(trust.Shares, "_grades", note_and_read)

    page = client.get(led.page)

    shown = [part.key for part in page.context["queries"]]
    assert len(shown) == 2
    assert [key for key in computed if key in shown or key.startswith("more")] == shown
    assert len(client.get(led.api).json()["queries"]) == page.context["queries"].paginator.count


def test_each_cell_leads_to_its_documents(led, client):
    page = text(client.get(led.page))
    cell = "?chosen=otherwise&amp;people=2&amp;machine=1"

    assert f'href="{led.documents}{cell}"' in page
    (row,) = client.get(led.documents + cell.replace("&amp;", "&")).context["rows"]
    assert row["judgment"].candidate == led.candidates["B"]
    assert (row["grades"], row["judgment"].relevance) == ([2, 2], 1)


@pytest.mark.parametrize(
    ("asked", "documents"),
    [
        ("", ["B", "D", "F"]),
        ("people=differ", ["D"]),
        ("people=differ&machine=0", []),
        ("machine=0", ["A", "E"]),
        ("category=S1", ["F"]),
        ("query=301", ["B", "D"]),
    ],
)
def test_the_list_of_documents_is_filtered(led, client, asked, documents):
    response = client.get(f"{led.documents}?{asked}")

    rows = response.context["rows"]
    assert [row["judgment"].candidate.document.doc_id for row in rows] == documents
    assert response.context["total"] == len(documents)


def test_the_list_shows_the_machines_note_and_no_names_of_people(led, client):
    judgment = led.model.statements.get(candidate=led.candidates["D"])
    type(judgment).objects.filter(pk=judgment.pk).update(note="It names a plant at sea.")

    page = text(client.get(led.documents))

    assert "It names a plant at sea." in page
    assert (
        reverse("audit:disagreement", args=[judgment.narrative_id, judgment.candidate_id]) in page
    )
    assert ">ada<" not in page


def test_the_list_has_pages(led, client, monkeypatch):
    monkeypatch.setattr("base.pagination.page_in_order.__defaults__", (2,))

    first = client.get(led.documents)
    second = client.get(led.documents + first.context["next_url"])

    assert [len(page.context["rows"]) for page in (first, second)] == [2, 1]
    assert not second.context["next_url"]


def test_unknown_filters_are_errors(led, client):
    page = text(client.get(f"{led.documents}?people=7"))

    assert "Select a valid choice" in page
    assert client.get(f"{led.api}?chosen=both").status_code == 400


def test_drawn_documents_come_first_and_are_never_mixed_with_others(led, client):
    check_label(draw(led, size=4), "G", ada=2, ben=2)

    drawn, others = (text(client.get(led.page + asked)) for asked in ("", "?chosen=otherwise"))

    assert "2 answers of 2 people on 1 document" in drawn
    assert "Spot checks" in drawn
    assert "Spot checks" not in others
    assert "They say nothing about other labels of the machine." in others
    assert client.get(led.api).json()["chosen"] == "drawn"


def test_a_label_that_somebody_has_to_settle_is_counted_and_not_listed(led, client):
    check_label(draw(led, size=4), "G", ada=1, ben=0)

    listed = client.get(led.documents)

    assert client.get(led.api).json()["documents"] == 1
    assert listed.context["rows"] == []
    assert "Not listed: 1 document whose label somebody still has to check or settle." in text(
        listed
    )


def test_what_is_left_out_is_counted_with_the_reason(led, client):
    judge(led, "A", carla=0)

    page = text(client.get(led.page))

    assert "1 answer by somebody who leads or may have led" in page
    assert client.get(led.api).json()["left_out"] == {"lead": 1}


@pytest.mark.parametrize("shown", [True, False])
def test_the_page_warns_if_judges_see_an_earlier_relevance(led, client, shown):
    type(led.project).objects.update(show_prior=shown)

    assert ("If it came from the same model" in text(client.get(led.page))) is shown


@pytest.mark.parametrize("asked", ["?chosen=drawn", "?chosen=otherwise"])
def test_a_machine_nobody_met_says_what_to_do(led, client, asked):
    other = factories.machine(led.project, "other")

    page = text(client.get(reverse("audit:trust", args=[led.project.slug, other.pk]) + asked))

    assert "empty" in page
    assert "Nobody has checked drawn labels" in page or "No person has judged" in page


def test_machines_are_linked_where_they_are_listed(led, client):
    slug = led.project.slug
    for route in ("audit:agreement_machines", "audit:machines", "annotate:members"):
        assert led.page in text(client.get(reverse(route, args=[slug])))


def test_a_blind_lead_and_a_person_get_no_figures(led, client):
    ada = reverse("audit:trust", args=[led.project.slug, led.ada.pk])
    assert client.get(ada).status_code == 404

    factories.assignment(led.narratives["C1"].pair, led.carla)

    for address in (led.page, led.documents, led.api):
        assert client.get(address).status_code == 403


def test_an_archived_project_shows_its_figures(led, client):
    archive(by=led.carla)

    assert "12 answers of 2 people" in text(client.get(led.page))
    assert client.get(led.documents).status_code == 200


def test_the_list_reads_no_texts_and_needs_the_same_queries_for_more_rows(led, client):
    queries = []
    for asked in ("people=differ", "query=301"):
        with CaptureQueriesContext(connection) as context:
            rows = client.get(f"{led.documents}?{asked}").context["rows"]
        queries.append((len(rows), len(context)))
        assert not any("annotate_documenttext" in query["sql"] for query in context)

    assert [rows for rows, _ in queries] == [1, 2]
    assert queries[0][1] == queries[1][1]
