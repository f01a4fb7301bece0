"""Annotators see the pool of a query in an order that reveals nothing of the documents' ids."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests import factories

SIZE = 50


@pytest.fixture
def pool(db):
    """A pool as in files: in the order of the ids, and longer than a page."""
    project = factories.project()
    query = factories.query(project)
    factories.pair(query)
    factories.member(project, "ada")
    factories.lead(project, "carla")
    for number in range(2 * SIZE + 1):
        factories.candidate(query, f"D{number:03}", text=None)
    return query


def pages(client, pool, name: str) -> list[list[str]]:
    """Return the document ids on each page, as `name` pages through them."""
    client.force_login(pool.project.memberships.get(name=name).user)
    address = reverse("annotate:query", args=[pool.project.slug, pool.pk])
    found, link = [], "?"
    while link:
        context = client.get(address + link).context
        found.append([row.candidate.document.doc_id for row in context["candidates"]])
        link = context["next_url"]
    return found


def test_annotators_get_every_document_once_in_another_order_than_the_files(client, pool):
    listed = pages(client, pool, "ada")

    assert [len(page) for page in listed] == [SIZE, SIZE, 1]
    together = [doc_id for page in listed for doc_id in page]
    assert sorted(together) == [f"D{number:03}" for number in range(2 * SIZE + 1)]
    assert all(page != sorted(page) for page in listed[:2])


def test_annotators_page_back_to_the_previous_pages(client, pool):
    first, second, _ = pages(client, pool, "ada")
    address = reverse("annotate:query", args=[pool.project.slug, pool.pk])

    last = client.get(address)
    while last.context["next_url"]:
        last = client.get(address + last.context["next_url"])
    back = client.get(address + last.context["previous_url"])
    begun = client.get(address + back.context["previous_url"])

    ids = [
        [row.candidate.document.doc_id for row in page.context["candidates"]]
        for page in (back, begun)
    ]
    assert ids == [second, first]
    assert begun.context["previous_url"] == ""


def test_leads_see_the_pool_as_it_was_loaded(client, pool):
    together = [doc_id for page in pages(client, pool, "carla") for doc_id in page]

    assert together == [f"D{number:03}" for number in range(2 * SIZE + 1)]
