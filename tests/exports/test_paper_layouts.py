"""The papers' layouts are written from a project, and load into the same rows again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.db.models import Value
from django.db.models.functions import Concat

from annotate.collection import intake
from annotate.loading.load import load_rows
from annotate.models import Candidate, DocumentText, InstructionPair, Judgment, Query
from audit.checks.machines import choose_machine
from exporters.evaluations.measuring import read_collection
from exporters.exports.models import Publication
from exporters.exports.selection.labels import gold_documents
from formats.registry import lookup
from tests import factories

pytestmark = pytest.mark.django_db

# The file that each format reads in the folder of its layout; "" for the folder.
READ = {
    "followtable": "",
    "infosearch": "",
    "multiconir": "multiconir.csv",
    "multi-infosearch": "final_sorted.jsonl",
}
SAMPLES = [
    ("followtable", "followtable/TArX"),
    ("infosearch", "infosearch"),
    ("multiconir", "multiconir/Sample_Task1.csv"),
    ("multiconir", "multiconir/Sample_Task2_&_3.csv"),
    ("multi-infosearch", "multi_infosearch/final_sorted.jsonl"),
]


def load(layout, path, slug):
    """Load a file or folder into a new project whose texts may be published."""
    project = factories.project(slug, grades=tuple(range(11)))
    Publication.objects.create(project=project, texts=True, licence="CC-BY-4.0")
    report = load_rows(project=project, kind=lookup(layout), file=intake.file_on_disk(str(path)))
    assert report.refused == 0, report.problems
    return project


def counts(project):
    """Return how many pairs, candidates and claims a project has."""
    return (
        InstructionPair.objects.filter(project=project).count(),
        Candidate.objects.filter(query__project=project).count(),
        Judgment.objects.filter(annotator__project=project, annotator__is_machine=True).count(),
    )


def without_manifest(written):
    return {name: content for name, content in written.bytes().items() if name != "manifest.json"}


@pytest.mark.parametrize(("layout", "sample"), SAMPLES, ids=[sample for _, sample in SAMPLES])
def test_a_sample_round_trips_with_the_same_counts_and_bytes(layout, sample, write, shared_data):
    project = load(layout, shared_data / sample, "first")
    first = write(project, layout)

    other = load(layout, first.folder / READ[layout], "second")

    again = write(other, layout)
    assert counts(other) == counts(project)
    assert without_manifest(again) == without_manifest(first)


def written_from(sample, layout, write, shared_data):
    """Load a sample and write it again: the folder of the sample, and the written one."""
    original = shared_data / sample
    return original, write(load(layout, original, "first"), layout)


def records(path: Path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_followtable_records_are_those_of_the_sample(write, shared_data):
    original, folder = written_from("followtable/TArX", "followtable", write, shared_data)

    def content(entries):
        return [
            (
                entry["query"],
                set(entry["query_positive"]),
                [
                    (
                        out["instruction"],
                        out["instruction_type"],
                        set(out["instruction_positive"]),
                        {*out["all_tables"], *out["instruction_positive"]},
                    )
                    for out in entry["outs"]
                ],
            )
            for entry in entries
        ]

    name = "query_instruction.json"
    assert content(json.loads(folder[name])) == content(json.loads((original / name).read_bytes()))
    numbers = json.loads((original / "index_map.json").read_bytes())
    assert json.loads(folder["index_map.json"]) == {key: str(n) for key, n in numbers.items()}
    tables = {path.name: path.read_bytes().rstrip() for path in (original / "tables").iterdir()}
    written = {path.name: path.read_bytes() for path in (folder.folder / "tables").iterdir()}
    assert {name: text.rstrip() for name, text in written.items()} == tables


def test_infosearch_records_are_those_of_the_sample(write, shared_data):
    original, folder = written_from("infosearch", "infosearch", write, shared_data)

    assert folder.records("queries.jsonl") == records(original / "queries.jsonl")

    def by_id(found):
        return sorted(found, key=lambda one: one["_id"])

    judged = {line.split("\t")[1] for line in folder["qrels_og/test.tsv"].splitlines()[1:]}
    candidates = [one for one in records(original / "corpus.jsonl") if one["_id"] in judged]
    assert by_id(folder.records("corpus.jsonl")) == by_id(candidates)
    for side in ("og", "changed", "reversed"):
        lines = (original / f"qrels_{side}" / "test.tsv").read_text().splitlines()
        assert sorted(folder[f"qrels_{side}/test.tsv"].splitlines()) == sorted(lines)


def test_a_carriage_return_in_a_text_ends_no_row_of_multiconir(write, shared_data):
    project = load("multiconir", shared_data / "multiconir/Sample_Task1.csv", "first")
    texts = DocumentText.objects.filter(document__project=project)
    texts.update(text=Concat(Value("Old\rMac: "), "text"))

    folder = write(project, "multiconir")

    with (folder.folder / "multiconir.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == project.queries.count()
    assert all(row["Positive"].startswith("Old\rMac: ") for row in rows)


@pytest.mark.parametrize("sample", ["Sample_Task1.csv", "Sample_Task2_&_3.csv"])
def test_multiconir_rows_are_those_of_the_sample(sample, write, shared_data):
    original, folder = written_from(f"multiconir/{sample}", "multiconir", write, shared_data)

    with original.open(encoding="utf-8", newline="") as stream:
        wanted = list(csv.DictReader(stream))
    with (folder.folder / "multiconir.csv").open(encoding="utf-8", newline="") as stream:
        assert list(csv.DictReader(stream)) == wanted


def test_multi_infosearch_records_are_those_of_the_sample(write, shared_data):
    original, folder = written_from(
        "multi_infosearch/final_sorted.jsonl", "multi-infosearch", write, shared_data
    )

    written = {
        (one["query_id"], one["combo_id"]): one for one in folder.records("final_sorted.jsonl")
    }
    wanted = records(original)
    assert len(written) == len(wanted) == 5
    for one in wanted:
        its = written[one["query_id"], one["combo_id"]]
        assert set(its.pop("violated_attributes")) == set(one["violated_attributes"])
        assert its == {name: one[name] for name in one if name != "violated_attributes"}
    documents = {one["query_id"]: one for one in json.loads(folder["query-doc.json"])}
    sample = json.loads((original.parent / "query-doc.json").read_bytes())
    assert documents == {one["query_id"]: one for one in sample}


def test_both_files_of_multi_infosearch_round_trip_as_one_set_of_documents(write, shared_data):
    sample = shared_data / "multi_infosearch"
    alone = load("multi-infosearch", sample / "final_sorted.jsonl", "alone")
    both = load("multi-infosearch-folder", sample, "both")

    first = write(both, "multi-infosearch")
    again = load("multi-infosearch-folder", first.folder, "again")

    assert counts(both) == counts(alone) == counts(again)
    assert without_manifest(write(again, "multi-infosearch")) == without_manifest(first)


def test_multi_infosearch_says_what_is_claimed_and_what_is_not_verified(write, shared_data):
    _original, folder = written_from(
        "multi_infosearch/final_sorted.jsonl", "multi-infosearch", write, shared_data
    )

    found = {one["doc_id"]: one for one in folder.records("attributes.jsonl")}
    assert len(found) == 10
    assert found["2654_1_negative"] == {
        "pair_id": "2654_1",
        "doc_id": "2654_1_negative",
        "claimed": {"satisfied": ["audience", "source"], "violated": ["length"]},
        "verified": None,
    }


def test_the_reasons_why_tables_violate_come_back(write, tmp_path):
    names = [f"{n}.txt" for n in range(6)]
    out = {
        "instruction": "Only sea harbours.",
        "instruction_type": "1.1",
        "query_positive": names,
        "instruction_positive": names[:3],
        "all_tables": names,
        "violations": {"3.txt": "It is about lakes.", "4.txt": "It is about rivers."},
    }
    entry = {"query": "harbours", "query_positive": names, "outs": [out]}
    (tmp_path / "query_instruction.json").write_text(json.dumps([entry]))
    (tmp_path / "tables").mkdir()
    for name in names:
        (tmp_path / "tables" / name).write_text("| a |\n|---|\n| 1 |")

    folder = write(load("followtable", tmp_path, "reasons"), "followtable")

    (written,) = json.loads(folder["query_instruction.json"])
    assert written["outs"] == [out]


# --- from a project that people judged ------------------------------------------------------------


def test_followtable_uses_peoples_judgments_and_the_type_of_the_category(tides, write):
    InstructionPair.objects.filter(category="").update(category="C2")

    folder = write(tides.project, "followtable")

    (first, second) = json.loads(folder["query_instruction.json"])[:2]
    assert (first["query"], first["outs"]) == (
        "tidal power",
        [
            {
                "instruction": "Only plants at sea, in use.",
                "instruction_type": "2.1",
                "query_positive": ["B.txt", "FT-10.txt", "FT-9.txt", "é.txt"],
                "instruction_positive": ["FT-10.txt"],
                "all_tables": ["B.txt", "FT-10.txt", "a.txt", "é.txt"],
            }
        ],
    )
    assert second["query"] == "dykes"


@pytest.mark.parametrize("layout", ["followtable", "infosearch"])
def test_peoples_judgments_round_trip_with_the_same_bytes(layout, tides, write):
    reverse = factories.narrative(tides.pair, side="reversed", text=" Plants on land. ")
    tides.judge(reverse, tides.pool["B"], tides.ada, 2)
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    first = write(tides.project, layout)

    other = load(layout, first.folder, "second")

    again = write(other, layout)
    assert set(again.bytes()) == set(first.bytes())
    for name, content in first.bytes().items():
        # These name what the layout cannot hold, or count people's judgments.
        if name not in {"about.json", "ids.tsv", "manifest.json", "pairs.jsonl"}:
            assert again.bytes()[name] == content, name


def test_attributes_that_people_judged_make_a_record_that_loads_again(tides, write):
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    tides.narrative.conditions.filter(name="").update(name="place")
    a, b = (tides.narrative.conditions.get(number=n) for n in (1, 2))
    for doc_id, grade, answers in (("Z", 2, ("met", "met")), ("a", 0, ("not_met", "met"))):
        for member in (tides.ada, tides.ben):
            judgment = tides.judge(tides.narrative, tides.pool[doc_id], member, grade)
            tides.give_verdicts(judgment, [a, b], *answers)

    first = write(tides.project, "multi-infosearch")

    (record,) = first.records("final_sorted.jsonl")
    assert (record["query_id"], record["combo_id"]) == ("301", 1)
    assert record["attributes"] == {"place": "At sea.", "use": "In use."}
    assert (record["positive_doc"], record["hard_negative_doc"]) == ("Text of Z.", "Text of a.")
    assert record["violated_attributes"] == ["place"]
    again = write(
        load("multi-infosearch", first.folder / "final_sorted.jsonl", "second"), "multi-infosearch"
    )
    for name in ("final_sorted.jsonl", "query-doc.json"):
        assert again[name] == first[name]


def test_a_claim_that_people_corrected_is_written_with_their_grade(write, shared_data):
    project = load("infosearch", shared_data / "infosearch", "first")
    claim = Judgment.objects.get(
        narrative__pair__pair_id="0",
        narrative__side="altered",
        candidate__document__doc_id="lang-0-zh",
    )
    factories.judgment(claim.narrative, claim.candidate, factories.member(project, "ada"), 0)

    folder = write(project, "infosearch")

    assert "0\tlang-0-zh\t0" in folder["qrels_changed/test.tsv"].splitlines()
    assert folder.manifest["counts"]["layout_changed"] == 13
    assert folder.manifest["counts"]["layout_claims"] == 12


def test_a_removed_instruction_ends_the_row_of_growing_conditions(write, shared_data):
    project = load("multiconir", shared_data / "multiconir/Sample_Task1.csv", "first")
    InstructionPair.objects.filter(pair_id="1_4").update(
        removed_at="2026-03-02T09:30Z", removed_by=factories.lead(project)
    )

    folder = write(project, "multiconir")

    with (folder.folder / "multiconir.csv").open(encoding="utf-8", newline="") as stream:
        row = list(csv.DictReader(stream))[1]
    assert (bool(row["Query3"]), row["Query4"], bool(row["HN3"]), row["HN4"]) == (
        True,
        "",
        True,
        "",
    )
    assert {one["pair_id"] for one in folder.manifest["left_out"]} == {
        f"1_{k}" for k in range(4, 11)
    }


@pytest.mark.parametrize("layout", ["multiconir", "multi-infosearch"])
def test_layouts_of_texts_are_refused_if_texts_are_not_published(layout, tides, write):
    with pytest.raises(ValueError, match="this layout consists of texts of documents"):
        write(tides.project, layout)


@pytest.mark.parametrize(
    ("layout", "sentence"),
    [
        ("multiconir", "no query has pairs with one, two and more conditions"),
        ("multi-infosearch", "no pair has named conditions"),
    ],
)
def test_a_project_without_such_records_is_refused_with_what_they_need(
    layout, sentence, tides, write
):
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")

    with pytest.raises(ValueError, match=sentence):
        write(tides.project, layout)


def test_a_pair_without_a_category_of_followtable_is_left_out(tides, write):
    folder = write(tides.project, "followtable")

    assert [one["query"] for one in json.loads(folder["query_instruction.json"])] == [
        "tidal power",
        "harbour seals",
    ]
    assert {(one["pair_id"], one["why"]) for one in folder.manifest["left_out"]} == {
        ("302", "no category that FollowTable knows"),
        ("303", "removed"),
        ("304", "not written"),
    }
    InstructionPair.objects.update(category="")
    with pytest.raises(ValueError, match="no pair has a category that FollowTable knows: C1, C2"):
        write(tides.project, "followtable")


def test_the_manifest_of_followtable_counts_only_the_tables_that_it_holds(tides, write):
    """The pair of 302 is left out for its category, with its two documents."""
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")

    folder = write(tides.project, "followtable")

    (out,) = json.loads(folder["query_instruction.json"])[0]["outs"]
    counts = folder.manifest["counts"]
    assert counts["layout_documents"] == len(list((folder.folder / "tables").iterdir())) == 5
    assert counts["layout_changed"] == len(out["all_tables"]) == 4


def test_the_manifest_of_multiconir_counts_only_the_documents_of_its_rows(write, shared_data):
    project = load("multiconir", shared_data / "multiconir/Sample_Task1.csv", "first")
    query = Query.objects.filter(project=project).order_by("pk")[0]
    other = factories.candidate(query, "other", 0, text="It fits no column.")
    narrative = query.pairs.get(pair_id=f"{query.query_id}_1").narratives.get(side="altered")
    factories.judgment(narrative, other, factories.member(project, "ada"), 1)

    folder = write(project, "multiconir")

    cells = next(csv.DictReader(folder["multiconir.csv"].splitlines()))
    held = [text for name, text in cells.items() if text and name.startswith(("Positive", "HN"))]
    assert "It fits no column." not in held
    assert folder.manifest["counts"]["layout_documents"] == len(held) * len(project.queries.all())


def test_labels_of_several_machines_are_published_together(write, shared_data):
    """The second machine claims one table to violate, and another as the first machine does."""
    project = load("followtable", shared_data / "followtable/TArX", "first")
    first = project.memberships.get(is_machine=True)
    second = factories.machine(project, "gen-2")
    one, other = Judgment.objects.filter(annotator=first, relevance=1).order_by("pk")[:2]
    factories.judgment(one.narrative, one.candidate, second, 0)
    factories.judgment(other.narrative, other.candidate, second, 1)

    undecided = write(project, "followtable")
    choose_machine(machine=second, by=factories.lead(project))
    chosen = write(project, "followtable")

    listed = f"{one.candidate.document.doc_id}.txt"
    assert undecided.manifest["counts"]["layout_undecided"] == 1
    assert listed not in tables_of(undecided, one.narrative.text)["all_tables"]
    assert chosen.manifest["counts"]["layout_undecided"] == 0
    assert listed in tables_of(chosen, one.narrative.text)["all_tables"]
    assert listed not in tables_of(chosen, one.narrative.text)["instruction_positive"]
    assert any("followtable-claims or gen-2" in rule["says"] for rule in chosen.manifest["rules"])


def tables_of(folder, instruction: str) -> dict[str, list[str]]:
    """Return the entry of an instruction."""
    queries = json.loads(folder["query_instruction.json"])
    return next(
        entry for query in queries for entry in query["outs"] if entry["instruction"] == instruction
    )


# --- the collection that systems are measured on --------------------------------------------------


def read_for_measuring(folder):
    pairs = [line.split("\t") for line in folder["pairs.tsv"].splitlines()[1:]]
    of_pairs = {row[0]: row[1] for row in pairs}
    written = json.loads(folder["manifest.json"])
    collection, _notes = read_collection(folder.folder, written, of_pairs)
    return collection


def test_the_claims_of_infosearch_are_measured_by_core_query_in_three_modes(write, shared_data):
    project = load("infosearch", shared_data / "infosearch", "first")

    folder = write(project, "trec")
    collection = read_for_measuring(folder)

    assert folder["core_queries.tsv"].splitlines()[:2] == [
        "pair_id\tquery_id\tcore",
        "0\t0\twhat is diabetes?",
    ]
    assert (
        sorted(collection.cores.values())
        == ["what helps for acne?"] * 3 + ["what is diabetes?"] * 2
    )
    assert gold_documents(collection.changed, collection.reverse, 1) == {
        "0": ("lang-0-zh",),
        "1": ("lang-0-en",),
        "2": ("key-0-a",),
        "3": ("key-0-b",),
        "4": ("key-0-c",),
    }


def test_the_verdicts_of_multi_infosearch_are_measured_with_combinations_as_a_group(
    write, shared_data
):
    project = load("multi-infosearch", shared_data / "multi_infosearch/final_sorted.jsonl", "first")

    folder = write(project, "trec")
    collection = read_for_measuring(folder)

    # Two documents of instructions with 3, 2, 2, 3 and 2 attributes.
    assert len(folder["verdicts.tsv"].splitlines()) == 1 + 2 * 12
    assert folder["verdicts.tsv"].splitlines()[1] == "2654_1\t2654_1_negative\t1\tnot_met\tclaim"
    assert collection.conditions["2654_1"] == ("1", "2", "3")
    assert collection.cores["2654_1"] == collection.cores["2654_2"]
