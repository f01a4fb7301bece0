"""The benchmark of scale at a small size, and commands on a replica, which only reads."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import InternalError, connection

from benchmarks.scale import measured, works
from benchmarks.scale_world import World
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


def test_the_benchmark_fills_an_installation_and_measures_it():
    world = World(size=0.01)
    for step in ("alone", "projects", "judgments"):
        world.grow(step)
    work = works(world, world.largest, size=0.01)

    figures = {
        what: measured(what, work[what], work["lead home"], [])
        for what in ("judgment", "annotator judge", "lead judge", "verify")
    }

    # Two queries of 100 documents in each of two projects, and two of 300 in the largest.
    assert world.counts()["candidates"] == 2 * 200 + 600
    assert world.counts()["judgments"] > 2 * (2 * 333) + 2 * 1_000
    assert figures["lead judge"] is None
    for what in ("judgment", "annotator judge", "verify"):
        values = figures[what] or {}
        assert values["ms"] > values["database_ms"] > 0
        assert values["queries"] > 0


@pytest.fixture
def reads_only():
    """Refuse every write, as a replica does."""
    mode = "SET SESSION CHARACTERISTICS AS TRANSACTION READ"
    with connection.cursor() as cursor:
        cursor.execute(f"{mode} ONLY")
        yield
        cursor.execute(f"{mode} WRITE")


def test_a_replica_exports_and_computes_agreement(request, tmp_path):
    project = factories.project("tides")
    pair = factories.pair(query := factories.query(project))
    candidate = factories.candidate(query)
    for name in ("ada", "ben"):
        by = factories.member(project, name)
        factories.assignment(pair, by)
        factories.judgment(factories.altered(pair), candidate, by)
    request.getfixturevalue("reads_only")

    call_command("export", "tides", "trec", "--output", str(tmp_path / "tides"))
    call_command("agreement", "tides")

    qrels = (tmp_path / "tides" / "qrels.changed.txt").read_text()
    assert qrels == f"301 0 {candidate.document.doc_id} 1\n"
    with pytest.raises(InternalError, match="read-only transaction"):
        factories.project("sea")
