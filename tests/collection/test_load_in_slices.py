"""On SQLite a large load is written in slices, and is still all or nothing."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from pathlib import Path

import pytest
from django.db import OperationalError, connection

from annotate.collection.intake import slices
from annotate.judgments.completion import pool_sizes
from annotate.models import Candidate, Document, DocumentText, Query, Unseen
from tests import factories
from tests.collection.arriving import counts, jsonl, load, rows, stages

pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
]

TABLES = (Query, Document, DocumentText, Candidate)
# Three queries with four documents each; the project already has two documents of the first.
QRELS = "".join(f"{query} 0 {doc} {grade}\n" for query in "123" for grade, doc in enumerate("ABCD"))


@pytest.fixture(autouse=True)
def _many_slices(monkeypatch):
    """Treat a file of three lines as large, and write two rows per slice."""
    monkeypatch.setattr(slices, "AT_ONCE", 2)
    for size in ("FIRST", "LEAST", "MOST"):
        monkeypatch.setattr(slices, size, 2)


@pytest.fixture
def project():
    made = factories.project()
    query = factories.query(made, "1")
    factories.candidate(query, "A", prior=0, text=None)
    factories.candidate(query, "B", prior=2, text=None)
    return made


class Watcher:
    """Progress that calls `do` at the `n`th slice of one step."""

    def __init__(self, do, n: int = 1, step: str = "Writing to the project") -> None:
        self.do, self.n, self.step = do, n, step
        self.steps: list[str] = []
        self.units = 0

    def start(self, total: int | None, step: str) -> None:
        self.steps.append(step)

    def advance(self, n: int = 1) -> None:
        if self.steps[-1] == self.step:
            self.units += 1
            if self.units == self.n:
                self.do()


def all_rows() -> dict[str, int]:
    """Return the number of rows of each table, including unseen ones."""
    return {model.__name__: model._base_manager.count() for model in TABLES}


def visible_rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in TABLES}


def stop():
    raise InterruptedError


def test_slices_give_the_same_result_as_one_transaction(project, monkeypatch):
    in_slices = load(project, "trec-qrels", QRELS)
    other = factories.project("moons")
    query = factories.query(other, "1")
    factories.candidate(query, "A", prior=0, text=None)
    factories.candidate(query, "B", prior=2, text=None)
    monkeypatch.setattr(slices, "AT_ONCE", 1_000)
    at_once = load(other, "trec-qrels", QRELS)

    def pools(of):
        return list(
            Candidate.objects.filter(query__project=of)
            .order_by("query__query_id", "document__doc_id")
            .values_list("query__query_id", "document__doc_id", "prior_relevance", "origin")
        )

    assert in_slices.as_json() == at_once.as_json()
    # The relevance of A is unchanged, that of B has changed, and 10 are new.
    assert counts(in_slices) == (12, 10, 1, 1, 0)
    assert rows(in_slices) == {
        "queries": (2, 0, 1),
        "documents": (2, 0, 2),
        "candidates": (10, 1, 1),
        "prior": (10, 1, 1),
    }
    assert pools(project) == pools(other)
    assert len(pools(project)) == 12
    assert stages() == []


def test_pool_sizes_change_when_the_load_shows_its_rows(project):
    pair = factories.pair(project.queries.get())
    wanted = {pair.pk: (pair.query_id, project.pk)}
    sizes = [pool_sizes([project], wanted)[pair.pk]]

    load(
        project,
        "trec-qrels",
        QRELS,
        progress=Watcher(lambda: sizes.append(pool_sizes([project], wanted)[pair.pk])),
    )
    sizes.append(pool_sizes([project], wanted)[pair.pk])

    # Relevant are B, before the load, and B, C and D after it.
    assert sizes == [1, 1, 3]


def test_documents_come_with_their_texts(project):
    report = load(
        project,
        "docs-jsonl",
        jsonl(
            {"doc_id": "A", "title": "First", "text": "one"},
            {"doc_id": "B"},
            {"doc_id": "C", "text": "three"},
            {"doc_id": "D", "title": "Fourth", "text": "four"},
        ),
    )

    assert rows(report) == {"documents": (2, 1, 1)}
    assert list(
        Document.objects.order_by("doc_id").values_list("doc_id", "title", "texts__text")
    ) == [("A", "First", "one"), ("B", "", None), ("C", "", "three"), ("D", "Fourth", "four")]


def test_rows_of_a_load_are_unseen_until_its_end(project):
    before = visible_rows()
    seen = []

    def look():
        seen.append((visible_rows(), all_rows()))

    # At that time all queries and documents are written, and the first slice of candidates.
    load(project, "trec-qrels", QRELS, progress=Watcher(look, n=3))

    [(visible, there)] = seen
    assert visible == before == {"Query": 1, "Document": 2, "DocumentText": 0, "Candidate": 2}
    assert there == {"Query": 3, "Document": 4, "DocumentText": 0, "Candidate": 4}
    assert visible_rows() == {"Query": 3, "Document": 4, "DocumentText": 0, "Candidate": 12}
    assert not Unseen.objects.exists()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_cancelled_load_leaves_nothing(project, n):
    before = all_rows()

    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", QRELS, progress=Watcher(stop, n=n))

    assert all_rows() == before
    assert Candidate.objects.get(document__doc_id="B").prior_relevance == 2
    assert not Unseen.objects.exists()


def test_nothing_is_loaded_if_the_report_cannot_be_recorded(project):
    before = all_rows()

    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", QRELS, record=lambda report: stop())

    assert all_rows() == before
    assert Candidate.objects.get(document__doc_id="B").prior_relevance == 2


def test_a_preview_counts_what_the_load_then_does_and_leaves_nothing(project):
    before = all_rows()

    preview = load(project, "trec-qrels", QRELS, dry_run=True)

    assert all_rows() == before
    assert not Unseen.objects.exists()
    assert load(project, "trec-qrels", QRELS).as_json() == preview.as_json()


def test_people_can_judge_between_slices(project):
    query = Query.objects.get()
    candidate = Candidate.objects.get(document__doc_id="A")
    pair = factories.pair(query)
    ada = factories.member(project, "ada")
    waited = []

    def judge():
        # On another connection, which fails at once if it has to wait for a lock.
        def write():
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 0")
            waited.append(factories.judgment(factories.altered(pair), candidate, ada).pk)
            connection.close()

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()

    load(project, "trec-qrels", QRELS, progress=Watcher(judge, n=4))

    assert len(waited) == 1


def test_rows_that_could_not_be_deleted_are_deleted_before_the_retry(project, monkeypatch):
    failures = [OperationalError("the disk was full for a moment")]
    sweep = slices._delete_unseen

    def record(report):
        if failures:
            # The full disk allows no deletions either.
            monkeypatch.setattr(slices, "_delete_unseen", refuse)
            raise failures.pop()

    def refuse():
        monkeypatch.setattr(slices, "_delete_unseen", sweep)
        raise OperationalError("the disk was full for a moment")

    report = load(project, "trec-qrels", QRELS, record=record)

    assert counts(report) == (12, 10, 1, 1, 0)
    assert (
        visible_rows()
        == all_rows()
        == {"Query": 3, "Document": 4, "DocumentText": 0, "Candidate": 12}
    )


def left_behind(project) -> None:
    """Leave behind what a load killed at its fourth slice has written so far."""
    path = connection.settings_dict["NAME"]

    def keep():
        copy = sqlite3.connect(f"{path}-killed")
        with sqlite3.connect(path) as now:
            now.backup(copy)
        copy.close()
        now.close()
        stop()

    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", QRELS, progress=Watcher(keep, n=4))
    killed = sqlite3.connect(f"{path}-killed")
    connection.ensure_connection()
    killed.backup(connection.connection)
    killed.close()
    Path(f"{path}-killed").unlink()


def test_rows_of_a_killed_load_are_unseen_and_deleted_by_the_next(project):
    before = all_rows()
    left_behind(project)

    assert all_rows() != before
    assert visible_rows() == before
    load(project, "trec-qrels", "9 0 A 1\n")
    assert all_rows() == {**before, "Query": 2, "Candidate": 3}
    assert not Unseen.objects.exists()


def test_a_load_waits_for_another_load(project):
    lock = os.open(f"{connection.settings_dict['NAME']}-load", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # When it waits, the other load ends.
    watcher = Watcher(lambda: fcntl.flock(lock, fcntl.LOCK_UN), step="Waiting for another file")

    report = load(project, "trec-qrels", QRELS, progress=watcher)

    os.close(lock)
    assert watcher.steps[:3] == [
        "Reading the file",
        "Comparing its lines",
        "Waiting for another file",
    ]
    assert report.new == 10


def test_a_load_waits_while_an_export_keeps_the_log_from_shrinking(project, monkeypatch):
    monkeypatch.setattr(slices, "MAX_LOG_PAGES", 0)
    reader = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM annotate_candidate").fetchone()
    # When the load waits, the export ends.
    watcher = Watcher(lambda: reader.execute("ROLLBACK"), step="Waiting for an export or a backup")

    report = load(project, "trec-qrels", QRELS, progress=watcher)

    reader.close()
    assert watcher.steps[3:6] == [
        "Writing to the project",
        "Waiting for an export or a backup",
        "Writing to the project",
    ]
    assert report.new == 10


def test_a_load_that_waits_for_another_can_be_cancelled(project):
    lock = os.open(f"{connection.settings_dict['NAME']}-load", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)

    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", QRELS, progress=Watcher(stop, step="Waiting for another file"))

    os.close(lock)
    assert visible_rows()["Candidate"] == 2
