"""Which run brought a document into a pool, and at which rank."""

from __future__ import annotations

import pytest

from annotate.models import Candidate
from annotate.pools.provenance import Contribution, contributions, entries
from tests import factories
from tests.pools.pooling import make, two_runs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def project(published):
    return factories.project()


def test_a_pool_lists_each_document_once_for_each_run_that_ranks_it_that_deep(project):
    pool = make(project, runs=two_runs(project), depth=2)

    assert list(entries(pool)) == [
        ("301", "A", True, "ance.run", 1),
        ("301", "B", True, "ance.run", 2),
        ("301", "B", True, "bm25.run", 1),
        ("301", "E", True, "bm25.run", 2),
        ("302", "X", True, "ance.run", 1),
        ("302", "X", True, "bm25.run", 2),
        ("302", "Y", True, "ance.run", 2),
        ("302", "Z", True, "bm25.run", 1),
    ]


def test_a_fusion_reads_its_runs_to_their_end(project):
    pool = make(project, runs=two_runs(project), method="fusion", depth=3)

    # A is third of bm25, and D is fourth of ance.
    assert ("301", "A", True, "bm25.run", 3) in list(entries(pool))
    assert {doc_id for _query, doc_id, *_ in entries(pool)} == {"A", "B", "E", "X", "Y", "Z"}


def test_a_document_names_its_pools_in_their_order_and_the_best_rank_first(project):
    names = two_runs(project)
    make(project, "first", runs=names, depth=1)
    make(project, "second", runs=names, depth=2)
    chosen = Candidate.objects.filter(query__query_id="301").order_by("document__doc_id")

    by_candidate = contributions(chosen)

    assert {row.document.doc_id: by_candidate[row.pk] for row in chosen} == {
        "A": [Contribution("first", "ance.run", 1), Contribution("second", "ance.run", 1)],
        "B": [
            Contribution("first", "bm25.run", 1),
            Contribution("second", "bm25.run", 1),
            Contribution("second", "ance.run", 2),
        ],
        "E": [Contribution("second", "bm25.run", 2)],
    }
