"""The report of a loaded file: counts, bad lines, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


class Problem(NamedTuple):
    """One bad line.

    `line` is None for the file as a whole; `text` is None where the line is not available.
    """

    file: str
    line: int | None
    text: str | None
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

    file: str
    read: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    rows: dict[str, RowCounts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    # Rows that break rules of the project's kind (at most MAX_SHOWN), and the number of all.
    broken_rules: list[Problem] = field(default_factory=list)
    broken: int = 0
    # The format that a refused file is likely to have; None if it is not known.
    likely_format: str | None = None
    # Machines' claims under earlier versions of narratives that a lead may carry over.
    claims_to_carry: int = 0
    notes: list[str] = field(default_factory=list)
    # Answers that become stale because narratives get another version: "3 judgments, 1 review".
    stale_answers: str = ""

    def refuse(self, problem: Problem) -> None:
        """Count a problem; store it unless MAX_SHOWN are stored already."""
        self.refused += 1
        if len(self.problems) < MAX_SHOWN:
            self.problems.append(problem)

    def report_broken(self, row: Problem) -> None:
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
        return {
            "file": self.file,
            "read": self.read,
            "new": self.new,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "refused": self.refused,
            "rows": {
                kind: {"new": counts.new, "changed": counts.changed, "unchanged": counts.unchanged}
                for kind, counts in self.nonempty_counts()
            },
            "problems": [problem._asdict() for problem in self.problems],
            "broken": self.broken,
            "broken_rules": [problem._asdict() for problem in self.broken_rules],
            "likely_format": self.likely_format,
            "claims_to_carry": self.claims_to_carry,
            "notes": list(self.notes),
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
