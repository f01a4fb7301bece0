"""A query with several instructions shows its documents in rows, the instructions in columns."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Adjudication
from annotate.overview import lists
from audit.settling.adjudication import adjudicate
from tests import factories
from tests.programs import Program


def test_each_instruction_has_a_column_and_each_document_a_row(db, client):
    project = factories.project("tides")
    query = factories.query(project, "7")
    first, second = (factories.candidate(query, doc_id) for doc_id in ("A", "B"))
    pairs = [factories.pair(query, pair_id=f"7_{n}") for n in (0, 1)]
    ada = factories.member(project, "ada")
    factories.judgment(factories.altered(pairs[0]), first, ada, 2)
    factories.judgment(factories.altered(pairs[1]), first, ada, 0)
    client.force_login(factories.lead(project).user)

    response = client.get(reverse("annotate:query", args=["tides", query.pk]))

    matrix = response.context["matrix"]
    assert [narrative.pair.pair_id for narrative in matrix.narratives] == ["7_0", "7_1"]
    grades = {
        candidate.pk: [[judgment.relevance for judgment in cell.judgments] for cell in cells]
        for candidate, cells in matrix.rows
    }
    assert grades == {first.pk: [[2], [0]], second.pk: [[], []]}
    page = response.content.decode()
    assert len(re.findall(r'<th class="matrix__document" scope="row">', page)) == 2


@pytest.mark.parametrize("instructions", [1, 2])
@pytest.mark.parametrize("hide_names", [True, False])
def test_names_are_hidden_where_people_differ_until_it_is_settled(
    db, client, instructions, hide_names
):
    project = factories.project("tides", hide_names=hide_names)
    query = factories.query(project, "7")
    differing = factories.candidate(query, "A")
    agreed = factories.candidate(query, "B")
    pairs = [factories.pair(query, pair_id=f"7_{n}") for n in range(instructions)]
    narrative = factories.altered(pairs[0])
    for name, grade in (("ada", 2), ("ben", 0)):
        member = factories.member(project, name)
        factories.judgment(narrative, differing, member, grade, note="A note.")
        factories.judgment(narrative, agreed, member, 1)
    lead = factories.lead(project)
    client.force_login(lead.user)
    url = reverse("annotate:query", args=["tides", query.pk])

    def named() -> tuple[int, list[list[tuple[str | None, int]]]]:
        rows = Program(lead.name).get(f"projects/tides/queries/{query.pk}/candidates/").json()
        answers = [
            [
                (one["member"], one["relevance"])
                for under in row["under"]
                for one in under["answers"]
            ]
            for row in rows["results"]
        ]
        return client.get(url).content.decode().count(">ada<"), answers

    open_ones = [(None, 0), (None, 2)] if hide_names else [("ada", 2), ("ben", 0)]
    agreeing = [("ada", 1), ("ben", 1)]
    assert named() == (1 if hide_names else 2, [open_ones, agreeing])

    adjudicate(
        narrative=narrative,
        candidate=differing,
        relevance=2,
        reason="Clear.",
        cause=Adjudication.Cause.EDGE,
        by=lead,
    )
    assert named() == (2, [[("ada", 2), ("ben", 0)], agreeing])
    groups = client.get(url).context["candidates"]
    assert {one.candidate.pk: one.settled_as for one in groups if one.narrative == narrative} == {
        differing.pk: 2,
        agreed.pk: None,
    }


def test_a_query_with_one_instruction_is_a_list(db, client):
    project = factories.project("tides")
    query = factories.query(project, "7")
    factories.candidate(query, "A")
    factories.pair(query)
    client.force_login(factories.lead(project).user)

    response = client.get(reverse("annotate:query", args=["tides", query.pk]))

    assert response.context["matrix"] is None


def test_a_query_without_documents_has_a_sentence_and_no_table(db, client):
    project = factories.project("tides")
    query = factories.query(project, "7")
    client.force_login(factories.member(project, "ada").user)

    shown = client.get(reverse("annotate:query", args=["tides", query.pk])).content.decode()

    assert "No document yet: they come with earlier judgments" in shown
    assert "<table" not in shown


@pytest.fixture
def many(db, monkeypatch):
    """A query with five instructions, two on a page, and two documents: one is for the first."""
    monkeypatch.setattr(lists, "INSTRUCTIONS_ON_A_PAGE", 2)
    project = factories.project("tides", show_prior=False)
    query = factories.query(project, "7")
    pairs = [factories.pair(query, pair_id=f"7_{n}") for n in range(5)]
    factories.candidate(query, "A", prior=1)
    second = factories.candidate(query, "B")
    second.made_for = pairs[0]
    second.save()
    return query, pairs, factories.lead(project)


def test_a_query_with_many_instructions_has_pages_of_them(many, client):
    query, pairs, lead = many
    restated = pairs[4]
    restated.restates = pairs[2]
    restated.save()
    client.force_login(lead.user)
    address = f"/projects/tides/queries/{query.pk}/"

    def read(link: str) -> tuple[list[str], list[str], str]:
        response = client.get(address + link)
        shown = [row["pair"].pair_id for row in response.context["pairs"]]
        columns = [one.pair.pair_id for one in response.context["matrix"].narratives]
        return shown, columns, response.content.decode()

    first, columns, page = read("?sort=grade")
    assert first == columns == ["7_0", "7_1"]
    assert "2 of 5 instructions shown" in page
    assert page.count('aria-label="Parts of the list of instructions"') == 1
    [link] = re.findall(r'href="(\?[^"]*instructions_after=\d+[^"]*)" rel="next"', page)
    assert "sort=grade" in link
    second, columns, page = read(link.replace("&amp;", "&"))
    assert second == columns == ["7_2", "7_3"]
    # Filtering the documents keeps the instructions.
    assert f'name="instructions_after" value="{pairs[1].pk}"' in page
    # The same instruction in the other style is on another page.
    assert f'href="/pairs/{pairs[4].pk}/story/"' in page
    last, columns, page = read(f"?instructions_after={pairs[3].pk}")
    assert last == columns == ["7_4"]
    assert 'rel="prev"' in page


def test_a_lead_who_judges_an_instruction_of_another_page_is_blind_on_this_one(many, client):
    query, pairs, lead = many
    client.force_login(lead.user)
    address = f"/projects/tides/queries/{query.pk}/?instructions_after={pairs[1].pk}"
    before = client.get(address).context
    assert before["show_prior"] is True
    assert [len(cells) - cells.count(None) for _, cells in before["matrix"].rows] == [2]

    factories.assignment(pairs[0], lead)

    blind = client.get(address).context
    assert blind["show_prior"] is False
    # That the second document is in the pool of one instruction only is not told.
    assert [len(cells) - cells.count(None) for _, cells in blind["matrix"].rows] == [2, 2]


def test_more_instructions_than_a_page_has_cost_no_further_queries(
    many, client, django_assert_max_num_queries
):
    query, _pairs, lead = many
    client.force_login(lead.user)
    address = f"/projects/tides/queries/{query.pk}/"
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    of_five = len(captured)
    for number in range(5, 15):
        factories.pair(query, pair_id=f"7_{number}")
    client.get(address)

    with django_assert_max_num_queries(of_five):
        client.get(address)


@pytest.mark.parametrize("reader", ["carla", "ada"])
def test_programs_read_the_answers_under_all_instructions_a_few_at_a_time(many, reader):
    query, pairs, lead = many
    ada = factories.member(lead.project, "ada")
    judged = query.candidates.order_by("pk").first()
    for number, pair in enumerate(pairs):
        factories.judgment(factories.altered(pair), judged, ada, number % 3)

    program, read = Program(reader), []
    address = f"/api/v1/projects/tides/queries/{query.pk}/candidates/?page_size=1"
    while address:
        content = program.client.get(address).json()
        (row,) = content["results"]
        assert len(row["under"]) <= 2
        read += [
            (under["pair"], [answer["relevance"] for answer in under["answers"]])
            for under in row["under"]
            if row["id"] == judged.pk
        ]
        address = content["next"]

    assert read == [(pair.pk, [number % 3]) for number, pair in enumerate(pairs)]


def test_programs_read_a_query_with_its_first_instructions_and_their_number(many):
    query, pairs, lead = many

    shown = Program(lead.name).get(f"projects/tides/queries/{query.pk}/").json()

    assert [pair["id"] for pair in shown["pairs"]] == [pair.pk for pair in pairs[:2]]
    assert shown["instructions"] == 5


@pytest.mark.parametrize("state", ["judged", "unjudged", "flagged", "disputed"])
def test_documents_in_a_state_are_found_without_reading_every_answer(many, state):
    query, pairs, lead = many
    ada = factories.member(lead.project, "ada")
    judged = query.candidates.order_by("pk").first()
    for pair in pairs[2:]:
        factories.judgment(factories.altered(pair), judged, ada, 1)
    pool = query.candidates.all()

    with CaptureQueriesContext(connection) as queries:
        found = lists.find_candidates(lead, pool, search="", state=state)
        keys = [candidate.pk for candidate in found]

    unjudged = query.candidates.exclude(pk=judged.pk).get()
    assert keys == {"judged": [judged.pk], "unjudged": [unjudged.pk]}.get(state, [])
    # No answers are read one by one, but those of the counts, which are cached.
    assert len(queries) <= (14 if state == "disputed" else 2)
    assert not any('"note"' in query["sql"] for query in queries)


def test_a_link_to_one_of_many_instructions_leads_to_the_page_that_has_it(many, client):
    query, pairs, lead = many
    client.force_login(lead.user)

    def instructions_at(link: str) -> list[str]:
        response = client.get(link)
        assert f'id="pair-{pairs[3].pk}"' in response.content.decode()
        return [row["pair"].pair_id for row in response.context["pairs"]]

    (hit,) = lists.search(lead, "7_3").hits
    address, _, anchor = hit.url.partition("#")
    assert anchor == f"pair-{pairs[3].pk}"
    assert instructions_at(address) == ["7_3", "7_4"]
    before = client.get(address).context["instructions"].previous
    assert [
        row["pair"].pair_id
        for row in client.get(f"/projects/tides/queries/{query.pk}/{before}").context["pairs"]
    ] == ["7_1", "7_2"]
    # The query's id leads to the query.
    assert lists.search(lead, "7").hits[0].url == f"/projects/tides/queries/{query.pk}/"
    matrix = client.get("/projects/tides/matrix/").content.decode()
    assert f"?pair={pairs[0].pk}#pair-{pairs[0].pk}" in matrix


def test_the_lists_of_queries_say_how_many_instructions_a_query_has(many, client):
    _query, _pairs, lead = many
    client.force_login(lead.user)

    for page in ("/projects/tides/queries/", "/projects/tides/"):
        assert "5 instructions" in client.get(page).content.decode()
