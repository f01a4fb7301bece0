"""The manifest of the hand-made project, count by count."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from annotate.models import Judgment, Project
from exporters.exports.manifest.manifest import COUNTS
from exporters.exports.models import Publication
from tests import factories


def test_every_document_is_counted_once(tides, write):
    counts = write(tides.project).manifest["counts"]

    assert counts == {
        "queries": 5,
        "candidates": 10,
        "prior": 9,
        "prior_relevant": 7,
        "pairs": 4,
        "pairs_written": 2,
        "pairs_claimed": 1,  # 302
        "judged": 3,  # 301: B, FT-10, é
        "settled": 1,  # 302: C
        "disputed": 1,  # 301: FT-9
        "unjudged": 1,  # 302: D
        "kept": 1,  # 301: a
        "without_relevance": 1,  # 301: Z
        "fewer_than_asked": 1,  # 301: é
        "changed": 2,  # 301: B, é
        "dropped": 2,
        "grew": 0,
        "claims": 1,  # 302: D
        "claims_unchecked": 1,
        "claims_checked": 0,
        "claims_corrected": 0,
        "claims_open": 0,
        "claims_unjudgeable": 0,
        "claims_judged": 0,
        "claims_disputed": 0,
        "claims_undecided": 0,
        "claims_set_aside": 0,
        "judgments_by_people": 11,  # the sum of the next three
        "judgments_counted": 9,  # 301: 7, 302: 2
        "judgments_stale": 1,  # 301: ben under version 1
        "judgments_set_aside": 1,  # 303: removed
        "adjudications_standing": 1,  # 302: C
        "adjudications_counted": 1,
        "judgments_by_machines": 1,  # 302: D
        "judgments_by_machines_altered": 1,
    }


def test_every_count_has_its_words(tides, write):
    for format_name in ("trec", "jsonl"):
        assert set(write(tides.project, format_name).manifest["counts"]) <= set(COUNTS)


def test_each_pair_names_the_judged_narrative_versions(tides, write):
    first, *_, removed, unwritten = write(tides.project).manifest["pairs"]

    assert first["versions"] == {"original": 1, "altered": 2}
    assert (first["pair_id"], first["query_id"], first["category"]) == ("301", "301", "S1")
    assert first["counts"]["relevant_before"] == 4
    assert first["counts"]["relevant_after"] == 1
    assert (removed["left_out"], unwritten["left_out"]) == ("removed", "not written")
    assert unwritten["versions"] == {"original": 1}


def test_each_file_can_be_checked(tides, write):
    files = write(tides.project)

    for entry in files.manifest["files"]:
        content = (files.folder / entry["name"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["bytes"] == len(content)
        assert entry["lines"] == content.count(b"\n")
    named = {entry["name"] for entry in files.manifest["files"]}
    assert named | {"manifest.json"} == set(files.bytes())


def test_the_file_is_the_manifest(tides, write):
    files = write(tides.project)

    assert json.loads(files["manifest.json"]) == files.manifest


def test_the_manifest_names_project_format_grades_and_version(tides, write):
    manifest = write(tides.project).manifest

    project = tomllib.loads(Path(settings.BASE_DIR, "pyproject.toml").read_text())["project"]
    assert manifest["format"] == "trec"
    assert manifest["project"] == {"slug": "tides", "name": "Tides"}
    assert manifest["code_version"] == project["version"]
    assert [grade["value"] for grade in manifest["grades"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("consensus", "unanimous", "if everybody who judged the document gave it"),
        ("consensus", "majority", "if more than half of those who judged the document gave it"),
        ("judge_scope", "relevant", "the others keep the relevance that they were loaded with"),
        ("judge_scope", "pool", "Judges see every document in the pool."),
        ("relevant_from", 2, "A document with a relevance of at least 2."),
    ],
)
def test_the_rules_are_those_of_the_project(tides, write, field, value, sentence):
    Project.objects.update(**{field: value})

    rules = write(tides.project).manifest["rules"]

    assert sum(sentence in rule["says"] for rule in rules) == 1


def test_the_notes_say_what_is_left_out(tides, write):
    notes = write(tides.project).manifest["notes"]

    assert notes == [
        "2 pairs are left out of the changed files: 1 not written, 1 removed.",
        (
            "3 topics are in neither qrels.original.txt nor qrels.changed.txt (1 no instruction "
            "pair, 1 not written, 1 removed): 1000, 303, 304. left_out in the manifest gives the "
            "reason for each, and qrels.original.all.txt has their queries."
        ),
        "1 claimed label of 1 pair: 0 checked, 0 of these corrected; 0 judged by people instead.",
        "3 pairs are left out of the claimed files: 3 not claimed.",
        "1 document is disputed and left out; see disputed.tsv.",
        "1 document is not judged and left out; see unjudged.tsv.",
        "1 document was judged by fewer people than the 2 asked for; their relevance counts.",
        "1 judgment was made under an older version of a narrative or of a text and not counted.",
        "1 judgment belongs to pairs or documents that are left out.",
        "1 judgment was made by machines and not counted in the changed qrels.",
        "The relevant set only shrinks: no document became relevant.",
        (
            "documents.changed.jsonl contains the known texts of documents. Leave the file out if "
            "their licence does not allow you to pass them on."
        ),
    ]


def test_a_pair_without_changes_gives_a_warning(tides, write):
    assert write(tides.project).manifest["warnings"][0] == (
        "At least one document should change in every pair, but none has changed in: 302."
    )


def test_unfinished_pairs_give_a_warning(tides, write):
    assert write(tides.project).manifest["warnings"][-1] == (
        "Documents that nobody has judged, or that are disputed, have no line, and evaluators "
        "treat them as not relevant. Scores are final only once these pairs are judged and "
        "settled: 301, 302."
    )


def test_a_relevant_set_that_grew_gives_a_warning(tides, write):
    tides.judge(tides.narrative, tides.pool["a"], tides.ada, 1)

    manifest = write(tides.project).manifest

    assert manifest["counts"]["grew"] == 1
    assert manifest["warnings"][0] == (
        "The relevant set should only shrink, but 1 document became relevant "
        "(“grew” in documents.changed.tsv), in: 301."
    )
    assert not any("only shrinks" in note for note in manifest["notes"])


def test_a_pair_nobody_has_judged_is_left_out(tides, write):
    Judgment.objects.filter(narrative=tides.narrative).update(ended_at=tides.carla.joined_at)

    files = write(tides.project)

    # It would have only the zeros it was loaded with, and evaluators would score it 0.
    assert "301 " not in files["qrels.changed.txt"]
    assert any("1 not judged" in note for note in files.manifest["notes"])


def test_originals_that_differ_within_a_query_are_named(tides, write):
    factories.pair(tides.pair.query, pair_id="301_2", original="Another question.")

    files = write(tides.project)

    assert "Any plant counts." in files["topics.original.all.txt"]
    assert "Another question." not in files["topics.original.all.txt"]
    assert any("first pair. Queries concerned: 301." in note for note in files.manifest["notes"])


@pytest.mark.parametrize("format_name", ["trec", "jsonl", "ir-datasets"])
def test_the_readme_has_a_line_for_each_file(tides, write, format_name):
    folder = write(tides.project, format_name)

    lines = [line for line in folder["README.md"].splitlines() if line.startswith("- ")]
    others = set(folder.bytes()) - {"README.md", "manifest.json"}
    assert {line.split("`")[1] for line in lines} == others


def test_the_files_of_a_citation_come_without_a_readme(tides, write):
    Publication.objects.create(
        project=tides.project,
        licence="CC-BY-4.0",
        creators="Curie, Marie",
        year=2026,
        publisher="Zenodo",
    )

    assert "README.md" not in write(tides.project, "citation").bytes()
