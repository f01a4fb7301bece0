"""Load one file into a project: read it into its stages, then write all of it or nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from annotate.collection.intake.arrivals import Intake, NamedQuery, Options, StagedRecords
from annotate.collection.intake.documents import ANALYZE_AFTER, Documents
from annotate.collection.intake.files import InputFile, NoProgress, Progress
from annotate.collection.intake.report import FileReport, LineProblem
from annotate.collection.models import Query, Run
from annotate.judgments.intake.versions import describe_rows
from annotate.pairs.intake.steps import finish_load
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record as record_audit_event
from annotate.projects.models import Membership, Project
from base import bulk
from base.errors import Refused
from formats.folders import Folder
from formats.problems import FormatError
from formats.records import JudgmentRecord, Qrel, RunLine
from formats.registry import Format, UnknownFormat, lookup
from formats.source import Source

# A long number as a spreadsheet shows it, rounded: 1.00E+06.
_ROUNDED = re.compile(r"-?[0-9](?:\.[0-9]+)?E\+[0-9]{2,3}")
# How many ids that may be rounded are looked at.
_MAX_ROUNDED = 1_000


def _first_three(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")


class NamedIds:
    """Every query and document that a file names, created if the project does not have them.

    Documents contained in the file are written by `Documents`.
    """

    def __init__(self, intake: Intake) -> None:
        self.intake = intake

    def gather(self) -> None:
        """Collect the distinct ids in two temporary tables."""
        of_queries = [rows for records in self.intake.staged for rows in records.query_ids()]
        of_docs = [rows for records in self.intake.staged for rows in records.doc_ids()]
        self.drop()
        bulk.run(
            "CREATE TEMPORARY TABLE stage_query_ids "
            "(query_id text PRIMARY KEY, n bigint NOT NULL, fresh integer NOT NULL DEFAULT 0)"
        )
        bulk.run("CREATE TEMPORARY TABLE stage_doc_ids (doc_id text)")
        if of_queries:
            first, *others = of_queries
            sql, params = first.union(*others, all=True).query.sql_with_params()
            bulk.run(
                f"WITH named (query_id, n) AS ({sql}) INSERT INTO stage_query_ids (query_id, n) "  # noqa: S608
                "SELECT query_id, MIN(n) FROM named GROUP BY query_id",
                params,
            )
        if of_docs:
            first, *others = of_docs
            sql, params = first.distinct().union(*others).query.sql_with_params()
            bulk.run(
                f"INSERT INTO stage_doc_ids SELECT doc_id FROM ({sql}) x ORDER BY doc_id",  # noqa: S608
                params,
            )
        bulk.analyze("stage_query_ids")
        bulk.analyze("stage_doc_ids")

    def note_rounded(self) -> None:
        """Add a note on ids that a spreadsheet has rounded: several may have become one."""
        ids = "SELECT query_id AS id FROM stage_query_ids UNION SELECT doc_id FROM stage_doc_ids"
        if self.intake.has_records(Documents):
            ids += " UNION SELECT doc_id FROM stage_docs"
        rows = bulk.select(
            f"SELECT id FROM ({ids}) x WHERE id LIKE %(like)s ORDER BY id LIMIT {_MAX_ROUNDED}",  # noqa: S608
            {"like": "%E+%"},
        )
        rounded = [name for (name,) in rows if _ROUNDED.fullmatch(name)]
        if rounded:
            number = "1 id looks" if len(rounded) == 1 else f"{len(rounded):,} ids look"
            self.intake.report.notes.append(
                f"{number} like a number that a spreadsheet has rounded, {_first_three(rounded)}: "
                "different ids may have become one. Load the file that the spreadsheet was made "
                "from, or take this load back"
            )

    def write(self) -> None:
        """Create the missing queries and documents, with nothing but their ids."""
        self.intake.run(
            """
            UPDATE stage_query_ids SET fresh = 1 WHERE NOT EXISTS (
                SELECT 1 FROM annotate_query q
                WHERE q.project_id = %(project)s AND q.query_id = stage_query_ids.query_id
            )
            """
        )
        queries = self.intake.run(
            """
            INSERT INTO annotate_query (project_id, query_id, title, description)
            SELECT %(project)s, query_id, '', '' FROM stage_query_ids
            WHERE fresh = 1 ORDER BY n, query_id
            """
        )
        documents = self.intake.run(
            """
            INSERT INTO annotate_document (project_id, doc_id, title, markup, digest)
            SELECT %(project)s, s.doc_id, '', 'plain', '' FROM stage_doc_ids s
            WHERE NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            ORDER BY s.doc_id
            """
        )
        self.intake.row_counts("queries").new += queries
        self.intake.row_counts("documents").new += documents
        if documents:
            self.intake.report.notes.append(
                "1 new document has no text yet: load it before people judge it"
                if documents == 1
                else f"{documents:,} new documents have no text yet: "
                "load the texts of those to judge"
            )
        if queries and not any(staged.defines_queries for staged in self.intake.staged):
            self._note_queries_without_topic(queries)
        for table, made in (("annotate_query", queries), ("annotate_document", documents)):
            if made > ANALYZE_AFTER:
                bulk.analyze(table)

    def _note_queries_without_topic(self, created: int) -> None:
        """Add a note on queries without a topic, and on a file that names none of the project's."""
        fresh_ids = NamedQuery.objects.filter(fresh=1).order_by("n", "query_id")
        fresh = list(fresh_ids.values_list("query_id", flat=True)[:4])
        known = Query.objects.filter(project=self.intake.project).exclude(
            query_id__in=NamedQuery.objects.filter(fresh=1).values("query_id")
        )
        foreign = list(known.order_by("pk").values_list("query_id", flat=True)[:4])
        if created == NamedQuery.objects.count() and foreign:
            self.intake.report.notes.append(
                f"no query of this file is in the project: the file has {_first_three(fresh)}, "
                f"the project has {_first_three(foreign)}; "
                f"{'1 new query' if created == 1 else f'{created:,} new queries'} without a title "
                "are created: correct the ids if this is not intended"
            )
        else:
            self.intake.report.notes.append(
                "1 new query has no title and no narrative yet: load its topic"
                if created == 1
                else f"{created:,} new queries have no title and no narrative yet: "
                "load their topics"
            )

    def count(self) -> None:
        """Count the queries and documents that did not change."""
        queries, documents = self.intake.row_counts("queries"), self.intake.row_counts("documents")
        queries.unchanged = NamedQuery.objects.count() - queries.new - queries.changed
        named = bulk.number("SELECT COUNT(*) FROM stage_doc_ids")
        if self.intake.has_records(Documents):
            named = bulk.number(
                "SELECT COUNT(*) FROM "
                "(SELECT doc_id FROM stage_docs UNION SELECT doc_id FROM stage_doc_ids) x"
                if named
                else "SELECT COUNT(*) FROM stage_docs WHERE newest = 1"
            )
        documents.unchanged = named - documents.new - documents.changed

    def drop(self) -> None:
        """Drop the two tables."""
        bulk.drop("stage_query_ids")
        bulk.drop("stage_doc_ids")


