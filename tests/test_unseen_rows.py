"""Rows of an unfinished load change no byte of any page, for anybody.

A large load on SQLite writes in small transactions, and until its end nobody may see its rows. The
tests read every address and every link, and run all jobs, with such rows and without.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import factories
from tests.test_blindness import (
    AnswerSet,
    add_differing_check,
    addresses,
    committed_stage,
    crawl,
    find_differences,
    give_answers,
    rolled_back,
    stage,
)

__all__ = ["committed_stage", "stage"]

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("name", ["carla", "ada", "dan"])
def test_rows_of_an_unfinished_load_change_no_byte(stage, name):
    read = []
    for there in (False, True):
        with rolled_back():
            if there:
                factories.unseen_rows(stage.project)
            give_answers(stage, AnswerSet(1))
            add_differing_check(stage, AnswerSet(1))
            read.append(crawl(stage.members[name], addresses(stage)))

    # A release has the checksum of files with random UUIDs; tests/exports/test_same_bytes.py covers
    # the content of exports.
    assert {url for url in find_differences(*read) if "/releases/" not in url} == set()
    assert len(read[0]) > 250


# SQL over these tables that need not check whether a row is visible: it starts from people's
# answers or from a pair, and rows of an unfinished load have neither. Loads need not check either:
# they know what they have written, and no other load runs meanwhile.
BEGIN_AT_SEEN_ROWS = {
    "annotate/pairs/access.py": "at a pair",
    "annotate/judgments/grade_patterns.py": "at judgments and adjudications",
    "annotate/judgments/judgment_chain.py": "at judgments",
    "annotate/judging/document_view.py": "at candidates that are put before a judge",
    "annotate/pools/counting.py": "at lines of runs",
    "annotate/pools/provenance.py": "at entries of pools",
    "annotate/collection/text_versions.py": "at a candidate that a person was shown",
    "audit/reviews/intake/reviews.py": "at what a load has written",
    "exporters/exports/claimed.py": "at judgments of machines",
}
# Modules that load files or create tables.
LOADS = re.compile(r"annotate/(?:collection|pairs|judgments|topics)/intake/|/migrations/")
READS = re.compile(r"\b(?:FROM|JOIN) annotate_(?:query|document|candidate)\b")


def test_every_sql_query_checks_or_starts_from_visible_rows():
    reading = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for room in ("base", "annotate", "audit", "exporters", "keeping", "config")
        for path in (ROOT / room).rglob("*.py")
        if READS.search(path.read_text())
    }
    others = {name: text for name, text in reading.items() if not LOADS.search(name)}

    assert len(others) > len(BEGIN_AT_SEEN_ROWS)
    assert {name for name, text in others.items() if "seen_condition(" not in text} == {
        *BEGIN_AT_SEEN_ROWS
    }
