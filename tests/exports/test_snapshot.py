"""An export reads one snapshot, and does not block other connections."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotate.models import Judgment
from base.snapshot import snapshot
from exporters.exports.selection import selection
from exporters.exports.selection.selection import tally
from tests.exports.conftest import Tides

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def run_in_other_connection(work) -> None:
    """Do some work over another connection, and wait until it is done."""

    def work_and_close():
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(work_and_close).result(timeout=10)


def test_judging_during_a_snapshot_is_not_seen_and_not_blocked():
    scene = Tides()

    with snapshot():
        before = tally(scene.project, selection.pairs(scene.project))
        run_in_other_connection(lambda: scene.judge(scene.narrative, scene.pool["Z"], scene.ben, 1))
        during = tally(scene.project, selection.pairs(scene.project))
    after = tally(scene.project, selection.pairs(scene.project))

    assert (before["judgments_counted"], during["judgments_counted"]) == (9, 9)
    assert after["judgments_counted"] == 10


def test_writing_is_possible_after_a_snapshot():
    scene = Tides()

    with snapshot():
        selection.queries(scene.project)
    with transaction.atomic():
        Judgment.objects.filter(annotator=scene.ben).update(note="Seen.")

    assert Judgment.objects.filter(note="Seen.").count() == 5


def test_a_snapshot_uses_an_open_transaction():
    scene = Tides()

    with transaction.atomic():
        scene.judge(scene.narrative, scene.pool["Z"], scene.ben, 1)
        with snapshot():
            counted = tally(scene.project, selection.pairs(scene.project))

    assert counted["judgments_counted"] == 10
