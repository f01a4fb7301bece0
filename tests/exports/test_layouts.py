"""Each layout is a folder in the shape that its reader expects."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from annotate.models import Document, DocumentText
from exporters.exports.layouts.facts import warnings_of
from exporters.exports.models import Publication
from exporters.exports.proof.proving import prove
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(tides):
    """The project of tides, whose texts may be published."""
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    return tides


def test_mteb_repeats_each_query_before_and_after_the_change(published, write):
    folder = write(published.project, "mteb")

    assert [row["_id"] for row in folder.records("queries.jsonl")] == [
        "301-og",
        "301-changed",
        "302-og",
        "302-changed",
    ]
    assert folder.records("queries.jsonl")[0]["text"] == "tidal power"
    instructions = folder.records("instructions.jsonl")
    assert instructions[1] == {
        "query-id": "301-changed",
        "instruction": "Only plants at sea, in use.",
    }
    assert len(instructions) == 4


def test_mteb_qrels_hold_both_sides_under_the_ids_of_the_queries(published, write):
    folder = write(published.project, "mteb")

    assert [tuple(row.values()) for row in folder.records("qrels.jsonl")][:9] == [
        ("301-og", "B", 1),
        ("301-og", "FT-10", 2),
        ("301-og", "FT-9", 1),
        ("301-og", "a", 0),
        ("301-og", "é", 1),
        ("301-changed", "B", 0),
        ("301-changed", "FT-10", 2),
        ("301-changed", "a", 0),
        ("301-changed", "é", 0),
    ]


def test_mteb_ranks_every_candidate_and_names_the_changed_ones_without_suffix(published, write):
    folder = write(published.project, "mteb")

    assert folder.records("top_ranked.jsonl")[:2] == [
        {"query-id": query, "corpus-ids": ["B", "FT-10", "FT-9", "Z", "a", "é"]}
        for query in ("301-og", "301-changed")
    ]
    assert folder.records("qrel_diff.jsonl")[0] == {"query-id": "301", "corpus-ids": ["B", "é"]}


def test_mteb_corpus_holds_the_text_of_every_candidate(published, write):
    corpus = write(published.project, "mteb").records("corpus.jsonl")

    assert [row["_id"] for row in corpus] == ["B", "C", "D", "FT-10", "FT-9", "Z", "a", "é"]
    assert corpus[0] == {"_id": "B", "title": "", "text": "Text of B."}


def test_texts_are_left_out_until_the_lead_publishes_them(tides, write):
    folder = write(tides.project, "mteb")

    assert folder.records("corpus.jsonl")[0] == {"_id": "B", "title": "", "text": ""}
    assert "Text of" not in folder["corpus.jsonl"]
    assert folder.manifest["warnings"][0].startswith("The corpus contains only ids")


def test_the_newest_text_is_published_and_the_manifest_names_its_version(published, write):
    document = published.pool["B"].document
    DocumentText.objects.create(document=document, version=2, text="Newer.", length=6)
    document.text_version = 2
    document.save()

    folder = write(published.project, "beir")

    assert folder.records("corpus.jsonl")[0]["text"] == "Newer."
    # The manifest names its version, but not those of unpublished documents.
    factories.document(published.project, "elsewhere", text="Old.")
    Document.objects.filter(doc_id="elsewhere").update(text_version=2)
    for layout in ("beir", "mteb", "hf", "ir-datasets"):
        manifest = write(published.project, layout).manifest
        assert manifest["text_versions"] == {"B": 2}, layout
        assert manifest["counts"]["documents_with_newer_texts"] == 1, layout


def test_mteb_replaces_underscores_and_keeps_ids_distinct(published, write):
    published.pair.pair_id = "3_1"
    published.pair.save()
    other = published.project.pairs.get(query__query_id="302")
    other.pair_id = "3-1"
    other.save()

    folder = write(published.project, "mteb")

    assert folder["pair_ids.tsv"] == "pair_id\twritten_as\n3-1\t3-1\n3_1\t3-1-\n"
    assert folder.records("queries.jsonl")[2]["_id"] == "3-1--og"
    assert [row["pair_id"] for row in folder.records("pairs.jsonl")] == ["3-1", "3_1"]


def test_reversed_narratives_are_a_separate_set(published, write):
    reverse = factories.narrative(published.pair, side="reversed", text="Plants on land.")
    published.judge(reverse, published.pool["B"], published.ada, 2)
    published.judge(reverse, published.pool["B"], published.ben, 2)

    folder = write(published.project, "mteb")

    assert folder.records("reversed/instructions.jsonl")[1]["instruction"] == "Plants on land."
    assert folder.records("reversed/qrels.jsonl")[-1] == {
        "query-id": "301-changed",
        "corpus-id": "B",
        "score": 2,
    }
    assert "reversed" not in folder["queries.jsonl"]
    for readme in (folder, write(published.project, "hf")):
        assert "`-changed` with the altered one." in readme["README.md"]
        assert "The folder `reversed/` has a set of the reversed narratives." in readme["README.md"]
        assert "`-changed` with the reversed one." in readme["reversed/README.md"]


def test_readme_names_the_file_of_each_config(published, write):
    readme = write(published.project, "mteb")["README.md"]

    assert "- config_name: default\n  data_files:\n  - split: test\n    path: qrels.jsonl" in readme
    for name in ("corpus", "queries", "instruction", "top_ranked", "qrel_diff"):
        assert f"- config_name: {name}\n  data_files:\n  - split: {name}\n" in readme


def test_the_task_file_is_a_program_whose_revision_is_a_string(published, write):
    task = write(published.project, "mteb")["task.py"]

    compile(task, "task.py", "exec")
    assert "class TidesInstructionReranking(Core17InstructionRetrieval):" in task
    assert '"revision": "local"' in task


def test_mteb_has_the_statistics_that_mteb_asks_of_a_new_data_set(published, write):
    found = json.loads(write(published.project, "mteb")["descriptive_stats.json"])["test"]

    # By hand: six documents of 10 characters, one of 13 and one of 14; C and D have the same text.
    # A query is its text and its instruction: 29, 39, 23 and 31 characters.
    assert {key: value for key, value in found.items() if value is not None} == {
        "num_samples": 12,
        "num_documents": 8,
        "num_queries": 4,
        "number_of_characters": 209,
        "documents_text_statistics": {
            "total_text_length": 87,
            "min_text_length": 10,
            "average_text_length": 10.875,
            "max_text_length": 14,
            "unique_texts": 7,
        },
        "queries_text_statistics": {
            "total_text_length": 122,
            "min_text_length": 23,
            "average_text_length": 30.5,
            "max_text_length": 39,
            "unique_texts": 4,
        },
        # 12 lines, 8 of them above 0; 302-changed has one line, 301-og five.
        "relevant_docs_statistics": {
            "num_relevant_docs": 8,
            "min_relevant_docs_per_query": 1,
            "average_relevant_docs_per_query": 2.0,
            "max_relevant_docs_per_query": 5,
            "unique_relevant_docs": 7,
        },
        "top_ranked_statistics": {
            "num_top_ranked": 16,
            "min_top_ranked_per_query": 2,
            "average_top_ranked_per_query": 4.0,
            "max_top_ranked_per_query": 6,
        },
    }


def test_hf_card_says_licence_agreement_and_limits(published, write):
    card = write(published.project, "hf")["README.md"]

    assert "license: cc-by-4.0\n" in card
    assert "- n<1K\n" in card
    assert "num_examples: 8\n" in card
    assert "| Krippendorff's alpha |" in card
    assert "2 documents have a relevance before the change and none after it" in card


def test_warnings_about_one_document_are_in_the_singular():
    one = dict.fromkeys(
        ("layout_without_text", "layout_claims", "layout_undecided", "layout_without_line"), 1
    )
    layout: Any = SimpleNamespace(
        counts=one,
        publication=SimpleNamespace(texts=True),
        project=SimpleNamespace(relevant_from=1),
    )

    beginnings = [warning.split(" ")[:3] for warning in warnings_of(layout)]

    assert beginnings == [
        ["1", "document", "has"],
        ["1", "grade", "is"],
        ["1", "label", "is"],
        ["1", "document", "has"],
    ]


def test_a_bar_or_a_line_end_in_a_name_breaks_no_table_of_the_card(published, write):
    published.project.grades.filter(value=1).update(name="so | so", sentence="In\npart.")

    assert "| 1 | so \\| so | In part. |" in write(published.project, "hf")["README.md"]


@pytest.mark.parametrize(
    ("licence", "line"),
    [
        ("ODbL-1.0", "license: odbl\n"),
        ("ODC-By-1.0", "license: odc-by\n"),
        ("LicenseRef-ours", 'license: other\nlicense_name: "LicenseRef-ours"\n'),
    ],
)
def test_the_card_has_the_name_by_which_the_hub_knows_a_licence(licence, line, published, write):
    Publication.objects.update(licence=licence)

    assert line in write(published.project, "hf")["README.md"]


def test_croissant_describes_each_file_by_its_sum_and_each_column(published, write):
    folder = write(published.project, "hf")

    described = json.loads(folder["croissant.json"])

    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    sums = {entry["name"]: entry["sha256"] for entry in folder.manifest["files"]}
    assert {one["@id"]: one["sha256"] for one in described["distribution"]} == {
        f"{name}.jsonl": sums[f"{name}.jsonl"]
        for name in ("qrels", "corpus", "queries", "instructions", "top_ranked", "qrel_diff")
    }
    for records in described["recordSet"]:
        for field in records["field"]:
            source = field["source"]
            (first, *_) = folder.records(source["fileObject"]["@id"])
            value = first[source["extract"]["column"]]
            types = {"sc:Integer": int, "sc:Text": list if "repeated" in field else str}
            assert isinstance(value, types[field["dataType"]])


# mlcroissant uses a class of rdflib that is to be renamed.
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_croissant_reads_back_every_record(published, write):
    pytest.importorskip("mlcroissant")

    results = prove(write(published.project, "hf").folder)["results"]

    assert next(one for one in results if one["tool"] == "mlcroissant")["result"] == "same"


def test_beir_has_a_split_of_qrels_for_each_side(published, write):
    folder = write(published.project, "beir")

    assert folder["qrels/original.tsv"].startswith("query-id\tcorpus-id\tscore\n301-og\tB\t1\n")
    assert folder["qrels/changed.tsv"].startswith("query-id\tcorpus-id\tscore\n301-changed\tB\t0\n")
    assert folder.records("queries.jsonl")[2] == {
        "_id": "301-changed",
        "text": "tidal power Only plants at sea, in use.",
    }


def test_beir_has_the_candidates_of_every_query(published, write):
    pair = published.pair
    narrative = factories.narrative(pair, side="reversed", text="Plants on land.")
    factories.judgment(narrative, published.pool["B"], published.ada, 0)

    folder = write(published.project, "beir")

    queries = [row["_id"] for row in folder.records("queries.jsonl")]
    ranked = {row["query-id"]: row["corpus-ids"] for row in folder.records("top_ranked.jsonl")}
    assert sorted(ranked) == sorted(queries)
    assert ranked["301-reversed"] == ranked["301-og"] == ["B", "FT-10", "FT-9", "Z", "a", "é"]


def test_beir_leaves_instructions_out_if_the_setting_says_so(published, write):
    Publication.objects.update(instructions_in_queries=False)

    folder = write(published.project, "beir")

    assert folder.records("queries.jsonl")[2] == {"_id": "301-changed", "text": "tidal power"}


def test_ir_datasets_is_a_package_with_queries_of_four_fields(published, write):
    folder = write(published.project, "ir-datasets")

    assert folder.records("irds_tides/data/queries.changed.jsonl")[0] == {
        "query_id": "301",
        "title": "tidal power",
        "description": "",
        "narrative": "Only plants at sea, in use.",
    }
    assert folder["irds_tides/data/qrels.changed.txt"].startswith("301 0 B 0\n")
    assert folder["irds_tides/data/candidates.original.run"].startswith("301 Q0 B 1 6 candidates\n")
    compile(folder["irds_tides/__init__.py"], "__init__.py", "exec")


def test_citation_names_creators_licence_and_year(published, write):
    Publication.objects.update(creators="Curie, Marie\nTide team", publisher="Zenodo", year=2026)

    folder = write(published.project, "citation")

    assert (
        '- family-names: "Curie"\n  given-names: "Marie"\n- name: "Tide team"'
        in folder["CITATION.cff"]
    )
    record = json.loads(folder[".zenodo.json"])
    assert record["creators"] == [{"name": "Curie, Marie"}, {"name": "Tide team"}]
    assert (record["license"], record["publication_date"]) == ("CC-BY-4.0", "2026")


@pytest.mark.parametrize(
    ("licence", "line"),
    [
        ("cc-by-4.0", 'license: "CC-BY-4.0"'),
        ("LicenseRef-ours", 'abstract: "Licence of instructions and labels: LicenseRef-ours."'),
        ("MIT OR CC0-1.0", 'abstract: "Licence of instructions and labels: MIT OR CC0-1.0."'),
    ],
)
def test_a_licence_that_cff_does_not_know_is_in_the_abstract(licence, line, published, write):
    """CFF 1.2 has a list of licences, without expressions and names of one's own."""
    settings = {"licence": licence, "creators": "Curie, Marie", "publisher": "Zenodo", "year": 2026}
    Publication.objects.update(**settings, texts=False)

    lines = write(published.project, "citation")["CITATION.cff"].splitlines()

    assert [its for its in lines if its.startswith(("abstract:", "license:"))] == [line]


