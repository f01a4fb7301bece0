"""The rows of the matrix, and the cells with each person's answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from django.db.models import (
    Case,
    When,
)
from django.db.models.functions import Coalesce

from annotate.collection.models import Candidate
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.models import Adjudication, Flag, Judgment, Statement
from annotate.pairs.models import Assignment, Narrative
from annotate.projects.models import Membership

JUDGE = Assignment.Task.JUDGE


class CellState(StrEnum):
    """State of one person's answer to one document."""

    JUDGED = "judged"
    FLAGGED = "flagged"
    # Judged only under an older version of the narrative or of the document's text.
    STALE = "stale"
    # The assignment is taken, but there is no answer yet.
    TAKEN = "taken"
    EMPTY = "empty"
    # Hidden from a reader who judges this pair and has not judged this document yet.
    HIDDEN = "hidden"


class Wanted(StrEnum):
    """Rows that can be asked for: by an answer of anybody (or the chosen person), or by outcome.

    OPEN: too few people have answered.
    """

    JUDGED = "judged"
    FLAGGED = "flagged"
    STALE = "stale"
    TAKEN = "taken"
    EMPTY = "empty"
    OPEN = "open"
    DISPUTED = "disputed"
    SETTLED = "settled"


class Cell(NamedTuple):
    """One person's answer to one document."""

    state: CellState
    relevance: int | None = None
    # Of a flag, its kind in words; of a stale judgment, the narrative version it was made under.
    words: str = ""
    kind: str = ""
    # If a judgment is stale because the document has a newer text: the text version it is of.
    text: int | None = None


class Key(NamedTuple):
    """The key of a row in the list."""

    pair: int
    candidate: int

    def __str__(self) -> str:
        return f"{self.pair}~{self.candidate}"

    @classmethod
    def parse(cls, text: str) -> Key | None:
        """Parse a key as `str` writes it; return None for anything else."""
        parts = text.split("~")
        if len(parts) != 2 or not all(part.isdecimal() and len(part) < 19 for part in parts):
            return None
        return cls(int(parts[0]), int(parts[1]))


@dataclass
class Row:
    """One document under one current narrative, with a cell for each person."""

    narrative: Narrative
    candidate: Candidate
    # None while others' answers are hidden from the reader.
    outcome: Outcome | None
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Matrix:
    """A page of the matrix. `before` and `after` are the keys of the pages around it, or None."""

    people: list[Membership]
    rows: list[Row]
    before: Key | None
    after: Key | None


def fill_cells(
    reader: Membership,
    keys: Sequence[tuple[int, int, int]],
    people: Sequence[Membership],
    blind: set[int],
) -> list[Row]:
    """Return these rows (narrative, pair, candidate) with their cells: seven queries."""
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk({narrative for narrative, _, _ in keys})
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        {candidate for _, _, candidate in keys}
    )
    by_document = _cells_of(
        keys, {narrative.pair_id: narrative.side for narrative in narratives.values()}
    )
    assignments = set(
        Assignment.objects.filter(pair__in={pair for _, pair, _ in keys}, task=JUDGE).values_list(
            "pair_id", "member_id"
        )
    )
    under = {"narrative__in": list(narratives), "candidate__in": list(candidates)}
    settled = {
        (narrative, candidate): relevance
        for narrative, candidate, relevance in Adjudication.objects.current()
        .filter(**under)
        .values_list("narrative_id", "candidate_id", "relevance")
    }
    rule = reader.project.consensus
    rows = []
    for narrative, pair, candidate in keys:
        cells = by_document.get((narrative, candidate), {})
        own = cells.get(reader.pk)
        hidden = pair in blind and (own is None or own.state is not CellState.JUDGED)
        grades = [cell.relevance for cell in cells.values() if cell.state is CellState.JUDGED]
        row = Row(
            narratives[narrative],
            candidates[candidate],
            None
            if hidden
            else consensus(
                [grade for grade in grades if grade is not None],
                rule,
                settled.get((narrative, candidate)),
            ),
        )
        for member in people:
            if hidden and member.pk != reader.pk:
                row.cells.append(Cell(CellState.HIDDEN))
            elif (pair, member.pk) in assignments:
                row.cells.append(cells.get(member.pk, Cell(CellState.TAKEN)))
            else:
                row.cells.append(cells.get(member.pk, Cell(CellState.EMPTY)))
        rows.append(row)
    return rows


def _cells_of(
    keys: Sequence[tuple[int, int, int]], sides: Mapping[int, str]
) -> dict[tuple[int, int], dict[int, Cell]]:
    """Return people's answers by narrative and candidate, then by person: two queries."""
    cells: dict[tuple[int, int], dict[int, Cell]] = defaultdict(dict)
    in_force = {(pair, candidate): narrative for narrative, pair, candidate in keys}
    for pair, candidate, annotator, relevance, version, text in _older_judgments(keys, sides):
        if (pair, candidate) in in_force:
            cell = Cell(CellState.STALE, relevance, str(version), text=text)
            cells[in_force[pair, candidate], candidate][annotator] = cell
    under = {
        "narrative__in": {narrative for narrative, _, _ in keys},
        "candidate__in": {candidate for _, _, candidate in keys},
        "annotator__is_machine": False,
    }
    statements = Statement.objects.current().filter(repeat=False, **under)
    for narrative, candidate, annotator, grade, flag in statements.values_list(
        "narrative_id", "candidate_id", "annotator_id", "relevance", "flag"
    ):
        cells[narrative, candidate][annotator] = (
            Cell(CellState.FLAGGED, None, Flag.Kind(flag).label, flag)
            if flag
            else Cell(CellState.JUDGED, grade)
        )
    return cells


def _older_judgments(
    keys: Sequence[tuple[int, int, int]], sides: Mapping[int, str]
) -> Iterator[tuple[int, int, int, int, int, int | None]]:
    """Yield judgments under older versions of the narratives or of the texts, the oldest first.

    The last value is the version of the text, if that is an older one.
    """
    rows = (
        Judgment.objects.not_superseded()
        .of_people()
        .filter(
            narrative__pair__in=sides,
            candidate__in={candidate for _, _, candidate in keys},
        )
        .exclude(
            narrative__in={narrative for narrative, _, _ in keys}, text_replaced_at__isnull=True
        )
        .order_by("narrative__version", Coalesce("text_version", 1))
        .values_list(
            "narrative__pair__pk",
            "narrative__side",
            "candidate_id",
            "annotator_id",
            "relevance",
            "narrative__version",
            Case(When(text_replaced_at__isnull=False, then=Coalesce("text_version", 1))),
        )
    )
    for pair, side, candidate, annotator, relevance, version, text in rows:
        if sides[pair] == side:
            yield pair, candidate, annotator, relevance, version, text
