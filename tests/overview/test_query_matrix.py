"""A query with several instructions shows its documents in rows, the instructions in columns."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.models import Adjudication
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