logger = logging.getLogger(__name__)

# Records between two updates of the progress.
STEP = 5_000
# Steps as shown to users.
COMPARING = "Comparing with the project"
WRITING = "Writing to the project"
# Tables to analyze after many new rows of these kinds: the next load often joins them before
# PostgreSQL's autovacuum gets to them. No other table is analyzed: PostgreSQL would expect a table
# with nothing but the remains of a preview to stay almost empty, and plan the next load for that.
ROWS_OF_TABLES = {
    "annotate_query": {"queries"},
    "annotate_document": {"documents"},
    "annotate_candidate": {"candidates"},
    "annotate_instructionpair": {"pairs"},
    "annotate_narrative": {"narratives"},
    "annotate_statement": {"judgments", "flags"},
}


def load_file(
    *,
    project: Project,
    format_name: str,
    file: InputFile,
    no_grade: int | None = None,
    pool: int = 0,
    side: str = "",
    despite_rules: bool = False,
    carry_claims: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    record: Callable[[FileReport], None] | None = None,
    upload: int | None = None,
    by: Membership | None = None,
    now: datetime | None = None,
) -> FileReport:
    """Load one file into a project, all of it or nothing; the report has its errors.

    `no_grade` is the value in the file that means no grade; `pool` is the number of documents per
    query of a run that join the pool; `side` says under which narratives a run ranks them;
    `despite_rules` also loads rows that break rules of the project's kind; `carry_claims` copies
    machines' claims to new versions of narratives for which the file has none; `record` is called
    with the report in the same transaction; `upload` is the key of the file's `Load`, so that its
    qrels can be taken back; `by` is None for a command. Refused: an unknown format, a pool or a
    side for a file that is not a run, a `no_grade` for a format without grades, an archived
    project.
    """
    kind = known_format(format_name)
    refuse_if_archived(project)
    if pool < 0 or (pool and RunLine not in kind.reads):
        raise Refused("Only a run can add documents to the pool, one or more per query.")
    check_options(kind, no_grade=no_grade, side=side)

    def record_and_log(report: FileReport) -> None:
        if record is not None:
            record(report)
        if not (report.new or report.changed):
            return
        counts = f"{report.new} new, {report.changed} changed, {report.unchanged} unchanged"
        if report.broken:
            counts += f", {report.broken} despite rules of the kind"
        if report.stale_answers:
            counts += f"; answers under earlier narratives: {report.stale_answers}"
        described = f"{file.name} · {kind.name}"
        record_audit_event(
            project=project, what="load.done", about=described, words=counts, by=by, now=now
        )

    return load_rows(
        project=project,
        kind=kind,
        file=file,
        options=Options(no_grade, pool, side, despite_rules, upload, carry_claims),
        dry_run=dry_run,
        progress=progress,
        record=record_and_log,
        now=now,
    )


