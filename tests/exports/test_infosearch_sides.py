"""Claims of all three sides are exported, so that InfoSearch's measures can be computed."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
from django.core.management import call_command
from ir_measures import read_trec_qrels

from annotate.models import Candidate, Judgment, Project
from formats.source import open_source
from formats.trec_topics import read_topics
from tests.exports.conftest import WrittenExport

# The documents of each query, as in InfoSearch: the first is the one that the instruction asks for
# and its reverse excludes.
POOLS = {"h1": ("nl", "en"), "h2": ("short", "long", "odd"), "h3": ("a", "b"), "h4": ("c", "d")}
# Ranks and scores of the first document of each query in an invented run: under the original, the
# altered and the reversed narrative.
RUN = {
    "h1": ((2, 0.8), (1, 1.0), (3, 0.2)),
    "h2": ((3, 0.5), (2, 0.6), (4, 0.1)),
    "h3": ((1, 0.9), (2, 0.8), (3, 0.1)),
    "h4": ((2, 0.5), (3, 0.4), (1, 0.9)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An invented folder in the shape of InfoSearch."""
    made = tmp_path / "infosearch"
    qrels: dict[str, list[str]] = {"og": [], "changed": [], "reversed": []}
    queries, corpus = [], []
    for query_id, pool in POOLS.items():
        queries.append(
            {
                "_id": query_id,
                "text": f"What is {query_id}?",
                "instruction_og": "",
                "instruction_changed": f"Tell of {query_id} as {pool[0]}.",
                "instruction_reversed": f"Tell of {query_id}, not as {pool[0]}.",
            }
        )
        for at, doc_id in enumerate(pool):
            corpus.append({"_id": doc_id, "title": "", "text": f"Text of {doc_id}."})
            asked_for = int(at == 0)
            for side, grade in (("og", 1), ("changed", asked_for), ("reversed", 1 - asked_for)):
                qrels[side].append(f"{query_id}\t{doc_id}\t{grade}\n")
    for side, lines in qrels.items():
        (made / f"qrels_{side}").mkdir(parents=True)
        (made / f"qrels_{side}" / "test.tsv").write_text(
            "query-id\tcorpus-id\tscore\n" + "".join(lines)
        )
    for name, records in (("queries.jsonl", queries), ("corpus.jsonl", corpus)):
        (made / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return made


def load(slug: str, format_name: str, *paths: Path) -> Project:
    call_command("load", slug, format_name, *map(str, paths), "--create", stdout=io.StringIO())
    return Project.objects.get(slug=slug)


def grades(text: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for qrel in read_trec_qrels(text):
        found.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    return found


def ids_of_topics(path: Path) -> list[str]:
    with open_source(path) as source:
        return [topic.query_id for topic in read_topics(source)]


def test_every_side_has_its_qrels_and_its_topics(db, folder, write):
    files = write(load("harbours", "infosearch", folder))

    assert grades(files["qrels.original.txt"])["h1"] == {"nl": 1, "en": 1}
    assert grades(files["qrels.claimed.txt"])["h1"] == {"nl": 1, "en": 0}
    assert grades(files["qrels.claimed.reversed.txt"])["h1"] == {"nl": 0, "en": 1}
    for name in (
        "topics.original.txt",
        "topics.claimed.txt",
        "topics.claimed.reversed.txt",
        "topics.reversed.txt",
    ):
        assert ids_of_topics(files.folder / name) == ["h1", "h2", "h3", "h4"]
    assert "Tell of h1, not as nl." in files["topics.claimed.reversed.txt"]


def test_the_manifest_counts_each_side(db, folder, write):
    project = load("harbours", "infosearch", folder)
    trec, jsonl = write(project).manifest, write(project, "jsonl").manifest

    counts = trec["counts"]
    assert (counts["prior"], counts["claims"], counts["claims_reversed"]) == (9, 9, 9)
    assert (counts["pairs_claimed"], counts["pairs_claimed_reversed"]) == (4, 4)
    assert counts["claims_reversed_unchecked"] == 9
    assert "9 claimed labels of 4 pairs under reversed narratives" in " ".join(trec["notes"])
    assert {pair["pair_id"]: pair["claimed_on"] for pair in trec["pairs"]}["h1"] == {
        "altered": "yes",
        "reversed": "yes",
    }
    for manifest in (trec, jsonl):
        by_side = {
            side: manifest["counts"].get(f"judgments_by_machines_{side}", 0)
            for side in ("original", "altered", "reversed")
        }
        assert by_side == {"original": 0, "altered": 9, "reversed": 9}


def strict(original, instructed, reverse) -> int:
    """Return I(q) of SICR: rank and score rise with the instruction, and fall with its reverse."""
    return int(
        instructed[0] < original[0] < reverse[0] and instructed[1] > original[1] > reverse[1]
    )


def weighted(ranks: list[int], *, relevant: int, depth: int = 20) -> float:
    """Return F(q) of WISE, equations 6 to 8 of the InfoSearch paper."""
    original, instructed, reverse = ranks
    if instructed <= original < reverse:
        if original <= relevant and instructed == 1:
            return 1.0
        if original <= depth:
            return (1 - (original - instructed) / depth) / math.sqrt(instructed)
        return 0.01
    if reverse < original < instructed:
        return -1.0
    if original <= instructed:
        return (original - instructed) / instructed
    return (reverse - original) / original


def test_sicr_and_wise_of_a_run_follow_from_an_export_alone(db, folder, write):
    files = write(load("harbours", "infosearch", folder))
    original = grades(files["qrels.original.txt"])
    instructed = grades(files["qrels.claimed.txt"])
    reverse = grades(files["qrels.claimed.reversed.txt"])

    gold = {
        topic: [doc for doc, grade in of.items() if grade and not reverse[topic][doc]]
        for topic, of in instructed.items()
    }
    followed = [strict(*RUN[topic]) for topic in gold]
    weights = [
        weighted([rank for rank, _ in RUN[topic]], relevant=sum(original[topic].values()))
        for topic in gold
    ]

    assert gold == {"h1": ["nl"], "h2": ["short"], "h3": ["a"], "h4": ["c"]}
    # h1: to rank 1 from within its 2 relevant ranks. h2: (1 - 1/20) / sqrt(2). h3: from 1 to 2,
    # which is (1 - 2) / 2. h4: down with the instruction, up with its reverse.
    assert weights == [1, pytest.approx(0.671751, abs=1e-6), -0.5, -1]
    assert sum(followed) / 4 == 0.5
    assert sum(weights) / 4 == pytest.approx(0.042938, abs=1e-6)


def carried_over(project: Project, write) -> tuple[Project, WrittenExport, WrittenExport]:
    """Export a project, load both exports into a second one, and export that as well.

    UUIDs are unique in an installation, so they are removed from the lines as docs/loading.md says.
    """
    trec, jsonl = write(project), write(project, "jsonl")
    judgments = jsonl.records("judgments.jsonl")
    (jsonl.folder / "judgments.jsonl").write_text(
        "".join(json.dumps({**record, "uuid": None}) + "\n" for record in judgments)
    )
    load("anew", "pairs-jsonl", jsonl.folder / "pairs.jsonl")
    load("anew", "trec-qrels", trec.folder / "qrels.original.all.txt")
    anew = load("anew", "judgments-jsonl", jsonl.folder / "judgments.jsonl")
    return anew, trec, write(anew)


def claims_by_side(project: Project) -> dict[str, int]:
    claims = Judgment.objects.current().filter(annotator__project=project)
    found = {
        side: claims.filter(narrative__side=side, annotator__is_machine=True).count()
        for side in ("original", "altered", "reversed")
    }
    pool = Candidate.objects.filter(query__project=project, prior_relevance__isnull=False)
    return {**found, "prior": pool.count()}


def test_an_export_that_is_loaded_again_has_the_same_counts_on_all_sides(db, folder, write):
    project = load("harbours", "infosearch", folder)

    anew, before, after = carried_over(project, write)

    counts = {"original": 0, "altered": 9, "reversed": 9, "prior": 9}
    assert claims_by_side(project) == claims_by_side(anew) == counts
    assert after.manifest["counts"] == before.manifest["counts"]
    for name in before.bytes():
        if name != "manifest.json":
            assert after[name] == before[name], name


def test_the_sample_of_infosearch_comes_back_with_the_same_counts(db, shared_data, write):
    project = load("infosearch", "infosearch", shared_data / "infosearch")

    anew, before, after = carried_over(project, write)

    counts = {"original": 0, "altered": 13, "reversed": 13, "prior": 13}
    assert claims_by_side(project) == claims_by_side(anew) == counts
    assert after.manifest["counts"] == before.manifest["counts"]
    for name in ("qrels.original.txt", "qrels.claimed.txt", "qrels.claimed.reversed.txt"):
        assert after[name] == before[name]
        assert len(before[name].splitlines()) == 13
