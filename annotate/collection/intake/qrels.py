"""Intake of qrels: candidates with their earlier relevance."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, Max, QuerySet
from django.db.models.functions import Coalesce

from annotate.collection.intake.arrivals import Intake, StagedLine, StagedRecords, placed_rows
from annotate.collection.models import Candidate
from base import bulk
from base.stages import StagedRow
from formats.records import Pooled, Qrel

# Lines with their queries and documents, and those with their existing candidates `c`.
_PLACED = placed_rows("stage_qrels")
_OF_CANDIDATES = (
    _PLACED.replace("WHERE", "CROSS JOIN annotate_candidate c WHERE", 1)
    + "AND c.query_id = q.id AND c.document_id = d.id"
)
# Stands for no relevance in comparisons of lines: higher than any that a file can have.
NO_GRADE = 40_000
# How many grades above the scale a note names.
_NAMED = 10


class StagedQrel(StagedLine):
    """A line of a qrels file."""

    query_id = models.TextField()
    doc_id = models.TextField()
    relevance = models.BigIntegerField(null=True)

    class Meta(StagedRow.Meta):
        db_table = "stage_qrels"


class Qrels(StagedRecords):
    """Earlier relevance: each line becomes a candidate of its query."""

    order = 40
    records: ClassVar = (Qrel,)
    differing = "stage_qrels_changed"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.qrels = self.create_stage(StagedQrel)
        self._add = self.qrels.add
        self._no_grade = intake.options.no_grade
        self._without_grade = 0

    def take(self, record: Qrel, place: int) -> None:
        relevance: int | None = record[2]
        if relevance == self._no_grade:
            relevance = None
            self._without_grade += 1
        self.taken += 1
        self._add(place, record[0], record[1], relevance)

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedQrel.objects.values_list("query_id", "n")]

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedQrel.objects.values_list("doc_id")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedQrel.objects.annotate(grade=Coalesce("relevance", NO_GRADE)),
            ["query_id", "doc_id"],
            ["grade"],
            lambda first, query_id, doc_id: (
                f"document {doc_id} of query {query_id} has another relevance on {first}"
            ),
        )
        if self._without_grade:
            lines, documents = (
                ("1 line has", "its document joins")
                if self._without_grade == 1
                else (f"{self._without_grade:,} lines have", "their documents join")
            )
            self.intake.report.notes.append(
                f"{lines} the value {self._no_grade}, which means no grade: "
                f"{documents} the pool without a relevance"
            )
        self._note_grades_above_scale()

    def _note_grades_above_scale(self) -> None:
        """Add a note on the relevance values above the project's grades, with line counts."""
        highest = self.intake.project.grades.aggregate(highest=Max("value"))["highest"]
        if highest is None:
            return
        lines_above = StagedQrel.objects.filter(relevance__gt=highest).values_list("relevance")
        above = lines_above.annotate(Count("n")).order_by("relevance")
        if above:
            lines = sum(count for _, count in above)
            each = ", ".join(f"{relevance} ({count:,})" for relevance, count in above[:_NAMED])
            more = f" and {len(above) - _NAMED} more" if len(above) > _NAMED else ""
            self.intake.report.notes.append(
                f"{lines:,} {'line has' if lines == 1 else 'lines have'} a relevance above the "
                f"project's highest grade, {highest}: {each}{more}. It is kept as it is"
            )

    def write(self) -> None:
        intake = self.intake
        if Candidate.with_removed.filter(query__project=intake.project).exists():
            self._change_existing()
        # Before the new candidates are written: those that only join the pool.
        only_pooled = self._count_new_without_grade() if self._without_grade else 0
        self.new = intake.insert_candidates(
            f"SELECT q.id AS query, d.id AS document, s.relevance {_PLACED}"
        )
        if intake.options.load is not None:
            self._remember_new(intake.options.load)
        rows = intake.row_counts("candidates")
        rows.changed += self.changed
        rows.unchanged += self.count_qrels() - self.new - self.changed
        prior = intake.row_counts("prior")
        prior.new += self.new - only_pooled
        prior.changed += self.changed
        graded = StagedQrel.objects.filter(relevance__isnull=False).count()
        prior.unchanged += graded - prior.new - prior.changed

    def _change_existing(self) -> None:
        """Give existing candidates the relevance of this file where it differs.

        Called before the new candidates are written, so that only existing ones are compared.
        """
        intake = self.intake
        bulk.drop(self.differing)
        intake.run(
            f"""
            CREATE TEMPORARY TABLE stage_qrels_changed AS
            SELECT c.id, s.relevance {_OF_CANDIDATES}
            AND (c.prior_relevance IS NULL OR c.prior_relevance <> s.relevance)
            AND s.relevance IS NOT NULL
            """
        )
        self.changed = bulk.number("SELECT COUNT(*) FROM stage_qrels_changed")
        if intake.options.load is not None:
            intake.run(
                """
                INSERT INTO annotate_loadedcandidate (load_id, candidate_id, is_new, earlier)
                SELECT %(load)s, c.id, FALSE, c.prior_relevance
                FROM stage_qrels_changed x JOIN annotate_candidate c ON c.id = x.id
                """,
                load=intake.options.load,
            )
        intake.run(
            """
            UPDATE annotate_candidate SET prior_relevance = x.relevance
            FROM stage_qrels_changed x WHERE annotate_candidate.id = x.id
            """
        )

    def _remember_new(self, load: int) -> None:
        """Remember the candidates that this file made."""
        self.intake.run(
            f"""
            INSERT INTO annotate_loadedcandidate (load_id, candidate_id, is_new, earlier)
            SELECT %(load)s, c.id, TRUE, CAST(NULL AS integer) {_OF_CANDIDATES}
            AND c.id > %(newest)s
            """,
            load=load,
            newest=self.intake.newest_candidate,
        )

    def _count_new_without_grade(self) -> int:
        known = self.intake.number(f"SELECT COUNT(*) {_OF_CANDIDATES} AND s.relevance IS NULL")
        return StagedQrel.objects.filter(relevance=None).count() - known

    def count_qrels(self) -> int:
        """Return the number of lines without repeats."""
        return StagedQrel.objects.count()


class StagedPooled(StagedLine):
    """A document of a query's pool."""

    query_id = models.TextField()
    doc_id = models.TextField()

    class Meta(StagedRow.Meta):
        db_table = "stage_pooled"


class Pools(StagedRecords):
    """Documents of a query's pool. One that also has a relevance keeps it."""

    # After the earlier relevance of the same file.
    order = 45
    records: ClassVar = (Pooled,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.pooled = self.create_stage(StagedPooled)

    def take(self, record: Pooled, place: int) -> None:
        self.taken += 1
        self.pooled.add(place, record.query_id, record.doc_id)

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedPooled.objects.values_list("query_id", "n")]

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedPooled.objects.values_list("doc_id")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedPooled.objects.all(),
            ["query_id", "doc_id"],
            [],
            lambda first, query_id, doc_id: f"{doc_id} of {query_id} is already on {first}",
        )

    def write(self) -> None:
        self.new = self.intake.insert_candidates(
            "SELECT q.id AS query, d.id AS document, CAST(NULL AS integer) AS relevance "
            + placed_rows("stage_pooled")
        )
        pooled = StagedPooled.objects.count()
        self.intake.row_counts("candidates").unchanged += pooled - self.new
