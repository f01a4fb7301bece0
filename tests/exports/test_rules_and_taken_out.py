"""Manifests and releases have the state of the rules, and what was taken out and why."""

from __future__ import annotations

import pytest

from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.models import Query
from exporters.releases.preview import preview
from tests.exports.conftest import make_release

pytestmark = pytest.mark.both_databases


def take_out(tides, *ids: str) -> None:
    keys = list(Query.objects.filter(query_id__in=ids).values_list("pk", flat=True))
    QUERIES.remove(project=tides.project, keys=keys, reason="Off topic.", by=tides.carla)


def test_the_manifest_lists_every_rule_with_the_pairs_that_break_it(tides, write):
    manifest = write(tides.project).manifest

    assert manifest["kind"] == "own"
    assert [rule["rule"] for rule in manifest["must_hold"]] == ["shrinking", "change", "balance"]
    for rule in manifest["must_hold"]:
        assert rule["state"] == ("broken" if rule["broken"] else rule["state"])
    assert "taken_out" not in manifest


def test_a_query_that_is_taken_out_is_in_no_file_of_qrels_and_topics(tides, write):
    assert "301" in write(tides.project)["topics.original.all.txt"]
    take_out(tides, "301")

    files = write(tides.project)

    assert files.manifest["taken_out"] == [
        {"query_id": "301", "pair_id": "", "reason": "Off topic."}
    ]
    for name in files.bytes():
        if name.startswith(("qrels", "topics", "disputed", "unjudged", "documents.changed.tsv")):
            assert "301" not in {line.split()[0] for line in files[name].splitlines() if line}, name
            assert "Number: 301" not in files[name], name


def test_an_instruction_that_is_taken_out_is_named_with_its_query(tides, write):
    pair = tides.project.pairs.get(pair_id="302")
    INSTRUCTIONS.remove(project=tides.project, keys=[pair.pk], reason="Too vague.", by=tides.carla)

    files = write(tides.project)

    assert files.manifest["taken_out"] == [
        {"query_id": "302", "pair_id": "302", "reason": "Too vague."}
    ]
    assert "302 " not in files["qrels.changed.txt"]


def test_a_release_has_the_rules_and_removals_too(tides):
    take_out(tides, "301")

    held = make_release(tides, "v1").manifest
    assert held is not None

    assert [rule["rule"] for rule in held["must_hold"]] == ["shrinking", "change", "balance"]
    assert held["taken_out"] == [{"query_id": "301", "pair_id": "", "reason": "Off topic."}]


def test_the_preview_of_a_release_counts_what_is_taken_out_apart(tides):
    before = dict(preview(tides.carla).counts)
    take_out(tides, "301")

    after = dict(preview(tides.carla).counts)

    assert before["queries"] - after["queries"] == 1
    assert after["instruction pairs"] < before["instruction pairs"]
    assert after["versions of narratives"] < before["versions of narratives"]
    assert after["query taken out, with its instructions"] == 1
