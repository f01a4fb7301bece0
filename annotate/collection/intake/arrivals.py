"""The intake of one file, and the staging of each kind of record in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import IO, Any, ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import Count, F, Min, QuerySet, Value, Window
from django.db.models.functions import FirstValue

from annotate.collection.intake.report import MAX_SHOWN, FileReport, LineProblem, RowCounts
from annotate.projects.models import Membership, Project
from base import bulk
from base.stages import Stage, StagedRow
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

    def refuse_rows(
        self, rows: QuerySet[Any] | str, sentence: Callable[..., str], **params: Any
    ) -> int:
        """Refuse each of these rows (a query in SQL has the project's parameters, and `params`).

        Their columns are n, place and the arguments of `sentence`. Returns their number.
        """
        first, count = self._first_rows(rows, params)
        for _, place, *columns in first:
            self.refuse(sentence(*columns), place)
        self.report.refused += count - len(first)
        return count

    def refuse_repeats(
        self, rows: QuerySet[Any] | str, sentence: Callable[..., str], **params: Any
    ) -> None:
        """Refuse each of these rows because of an earlier one; as `refuse_rows`.

        Their third column is the place of the earlier row, which `sentence` takes in words.
        """
        first, count = self._first_rows(rows, params)
        for _, place, earlier, *columns in first:
            self.refuse(sentence(self.describe_place(earlier, place), *columns), place)
        self.report.refused += count - len(first)

    def report_broken_rows(
        self, rows: QuerySet[Any] | str, sentence: Callable[..., str], **params: Any
    ) -> None:
        """Report each of these rows as breaking a rule. Parameters as in `refuse_rows`."""
        first, count = self._first_rows(rows, params)
        for _, place, *columns in first:
            file, line = self.decode_place(place)
            self.report.report_broken(LineProblem(file, line, None, sentence(*columns)))
        self.report.broken += count - len(first)

    def _first_rows(
        self, rows: QuerySet[Any] | str, params: dict[str, Any]
    ) -> tuple[list[tuple[Any, ...]], int]:
        """Return the first MAX_SHOWN rows in the order of `n`, and the number of all."""
        if isinstance(rows, QuerySet):
            first = list(rows.order_by("n")[:MAX_SHOWN])
            return first, len(first) if len(first) < MAX_SHOWN else rows.count()
        params = {**self.params, **params}
        everything = f"FROM ({rows}) AS found"
        first = bulk.select(f"SELECT * {everything} ORDER BY n LIMIT {MAX_SHOWN}", params)
        if len(first) < MAX_SHOWN:
            return first, len(first)
        return first, bulk.number(f"SELECT COUNT(*) {everything}", params)

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

    def add_raters(self, *named: tuple[QuerySet[Any], str, str | Value]) -> None:
        """Create raters without a login for unknown names.

        `named`: rows of a stage, their field of a name, and their field that is 1 for a machine, or
        one value for all. Refused: a machine with the name of a person, and a new name with a
        control character.
        """
        lines: dict[str, list[tuple[int, int, int]]] = {}
        for staged, name, machine in named:
            names = staged.exclude(**{name: None}).values_list(name, machine)
            for rater, is_machine, n, place in names.annotate(Min("n"), Min("place")):
                lines.setdefault(rater, []).append((n, place, is_machine))
        members = Membership.objects.filter(project=self.project)
        known = dict(members.values_list("name", "is_machine"))
        machines = [
            (*min(line for line in rows if line[2]), name)
            for name, rows in lines.items()
            if not known.get(name, True) and any(line[2] for line in rows)
        ]
        for _, place, _, name in sorted(machines):
            self.refuse(
                f"“{name}” is a person in this project; a machine needs another name", place
            )
        fresh = sorted(lines.keys() - known.keys())
        for name in fresh:
            if code := code_not_in_names(name):
                self.refuse(
                    f"a person's or machine's name contains {code}; remove it", min(lines[name])[1]
                )
        Membership.objects.bulk_create(
            [
                Membership(
                    project=self.project,
                    name=name,
                    is_machine=any(line[2] for line in lines[name]),
                    joined_at=self.now,
                )
                for name in fresh
            ],
            batch_size=1_000,
        )
        counts = self.row_counts("raters")
        counts.new += len(fresh)
        counts.unchanged += len(lines) - len(fresh)

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


class StagedLine(StagedRow):
    """A row of a stage with the place of its record in the file."""

    place = models.BigIntegerField()

    class Meta(StagedRow.Meta):
        abstract = True


class NamedQuery(models.Model):
    """A query that the file names, in the order of `n`; `fresh` is 1 if the project lacks it."""

    query_id = models.TextField(primary_key=True)
    n = models.BigIntegerField()
    fresh = models.IntegerField()

    objects: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta(StagedRow.Meta):
        db_table = "stage_query_ids"

    def __str__(self) -> str:
        return self.query_id


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

    def create_stage(self, model: type[StagedLine]) -> Stage:
        """Create a stage that `close` drops."""
        made = Stage(model)
        self.stages.append(made)
        return made

    @abstractmethod
    def take(self, record: Any, place: int) -> None:
        """Stage a record, or refuse it."""

    def query_ids(self) -> list[QuerySet[Any]]:
        """Return the ids of all queries named, each with `n`: queries are created in that order."""
        return []

    def doc_ids(self) -> list[QuerySet[Any]]:
        """Return the ids of documents named but not contained."""
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
        self,
        staged: QuerySet[Any],
        keys: Sequence[str],
        content: Sequence[str],
        sentence: Callable[..., str],
    ) -> None:
        """Refuse rows that contradict an earlier row with the same key; drop exact repeats.

        Rows contradict each other if a field of `content` differs. `sentence` takes the first
        place in words, then the keys.
        """
        repeated = staged.values(*keys).annotate(lines=Count("n")).filter(lines__gt=1)
        if not repeated.exists():
            return
        repeats = staged.annotate(
            **{
                f"first_{name}": Window(FirstValue(name), partition_by=list(keys), order_by="n")
                for name in ("n", "place", *content)
            }
        ).filter(n__gt=F("first_n"))
        if content:
            different = repeats.exclude(**{name: F(f"first_{name}") for name in content})
            self.intake.refuse_repeats(
                different.values_list("n", "place", "first_place", *keys), sentence
            )
        if not self.intake.report.refused:
            staged.filter(n__in=repeats.values("n")).delete()


_kinds: list[type[StagedRecords]] = []


def register(*kinds: type[StagedRecords]) -> None:
    """Register kinds of records to load; each is written in its `order`."""
    _kinds.extend(kind for kind in kinds if kind not in _kinds)
    _kinds.sort(key=lambda kind: kind.order)
