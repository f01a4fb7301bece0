"""The report of a loaded file: counts, bad lines, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, NamedTuple

# How many bad lines are stored and shown; all are counted.
MAX_SHOWN = 1_000

# Kinds of rows: the name in a report -> the name on a page, in the order of the page.
KINDS = {
    "queries": "Queries",
    "documents": "Documents",
    "texts": "Newer texts of documents",
    "candidates": "Candidates",
    "prior": "Earlier relevance",
    "pairs": "Instruction pairs",
    "narratives": "Narratives",
    "conditions": "Conditions",
    "runs": "Runs",
    "run_lines": "Lines of runs",
    "raters": "Raters",
    "judgments": "Judgments and claimed labels",
    "verdicts": "Verdicts",
    "flags": "Flags",
    "adjudications": "Adjudications",
    "rubrics": "Rubrics",
    "reviews": "Reviews",
    "decisions": "Decisions",
    "filter_decisions": "Decisions of a machine's filter",
    "taken_out": "Taken out",
}


class LineProblem(NamedTuple):
    """One bad line of a file."""

    file: str
    line: Annotated[int | None, "null: the file as a whole."]
    text: Annotated[str | None, "null: not available."]
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


@dataclass
class RowCounts:
    """Counts of the rows of one kind."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def total(self) -> int:
        """The number of rows of this kind that the file concerns."""
        return self.new + self.changed + self.unchanged


@dataclass
class FileReport:
    """The report of one file: counts of its records and of the resulting rows, and its errors.

    `new`, `changed` and `unchanged` count the file's own records (lines of a qrels file, topics,
    documents ...). For a refused file they are 0: nothing of it was loaded.
    """

    api_fields = (
        *("file", "read", "new", "changed", "unchanged", "refused", "rows", "problems"),
        *("broken", "broken_rules", "likely_format", "claims_to_carry", "notes"),
    )

    file: str
    read: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: Annotated[int, "Bad lines; if there is one, nothing of the file is loaded."] = 0
    rows: Annotated[dict[str, RowCounts], "By kind of rows."] = field(default_factory=dict)
    problems: Annotated[list[LineProblem], "The first thousand."] = field(default_factory=list)
    broken_rules: Annotated[list[LineProblem], "The first thousand rows that break rules."] = field(
        default_factory=list
    )
    broken: Annotated[int, "Rows that break rules of the project's kind."] = 0
    likely_format: Annotated[
        str | None, "The format that a refused file is likely to have; null: not known."
    ] = None
    claims_to_carry: Annotated[
        int, "Machines' claims under earlier versions of narratives that can be carried over."
    ] = 0
    notes: list[str] = field(default_factory=list)
    # Answers that become stale because narratives get another version: "3 judgments, 1 review".
    stale_answers: str = ""

    def refuse(self, problem: LineProblem) -> None:
        """Count a problem; store it unless MAX_SHOWN are stored already."""
        self.refused += 1
        if len(self.problems) < MAX_SHOWN:
            self.problems.append(problem)

    def report_broken(self, row: LineProblem) -> None:
        """Count a row that breaks a rule; store it unless MAX_SHOWN are stored already."""
        self.broken += 1
        if len(self.broken_rules) < MAX_SHOWN:
            self.broken_rules.append(row)

    def clear_broken(self) -> None:
        """Clear the rows that break rules, before they are searched for again."""
        self.broken = 0
        self.broken_rules.clear()

    def counts_of(self, kind: str) -> RowCounts:
        """Return the counts of one kind of rows, for the caller to increase."""
        return self.rows.setdefault(kind, RowCounts())

    def reset_loaded(self) -> None:
        """Reset the counts of loaded rows."""
        self.new = self.changed = self.unchanged = self.claims_to_carry = 0
        self.rows.clear()

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready values, kinds of rows in their usual order."""
        fields = {name: getattr(self, name) for name in self.api_fields}
        return fields | {
            "rows": {kind: asdict(counts) for kind, counts in self.nonempty_counts()},
            "problems": [problem._asdict() for problem in self.problems],
            "broken_rules": [row._asdict() for row in self.broken_rules],
        }

    def nonempty_counts(self) -> Iterator[tuple[str, RowCounts]]:
        """Yield the kinds that occurred, in the order of the page."""
        for kind in KINDS:
            if (counts := self.rows.get(kind)) is not None and counts.total:
                yield kind, counts


def totals(reports: Iterable[FileReport]) -> dict[str, int]:
    """Add up the counts of several files."""
    counted: Counter[str] = Counter(read=0, new=0, changed=0, unchanged=0, refused=0)
    for report in reports:
        for name in ("read", "new", "changed", "unchanged", "refused"):
            counted[name] += getattr(report, name)
    return dict(counted)
