"""The order in which a judge sees the documents of a pool."""

from __future__ import annotations

import hashlib

import pytest

from annotate.judging.judging_session import judging_order
from annotate.models import Project
from tests import factories

pytestmark = pytest.mark.both_databases


@pytest.fixture
def tides(db):
    return factories.project(judge_scope=Project.Scope.POOL, order_seed=7)


def order_of(by, pair) -> list[str]:
    """Return the document ids in the order in which `by` sees them."""
    candidates = pair.query.candidates.select_related("document").in_bulk()
    return [candidates[pk].document.doc_id for pk in judging_order(pair=pair, by=by)]


def fill(project, doc_ids, query_id="301", text="Some text."):
    query = factories.query(project, query_id)
    for doc_id in doc_ids:
        factories.candidate(query, doc_id, text=text)
    return factories.pair(query)


def test_the_shuffle_can_be_reproduced_elsewhere(tides):
    doc_ids = [f"D{number}" for number in range(20)]
    pair = fill(tides, doc_ids)

    order = order_of(factories.member(tides, "ada"), pair)

    assert order == sorted(
        doc_ids,
        key=lambda doc_id: hashlib.blake2b(
            f"7:ada:301:{doc_id}".encode(), digest_size=16
        ).hexdigest(),
    )
    assert order != doc_ids


def test_each_person_has_their_own_order(tides):
    pair = fill(tides, [f"D{number}" for number in range(20)])
    ada, ben = factories.member(tides, "ada"), factories.member(tides, "ben")

    assert order_of(ada, pair) == order_of(ada, pair)
    assert order_of(ada, pair) != order_of(ben, pair)
    assert sorted(order_of(ada, pair)) == sorted(order_of(ben, pair))


def test_another_seed_gives_another_order(tides):
    pair = fill(tides, [f"D{number}" for number in range(20)])
    ada = factories.member(tides, "ada")
    before = order_of(ada, pair)

    pair.project.order_seed = 8

    assert order_of(ada, pair) != before


def test_the_order_does_not_depend_on_the_order_of_the_rows(tides):
    doc_ids = [f"D{number}" for number in range(20)]
    pair = fill(tides, doc_ids)
    other = factories.project("other", judge_scope=Project.Scope.POOL, order_seed=7)
    moved = fill(other, reversed(doc_ids))

    assert order_of(factories.member(tides, "ada"), pair) == order_of(
        factories.member(other, "ada"), moved
    )


def test_the_order_by_document_id_is_bytewise_and_shared_where_ids_are_shown(tides):
    tides.judge_order, tides.show_ids = Project.Order.DOC_ID, True
    pair = fill(tides, ["b", "B", "a10", "a9", "é", "\U0001f30a", "｡"], text=None)

    order = order_of(factories.member(tides, "ada"), pair)

    assert order == ["B", "a10", "a9", "b", "é", "｡", "\U0001f30a"]
    assert order == order_of(factories.member(tides, "ben"), pair)


def test_the_order_for_all_is_shuffled_where_ids_are_hidden(tides):
    tides.judge_order = Project.Order.DOC_ID
    doc_ids = [f"D{number}" for number in range(20)]
    pair = fill(tides, doc_ids)

    order = order_of(factories.member(tides, "ada"), pair)

    # The order of the ids would reveal hidden ids, such as "9_hn1" and "9_positive".
    assert order == sorted(
        doc_ids,
        key=lambda doc_id: hashlib.blake2b(f"7::301:{doc_id}".encode(), digest_size=16).digest(),
    )
    assert order != sorted(doc_ids)
    assert order == order_of(factories.member(tides, "ben"), pair)


def test_documents_with_shown_ids_come_first_and_those_with_texts_are_shuffled(tides):
    tides.judge_order, tides.show_ids = Project.Order.DOC_ID, True
    pair = fill(tides, ["b", "a"], text=None)
    for doc_id in ("0", "1", "2", "3"):
        factories.candidate(pair.query, doc_id)

    order = order_of(factories.member(tides, "ada"), pair)

    assert order[:2] == ["a", "b"]
    assert order[2:] != ["0", "1", "2", "3"]
    assert sorted(order[2:]) == ["0", "1", "2", "3"]


def test_the_order_takes_one_query(tides, django_assert_num_queries):
    pair = fill(tides, ["A", "B"])
    ada = factories.member(tides, "ada")

    with django_assert_num_queries(1):
        judging_order(pair=pair, by=ada)
