"""A pool is counted before it is made, and contains exactly the counted documents."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.models import (
    Candidate,
    Document,
    PassageRule,
    Pool,
    PoolEntry,
    PoolRun,
    Project,
    RunLine,
)
from annotate.pools import actions
from base.errors import Refused
from jobs.errors import JobError
from jobs.runner import Cancelled, Progress, run
from tests import factories
from tests.pools.pooling import add_run, make, two_runs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def project(db):
    return factories.project(judge_scope=Project.Scope.POOL)


def chosen(pool: Pool) -> set[str]:
    return set(
        PoolEntry.objects.filter(pool=pool, query__query_id="301").values_list(
            "document__doc_id", flat=True
        )
    )


def test_the_count_names_new_and_judged_documents_per_query(project):
    runs = two_runs(project)
    query = project.queries.get(query_id="301")
    Candidate.objects.create(
        query=query, document=Document.objects.get(doc_id="A"), prior_relevance=1, origin="prior"
    )
    Candidate.objects.create(query=query, document=Document.objects.get(doc_id="E"), origin="run")

    found = actions.count_pool(
        actions.recipe_of(project=project, method="union", runs=runs, depth=2)
    )

    # 301: A B of one run, B E of the other; 302: X Y and Z X.
    assert found["queries"] == [
        {"query_id": "301", "documents": 3, "new": 1, "judged": 1, "waiting": 1, "removed": 0},
        {"query_id": "302", "documents": 3, "new": 3, "judged": 0, "waiting": 0, "removed": 0},
    ]
    assert (found["documents"], found["new"]) == (6, 4)
    assert Candidate.objects.count() == 2
    assert not Pool.objects.exists()


def test_the_count_says_how_runs_overlap(project):
    runs = two_runs(project)

    found = actions.count_pool(
        actions.recipe_of(project=project, method="union", runs=runs, depth=2)
    )

    # Both have B of 301 and X of 302.
    assert found["runs"] == [
        {"name": "ance.run", "documents": 4, "alone": 2, "shared": [4, 2]},
        {"name": "bm25.run", "documents": 4, "alone": 2, "shared": [2, 4]},
    ]


@pytest.mark.parametrize(
    "rule",
    [
        {"method": "union", "depth": 2},
        {"method": "fusion", "depth": 2},
        {"method": "sample", "strata": "1:100 4:50", "seed": 7},
    ],
)
def test_a_pool_contains_the_counted_documents(project, rule):
    runs = two_runs(project)
    counted = actions.count_pool(actions.recipe_of(project=project, runs=runs, **rule))

    pool = make(project, runs=runs, **rule)

    assert pool.counts is not None
    assert {**pool.counts, "warnings": counted["warnings"]} == counted
    assert PoolEntry.objects.filter(pool=pool).count() == counted["documents"]
    assert Candidate.objects.filter(origin="run").count() == counted["new"]


def test_a_pool_keeps_its_runs_with_system_and_checksum(project):
    pool = make(project, runs=two_runs(project), depth=1)

    assert list(PoolRun.objects.filter(pool=pool).values_list("run__name", "system", "sha256")) == [
        ("ance.run", "ance", "ance.run".ljust(64, "0")),
        ("bm25.run", "bm25", "bm25.run".ljust(64, "0")),
    ]


def test_fusion_takes_the_documents_with_the_largest_sums_of_reciprocal_ranks(project):
    # 1/61 + 1/63 for A, 1/62 + 1/61 for B: both above every other document.
    assert chosen(make(project, method="fusion", runs=two_runs(project), depth=2)) == {"A", "B"}


def test_a_sample_takes_the_percentage_of_each_stratum_rounded_up(project):
    add_run(project, "one.run", {"301": [f"D{n}" for n in range(1, 11)]})

    pool = make(project, method="sample", runs=["one.run"], strata="2:100 10:25", seed=3)

    # Both documents of the first stratum, and a quarter of the eight in the second.
    assert {"D1", "D2"} <= chosen(pool)
    assert len(chosen(pool)) == 4


def test_only_another_seed_draws_another_sample(project):
    add_run(project, "one.run", {"301": [f"D{n}" for n in range(1, 41)]})

    def drawn(seed: int) -> str:
        recipe = actions.recipe_of(
            project=project, method="sample", runs=["one.run"], strata="40:25", seed=seed
        )
        return str(actions.count_pool(recipe)["sha256"])

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_pool_of_judged_documents_adds_nothing_and_needs_no_run(project):
    two_runs(project)
    query = project.queries.get(query_id="301")
    document = Document.objects.get(doc_id="F")
    Candidate.objects.create(query=query, document=document, prior_relevance=0, origin="prior")

    pool = make(project, method="judged", runs=[])

    assert chosen(pool) == {"F"}
    assert pool.counts is not None
    assert pool.counts["new"] == 0


def test_a_second_pool_adds_and_counts_only_new_documents(project):
    runs = two_runs(project)
    make(project, "first", runs=runs, depth=1)
    second = make(project, "second", runs=runs, depth=2)

    # The first: A B and X Z. The second has these, and E and Y.
    assert second.counts is not None
    assert (second.counts["new"], second.counts["waiting"]) == (2, 4)
    assert Candidate.objects.count() == 6


def test_a_pool_that_changed_since_the_count_is_not_made(project):
    runs = two_runs(project)
    recipe = actions.recipe_of(project=project, method="union", runs=runs, depth=1)
    counted = actions.count_pool(recipe)["sha256"]
    pool = actions.request_pool(recipe=recipe, name="first", by=None, counted=counted)
    query = project.queries.get(query_id="301")
    Candidate.objects.create(query=query, document=Document.objects.get(doc_id="A"), origin="run")

    with pytest.raises(JobError, match="Count it again"):
        run(pool.pk)

    assert Candidate.objects.count() == 1
    assert not PoolEntry.objects.exists()


def test_the_order_in_which_candidates_are_stored_does_not_follow_ranks(project):
    add_run(project, "one.run", {"301": [f"D{n:02}" for n in range(1, 41)]})

    make(project, runs=["one.run"], depth=40)

    stored = list(Candidate.objects.order_by("pk").values_list("document__doc_id", flat=True))
    assert sorted(stored) != stored
    assert sorted(stored, reverse=True) != stored


def test_a_pool_that_is_cancelled_while_it_is_made_leaves_nothing(project):
    class Cancel(Progress):
        def advance(self, n: int = 1) -> None:
            raise Cancelled

    recipe = actions.recipe_of(project=project, method="union", runs=two_runs(project), depth=1)
    pool = actions.request_pool(recipe=recipe, name="first", by=None)

    with pytest.raises(Cancelled):
        actions.make_pool(pool, Cancel())

    assert not PoolEntry.objects.exists()
    assert not Candidate.objects.exists()


def test_a_pool_that_adds_documents_reopens_judging(project):
    add_run(project, "one.run", {"301": ["A", "B"]})
    query = project.queries.get(query_id="301")
    pair = factories.pair(query)
    done = factories.assignment(pair, factories.member(project, "ada"))
    done.touched_at = done.done_at = timezone.now()
    done.save()

    make(project, runs=["one.run"], depth=2)

    done.refresh_from_db()
    assert done.done_at is None


def test_a_run_over_instructions_counts_the_best_rank_under_any_pair(project):
    run = add_run(project, "one.run", {"301": ["A", "B", "C"]})
    query = project.queries.get(query_id="301")
    pairs = [factories.pair(query, pair_id=f"301_{n}") for n in (1, 2)]
    run.side = "altered"
    run.save()
    RunLine.objects.filter(run=run).update(pair=pairs[0])
    document = Document.objects.get(doc_id="C")
    RunLine.objects.create(run=run, query=query, pair=pairs[1], document=document, rank=1, score=1)

    assert chosen(make(project, runs=["one.run"], depth=1)) == {"A", "C"}


def test_a_query_that_is_taken_out_gets_no_candidates(project):
    runs = two_runs(project)
    project.queries.filter(query_id="301").update(
        removed_at=timezone.now(), removed_reason="Out of scope."
    )

    pool = make(project, runs=runs, depth=1)

    assert pool.counts is not None
    assert [one["query_id"] for one in pool.counts["queries"]] == ["302"]


def test_the_count_of_what_is_judged_asks_for_no_other_runs(project):
    found = actions.count_pool(actions.recipe_of(project=project, method="judged", runs=[]))

    assert found["warnings"] == ["No document is judged yet."]


def test_the_count_warns_if_only_relevant_documents_are_judged(project):
    project.judge_scope = Project.Scope.RELEVANT
    recipe = actions.recipe_of(project=project, method="union", runs=two_runs(project), depth=1)

    [warning] = actions.count_pool(recipe)["warnings"]

    assert "nobody will be asked about them" in warning


@pytest.mark.parametrize(
    "fields",
    [
        {"depth": None},
        {"depth": 0},
        {"method": "all"},
        {"name": ""},
        {"method": "judged"},
    ],
)
def test_the_database_refuses_invalid_pools(project, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Pool.objects.create(
            project=project, **{"name": "first", "method": "union", "depth": 1, **fields}
        )


@pytest.mark.parametrize(
    "fields", [{"words": 200}, {"share": 0}, {"share": 101}, {"published": "half"}]
)
def test_the_database_refuses_invalid_passage_rules(project, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        PassageRule.objects.create(project=project, **fields)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"method": "all"}, "is not a method of pooling"),
        ({"runs": []}, "Choose one or more"),
        ({"runs": ["none.run"]}, "no run called none.run"),
        ({"depth": 0}, "from 1 to 10,000"),
        ({"depth": None}, "from 1 to 10,000"),
        ({"strata": "10:100"}, "Only a stratified sample"),
        ({"method": "sample", "strata": "ten"}, "is not a stratum"),
        ({"method": "sample", "strata": "10:100 5:20"}, "does not come after"),
        ({"method": "sample", "strata": "10:0"}, "from 1 to 100"),
        ({"seed": -1}, "A seed is a number"),
    ],
)
def test_invalid_recipes_are_refused_with_a_sentence(project, rule, sentence):
    add_run(project, "one.run", {"301": ["A"]})

    with pytest.raises(Refused, match=sentence):
        actions.recipe_of(
            project=project, **{"method": "union", "runs": ["one.run"], "depth": 5, **rule}
        )