def options_for(kind: Format, *, no_grade: int | None, side: str) -> dict[str, Any]:
    """Return those of these options that mean something in this format; the others are left out."""
    return {
        "no_grade": no_grade if _has_grades(kind) else None,
        "side": side if RunLine in kind.reads else "",
    }


def _has_grades(kind: Format) -> bool:
    return not {Qrel, JudgmentRecord}.isdisjoint(kind.reads)


def check_options(kind: Format, *, no_grade: int | None, side: str) -> None:
    """Refuse an unknown side, and what `options_for` would leave out."""
    if no_grade is not None and not _has_grades(kind):
        raise Refused(
            "Only judgments and qrels have a value that means no grade. Leave it out for this "
            "format."
        )
    if not side:
        return
    if RunLine not in kind.reads:
        raise Refused("Only a run has a side. Leave the side out for this format.")
    if side not in Run.Side.values:
        raise Refused(
            f"{side} is not a side of a run. The sides are: {', '.join(Run.Side.values)}."
        )


def known_format(name: str) -> Format:
    """Return the format of that name. Refused: an unknown name; the message lists the names."""
    try:
        return lookup(name)
    except UnknownFormat as error:
        reason = str(error)
        raise Refused(f"{reason[:1].upper() + reason[1:]}.") from error


def check_grades(*, project: Project, grades: Sequence[int]) -> None:
    """Refuse grades that differ from the project's."""
    existing = sorted(project.grades.values_list("value", flat=True))
    if sorted(grades) != existing:
        names = ", ".join(map(str, existing))
        raise Refused(
            f"The project “{project.slug}” already exists, with the grades {names}. Change "
            "them in its settings, or leave --grades out."
        )


class _RollBack(Exception):
    """Raised to leave the transaction and roll back everything written in it."""


def load_rows(
    *,
    project: Project,
    kind: Format,
    file: InputFile,
    options: Options | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    record: Callable[[FileReport], None] | None = None,
    now: datetime | None = None,
) -> FileReport:
    """Load one file into a project, all of it or nothing, and return its report.

    Errors in the file are in the report, never raised. Loading the same file again changes nothing.
    Memory does not grow with the file. A dry run does everything and rolls it back, so its report
    is what the load would do. `record` is called with the report at the end of the transaction that
    writes the rows, if there is one: whatever it writes is committed or rolled back with them.

    Records are staged in temporary tables until all of them are read and checked. Then a few
    statements write the rows in one transaction. On SQLite other writers wait for that transaction.

    Once that transaction is committed the file is loaded, even if the database fails during the
    cleanup (a full disk): that is logged.
    """
    report = FileReport(file.name)
    progress = progress or NoProgress()
    intake = Intake(
        project=project,
        report=report,
        options=options or Options(),
        content=file.content,
        dry_run=dry_run,
        now=now or timezone.now(),
    )
    try:
        with bulk.large_work_mem():
            _load(intake, kind, file, progress, record)
    except DatabaseError:
        if not intake.committed:
            raise
        logger.warning("%s is loaded; tidying up failed", file.name, exc_info=True)
    if report.refused:
        report.reset_loaded()
    return report


def _load(
    intake: Intake,
    kind: Format,
    file: InputFile,
    progress: Progress,
    record: Callable[[FileReport], None] | None,
) -> None:
    report = intake.report
    ids = NamedIds(intake)
    try:
        progress.start(file.size, "Reading the file")
        _read(intake, kind, file, progress)
        progress.start(None, "Comparing its lines")
        _check(intake, ids)
        if not report.refused:
            _write(intake, ids, progress, record)
        if not intake.dry_run:
            _analyze_filled_tables(report)
    finally:
        intake.close()
        ids.drop()


def _analyze_filled_tables(report: FileReport) -> None:
    """Analyze the tables that got many rows."""
    for table, kinds in ROWS_OF_TABLES.items():
        if sum(report.rows[kind].new for kind in kinds & report.rows.keys()) > ANALYZE_AFTER:
            bulk.analyze(table)


