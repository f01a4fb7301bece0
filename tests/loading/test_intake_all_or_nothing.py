"""A load is all or nothing, and takes little memory; on PostgreSQL it blocks nobody."""

from __future__ import annotations

import sqlite3
import threading
import tracemalloc

import pytest
from django.db import IntegrityError, OperationalError, connection, models

from annotate.collection import intake
from annotate.loading.load import load_rows
from annotate.models import Candidate, Document, Judgment, Membership, Project, Query
from base import bulk
from base.errors import Refused
from base.stages import Stage, StagedRow
from formats.records import Qrel
from formats.registry import lookup
from tests import factories
from tests.collection.arriving import counts, in_memory, jsonl, load, rows, stages

pytestmark = pytest.mark.both_databases

ROWS = (Candidate, Document, Judgment, Membership, Query)
GOOD = '{"query_id": "1", "doc_id": "A", "annotator": "ada", "relevance": 1}\n'


@pytest.fixture
def project(db):
    return factories.project()


def written() -> int:
    return sum(model.objects.count() for model in ROWS)


@pytest.mark.parametrize(
    ("kind", "content", "line"),
    [
        ("trec-qrels", "1 0 A 1\n1 A 1\n", 2),
        ("docs-jsonl", jsonl({"doc_id": "A"}, {"doc_id": "A B"}), 2),
        ("trec-run", "1 Q0 A 1 2 t\n1 Q0 A 2 1 t\n", 2),
        ("trec-topics", "<top>\n<num> 1\n</top>\n<top>\n<title> x\n</top>\n", 4),
        ("judgments-csv", "query_id,doc_id,annotator,relevance\n1,A,ada,1\n1,B,ada,9\n", 3),
        ("judgments-jsonl", GOOD + GOOD.replace('"1"', '"2"').replace("1}", "9}"), 2),
    ],
)
def test_one_bad_line_refuses_the_whole_file(project, kind, content, line):
    report = load(project, kind, content)

    assert counts(report) == (2, 0, 0, 0, 1)
    assert report.problems[0].line == line
    assert written() == 0


def test_every_bad_line_is_named(project):
    report = load(project, "trec-qrels", "1 0 A 1\n1 A 1\n1 0 B x\n1 0 C 1\n1 0 A 2\n")

    assert counts(report) == (5, 0, 0, 0, 3)
    assert [problem.line for problem in report.problems] == [2, 3, 5]


def test_the_first_thousand_bad_lines_are_stored_and_all_are_counted(project):
    lines = "".join(f"1,D{n},ada,9\n" for n in range(2_500))

    report = load(project, "judgments-csv", f"query_id,doc_id,annotator,relevance\n{lines}")

    assert (report.read, report.refused, len(report.problems)) == (2_500, 2_500, 1_000)
    assert report.problems[-1].line == 1_001


def test_a_dry_run_counts_what_the_load_then_does_and_writes_nothing(project):
    qrels = "1 0 A 1\n1 0 B 0\n2 0 A 1\n"
    load(project, "trec-qrels", "1 0 A 0\n")
    before = written()

    preview = load(project, "trec-qrels", qrels, dry_run=True)

    assert written() == before
    assert counts(preview) == (3, 2, 1, 0, 0)
    assert load(project, "trec-qrels", qrels).as_json() == preview.as_json()


@pytest.mark.postgresql
def test_after_a_preview_the_next_load_is_not_planned_for_an_empty_table(project):
    """For one row, PostgreSQL joins by comparing each row with each: minutes for 10,000 rows."""
    judgments = "".join(f"1,D{n},ada,1\n" for n in range(2_000))
    judgments = f"query_id,doc_id,annotator,relevance\n{judgments}"
    load(project, "judgments-csv", judgments, dry_run=True)
    load(project, "docs-jsonl", jsonl(*({"doc_id": f"D{n}", "text": "x"} for n in range(2_000))))

    [[plan]] = bulk.select("EXPLAIN (FORMAT JSON) SELECT * FROM annotate_statement")
    assert plan[0]["Plan"]["Plan Rows"] > 100


def test_no_stage_is_left_behind(project):
    load(project, "trec-qrels", "1 0 A 1\n1 0 A 1\n")
    load(project, "judgments-jsonl", GOOD.replace("1}", "9}"))

    assert stages() == []


class Stopper:
    """Progress that cancels the load when `step` begins."""

    def __init__(self, step: str) -> None:
        self.step = step

    def start(self, total: int | None, step: str) -> None:
        if step == self.step:
            raise InterruptedError(step)

    def advance(self, n: int = 1) -> None:
        pass


@pytest.mark.parametrize("step", ["Comparing its lines", "Writing to the project"])
def test_a_cancelled_load_leaves_nothing(project, step):
    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", "1 0 A 1\n", progress=Stopper(step))

    assert written() == 0
    assert stages() == []


