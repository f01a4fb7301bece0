"""What a load has not shown yet changes no byte of any page, for anybody.

A large load on SQLite writes a little at a time, and until its end nobody sees any of it.
Everything is read, and done in the background, with such rows and without, at every address and
every link that is offered.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import factories
from tests.test_blindness import (
    Way,
    addresses,
    committed_stage,
    differ,
    speak,
    stage,
    told_apart,
    undone,
    walk,
)

__all__ = ["committed_stage", "stage"]

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("name", ["carla", "ada", "dan"])
def test_rows_of_a_load_that_is_not_done_change_no_byte(stage, name):
    read = []
    for there in (False, True):
        with undone():
            if there:
                factories.unseen_rows(stage.project)
            speak(stage, Way(1))
            differ(stage, Way(1))
            read.append(walk(stage.members[name], addresses(stage)))

    # A release has the sum of files in which there are UUIDs made by chance; what exports hold is
    # held in tests/exports/test_same_bytes.py.
    assert {url for url in told_apart(*read) if "/releases/" not in url} == set()
    assert len(read[0]) > 250


# Written queries over these tables that need not ask whether a row is seen: they begin at what
# people said, or at a pair, and neither is there for rows of a load that is not done. So do loads,
# which know what they have written: no other writes meanwhile.
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
# What loads a file, and what makes tables.
LOADS = re.compile(r"annotate/(?:collection|pairs|judgments|topics)/intake/|/migrations/")
READS = re.compile(r"\b(?:FROM|JOIN) annotate_(?:query|document|candidate)\b")


def test_every_written_query_over_these_tables_asks_or_begins_at_rows_that_are_seen():
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
