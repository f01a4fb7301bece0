"""Comparing two releases by the newest text version of each document."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Candidate
from exporters.releases.comparison import Change, Comparison, read_page, table
from tests import factories
from tests.collection.arriving import jsonl, load
from tests.exports.conftest import make_release
from tests.pages import shows
from tests.programs import Program

# B has its second text in v1.0 and its third in v1.1; a and Z get their second text in between.
CHANGES = [
    Change("text", doc_id=doc_id, before=before, after=after)
    for doc_id, before, after in (("B", "2", "3"), ("Z", "", "2"), ("a", "", "2"))
]


def change(tides, doc_id: str, text: str) -> None:
    load(tides.project, "docs-jsonl", jsonl({"doc_id": doc_id, "text": text}))


@pytest.fixture
def compared(tides):
    change(tides, "B", "The second text of B.")
    first = make_release(tides, "v1.0")
    for doc_id in "aBZ":
        change(tides, doc_id, f"The newest text of {doc_id}.")
    return Comparison(first, make_release(tides, "v1.1"))


@pytest.fixture
def addressed(compared):
    return [compared.before.project.slug, "v1.0", "v1.1"]


def test_documents_with_another_text_are_listed_counted_and_shown(
    compared, addressed, tides, client
):
    assert list(compared.texts()) == CHANGES
    counts = {one.key: (one.before, one.after) for one in compared.counts()}
    assert counts["documents_with_newer_texts"] == (1, 3)
    assert [row for row in table(compared) if row[0] == "text"] == CHANGES
    following = read_page(compared.texts(), (), 2).following
    assert following is not None
    assert read_page(compared.texts(), following, 2).rows == CHANGES[2:]

    response = Program("carla", "lead").get(
        f"projects/{addressed[0]}/comparisons/v1.0/v1.1/changes/?show=texts&page_size=2"
    )
    assert response.json()["results"] == [one._asdict() for one in CHANGES[:2]]
    assert response.json()["next"]

    client.force_login(tides.carla.user)
    page = client.get(reverse("exporters:comparison", args=addressed), {"show": "texts"})

    assert page.context["totals"]["texts"] == 3
    assert page.context["rows"] == CHANGES
    text = " ".join(page.content.decode().split())
    assert shows(text, 'Texts <span class="muted">3</span>')
    assert shows(text, 'text 2</td> <td class="nowrap">text 3</td>')
    assert shows(text, "at most one text")


def test_the_first_newer_texts_are_counted_and_the_judgments_that_they_make_stale(tides):
    first = make_release(tides, "v1.0")
    change(tides, "B", "The second text of B.")

    compared = Comparison(first, make_release(tides, "v1.1"))

    counts = {one.key: (one.before, one.after) for one in compared.counts()}
    assert counts["documents_with_newer_texts"] == (0, 1)
    # The judgments are still there, but those of B are stale.
    assert counts["judgments_by_people"] == (11, 11)
    assert counts["judgments_stale"] == (1, 3)


def test_a_document_written_for_an_instruction_in_between_changes_no_narrative(tides):
    first = make_release(tides, "v1.0")
    written = factories.candidate(tides.pair.query, "G", prior=None)
    Candidate.objects.filter(pk=written.pk).update(made_for=tides.pair)
    second = make_release(tides, "v1.1")

    assert list(Comparison(first, second).narratives()) == []
    assert list(Comparison(second, first).narratives()) == []
