"""The documents that decide a measure are on the page and in tables, and order the queue."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Adjudication
from audit.settling.adjudication import adjudicate
from audit.settling.queue import keys_after, read_page
from audit.settling.queue_filters import Order, QueueFilter
from exporters.models import SettlingEffect
from tests import factories
from tests.evaluations.evaluating import make_evaluation, scene

pytestmark = pytest.mark.both_databases


@pytest.fixture
def made(db) -> SimpleNamespace:
    """A project with disputes on b, c and e: b and e were relevant before, c was not."""
    made = scene()
    made.ben = factories.member(made.project, "ben")
    made.pool["e"] = factories.candidate(made.pair.query, "e", 1)
    factories.judgment(made.narrative, made.pool["e"], made.ada, 1)
    for document, grade in {"e": 0, "b": 0, "c": 1}.items():
        factories.judgment(made.narrative, made.pool[document], made.ben, grade)
    return made


def listed(made, **wanted):
    filters = QueueFilter(order=Order.MEASURE, **wanted)
    items = read_page(made.carla, filters).items
    return [item.candidate.document.doc_id for item in items if item.candidate]


def test_the_queue_begins_with_what_moves_the_measure_most(made):
    assert listed(made) == ["b", "c", "e"]

    make_evaluation(made)

    # No run has e: settled as 0 it would count as unmoved, next to a, which falls from 1 to 4.
    assert SettlingEffect.objects.count() == 3
    # p-MRR of good: (3/4 + 0) / 2 with e; with b, which rises from 2 to 1, (3/4 - 1/2) / 2.
    assert listed(made) == ["b", "e", "c"]
    effects = SettlingEffect.objects.order_by("-effect").values_list("effect", flat=True)
    assert list(effects) == [625_000, 375_000, 0]


def test_the_next_disagreement_follows_the_order_by_measure(made):
    make_evaluation(made)
    wanted = QueueFilter(order=Order.MEASURE)

    items = read_page(made.carla, wanted).items
    first, second, third = (item.key for item in items)

    assert keys_after(made.carla, wanted, first, 2) == [second, third]
    assert keys_after(made.carla, wanted, second, 1) == [third]


def test_documents_settled_since_leave_the_queue(made):
    make_evaluation(made)
    adjudicate(
        narrative=made.narrative,
        candidate=made.pool["b"],
        relevance=0,
        reason="It says so.",
        cause=Adjudication.Cause.ERROR,
        by=made.carla,
    )

    assert listed(made) == ["e", "c"]


def test_the_newest_evaluation_orders_the_queue(made):
    make_evaluation(made)
    make_evaluation(made, options={"settling.measure": "RR after"})

    # b is first with good: relevant, it lifts RR by 1. c is second: by 1/2. e is in no run.
    assert listed(made) == ["b", "c", "e"]


def test_the_page_lists_the_documents_with_their_queries_and_judgments(made, client):
    client.force_login(made.carla.user)
    found = make_evaluation(made)

    shown = client.get(found.get_absolute_url()).content.decode()

    assert "What decides p-MRR" in shown
    part = shown.partition('id="deciding"')[2].partition("</section>")[0]
    for document in "be":
        settle_url = reverse("audit:disagreement", args=[made.narrative.pk, made.pool[document].pk])
        assert settle_url in part
    assert reverse("annotate:query", args=[made.project.slug, made.pair.query_id]) in part
    assert "0.6250" in part
    assert f"{reverse('audit:disagreements', args=[made.project.slug])}?order=measure" in part


def test_the_page_says_how_sure_the_places_are(made, client):
    client.force_login(made.carla.user)
    found = make_evaluation(made)

    shown = client.get(found.get_absolute_url()).content.decode()

    part = shown.partition('id="places"')[2].partition("</section>")[0]
    assert "before still" in part
    assert "1,000 draws" in part
    assert "Its standard error is at most 0.016." in part


def test_the_tables_have_every_document_and_every_two_systems(made, client):
    client.force_login(made.carla.user)
    found = make_evaluation(made)

    def table(name):
        address = [made.project.slug, found.pk, name, "csv"]
        return client.get(reverse("exporters:evaluation_table", args=address)).content.decode()

    assert "p-MRR,q_1,b,changed,0 1,0.625,good,0:-0.625000 1:+0.000000" in table("deciding")
    assert "p-MRR,good,still," in table("places")
