"""The intake of one file, and the staging of each kind of record in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import IO, Any, ClassVar, NamedTuple

from annotate.collection.intake.report import MAX_SHOWN, FileReport, LineProblem, RowCounts
from annotate.projects.models import Membership, Project
from base import bulk
from base.bulk import Stage
from base.texts import code_not_in_names

# A place is one number that encodes a file of a folder and a line of that file.
LINES = 2**40


class Options(NamedTuple):
    """Options of an intake.

    `no_grade` is the value that means no grade. `pool` is the number of documents per query of a
    run that join the pool. `side` says under which narratives a run ranks them (a `Run.Side`; ""
    derives it from the ids on its lines).
    """

    no_grade: int | None = None
    pool: int = 0
    side: str = ""
    # Whether rows that break rules of the project's kind are loaded.
    despite_rules: bool = False
    # The upload (by key) that is loaded; None for a command or a preview.
    load: int | None = None
    # Whether machines' claims are carried over to new versions without claims in the file.
    carry_claims: bool = False


class Intake:
    """The loading of one file into a project: its report and its staged records."""

    def __init__(
        self,
        *,
        project: Project,
        report: FileReport,
        options: Options,
        content: Callable[[], IO[bytes]],
        dry_run: bool,
        now: datetime,
    ) -> None:
        self.project = project
        self.report = report
        self.options = options
        self.content = content
        self.dry_run = dry_run
        self.now = now
        # The newest narrative and candidate (by key) before the rows are written.
        self.newest_narrative = self.newest_candidate = 0
        self.files: list[str] = []
        self.params: dict[str, Any] = {
            "project": project.pk,
            "now": bulk.datetime_parameter(now),
        }
        self.committed = False
        # Current narratives (keys) that get a newer version, or are withdrawn, by the file.
        self.replaced_narratives: set[int] = set()
        self._numbers: dict[str, int] = {}
        self._staged: dict[type[StagedRecords], StagedRecords] = {}

    def stager_for(self, record: type) -> Callable[[Any, int], None]:
        """Return the function that stages records of this type."""
        for kind in _kinds:
            if record in kind.records:
                if kind not in self._staged:
                    self._staged[kind] = kind(self)
                return self._staged[kind].take
        raise TypeError(f"nothing takes a {record.__name__}")

    @property
    def staged(self) -> list[StagedRecords]:
        """The kinds of records in the file, in the order in which they are written."""
        return [self._staged[kind] for kind in _kinds if kind in self._staged]

    def has_records(self, kind: type[StagedRecords]) -> bool:
        """Return whether the file has records of this kind."""
        return kind in self._staged

    def encode_place(self, file: str, line: int | None) -> int:
        """Encode a line of a file as one number."""
        number = self._numbers.get(file)
        if number is None:
            number = self._numbers[file] = len(self.files)
            self.files.append(file)
        return number * LINES + (line or 0)

    def decode_place(self, place: int) -> tuple[str, int | None]:
        """Return the file and the line of a place."""
        return self.files[place // LINES], (place % LINES) or None

    def describe_place(self, place: int, beside: int) -> str:
        """Describe a place in words, for a message about the place `beside`."""
        file, line = self.decode_place(place)
        words = "the whole file" if line is None else f"line {line:,}"
        return words if file == self.decode_place(beside)[0] else f"{words} of {file}"

    def refuse(self, message: str, place: int | None = None) -> None:
        """Refuse the record at `place`, or the file as a whole."""
        file, line = (self.report.file, None) if place is None else self.decode_place(place)
        self.report.refuse(LineProblem(file, line, None, message))

    def refuse_rows(self, sql: str, sentence: Callable[..., str], **params: Any) -> int:
        """Refuse each row that `sql` finds; return their number.

        Its columns are n, place and the arguments of `sentence`.
        """
        rows, count = self._select_rows(sql, params)
        for _, place, *columns in rows:
            self.refuse(sentence(*columns), place)
        self.report.refused += count - len(rows)
        return count

    def report_broken_rows(self, sql: str, sentence: Callable[..., str], **params: Any) -> None:
        """Report each row that `sql` finds as breaking a rule. Parameters as in `refuse_rows`."""
        rows, count = self._select_rows(sql, params)
        for _, place, *columns in rows:
            file, line = self.decode_place(place)
            self.report.report_broken(LineProblem(file, line, None, sentence(*columns)))
        self.report.broken += count - len(rows)

    def _select_rows(self, sql: str, params: dict[str, Any]) -> tuple[list[tuple[Any, ...]], int]:
        """Return the first MAX_SHOWN rows that `sql` finds, and the number of all."""
        params = {**self.params, **params}
        everything = f"FROM ({sql}) AS found"
        rows = bulk.select(f"SELECT * {everything} ORDER BY n LIMIT {MAX_SHOWN}", params)
        if len(rows) < MAX_SHOWN:
            return rows, len(rows)
        return rows, bulk.number(f"SELECT COUNT(*) {everything}", params)

    def run(self, sql: str, **params: Any) -> int:
        """Execute a statement with the project's parameters; return the number of affected rows."""
        return bulk.run(sql, {**self.params, **params})

    def number(self, sql: str, **params: Any) -> int:
        """Return the one number that a query with the project's parameters selects."""
        return bulk.number(sql, {**self.params, **params})

    def row_counts(self, kind: str) -> RowCounts:
        """Return the counts of one kind of rows, for the caller to increase."""
        return self.report.counts_of(kind)

    def insert_candidates(self, rows: str, origin: str = "", **params: Any) -> int:
        """Insert the candidates that the project lacks, count them, and return their number.

        `rows` is a query for columns query, document (keys) and relevance. Without `origin` they
        are from earlier relevance, or from a list if they have none.
        """
        made = self.run(
            f"""
            INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
            SELECT x.query, x.document, x.relevance,
                CASE WHEN %(origin)s <> '' THEN %(origin)s
                    WHEN x.relevance IS NULL THEN 'listed' ELSE 'prior' END
            FROM ({rows}) x WHERE NOT EXISTS (
                SELECT 1 FROM annotate_candidate c
                WHERE c.query_id = x.query AND c.document_id = x.document
            )
            ORDER BY x.query, x.document
            """,  # noqa: S608 (our own statements)
            origin=origin,
            **params,
        )
        self.row_counts("candidates").new += made
        return made

    def add_raters(self, names: str) -> None:
        """Create raters without a login for unknown names.

        `names` is a query for columns n, place, name and machine (1, 0). Refused: a machine with
        the name of a person, and a new name with a control character.
        """
        self.refuse_rows(
            f"""
            SELECT MIN(x.n) AS n, MIN(x.place) AS place, x.name FROM ({names}) x
            JOIN annotate_membership m ON m.project_id = %(project)s AND m.name = x.name
            WHERE x.machine = 1 AND NOT m.is_machine GROUP BY x.name
            """,  # noqa: S608 (our own statements)
            lambda name: f"“{name}” is a person in this project; a machine needs another name",
        )
        raters = bulk.select(
            f"""
            SELECT x.name, MAX(x.machine), SUM(CASE WHEN m.id IS NULL THEN 1 ELSE 0 END)
            FROM ({names}) x
            LEFT JOIN annotate_membership m ON m.project_id = %(project)s AND m.name = x.name
            WHERE x.name IS NOT NULL GROUP BY x.name ORDER BY x.name
            """,  # noqa: S608
            self.params,
        )
        fresh = [(name, machine) for name, machine, missing in raters if missing]
        for name, _machine in fresh:
            if code := code_not_in_names(name):
                self.refuse_rows(
                    f"SELECT MIN(n) AS n, MIN(place) AS place FROM ({names}) x "  # noqa: S608
                    "WHERE name = %(name)s",
                    lambda code=code: f"a person's or machine's name contains {code}; remove it",
                    name=name,
                )
        Membership.objects.bulk_create(
            [
                Membership(
                    project=self.project,
                    name=name,
                    is_machine=bool(machine),
                    joined_at=self.now,
                )
                for name, machine in fresh
            ],
            batch_size=1_000,
        )
        counts = self.row_counts("raters")
        counts.new += len(fresh)
        counts.unchanged += len(raters) - len(fresh)

    def mark_committed(self) -> None:
        """Note that the transaction with the rows was committed."""
        self.committed = True

    def close(self) -> None:
        """Drop every stage."""
        for records in self._staged.values():
            records.close()