def test_a_project_in_which_nobody_has_judged_is_cited_too(db, write):
    project = factories.project()
    settings = {"licence": "MIT", "creators": "Curie, Marie", "publisher": "Zenodo", "year": 2026}
    Publication.objects.create(project=project, **settings)

    folder = write(project, "citation")

    assert f'title: "{project.name}"' in folder["CITATION.cff"]
    assert folder.manifest["pairs"] == []


def test_the_manifest_counts_what_is_published_and_names_what_is_left_out(published, write):
    manifest = write(published.project, "beir").manifest

    counts = manifest["counts"]
    assert counts["layout_pairs"] == 2
    assert counts["layout_documents"] == 8
    assert counts["layout_original"] == 7
    assert counts["layout_without_line"] == 2
    assert {(one["query_id"], one["why"]) for one in manifest["left_out"]} == {
        ("1000", "no instruction pair"),
        ("303", "removed"),
        ("304", "not written"),
    }


def test_a_corpus_has_no_document_of_a_reversed_side_that_is_not_published(published, write):
    """A reversed side that changes nothing is left out, with a document that is only there."""
    pair = published.project.pairs.get(pair_id="304")
    narrative = factories.narrative(pair, side="reversed", text="Locks without gates.")
    factories.judgment(narrative, factories.candidate(pair.query, "only", 1), published.ada, 1)

    folder = write(published.project, "mteb")

    assert "only" not in {row["_id"] for row in folder.records("corpus.jsonl")}
    assert folder.manifest["counts"]["layout_documents"] == 8


def test_no_layout_names_an_annotator(published, write):
    Publication.objects.update(creators="Curie, Marie", publisher="Zenodo", year=2026)
    for member in published.project.memberships.filter(is_machine=False):
        member.name = f"person-{member.name}"
        member.save()

    for layout in ("mteb", "hf", "beir", "ir-datasets", "citation"):
        for name, content in write(published.project, layout).bytes().items():
            assert b"person-" not in content, (layout, name)


def test_the_same_rows_give_the_same_bytes(published, write):
    for layout in ("mteb", "hf", "beir", "ir-datasets"):
        assert write(published.project, layout).bytes() == write(published.project, layout).bytes()
