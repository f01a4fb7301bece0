"""The matrix of documents and people: pages of answers, without any the reader may not know yet."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Flag,
    InstructionPair,
    Membership,
    Project,
)
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE


@pytest.fixture(scope="module")
def tides_of_file(rows_of_file):
    """Six documents that ada and ben judge, each in another state; carla leads, dan is idle."""
    project = factories.project()
    query = factories.query(project)
    made = SimpleNamespace(
        project=project,
        query=query,
        pair=factories.pair(query, category="C1"),
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        carla=factories.lead(project),
        url=reverse("annotate:matrix", args=["tides"]),
    )
    names = ("agreed", "disputed", "settled", "flagged", "stale", "open")
    made.docs = {name: factories.candidate(query, name.upper()) for name in names}
    factories.candidate(query, "NOT-RELEVANT-BEFORE", prior=0)
    factories.member(project, "dan")
    for by in (made.ada, made.ben):
        assignments.take(pair=made.pair, task=JUDGE, by=by)
    first = factories.altered(made.pair)
    factories.judgment(first, made.docs["stale"], made.ada, 2)
    under = factories.narrative(made.pair, version=2)
    for name, one, other in (("agreed", 1, 1), ("disputed", 0, 2), ("settled", 0, 1)):
        factories.judgment(under, made.docs[name], made.ada, one)
        factories.judgment(under, made.docs[name], made.ben, other)
    factories.judgment(under, made.docs["flagged"], made.ada, 1)
    factories.judgment(under, made.docs["open"], factories.machine(project), 2)
    Flag.objects.create(
        narrative=under, candidate=made.docs["flagged"], annotator=made.ben, flag="problem"
    )
    Adjudication.objects.create(
        narrative=under,
        candidate=made.docs["settled"],
        relevance=1,
        reason="It says so.",
        cause="edge",
        by=made.carla,
    )
    made.narrative = under
    return made


@pytest.fixture
def tides(tides_of_file, copy_rows):
    return copy_rows(tides_of_file)


def cells(page) -> dict[str, list[str]]:
    """Return for each document of a page its outcome, and a word for each person."""
    return {
        row["document"].doc_id: [
            "hidden" if row["outcome"] is None else row["outcome"].state.value,
            *(
                f"{one['cell'].state}"
                + ("" if one["cell"].relevance is None else f" {one['cell'].relevance}")
                for one in row["cells"]
            ),
        ]
        for row in page.context["rows"]
    }


EVERY = {
    "AGREED": ["judged", "judged 1", "judged 1"],
    "DISPUTED": ["disputed", "judged 0", "judged 2"],
    "SETTLED": ["settled", "judged 0", "judged 1"],
    "FLAGGED": ["judged", "judged 1", "flagged"],
    "STALE": ["unjudged", "stale 2", "taken"],
    "OPEN": ["unjudged", "taken", "taken"],
}


def test_each_cell_shows_the_state_of_a_persons_answer(tides, client):
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    assert [one.name for one in page.context["people"]] == ["ada", "ben"]
    assert cells(page) == EVERY
    words = re.sub(r"<[^>]+>", " ", page.content.decode())
    for state in ("flagged: Problem with this document", "judged under version 1", "task taken"):
        assert state in words


def test_a_rater_of_a_file_who_only_flagged_has_a_column(tides, client):
    gil = Membership.objects.create(project=tides.project, name="gil")
    Flag.objects.create(
        narrative=tides.narrative, candidate=tides.docs["open"], annotator=gil, flag="problem"
    )
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    assert [person.name for person in page.context["people"]] == ["ada", "ben", "gil"]
    assert cells(page)["OPEN"][-1] == "flagged"


def test_each_cell_links_to_its_details(tides, client):
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    rows = {row["document"].doc_id: row for row in page.context["rows"]}
    behind = reverse("audit:disagreement", args=[tides.narrative.pk, tides.docs["disputed"].pk])
    assert {one["url"] for one in rows["DISPUTED"]["cells"]} == {behind}
    assert rows["OPEN"]["cells"][0]["url"] == reverse(
        "annotate:person", args=["tides", tides.ada.pk]
    )
    for url in {one["url"] for row in rows.values() for one in row["cells"]}:
        assert client.get(url).status_code == 200


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"state": "disputed"}, {"DISPUTED"}),
        ({"state": "settled"}, {"SETTLED"}),
        ({"state": "flagged"}, {"FLAGGED"}),
        ({"state": "stale"}, {"STALE"}),
        ({"state": "taken"}, {"STALE", "OPEN"}),
        ({"state": "open"}, {"STALE", "OPEN"}),
        ({"state": "judged"}, {"AGREED", "DISPUTED", "SETTLED", "FLAGGED"}),
        ({"state": "empty"}, set()),
        ({"state": "judged", "person": "ben"}, {"AGREED", "DISPUTED", "SETTLED"}),
        ({"state": "taken", "person": "ada"}, {"OPEN"}),
        ({"state": "stale", "person": "ben"}, set()),
        ({"grades": "0~1"}, {"SETTLED"}),
        ({"grades": "0~2"}, {"DISPUTED"}),
        ({"category": "C1"}, set(EVERY)),
        ({"query": "301", "state": "flagged"}, {"FLAGGED"}),
    ],
)
def test_the_address_filters_the_matrix(tides, client, parameters, found):
    client.force_login(tides.carla.user)
    if "person" in parameters:
        parameters = {**parameters, "person": getattr(tides, parameters["person"]).pk}

    page = client.get(tides.url, parameters)

    assert set(cells(page)) == found
    if "person" in parameters:
        assert len(page.context["people"]) == 1


def test_the_id_of_a_pair_stands_for_its_query(tides, client):
    InstructionPair.objects.update(pair_id="301_1")
    client.force_login(tides.carla.user)

    page = client.get(tides.url, {"query": "301_1", "state": "flagged"})

    assert set(cells(page)) == {"FLAGGED"}


def test_documents_that_nobody_took_are_empty_cells_without_links(tides, client):
    other = factories.query(tides.project, "302")
    factories.candidate(other, "FREE")
    factories.pair(other)
    client.force_login(tides.carla.user)

    page = client.get(tides.url, {"state": "empty"})

    assert cells(page) == {"FREE": ["unjudged", "empty", "empty"]}
    assert all(one["url"] == "" for one in page.context["rows"][0]["cells"])


@pytest.mark.parametrize(
    "parameters",
    [{"state": "gone"}, {"person": "0"}, {"query": "999"}, {"after": "x~y"}, {"grades": "a"}],
)
def test_invalid_filters_in_the_address_are_ignored(tides, client, parameters):
    client.force_login(tides.carla.user)

    page = client.get(tides.url, parameters)

    assert page.status_code == 200
    assert set(cells(page)) == set(EVERY)


def test_fewer_documents_are_disputed_under_the_majority_rule(tides, client):
    Project.objects.update(consensus="majority")
    dan = tides.project.memberships.get(name="dan")
    factories.judgment(tides.narrative, tides.docs["disputed"], dan, 2)
    client.force_login(tides.carla.user)

    page = client.get(tides.url, {"state": "disputed"})
    whole = client.get(tides.url)

    assert cells(page) == {}
    assert cells(whole)["DISPUTED"] == ["judged", "judged 0", "judged 2", "judged 2"]


def test_pages_lead_forward_and_back(tides, client, monkeypatch):
    monkeypatch.setattr("annotate.overview.matrix.SIZE", 4)
    client.force_login(tides.carla.user)

    first = client.get(tides.url)
    second = client.get(tides.url + first.context["next_url"])
    again = client.get(tides.url + second.context["previous_url"])

    assert list(cells(first)) == list(EVERY)[:4]
    assert list(cells(second)) == list(EVERY)[4:]
    assert list(cells(again)) == list(EVERY)[:4]
    assert (first.context["previous_url"], second.context["next_url"]) == ("", "")
    assert (again.context["previous_url"], again.context["total"]) == ("", 6)


def test_the_page_says_how_many_documents_it_shows(tides, client):
    client.force_login(tides.carla.user)
    six = client.get(tides.url).content.decode()
    Candidate.objects.exclude(pk=tides.docs["open"].pk).update(prior_relevance=0)
    one = client.get(tides.url).content.decode()

    assert shows(six, "6 of 6 documents shown")
    assert shows(one, "1 of 1 document shown")


def test_disputed_rows_are_found_after_many_that_only_seem_disputed(tides, client, monkeypatch):
    """Two of three people agree: the grades differ, but nothing is disputed."""
    monkeypatch.setattr("annotate.overview.matrix.SIZE", 2)
    Project.objects.update(consensus="majority")
    dan = tides.project.memberships.get(name="dan")
    for name in ("disputed", "flagged"):
        factories.judgment(tides.narrative, tides.docs[name], dan, 2)
    for name in ("agreed", "disputed"):
        tides.narrative.statements.filter(candidate=tides.docs[name], annotator=tides.ben).update(
            relevance=2
        )
    factories.judgment(tides.narrative, tides.docs["agreed"], dan, 2)
    client.force_login(tides.carla.user)

    page = client.get(tides.url, {"state": "disputed"})

    assert list(cells(page)) == ["FLAGGED"]


def test_the_task_of_somebody_who_has_left_is_not_shown_as_taken(tides, client):
    client.force_login(tides.carla.user)
    Membership.objects.filter(pk=tides.ada.pk).update(left_at=timezone.now())

    assert cells(client.get(tides.url))["OPEN"] == ["unjudged", "empty", "taken"]
    asked = client.get(tides.url, {"state": "taken", "person": tides.ada.pk})
    assert cells(asked) == {}


@pytest.fixture
def assigned(tides):
    """Carla judges the pair too, and has judged one document."""
    Project.objects.update(overlap_judge=3)
    tides.carla.project.refresh_from_db()
    assignments.take(pair=tides.pair, task=JUDGE, by=tides.carla, become_blind=True)
    factories.judgment(tides.narrative, tides.docs["agreed"], tides.carla, 0)
    return tides


def test_a_lead_who_judges_sees_others_where_they_have_judged(assigned, client):
    client.force_login(assigned.carla.user)

    page = client.get(assigned.url)

    found = cells(page)
    assert found.pop("AGREED") == ["disputed", "judged 1", "judged 1", "judged 0"]
    assert set(map(tuple, found.values())) == {("hidden", "hidden", "hidden", "taken")}
    for row in page.context["rows"][1:]:
        mine = [one["url"] for one in row["cells"] if one["url"]]
        assert mine == [row["url"]]
        assert "/candidates/" in row["url"]


def test_a_lead_who_judges_sees_no_id_of_a_document_that_they_have_yet_to_judge(assigned, client):
    client.force_login(assigned.carla.user)

    page = client.get(assigned.url).text
    program = client.get("/api/v1/projects/tides/matrix/").json()["results"]

    assert "AGREED" in page
    assert "DISPUTED" not in page
    assert [row["doc_id"] for row in program] == ["AGREED", None, None, None, None, None]


@pytest.mark.parametrize("state", ["judged", "flagged", "stale", "disputed", "settled", "open"])
def test_no_filter_reveals_hidden_cells_to_a_lead_who_judges(assigned, client, state):
    client.force_login(assigned.carla.user)

    page = client.get(assigned.url, {"state": state})
    met = client.get(assigned.url, {"grades": "0~2"})

    assert set(cells(page)) <= {"AGREED"}
    assert cells(met) == {}


def test_an_empty_project_explains_what_will_appear(tides, client):
    client.force_login(factories.lead(factories.project("empty"), "dora").user)

    page = client.get(reverse("annotate:matrix", args=["empty"])).content.decode()

    assert "The documents will appear here" in page


@pytest.mark.parametrize("parameters", [{}, {"state": "disputed"}, {"state": "stale"}])
def test_the_page_costs_the_same_however_many_documents(
    tides, client, django_assert_max_num_queries, parameters
):
    client.force_login(tides.carla.user)
    for number in range(40):
        candidate = factories.candidate(tides.query, f"MORE-{number}")
        factories.judgment(tides.narrative, candidate, tides.ada, 0)
        factories.judgment(tides.narrative, candidate, tides.ben, 1, at=timezone.now())

    with django_assert_max_num_queries(20) as queries:
        client.get(tides.url, parameters)

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)
