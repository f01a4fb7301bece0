"""Files set the domain of a query, and link pairs with the same instruction in another style."""

from __future__ import annotations

import json

import pytest

from annotate.models import InstructionPair, Query
from exporters.exports.selection.collection import pair_records
from tests import factories
from tests.collection.arriving import load

pytestmark = pytest.mark.both_databases

LIST = {"pair_id": "0_2", "query_id": "0", "altered": "Books: 1. On bees. 2. Short."}
WORDS = {"pair_id": "0_2n", "query_id": "0", "altered": "Short books on bees.", "restates": "0_2"}


@pytest.fixture
def project(db):
    return factories.project()


def lines(*pairs):
    return "".join(json.dumps(pair) + "\n" for pair in pairs)


def test_a_pair_in_running_words_is_linked_with_the_pair_it_restates(project):
    # Their order in the file does not matter.
    report = load(project, "pairs-jsonl", lines(WORDS, LIST))

    assert report.problems == []
    assert InstructionPair.objects.get(restates__pair_id="0_2").pair_id == "0_2n"
    assert InstructionPair.objects.get(pair_id="0_2").restates is None


def test_the_link_and_the_domain_are_added_to_existing_pairs(project):
    plain = {key: value for key, value in WORDS.items() if key != "restates"}
    load(project, "pairs-jsonl", lines(LIST, plain))

    report = load(project, "pairs-jsonl", lines(WORDS | {"domain": "Books"}, LIST))

    assert (report.changed, report.unchanged) == (1, 1)
    assert InstructionPair.objects.get(restates__pair_id="0_2").pair_id == "0_2n"
    assert Query.objects.get().domain == "Books"
    again = load(project, "pairs-jsonl", lines(WORDS | {"domain": "Books"}, LIST))
    assert (again.new, again.changed) == (0, 0)


def test_a_file_without_a_domain_keeps_the_known_domain(project):
    load(project, "pairs-jsonl", lines(LIST | {"domain": "Books"}))
    load(project, "pairs-jsonl", lines(LIST))

    assert Query.objects.get().domain == "Books"


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([WORDS], "restates 0_2, which is not a pair of its query"),
        ([LIST | {"query_id": "1"}, WORDS], "restates 0_2, which is not a pair of its query"),
        ([WORDS | {"restates": "0_2n"}], "instruction pair 0_2n restates itself"),
        ([LIST | {"domain": "B" * 121}], "the domain is longer than 120 characters"),
        (
            [LIST | {"domain": "Books"}, WORDS | {"domain": "Films"}],
            "belongs to another domain on another line",
        ),
    ],
)
def test_an_invalid_link_or_domain_is_refused_and_nothing_is_loaded(project, pairs, sentence):
    report = load(project, "pairs-jsonl", lines(*pairs))

    assert sentence in report.problems[0].message
    assert not InstructionPair.objects.exists()


def test_exported_pairs_have_the_domain_and_the_link(project):
    load(project, "pairs-jsonl", lines(WORDS | {"domain": "Books"}, LIST))

    found = [(one.pair_id, one.domain, one.restates) for one in pair_records(project)]
    assert found == [("0_2", "Books", ""), ("0_2n", "Books", "0_2")]
