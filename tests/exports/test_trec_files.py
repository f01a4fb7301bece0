"""The TREC files of the hand-made project, byte for byte."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from annotate.models import Adjudication, Candidate, InstructionPair, Judgment, Run
from annotate.pairs.pool import candidates_to_judge
from exporters.exports.selection import selection
from tests import factories
from tests.exports.conftest import AT, LATER

pytestmark = pytest.mark.both_databases


def test_the_whole_original_holds_every_prior_relevance_in_byte_order(tides, write):
    files = write(tides.project)

    assert files["qrels.original.all.txt"] == (
        "1000 0 X -1\n"
        "301 0 B 1\n"
        "301 0 FT-10 2\n"
        "301 0 FT-9 1\n"
        "301 0 a 0\n"
        "301 0 é 1\n"
        "302 0 C 1\n"
        "302 0 D 1\n"
        "303 0 R 1\n"
    )


def test_changed_qrels_hold_consensus_grades_and_explicit_zeros(tides, write):
    files = write(tides.project)

    assert files["qrels.changed.txt"] == (
        "301 0 B 0\n"  # both judged 0
        "301 0 FT-10 2\n"  # both judged 2, one of them after changing the grade
        "301 0 a 0\n"  # was not relevant before, so nobody judges it
        "301 0 é 0\n"  # one of two annotators has judged it
        "302 0 C 1\n"  # settled
    )


def test_documents_that_changed_are_listed_with_before_and_after(tides, write):
    files = write(tides.project)

    assert files["documents.changed.tsv"] == (
        "query_id\tpair_id\tdoc_id\tbefore\tafter\tchange\n"
        "301\t301\tB\t1\t0\tdropped\n"
        "301\t301\té\t1\t0\tdropped\n"
    )
    assert files.records("documents.changed.jsonl") == [
        {"doc_id": "B", "title": "", "text": "Text of B.", "markup": "plain"},
        {"doc_id": "é", "title": "", "text": "Text of é.", "markup": "plain"},
    ]


def test_disputed_and_unjudged_documents_are_listed_and_not_in_the_qrels(tides, write):
    files = write(tides.project)

    assert files["disputed.tsv"] == (
        "query_id\tpair_id\tnarrative\tdoc_id\tgrades\n301\t301\taltered\tFT-9\t0,1\n"
    )
    assert files["unjudged.tsv"] == (
        "query_id\tpair_id\tnarrative\tdoc_id\tbefore\n302\t302\taltered\tD\t1\n"
    )


def test_original_topics_are_the_queries_and_changed_ones_the_pairs(tides, write):
    files = write(tides.project)

    assert files["topics.original.all.txt"].count("<top>") == 5
    assert files["topics.changed.txt"] == (
        "<top>\n\n<num> Number: 301\n<title> tidal power\n\n"
        "<narr> Narrative:\nOnly plants at sea, in use.\n\n</top>\n\n"
        "<top>\n\n<num> Number: 302\n<title> dykes\n\n"
        "<narr> Narrative:\nOnly plants at sea count.\n\n</top>\n\n"
    )


def test_pairs_are_listed_with_the_reason_why_they_are_left_out(tides, write):
    files = write(tides.project)

    assert files["pairs.tsv"] == (
        "pair_id\tquery_id\tcategory\torigin\tleft_out\tclaimed\n"
        "301\t301\tS1\thuman\t\tnot claimed\n"
        "302\t302\t\tllm\t\tyes\n"
        "303\t303\t\thuman\tremoved\tnot claimed\n"
        "304\t304\t\thuman\tnot written\tnot claimed\n"
    )


def test_a_pair_sent_back_waits_for_its_next_narrative(tides, write):
    tides.pair.narratives.current().update(sent_back_at=LATER, sent_back_by=tides.carla)

    assert write(tides.project)["qrels.changed.txt"] == "302 0 C 1\n"

    newest = factories.narrative(tides.pair, text="Only plants in use.", version=3)
    assert write(tides.project)["qrels.changed.txt"] == "302 0 C 1\n"

    tides.judge(newest, tides.pool["FT-9"], tides.ada, 1)
    judged = write(tides.project)
    assert judged["qrels.changed.txt"] == "301 0 FT-9 1\n301 0 a 0\n302 0 C 1\n"
    assert judged["unjudged.tsv"].count("\n301\t") == 3


def test_a_majority_decides_where_the_project_says_so(tides, write):
    tides.judge(tides.narrative, tides.pool["FT-9"], tides.dan, 0)
    tides.project.consensus = "majority"
    tides.project.save()

    files = write(tides.project)

    assert "301 0 FT-9 0\n" in files["qrels.changed.txt"]
    assert files["disputed.tsv"].count("\n") == 1


def test_machines_are_never_counted_among_people(tides, write):
    tides.judge(tides.narrative, tides.pool["B"], tides.model, 2)

    files = write(tides.project)

    assert "301 0 B 0\n" in files["qrels.changed.txt"]


def test_a_withdrawn_decision_leaves_the_document_disputed(tides, write):
    Adjudication.objects.update(withdrawn_at=LATER, withdrawn_by=tides.carla)

    files = write(tides.project)

    assert "302\t302\taltered\tC\t0,1\n" in files["disputed.tsv"]


def test_the_whole_pool_is_to_be_judged_if_the_project_says_so(tides, write):
    tides.project.judge_scope = "pool"
    tides.project.save()

    files = write(tides.project)

    assert "301 0 a" not in files["qrels.changed.txt"]
    assert files["unjudged.tsv"].splitlines()[1:] == [
        "301\t301\taltered\tZ\t",
        "301\t301\taltered\ta\t0",
        "302\t302\taltered\tD\t1",
    ]


def test_a_judged_document_outside_the_scope_keeps_its_judgments(tides, write):
    tides.judge(tides.narrative, tides.pool["a"], tides.ada, 1)

    files = write(tides.project)

    assert "301 0 a 1\n" in files["qrels.changed.txt"]
    assert "301\t301\ta\t0\t1\tgrew\n" in files["documents.changed.tsv"]


def test_several_pairs_of_a_query_each_have_the_pool_under_their_own_id(tides, write):
    query = tides.pair.query
    other = factories.pair(query, pair_id="301_2", altered="Only barrages.")
    tides.judge(factories.altered(other), tides.pool["B"], tides.ada, 1)

    files = write(tides.project)

    assert [line for line in files["qrels.changed.txt"].splitlines() if "301_2" in line] == [
        "301_2 0 B 1",
        "301_2 0 a 0",
    ]


def test_judgments_under_the_original_narrative_have_qrels_of_their_own(db, write):
    project = factories.project(judge_scope="pool", overlap_judge=1)
    ada = factories.member(project, "ada")
    query = factories.query(project)
    candidates = [factories.candidate(query, doc_id, prior=None) for doc_id in ("A", "B")]
    pair = factories.pair(query, altered=None)
    factories.judgment(pair.narratives.get(side="original"), candidates[1], ada, 2)

    files = write(project)

    assert files["qrels.original.judged.txt"] == "301 0 B 2\n"
    assert files["qrels.original.txt"] == files["qrels.changed.txt"] == ""
    assert files["unjudged.tsv"].splitlines()[1:] == ["301\t301\toriginal\tA\t"]
    assert (
        "Documents under the original narratives: 1 unjudged, 1 judged."
        in (files.manifest["notes"])
    )


def test_reversed_narratives_have_qrels_and_topics_of_their_own(tides, write):
    reverse = factories.narrative(tides.pair, "reversed", "No plant at sea counts.")
    tides.judge(reverse, tides.pool["a"], tides.ada, 1)

    files = write(tides.project)

    assert files["qrels.reversed.txt"] == "301 0 a 1\n"
    assert "No plant at sea counts." in files["topics.reversed.txt"]


@pytest.mark.parametrize(
    ("side", "name"),
    [("original", "qrels.original.judged.txt"), ("reversed", "qrels.reversed.txt")],
)
def test_a_side_on_which_only_a_lead_settled_has_its_qrels(tides, write, side, name):
    if side == "reversed":
        factories.narrative(tides.pair, "reversed", "No plant at sea counts.")
    assert name not in write(tides.project).bytes()
    settled = Adjudication.objects.create(
        narrative=tides.pair.narratives.get(side=side),
        candidate=tides.pool["B"],
        relevance=2,
        reason="It says so.",
        cause="error",
        by=tides.carla,
    )

    files = write(tides.project)

    assert files[name] == "301 0 B 2\n"
    Adjudication.objects.filter(pk=settled.pk).update(
        withdrawn_at=timezone.now(), withdrawn_by=tides.carla
    )
    assert name not in write(tides.project).bytes()


def test_runs_are_exported_byte_for_byte(tides, write):
    handed_in = b"301\tQ0 FT-9  2 1.50 tag junk\r\n301 Q0 B 1 1.5 tag"
    for name in ("bm25.txt", "../bm25.txt"):
        Run.objects.create(
            project=tides.project, name=name, sha256="0" * 64, file=ContentFile(handed_in, "r")
        )

    files = write(tides.project)

    assert (files.folder / "runs" / "bm25.txt").read_bytes() == handed_in
    assert (files.folder / "runs" / "2-bm25.txt").read_bytes() == handed_in


def test_the_topics_that_a_run_over_queries_does_not_have_are_named_if_there_are_runs(tides, write):
    InstructionPair.objects.filter(pk=tides.pair.pk).update(pair_id="301_1")
    without_runs = write(tides.project)
    Run.objects.create(project=tides.project, name="r", sha256="0" * 64, file=ContentFile(b"", "r"))

    files = write(tides.project)

    notes = set(files.manifest["notes"]) - set(without_runs.manifest["notes"])
    assert {note.rpartition(": ")[2] for note in notes} == {"301_1."}
    assert next(iter(notes)).startswith("A run over queries has the ids of queries")


def test_a_project_without_altered_narratives_has_empty_changed_files_and_says_so(db, write):
    project = factories.project()
    factories.candidate(factories.query(project), "A", prior=1)
    nothing = write(project)
    factories.pair(project.queries.get(), altered=None)

    unwritten = write(project)

    assert nothing["qrels.changed.txt"] == unwritten["qrels.changed.txt"] == ""
    assert nothing["qrels.original.txt"] == "301 0 A 1\n"
    empty = "so qrels.changed.txt and topics.changed.txt are empty."
    assert nothing.manifest["notes"] == [f"The project has no instruction pairs, {empty}"]
    assert unwritten.manifest["notes"] == [f"No altered narrative has been written, {empty}"]


def test_an_export_does_not_depend_on_other_projects(tides, write):
    elsewhere = factories.project("elsewhere")
    query = factories.query(elsewhere)
    candidate = factories.candidate(query, "B")
    factories.judgment(
        factories.altered(factories.pair(query)), candidate, factories.member(elsewhere, "eve")
    )

    before = write(tides.project)
    Judgment.objects.filter(candidate=candidate).delete()

    assert before.bytes() == write(tides.project).bytes()
    assert write(elsewhere)["qrels.original.txt"] == "301 0 B 1\n"


def test_pairs_of_several_cursors_keep_their_order(db, write, monkeypatch):
    monkeypatch.setattr("exporters.exports.selection.ordered_rows.BATCH", 2)
    project = factories.project(overlap_judge=1)
    ada = factories.member(project, "ada")
    for query_id in ("5", "10", "9", "1", "7"):
        query = factories.query(project, query_id)
        pair = factories.pair(query)
        for prior in (0, 1):
            candidate = factories.candidate(query, f"{query_id}-{prior}", prior)
            if prior:
                factories.judgment(factories.altered(pair), candidate, ada, 0)

    files = write(project)

    ids = ["1", "10", "5", "7", "9"]
    assert files["qrels.changed.txt"] == "".join(f"{i} 0 {i}-0 0\n{i} 0 {i}-1 0\n" for i in ids)
    assert files["qrels.original.txt"] == "".join(f"{i} 0 {i}-0 0\n{i} 0 {i}-1 1\n" for i in ids)


def test_a_topic_that_the_format_cannot_hold_is_refused_with_its_id(tides, write):
    newest = factories.narrative(tides.pair, text="Only <num> at sea.", version=3)
    tides.judge(newest, tides.pool["FT-9"], tides.ada, 1)

    with pytest.raises(ValueError, match="the narrative of topic 301 holds <num>"):
        write(tides.project)


def test_a_judgment_of_another_querys_document_is_not_counted(tides, write):
    stray = Candidate.objects.get(document__doc_id="C")
    tides.judge(tides.narrative, stray, tides.dan, 2, at=AT)

    assert write(tides.project)["qrels.changed.txt"].count("\n") == 5


@pytest.mark.parametrize(("scope", "asked_for"), [("relevant", 6), ("pool", 8)])
def test_the_scope_of_exports_equals_the_pool_of_the_judging_page(tides, scope, asked_for):
    tides.project.judge_scope = scope
    tides.project.save()
    pairs = selection.written_pairs(selection.pairs(tides.project), "altered")

    exported = {
        (pair.pair_id, standing.doc_id)
        for pair, standings in selection.pooled_documents(tides.project, pairs, "altered")
        for standing in standings
        if standing.in_scope
    }

    judged = {
        (pair.pair_id, candidate.document.doc_id)
        for pair in InstructionPair.objects.filter(pair_id__in=["301", "302"])
        for candidate in candidates_to_judge(pair).select_related("document")
    }
    assert exported == judged
    assert len(exported) == asked_for