def _read(intake: Intake, kind: Format, file: InputFile, progress: Progress) -> None:
    """Stage every record; report bad lines and skip them."""
    report = intake.report
    try:
        source = file.open(kind)
    except FormatError as error:
        report.refuse(_problem(error))
        return
    # Bytes of a file; records of a folder, since its size is not known.
    seen = 0
    with source:
        try:
            for count in _stage_all(intake, kind, source):
                report.read = count
                if isinstance(source, Source):
                    progress.advance(source.bytes_read - seen)
                    seen = source.bytes_read
                else:
                    progress.advance(count - seen)
                    seen = count
        except FormatError as error:
            # Some errors end the reading even where problems are collected.
            report.refuse(_problem(error))
    if isinstance(source, Source):
        report.likely_format = source.likely_format
    report.notes.extend(filter(None, [kind.note, *source.left_out.sentences()]))
    for problem in source.problems:
        report.refuse(_problem(problem))
    report.refused += source.problem_count - len(source.problems)
    # Every problem except those of the whole file is also a line that was read.
    report.read += source.problem_count - sum(problem.line is None for problem in source.problems)


def _stage_all(intake: Intake, kind: Format, source: Source | Folder) -> Iterator[int]:
    """Stage all records; yield their number so far, every STEP records and at the end."""
    takers: dict[type, Callable[[Any, int], None]] = {}
    count = 0
    one_file = source if isinstance(source, Source) else None
    base = intake.encode_place(one_file.name, None) if one_file else 0
    for record in kind.read(source):
        take = takers.get(record.__class__)
        if take is None:
            take = takers[record.__class__] = intake.stager_for(record.__class__)
        if one_file is not None:
            take(record, base + (one_file.line or 0))
        else:
            take(record, intake.encode_place(*source.place))
        count += 1
        if count % STEP == 0:
            yield count
    yield count


def _check(intake: Intake, ids: NamedIds) -> None:
    """Refuse what is wrong regardless of the project's rows; gather the ids."""
    for records in intake.staged:
        for stage in records.stages:
            stage.settle()
    for records in intake.staged:
        records.check()
    if not intake.report.refused:
        ids.gather()
        ids.note_rounded()


def _write(
    intake: Intake, ids: NamedIds, progress: Progress, record: Callable[[FileReport], None] | None
) -> None:
    """Write everything, or nothing.

    A concurrent change can make the first attempt fail; the second one takes it into account.
    """
    notes = list(intake.report.notes)
    try:
        _write_at_once(intake, ids, progress, record)
    except (IntegrityError, OperationalError):
        if connection.in_atomic_block or intake.committed:
            # The enclosing transaction has failed as well, or everything is already committed.
            raise
        intake.report.reset_loaded()
        intake.report.notes[:] = notes
        _write_at_once(intake, ids, progress, record)


def _write_at_once(
    intake: Intake, ids: NamedIds, progress: Progress, record: Callable[[FileReport], None] | None
) -> None:
    """Write everything in one transaction; a dry run rolls it back."""
    progress.start(None, COMPARING if intake.dry_run else WRITING)
    try:
        with transaction.atomic():
            _lock_project(intake.project)
            _write_rows(intake, ids)
            if intake.report.refused or intake.dry_run:
                raise _RollBack
            _finish(intake, record)
    except _RollBack:
        _undo_side_effects(intake.staged)
    except BaseException:
        _undo_side_effects(intake.staged)
        raise


def _lock_project(project: Project) -> None:
    """Serialize the loads of a project, without blocking people who judge."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _undo_side_effects(staged: list[StagedRecords]) -> None:
    for rows in staged:
        rows.undo_side_effects()


def _write_rows(intake: Intake, ids: NamedIds) -> None:
    report = intake.report
    intake.newest_narrative = bulk.number("SELECT MAX(id) FROM annotate_narrative")
    intake.newest_candidate = bulk.number("SELECT MAX(id) FROM annotate_candidate")
    documents = [rows for rows in intake.staged if isinstance(rows, Documents)]
    others = [rows for rows in intake.staged if not isinstance(rows, Documents)]
    for rows in documents:
        rows.write()
    ids.write()
    for records in others:
        records.write()
        if report.refused:
            return
    ids.count()
    describe_rows(intake)
    if report.broken and not intake.dry_run and not intake.options.despite_rules:
        report.refuse(LineProblem(report.file, None, None, _broken_rules_message(report.broken)))
    report.new = sum(rows.new for rows in intake.staged)
    report.changed = sum(rows.changed for rows in intake.staged)
    report.unchanged = report.read - report.new - report.changed


def _broken_rules_message(broken: int) -> str:
    rows = "1 row breaks a rule" if broken == 1 else f"{broken:,} rows break rules"
    return (
        f"{rows} of the project's kind. Nothing is loaded. Correct the file, or choose to load it "
        "despite the rules"
    )


def _finish(intake: Intake, record: Callable[[FileReport], None] | None) -> None:
    """Finish the transaction: reopen work that the rows concern, and record the report."""
    finish_load(intake)
    if record is not None:
        record(intake.report)
    transaction.on_commit(intake.mark_committed)


def _problem(error: FormatError) -> LineProblem:
    return LineProblem(error.file, error.line, error.text, error.message)
