"""Real collections, loaded as a user would load them."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command

from annotate.models import (
    Candidate,
    Condition,
    Document,
    Flag,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Query,
    Verdict,
)
from formats.followtable import CATEGORIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.long]


def load(kind: str, *files: Path, options: tuple[str, ...] = ()) -> list[int]:
    """Return [read, new, unchanged] of `manage.py load tides … --create`."""
    out = io.StringIO()
    call_command(
        "load", "tides", kind, *map(str, files), "--create", "--json", *options, stdout=out
    )
    found = json.loads(out.getvalue())
    assert (found["refused"], found["changed"]) == (0, 0)
    return [found["read"], found["new"], found["unchanged"]]


def test_core17_gives_50_queries_and_30030_candidates(shared_data):
    trec = shared_data / "trec"

    topics = load("trec-topics", trec / "topics.core17.txt")
    first = load("trec-qrels", trec / "qrels.core17.txt")
    second = load("trec-qrels", trec / "qrels.core17.txt")

    assert topics == [50, 50, 0]
    assert (first, second) == ([30_030, 30_030, 0], [30_030, 0, 30_030])
    assert Query.objects.exclude(title="").count() == 50
    assert Narrative.objects.exclude(text="").count() == 50
    assert Candidate.objects.count() == 30_030
    assert Candidate.objects.filter(prior_relevance__gte=1).count() == 9_002


@pytest.mark.parametrize("name", ["IndusTR", "WTR", "TArX"])
def test_followtable_gives_its_pairs_documents_and_claims(shared_data, name):
    folder = shared_data / "followtable"
    stats = json.loads((folder / "stats.json").read_text())[name]
    categories: Counter[str] = Counter()
    for kind, count in stats["types"].items():
        categories[CATEGORIES[kind]] += count

    first = load("followtable", folder / name)
    second = load("followtable", folder / name)

    assert (first[1], second[1]) == (first[0], 0)
    assert Query.objects.count() == stats["entries"]
    assert Document.objects.count() == stats["tables"]
    assert InstructionPair.objects.count() == stats["instructions"]
    assert Counter(InstructionPair.objects.values_list("category", flat=True)) == categories
    assert set(InstructionPair.objects.values_list("origin", flat=True)) == {"llm"}
    claims = Membership.objects.get()
    assert (claims.name, claims.is_machine) == ("followtable-claims", True)
    assert Judgment.objects.filter(narrative__side="altered").count() == Judgment.objects.count()
    # Every instruction has claims.
    assert Judgment.objects.values("narrative").distinct().count() == stats["instructions"]
    assert set(Candidate.objects.values_list("prior_relevance", flat=True)) == {0, 1}


def test_csfcube_labels_are_judgments_except_five_flags(shared_data):
    folder = shared_data / "text" / "csfcube" / "converted"
    grades = ("--grades", "0,1,2,3")

    load("trec-qrels", folder / "qrels.adjudicated.txt", options=grades)
    labels = load("judgments-csv", folder / "annotator_labels.csv", options=("--no-grade", "-1"))

    assert labels == [3_040, 3_040, 0]
    assert Candidate.objects.count() == 1_520
    assert Judgment.objects.count() == 3_035
    assert Flag.objects.filter(flag="cannot_judge").count() == 5
    raters = Membership.objects.filter(user=None).values_list("name", flat=True)
    assert sorted(raters) == [f"annotator{n}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("kind", "file", "count"),
    [
        ("trec-topics", "trec/topics.robust04.txt", 250),
        ("trec-topics", "trec/topics.robust05.txt", 50),
        ("trec-topics", "trec/topics.terabyte04.701-750.txt", 50),
        ("trec-topics", "trec/topics.adhoc.51-100.txt", 50),
        ("trec-topics", "trec/topics.backgroundlinking20.txt", 50),
        ("trec-topics", "trec/topics.fire12hi.176-225.txt", 50),
        ("trec-topics-xml", "trec/topics.covid-round1.xml", 30),
        ("trec-topics-xml", "trec/topics.covid-round5.xml", 50),
        ("trec-topics-xml", "trec/topics.web.1-50.txt", 50),
        ("topics-json", "trec/topics.rag25.test.jsonl", 105),
        ("trec-qrels", "trec/qrels.robust05.txt", 37_798),
        ("trec-qrels", "trec/qrels.covid-round1.txt", 8_691),
        ("trec-qrels", "trec/qrels.covid-round5.txt", 23_151),
        ("trec-qrels", "trec/qrels.backgroundlinking20.txt", 17_764),
        ("trec-qrels", "trec/qrels.rag25.test.txt", 10_284),
        ("trec-qrels", "trec/qrels.rag25.test-umbrela2.txt", 10_284),
        ("trec-qrels", "runs/codec/document_ndcg.qrels", 6_186),
        ("smart-docs", "text/cranfield/cran.all.1400", 1_400),
        ("smart-queries", "text/cranfield/cran.qry", 225),
        ("smart-qrels", "text/cranfield/cranqrel", 1_837),
        ("beir", "followtable/IndusTR/beir", None),
        ("topics-json", "runs/codec/topics.json", 42),
        ("docs-jsonl", "text/csfcube/converted/corpus.jsonl", 737),
        ("trec-run", "runs/trec_eval/results.test", 1_500),
        ("trec-run", "runs/trec_eval/results.trunc", 584),
        ("trec-run", "runs/codec/document_bm25-tuned+t5-maxp.top100.run", 4_200),
        ("trec-run", "runs/trec_covid_round1/irc_pmc.top100.run", 3_000),
        ("trec-run", "runs/followtable_bm25/WTR.instr.run", 4_700),
        ("trec-run", "runs/csfcube_bm25/rev.run", 1_520),
        ("trec-run", "runs/birco_clinical_trial/e5_rank.run", 1_503),
    ],
)
def test_every_file_loads_completely_and_adds_nothing_the_second_time(
    shared_data, kind, file, count
):
    first = load(kind, shared_data / file)
    second = load(kind, shared_data / file)

    assert count is None or first[0] == count
    assert second == [first[0], 0, first[0]]


def test_multiconir_gives_conditions_and_verdicts_that_count_to_the_relevance(shared_data):
    file = shared_data / "multiconir" / "Sample_Task2_&_3.csv"
    grades = ("--grades", ",".join(map(str, range(11))))

    first = load("multiconir", file, options=grades)
    second = load("multiconir", file, options=grades)

    assert (first, second) == ([789, 789, 0], [789, 0, 789])
    # 3 queries x 2 styles x (1 + ... + 10) conditions, with 11 verdicts on each.
    assert (Condition.objects.count(), Verdict.objects.count()) == (330, 3_630)
    claims = Judgment.objects.filter(narrative__pair__pair_id="2_10n").order_by("relevance")
    assert list(claims.values_list("relevance", flat=True)) == list(range(11))
    assert all(claim.verdicts.filter(answer="met").count() == claim.relevance for claim in claims)
    assert set(Membership.objects.values_list("name", "is_machine")) == {
        ("multiconir-claims", True)
    }


def test_multi_infosearch_gives_documents_times_attributes(shared_data):
    file = shared_data / "multi_infosearch" / "final_sorted.jsonl"

    assert load("multi-infosearch", file) == [44, 44, 0]
    assert load("multi-infosearch", file) == [44, 0, 44]
    violated = Verdict.objects.filter(
        statement__candidate__document__doc_id="2654_2_negative"
    ).values_list("condition__name", "condition__text", "answer")
    assert sorted(violated) == [
        ("format", "Guide", "not_met"),
        ("language", "English", "not_met"),
    ]
    assert Candidate.objects.filter(query__query_id="2654", prior_relevance=1).count() == 5


def test_infosearch_gives_the_claims_of_both_instructions(shared_data):
    assert load("infosearch", shared_data / "infosearch") == [56, 56, 0]
    assert load("infosearch", shared_data / "infosearch") == [56, 0, 56]
    sides = Counter(Judgment.objects.values_list("narrative__side", flat=True))
    assert sides == {"altered": 13, "reversed": 13}
    # One pair per query.
    assert InstructionPair.objects.count() == 5
