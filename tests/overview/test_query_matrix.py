"""Documents of a query with several instructions stand in rows, the instructions in columns."""

from __future__ import annotations

import re

from django.urls import reverse

from tests import factories


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
    said = {
        candidate.pk: [[judgment.relevance for judgment in cell.judgments] for cell in cells]
        for candidate, cells in matrix.rows
    }
    assert said == {first.pk: [[2], [0]], second.pk: [[], []]}
    page = response.content.decode()
    assert len(re.findall(r'<th class="matrix__document" scope="row">', page)) == 2


def test_a_query_with_one_instruction_is_a_list(db, client):
    project = factories.project("tides")
    query = factories.query(project, "7")
    factories.candidate(query, "A")
    factories.pair(query)
    client.force_login(factories.lead(project).user)

    response = client.get(reverse("annotate:query", args=["tides", query.pk]))

    assert response.context["matrix"] is None
