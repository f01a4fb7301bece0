"""Exports list the runs that contributed a document, candidates taken out, and hard negatives."""

from __future__ import annotations

import pytest

from annotate.models import Candidate, RunLine
from annotate.pools.actions import choose_hard_negatives
from annotate.pools.removal import DOCUMENTS
from base.errors import Refused
from tests.pools.pooling import add_run, make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def take_out(tides, doc_id, query_id="301"):
    found = Candidate.objects.get(query__query_id=query_id, document__doc_id=doc_id)
    DOCUMENTS.remove(project=tides.project, keys=[found.pk], reason="A duplicate.", by=tides.carla)


def test_a_removed_candidate_is_in_no_qrels_but_in_the_manifest_with_its_reason(tides, write):
    take_out(tides, "FT-10")

    folder = write(tides.project, "trec")

    for name in ("qrels.original.txt", "qrels.changed.txt", "qrels.original.all.txt"):
        assert "301 0 B " in folder[name]
        assert "301 0 FT-10 " not in folder[name]
    assert folder.manifest["removed_candidates"] == [
        {"query_id": "301", "doc_id": "FT-10", "reason": "A duplicate."}
    ]
    assert any("taken out of the pools" in note for note in folder.manifest["notes"])


def test_a_manifest_without_pools_does_not_mention_pools(tides, write):
    manifest = write(tides.project, "trec").manifest

    assert {"pools", "removed_candidates", "hard_negatives"}.isdisjoint(manifest)


def test_the_record_has_the_rank_of_a_document_in_each_run(tides, write):
    runs = [
        add_run(tides.project, "ance.run", {"301": ["N1", "B"]}).name,
        add_run(tides.project, "bm25.run", {"301": ["B", "N2", "N1"]}).name,
    ]
    make(tides.project, runs=runs, depth=2)

    folder = write(tides.project, "jsonl")

    assert folder["pool_documents.tsv"] == (
        "pool\tquery_id\tdoc_id\tnew\trun\trank\n"
        "first\t301\tB\tno\tance.run\t2\n"
        "first\t301\tB\tno\tbm25.run\t1\n"
        "first\t301\tN1\tyes\tance.run\t1\n"
        "first\t301\tN2\tyes\tbm25.run\t2\n"
    )
    [pool] = folder.manifest["pools"]
    assert (pool["method"], pool["depth"], pool["documents"], pool["new"]) == ("union", 2, 3, 2)
    assert [run["run"] for run in pool["runs"]] == ["ance.run", "bm25.run"]


def test_hard_negatives_are_the_judged_non_relevant_documents_at_the_top(tides, write):
    run = add_run(tides.project, "ance.run", {"301": ["FT-10", "a", "N1", "FT-9"]})
    choose_hard_negatives(project=tides.project, runs=["ance.run"], depth=3, by=tides.carla)

    folder = write(tides.project, "trec")

    # FT-10 is relevant, N1 has no label, and FT-9 is below the depth.
    assert folder["hard_negatives.tsv"] == (
        "side\ttopic\tdoc_id\trelevance\trun\trank\noriginal\t301\ta\t0\tance.run\t2\n"
    )
    assert folder.manifest["hard_negatives"] == {
        "depth": 3,
        "systems": [{"run": "ance.run", "system": "ance", "sha256": run.sha256}],
    }
    # No other format has the file.
    for other in ("jsonl", "beir"):
        assert "hard_negatives" not in write(tides.project, other).manifest


def test_hard_negatives_of_a_run_over_instructions_are_those_after_the_change(tides, write):
    run = add_run(tides.project, "instructed.run", {"301": ["B", "FT-10", "é"]})
    run.side = "altered"
    run.save()
    RunLine.objects.filter(run=run).update(pair=tides.project.pairs.get(pair_id="301"))
    choose_hard_negatives(project=tides.project, runs=[run.name], depth=10, by=tides.carla)

    folder = write(tides.project, "trec")

    assert folder["hard_negatives.tsv"].splitlines()[1:] == [
        "altered\t301\tB\t0\tinstructed.run\t1",
        "altered\t301\té\t0\tinstructed.run\t3",
    ]


def test_there_is_no_file_of_hard_negatives_without_chosen_systems(tides, write):
    add_run(tides.project, "ance.run", {"301": ["a"]})
    choose_hard_negatives(project=tides.project, runs=["ance.run"], depth=3, by=tides.carla)
    choose_hard_negatives(project=tides.project, runs=[], depth=3, by=tides.carla)

    assert "hard_negatives.tsv" not in write(tides.project, "trec").bytes()


@pytest.mark.parametrize(("runs", "depth"), [(["none.run"], 3), ([], 0)])
def test_an_unknown_system_or_an_invalid_depth_is_refused(tides, runs, depth):
    with pytest.raises(Refused):
        choose_hard_negatives(project=tides.project, runs=runs, depth=depth, by=tides.carla)


def test_judgments_of_removed_candidates_count_as_left_out(tides, write):
    before = write(tides.project, "trec").manifest["counts"]
    candidate = tides.project.queries.get(query_id="301").candidates.get(document__doc_id="B")
    judged = candidate.statements.current().of_people().count()
    take_out(tides, "B")

    after = write(tides.project, "trec").manifest["counts"]

    assert after["judgments_counted"] == before["judgments_counted"] - judged
    assert after["judgments_set_aside"] == before["judgments_set_aside"] + judged
    assert after["judgments_by_people"] == before["judgments_by_people"]
