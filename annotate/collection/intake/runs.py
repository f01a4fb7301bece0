"""Intake of runs: the file is stored as it is, its lines with the ranks given by their scores."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import Any, ClassVar

from django.core.files import File
from django.db import models
from django.db.models import OuterRef, QuerySet, Subquery

from annotate.collection.intake.arrivals import Intake, StagedLine, StagedRecords
from annotate.collection.models import Query, Run
from annotate.collection.models import RunLine as RankedDocument
from base import bulk
from base.stages import StagedRow
from formats.recognition import recognize
from formats.records import RunLine

MAX_NAME = Run._meta.get_field("name").max_length or 0
CHUNK = 1_048_576
MAX_TAG = Run._meta.get_field("tag").max_length or 0


class StagedRunLine(StagedLine):
    """A line of a run."""

    query_id = models.TextField()
    doc_id = models.TextField()
    score = models.FloatField()

    class Meta(StagedRow.Meta):
        db_table = "stage_run"


class Runs(StagedRecords):
    """The lines of one run. A run is named after its file: several files may have the same tag."""

    order = 50
    records: ClassVar = (RunLine,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.lines = self.create_stage(StagedRunLine)
        self._add = self.lines.add
        self._tags: dict[str, None] = {}
        self._run: Run | None = None
        self.name = PurePath(intake.report.file).name
        self._side = Run.Side.ORIGINAL

    @property
    def _names_pairs(self) -> bool:
        """Whether the lines name instruction pairs instead of queries."""
        return self._side != Run.Side.ORIGINAL

    def take(self, record: RunLine, place: int) -> None:
        query_id, doc_id, _, score, tag = record
        self.taken += 1
        if tag not in self._tags and len(self._tags) < 3:
            self._tags[tag] = None
        self._add(place, query_id, doc_id, score)

    def query_ids(self) -> list[QuerySet[Any]]:
        if not self._names_pairs:
            return [StagedRunLine.objects.values_list("query_id", "n")]
        of_pair = Query.objects.filter(
            pairs__project=self.intake.project, pairs__pair_id=OuterRef("query_id")
        )
        lines = StagedRunLine.objects.annotate(of=Subquery(of_pair.values("query_id")))
        return [lines.filter(of__isnull=False).values_list("of", "n")]

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedRunLine.objects.values_list("doc_id")]

    def check(self) -> None:
        self._side = self._side_of_lines()
        self.refuse_contradictions(
            StagedRunLine.objects.all(),
            ["query_id", "doc_id"],
            # Their numbers always differ: no repeat is allowed.
            ["n"],
            lambda first, query_id, doc_id: (
                f"document {doc_id} of query {query_id} was already on {first}: "
                "trec_eval refuses a run with a document twice"
            ),
        )
        if len(self.name) > MAX_NAME:
            self.intake.refuse(f"the file's name is longer than {MAX_NAME} characters")
        if any(len(tag) > MAX_TAG for tag in self._tags):
            self.intake.refuse(f"the run's tag is longer than {MAX_TAG} characters")
        if len(self._tags) > 1:
            self.intake.report.notes.append(
                f"the lines have several tags; the run gets the first, {next(iter(self._tags))}"
            )
        self._note_labels()

    def _note_labels(self) -> None:
        """Add a note if the file, by its first lines, is not clearly a run."""
        with self.intake.content() as stream:
            format_found = recognize(stream)
        if format_found is None:
            self.intake.report.notes.append(
                "the ranks and scores of the first lines are not clearly a ranking: if they are "
                "judgments, do not load the file as a run"
            )
        elif RunLine not in format_found.reads:
            self.intake.report.notes.append(
                f"the file looks like {format_found.name}: if its lines are judgments, load it as "
                f"{format_found.name}"
            )

    def _side_of_lines(self) -> Run.Side:
        """Return the requested side, refusing ids that do not fit it; else derive it from the ids.

        All ids of a run over instructions name pairs. If they all name queries as well, the run is
        over queries, unless another side was requested.
        """
        [(ids, queries, pairs)] = bulk.select(
            """
            SELECT COUNT(*), COUNT(q.id), COUNT(p.id)
            FROM (SELECT DISTINCT query_id FROM stage_run) s
            LEFT JOIN annotate_query q ON q.project_id = %(project)s AND q.query_id = s.query_id
            LEFT JOIN annotate_instructionpair p
                ON p.project_id = %(project)s AND p.pair_id = s.query_id
            """,
            self.intake.params,
        )
        asked = self.intake.options.side
        if not asked:
            return Run.Side.ALTERED if pairs == ids > queries else Run.Side.ORIGINAL
        side = Run.Side(asked)
        if side == Run.Side.ORIGINAL and pairs == ids > queries:
            self.intake.refuse(
                "the lines name instruction pairs, and a run over queries names queries: give the "
                "side altered or reversed, or no side"
            )
        elif side != Run.Side.ORIGINAL and pairs < ids:
            self.intake.refuse(
                f"{ids - pairs:,} of {ids:,} ids are not instruction pairs of this project: a run "
                f"of the side {side} names pairs on every line"
            )
        return side

    def write(self) -> None:
        intake = self.intake
        fingerprint = self._fingerprint()
        existing = Run.objects.filter(project=intake.project, name=self.name).first()
        if existing is not None and existing.sha256 != fingerprint:
            intake.refuse(
                f"a run called {self.name} already exists, from a file with other bytes; a run is "
                "never overwritten: give this file another name"
            )
            return
        self._refuse_foreign_queries()
        if intake.report.refused:
            return
        runs, lines = intake.row_counts("runs"), intake.row_counts("run_lines")
        if existing is not None:
            if intake.options.side and existing.side != intake.options.side:
                intake.refuse(
                    f"the run {self.name} already exists with the side {existing.side}; a run is "
                    "never overwritten: give this file another name"
                )
                return
            runs.unchanged += 1
            lines.unchanged += self.lines.count
            self._add_to_pool(existing.pk)
            return
        alike = Run.objects.filter(project=intake.project, sha256=fingerprint).first()
        if alike is not None:
            intake.report.notes.append(f"the same lines already exist as the run {alike.name}")
        self._run = Run(
            project=intake.project,
            name=self.name,
            side=self._side,
            tag=next(iter(self._tags)),
            sha256=fingerprint,
            loaded_at=intake.now,
        )
        self._store_file(self._run)
        self._run.save()
        self.new = self._write_lines(self._run)
        runs.new += 1
        lines.new += self.new
        self._add_to_pool(self._run.pk)

    def _write_lines(self, run: Run) -> int:
        """Write the lines, ranked per query or pair; return their number."""
        if self._names_pairs:
            columns, table, key = (
                "p.query_id, p.id",
                "annotate_instructionpair p",
                "p.pair_id",
            )
        else:
            columns, table, key = (
                "p.id, CAST(NULL AS bigint)",
                "annotate_query p",
                "p.query_id",
            )
        return self.intake.run(
            f"""
            INSERT INTO annotate_runline (run_id, query_id, pair_id, document_id, rank, score)
            SELECT %(run)s, {columns}, d.id, ROW_NUMBER() OVER (
                PARTITION BY p.id ORDER BY s.score DESC, {bulk.bytewise("s.doc_id")} DESC
            ), s.score
            FROM stage_run s CROSS JOIN {table} CROSS JOIN annotate_document d
            WHERE p.project_id = %(project)s AND {key} = s.query_id
            AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            ORDER BY 2, 3, 4
            """,  # noqa: S608 (constants)
            run=run.pk,
        )

    def undo_side_effects(self) -> None:
        if self._run is not None and self._run.file:
            self._run.file.delete(save=False)

    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        with self.intake.content() as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def _store_file(self, run: Run) -> None:
        """Store the file as it is, unless this is a dry run."""
        if self.intake.dry_run:
            return
        with self.intake.content() as stream:
            run.file.save(f"{self.intake.project.pk}/{self.name}", File(stream), save=False)

    def _refuse_foreign_queries(self) -> None:
        """Refuse a run for queries that the project does not have: it is for another collection.

        A project without any queries accepts the run, and its queries with it.
        """
        fresh = bulk.select(
            """
            SELECT g.query_id, CASE WHEN p.id IS NULL THEN 0 ELSE 1 END FROM stage_query_ids g
            LEFT JOIN annotate_instructionpair p
                ON p.project_id = %(project)s AND p.pair_id = g.query_id
            WHERE g.fresh = 1 ORDER BY g.query_id
            """,
            self.intake.params,
        )
        if not fresh or not self.intake.number(
            "SELECT COUNT(*) FROM annotate_query q WHERE q.project_id = %(project)s "
            "AND NOT EXISTS (SELECT 1 FROM stage_query_ids g "
            "WHERE g.query_id = q.query_id AND g.fresh = 1)"
        ):
            return
        place = bulk.number(
            "SELECT MIN(s.place) FROM stage_run s JOIN stage_query_ids g "
            "ON g.query_id = s.query_id WHERE g.fresh = 1"
        )
        names = ", ".join(query_id for query_id, _ in fresh[:5]) + (" …" if len(fresh) > 5 else "")
        if all(is_pair for _, is_pair in fresh):
            self.intake.refuse(
                place=place,
                message=f"{names}: in this project these are ids of instruction pairs, and other "
                "lines name queries; a run names either pairs or queries: split the file in two",
            )
        else:
            self.intake.refuse(
                place=place,
                message=f"{len(fresh):,} of the queries {'is' if len(fresh) == 1 else 'are'} not "
                f"in this project ({names}): load their topics first, or this run into the "
                "project of its collection",
            )

    def _add_to_pool(self, run: int) -> None:
        """Add the first documents of each query to the pool."""
        if not self.intake.options.pool:
            return
        pool = self.intake.options.pool
        joined = self.intake.insert_candidates(
            "SELECT DISTINCT query_id AS query, document_id AS document, "
            "CAST(NULL AS integer) AS relevance FROM annotate_runline "
            "WHERE run_id = %(run)s AND rank <= %(pool)s",
            "run",
            run=run,
            pool=pool,
        )
        first = RankedDocument.objects.filter(run=run, rank__lte=pool)
        in_all = first.values("query", "document").distinct().count()
        self.intake.row_counts("candidates").unchanged += in_all - joined