def test_nothing_is_loaded_if_the_report_cannot_be_recorded(project):
    def record(report):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        load(project, "trec-qrels", "1 0 A 1\n", record=record)

    assert written() == 0


@pytest.mark.django_db(transaction=True)
def test_a_load_that_fails_on_a_concurrent_change_is_tried_once_more():
    project = factories.project()
    failures = [IntegrityError("somebody was faster")]

    def record(report):
        if failures:
            raise failures.pop()

    report = load(project, "trec-qrels", "1 0 A 1\n1 0 B -1\n", no_grade=-1, record=record)

    assert counts(report) == (2, 2, 0, 0, 0)
    assert rows(report)["candidates"] == (2, 0, 0)
    assert len(report.notes) == len(set(report.notes)) == 3
    assert Candidate.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_second_failure_is_raised():
    project = factories.project()

    def record(report):
        raise IntegrityError("wrong for good")

    with pytest.raises(IntegrityError, match="wrong for good"):
        load(project, "trec-qrels", "1 0 A 1\n", record=record)

    assert (written(), stages()) == (0, [])


class Meter:
    """Progress that measures the peak memory of Python objects while records are read."""

    def __init__(self) -> None:
        self.most = 0

    def start(self, total: int | None, step: str) -> None:
        pass

    def advance(self, n: int = 1) -> None:
        self.most = max(self.most, tracemalloc.get_traced_memory()[0])


def test_memory_does_not_grow_with_the_file(project):
    def read(source):
        for number in range(60_000):
            yield Qrel(str(number // 1_000), f"document-{number}", 1)

    kind = lookup("trec-qrels")._replace(read=read)
    meter = Meter()

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        report = load_rows(project=project, kind=kind, file=in_memory(b"x"), progress=meter)
    finally:
        tracemalloc.stop()

    assert report.new == 60_000
    # 60,000 records would be 15 MB; at most a chunk of 5,000 is in memory.
    assert meter.most - before < 4_000_000


class StagedWord(StagedRow):
    """A word."""

    word = models.TextField()

    class Meta(StagedRow.Meta):
        db_table = "stage_test"


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_reading_a_file_neither_waits_for_writers_nor_blocks_them():
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, timeout=0)
    stage = Stage(StagedWord)
    # Another connection holds the lock the whole time.
    other.execute("BEGIN IMMEDIATE")
    for number in range(12_000):
        stage.add(f"word {number}")
    stage.settle()
    count = bulk.number("SELECT COUNT(*) FROM stage_test")
    other.execute("ROLLBACK")
    # And another connection gets the lock while the stage exists.
    other.execute("BEGIN IMMEDIATE")
    other.execute("ROLLBACK")
    other.close()
    stage.drop()

    assert count == 12_000


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_people_can_judge_while_a_file_is_written():
    project = factories.project()
    candidate = factories.candidate(factories.query(project, "301"), "A")
    pair = factories.pair(candidate.query)
    ada = factories.member(project, "ada")
    judged = []

    def record(report):
        # On another connection, while the load's transaction is open.
        def judge():
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '3s'")
            judged.append(factories.judgment(factories.altered(pair), candidate, ada).pk)
            connection.close()

        thread = threading.Thread(target=judge)
        thread.start()
        thread.join()

    load(project, "trec-qrels", "301 0 B 1\n302 0 A 1\n", record=record)

    assert Judgment.objects.filter(pk__in=judged).count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_loads_of_one_project_are_serialized():
    project = factories.project()
    reports = []

    def run():
        reports.append(load(project, "trec-qrels", "".join(f"1 0 D{n} 1\n" for n in range(5_000))))
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(report.new for report in reports) == [0, 0, 0, 5_000]
    assert Candidate.objects.count() == 5_000


@pytest.mark.django_db(transaction=True)
def test_a_file_counts_as_loaded_even_if_the_cleanup_fails(monkeypatch, caplog):
    project = factories.project()

    def fail(arriving):
        raise OperationalError("No space left on device")

    monkeypatch.setattr(intake.Intake, "close", fail)
    report = load(project, "trec-qrels", "1 0 A 1\n1 0 B 1\n")

    assert counts(report) == (2, 2, 0, 0, 0)
    assert Candidate.objects.count() == 2
    assert "file.txt is loaded; tidying up failed" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_failed_write_is_not_reported_as_loaded():
    project = factories.project()

    def fail(report):
        raise OperationalError("No space left on device")

    with pytest.raises(OperationalError, match="No space left"):
        load(project, "trec-qrels", "1 0 A 1\n", record=fail)

    assert written() == 0


def test_nothing_is_loaded_into_an_archived_project(project):
    Project.objects.update(archived_at="2026-01-01T00:00:00Z", archived_by=factories.user("carla"))
    project.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        load(project, "trec-qrels", "1 0 A 1\n")
