"""Runs: the file is kept untouched, and its lines with the ranks their scores give."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import ClassVar

from django.core.files import File

from annotate import bulk
from annotate.intake.arrivals import Arrivals, Intake
from annotate.models import Run
from formats.records import RunLine

MAX_NAME = Run._meta.get_field("name").max_length or 0
CHUNK = 1_048_576
MAX_TAG = Run._meta.get_field("tag").max_length or 0


class Runs(Arrivals):
    """The lines of one run. Its name is the file's: the same tag occurs in several files."""

    records: ClassVar = (RunLine,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.lines = self.stage("stage_run", query_id="text", doc_id="text", score="real")
        self._add = self.lines.add
        self._tags: dict[str, None] = {}
        self._run: Run | None = None
        self.name = PurePath(intake.report.file).name

    def take(self, record: RunLine, place: int) -> None:
        query_id, doc_id, _, score, tag = record
        self.taken += 1
        if tag not in self._tags and len(self._tags) < 3:
            self._tags[tag] = None
        self._add(place, query_id, doc_id, score)

    def query_ids(self) -> list[str]:
        return ["SELECT query_id FROM stage_run"]

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_run"]

    def check(self) -> None:
        self.repeats(
            self.lines,
            ["query_id", "doc_id"],
            "1 = 1",
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
                "the lines have several tags; the run is kept with the first, "
                f"{next(iter(self._tags))}"
            )

    def write(self) -> None:
        intake = self.intake
        fingerprint = self._fingerprint()
        known = Run.objects.filter(project=intake.project, name=self.name).first()
        if known is not None and known.sha256 != fingerprint:
            intake.refuse(
                f"a run called {self.name} is here already with other lines; a run is never "
                "overwritten: give this file another name"
            )
            return
        self._refuse_foreign_queries()
        if intake.report.refused:
            return
        runs, lines = intake.rows("runs"), intake.rows("run_lines")
        if known is not None:
            runs.unchanged += 1
            lines.unchanged += self.lines.count
            self._pool(known.pk)
            return
        alike = Run.objects.filter(project=intake.project, sha256=fingerprint).first()
        if alike is not None:
            intake.report.notes.append(f"the same lines are here already as the run {alike.name}")
        self._run = Run(
            project=intake.project,
            name=self.name,
            tag=next(iter(self._tags)),
            sha256=fingerprint,
            loaded_at=intake.now,
        )
        self._keep(self._run)
        self._run.save()
        self.new = intake.run(
            f"""
            INSERT INTO annotate_runline (run_id, query_id, document_id, rank, score)
            SELECT %(run)s, q.id, d.id, ROW_NUMBER() OVER (
                PARTITION BY q.id ORDER BY s.score DESC, {bulk.bytewise("s.doc_id")} DESC
            ), s.score
            FROM stage_run s CROSS JOIN annotate_query q CROSS JOIN annotate_document d
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            ORDER BY 2, 3
            """,  # noqa: S608 (a constant)
            run=self._run.pk,
        )
        runs.new += 1
        lines.new += self.new
        self._pool(self._run.pk)

    def failed(self) -> None:
        if self._run is not None and self._run.file:
            self._run.file.delete(save=False)

    def _fingerprint(self) -> str:
        found = hashlib.sha256()
        with self.intake.content() as stream:
            while chunk := stream.read(CHUNK):
                found.update(chunk)
        return found.hexdigest()

    def _keep(self, run: Run) -> None:
        """Put the file into storage as it is, unless nothing is to be written."""
        if self.intake.dry_run:
            return
        with self.intake.content() as stream:
            run.file.save(f"{self.intake.project.pk}/{self.name}", File(stream), save=False)

    def _refuse_foreign_queries(self) -> None:
        """Refuse a run for queries that the project does not have: it is for another collection.

        A project without any query takes it, and its queries with it.
        """
        found = bulk.select(
            """
            SELECT g.query_id, CASE WHEN p.id IS NULL THEN 0 ELSE 1 END FROM stage_query_ids g
            LEFT JOIN annotate_instructionpair p
                ON p.project_id = %(project)s AND p.pair_id = g.query_id
            WHERE g.fresh = 1 ORDER BY g.query_id
            """,
            self.intake.params,
        )
        if not found or not self.intake.number(
            "SELECT COUNT(*) FROM annotate_query q WHERE q.project_id = %(project)s "
            "AND NOT EXISTS (SELECT 1 FROM stage_query_ids g "
            "WHERE g.query_id = q.query_id AND g.fresh = 1)"
        ):
            return
        place = bulk.number(
            "SELECT MIN(s.place) FROM stage_run s JOIN stage_query_ids g "
            "ON g.query_id = s.query_id WHERE g.fresh = 1"
        )
        names = ", ".join(query_id for query_id, _ in found[:5]) + (" …" if len(found) > 5 else "")
        if all(is_pair for _, is_pair in found):
            self.intake.refuse(
                place=place,
                message=f"{names}: in this project these are ids of instruction pairs, not of "
                "queries; load a run over instructions into a project of its own",
            )
        else:
            self.intake.refuse(
                place=place,
                message=f"{len(found):,} of the queries {'is' if len(found) == 1 else 'are'} not "
                f"in this project ({names}): load their topics first, or this run into the "
                "project of its collection",
            )

    def _pool(self, run: int) -> None:
        """Let the first documents of each query join the pool."""
        if not self.intake.options.pool:
            return
        joined = self.intake.run(
            """
            INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
            SELECT l.query_id, l.document_id, NULL, 'run' FROM annotate_runline l
            WHERE l.run_id = %(run)s AND l.rank <= %(pool)s AND NOT EXISTS (
                SELECT 1 FROM annotate_candidate c
                WHERE c.query_id = l.query_id AND c.document_id = l.document_id
            )
            ORDER BY l.query_id, l.document_id
            """,
            run=run,
            pool=self.intake.options.pool,
        )
        candidates = self.intake.rows("candidates")
        candidates.new += joined
        candidates.unchanged += (
            self.intake.number(
                "SELECT COUNT(*) FROM annotate_runline WHERE run_id = %(run)s AND rank <= %(pool)s",
                run=run,
                pool=self.intake.options.pool,
            )
            - joined
        )