def placed_rows(stage: str) -> str:
    """Return the clauses that join rows `s` of a stage to their queries `q` and documents `d`."""
    return f"""
        FROM {stage} s CROSS JOIN annotate_query q CROSS JOIN annotate_document d
        WHERE q.project_id = %(project)s AND q.query_id = s.query_id
        AND d.project_id = %(project)s AND d.doc_id = s.doc_id
        """


class StagedRecords(ABC):
    """The records of one kind in a file, staged until all of the file is read.

    `check` finds contradictions between lines, in the stages alone. `write` runs inside the one
    transaction: it refuses records that do not fit the project's rows, and writes the rest.
    """

    records: ClassVar[tuple[type, ...]]
    # Kinds with a lower order are written first.
    order: ClassVar[int]
    # Whether its records define their queries, instead of only naming them.
    defines_queries: ClassVar[bool] = False
    # The name of a temporary table of the project's rows that differ from the file's.
    differing: ClassVar[str] = ""

    def __init__(self, intake: Intake) -> None:
        self.intake = intake
        self.taken = 0
        self.new = 0
        self.changed = 0
        self.stages: list[Stage] = []

    def create_stage(self, name: str, /, **columns: str) -> Stage:
        """Create a stage that `close` drops."""
        made = Stage(name, {"place": "integer", **columns})
        self.stages.append(made)
        return made

    @abstractmethod
    def take(self, record: Any, place: int) -> None:
        """Stage a record, or refuse it."""

    def query_ids(self) -> list[str]:
        """Return SQL for the ids of all queries named, columns query_id and n, a number of the row.

        Queries are created in the order of n.
        """
        return []

    def doc_ids(self) -> list[str]:
        """Return SQL for the ids of documents named but not contained, column doc_id."""
        return []

    def check(self) -> None:  # noqa: B027 (many have nothing to check)
        """Refuse lines that contradict each other."""

    @abstractmethod
    def write(self) -> None:
        """Write the rows; count new and changed records."""

    def undo_side_effects(self) -> None:  # noqa: B027 (many have nothing to put back)
        """Undo side effects after the transaction was rolled back."""

    def close(self) -> None:
        """Drop the stages and the table of differing rows."""
        for stage in self.stages:
            stage.drop()
        if self.differing:
            bulk.drop(self.differing)

    def refuse_contradictions(
        self, stage: Stage, keys: Sequence[str], differs: str, sentence: Callable[..., str]
    ) -> None:
        """Refuse rows that contradict an earlier row with the same key; drop exact repeats.

        `differs` compares a row `s` with the first row `f` of its key. `sentence` takes the first
        place in words, then the keys.
        """
        columns = ", ".join(keys)
        bulk.drop("stage_twice")
        self.intake.run(
            f"""
            CREATE TEMPORARY TABLE stage_twice AS
            SELECT {columns}, MIN(n) AS first FROM {stage.name}
            GROUP BY {columns} HAVING COUNT(*) > 1
            """  # noqa: S608
        )
        if bulk.number("SELECT COUNT(*) FROM stage_twice"):
            same_key = " AND ".join(f"s.{key} = t.{key}" for key in keys)
            key_columns = ", ".join(f"s.{key}" for key in keys)
            repeats = f"""
                FROM stage_twice t
                CROSS JOIN {stage.name} f
                CROSS JOIN {stage.name} s
                WHERE f.n = t.first AND s.n <> t.first AND {same_key}
                """
            self.intake.refuse_rows(
                f"SELECT s.n, s.place, s.place AS at, f.place AS first, {key_columns} "
                f"{repeats} AND ({differs})",
                lambda place, first, *ids: sentence(self.intake.describe_place(first, place), *ids),
            )
            if not self.intake.report.refused:
                self.intake.run(f"DELETE FROM {stage.name} WHERE n IN (SELECT s.n {repeats})")  # noqa: S608
        bulk.drop("stage_twice")


_kinds: list[type[StagedRecords]] = []


def register(*kinds: type[StagedRecords]) -> None:
    """Register kinds of records to load; each is written in its `order`."""
    _kinds.extend(kind for kind in kinds if kind not in _kinds)
    _kinds.sort(key=lambda kind: kind.order)
