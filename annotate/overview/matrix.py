"""The matrix: documents x people, with each person's answer under the current narratives.

A row is a candidate under one current narrative. Rows are ordered by pair and candidate, and pages
begin at a key. No document's text is read, and no grade is shown that the reader may not know yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.consensus import Outcome, State, consensus
from annotate.judgments.document_names import Name, names_for
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Flag, Judgment, Statement
from annotate.pairs.models import Assignment, Narrative
from annotate.pairs.pool import in_pool_of, judged_narratives
from annotate.projects.models import Membership, Project

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


class Wanted(TextChoices):
    """Rows that can be asked for: by an answer of anybody (or the chosen person), or by outcome."""

    OPEN = "open", "Too few have judged"
    DISPUTED = "disputed", "Disputed"
    SETTLED = "settled", "Settled"
    JUDGED = "judged", "Judged"
    FLAGGED = "flagged", "Flagged"
    STALE = "stale", "Stale: judged under an older narrative or text"
    TAKEN = "taken", "Task taken, not judged"
    EMPTY = "empty", "Nobody has it"


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
    # The document's name as the reader may see it.
    name: Name
    # None while others' answers are hidden from the reader.
    outcome: Outcome[int] | None
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
    """Return these rows (narrative, pair, candidate) with their cells: nine queries."""
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
        Assignment.objects.keeping_their_places()
        .filter(pair__in={pair for _, pair, _ in keys}, task=JUDGE)
        .values_list("pair_id", "member_id")
    )
    under = {"narrative__in": list(narratives), "candidate__in": list(candidates)}
    settled = Adjudication.objects.current().filter(**under).values_by_question()
    rule = reader.project.consensus
    names = names_for(reader, list(candidates.values()))
    rows = []
    for narrative, pair, candidate in keys:
        cells = by_document.get((narrative, candidate), {})
        own = cells.get(reader.pk)
        hidden = pair in blind and (own is None or own.state is not CellState.JUDGED)
        grades = [cell.relevance for cell in cells.values() if cell.state is CellState.JUDGED]
        row = Row(
            narratives[narrative],
            candidates[candidate],
            names[candidate],
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


SIZE = 50


@dataclass(frozen=True)
class Asked:
    """The rows to show: those that match every field that is set.

    `query` and `person` are keys. The category "-" stands for pairs that name none. `grades`: two
    people gave these two grades. `after` and `before` are keys of rows, for the pages.
    """

    query: int | None = None
    category: str = ""
    person: int | None = None
    state: Wanted | None = None
    grades: tuple[int, int] | None = None
    after: Key | None = None
    before: Key | None = None


def people_of(project: Project) -> list[Membership]:
    """Return the people who have a column, by name: one query.

    They hold an assignment to judge, or have judged or flagged a document, of what is not taken
    out.
    """
    assignments = Assignment.objects.filter(
        member=OuterRef("pk"), task=JUDGE, pair__removed_at=None
    )
    answered = Statement.objects.filter(
        in_pools(), annotator=OuterRef("pk"), narrative__pair__removed_at=None
    )
    people = project.memberships.people().filter(Exists(assignments) | Exists(answered))
    return list(people.order_by("name"))


def matrix(reader: Membership, people: Sequence[Membership], asked: Asked) -> Matrix:
    """Return a page of the matrix as the reader, a lead, may see it: ten queries.

    `people` have the columns. If a majority decides, some rows only seem disputed; they are left
    out, and the rows after them are read in their place.
    """
    people = list(people)
    if asked.person is not None:
        people = [person for person in people if person.pk == asked.person]
    blind = blind_pairs(reader)
    matching = _rows(reader, asked, people, blind, SIZE + 1)
    if asked.before is not None:
        rows, more = matching[:SIZE][::-1], len(matching) > SIZE
        before = _key_of(rows[0]) if more else None
        after = _key_of(rows[-1]) if rows else None
    else:
        rows, more = matching[:SIZE], len(matching) > SIZE
        before = _key_of(rows[0]) if rows and asked.after is not None else None
        after = _key_of(rows[-1]) if more else None
    return Matrix(people, rows, before, after)


def count(reader: Membership, asked: Asked) -> int:
    """Count the rows of a query, a category or the project, in any state: one query."""
    return _all_rows(reader.project, asked).count()


def _rows(
    reader: Membership, asked: Asked, people: Sequence[Membership], blind: set[int], size: int
) -> list[Row]:
    """Return up to `size` rows after the key, or before it in descending order."""
    collected: list[Row] = []
    place = asked.before or asked.after
    backward = asked.before is not None
    wanted = _matching_rows(reader, asked, blind)
    while True:
        rows = _rows_beyond(wanted, place, backward=backward)
        keys = list(rows.values_list("pk", "pair_id", "candidate")[:size])
        filled = fill_cells(reader, keys, people, blind)
        if asked.state is Wanted.DISPUTED:
            filled = [row for row in filled if row.outcome and row.outcome.state is State.DISPUTED]
        collected += filled
        if len(keys) < size or len(collected) >= size:
            return collected[:size]
        place = Key(*keys[-1][1:])


def _all_rows(project: Project, asked: Asked) -> QuerySet[Any, Any]:
    """Select every current narrative with every candidate that is judged under it."""
    rows = judged_narratives(project)
    if asked.query is not None:
        rows = rows.filter(pair__query=asked.query)
    if asked.category:
        rows = rows.filter(pair__category="" if asked.category == "-" else asked.category)
    return rows.annotate(
        candidate=F("pair__query__candidates__pk"),
        prior_relevance=F("pair__query__candidates__prior_relevance"),
        removed_at=F("pair__query__candidates__removed_at"),
        made_for=F("pair__query__candidates__made_for"),
    ).filter(
        in_pool_of(F("pair")),
        shown_to_judges(project),
        candidate__isnull=False,
        removed_at__isnull=True,
    )


def _rows_beyond(
    rows: QuerySet[Any, Any], place: Key | None, *, backward: bool
) -> QuerySet[Any, Any]:
    way = "lt" if backward else "gt"
    if place is not None:
        # The first filter is redundant; with it the database finds the first row by an index.
        rows = rows.filter(**{f"pair_id__{way}e": place.pair}).filter(
            Q(**{f"pair_id__{way}": place.pair})
            | Q(pair_id=place.pair, **{f"candidate__{way}": place.candidate})
        )
    return (
        rows.order_by("-pair_id", "-candidate")
        if backward
        else rows.order_by("pair_id", "candidate")
    )


def _matching_rows(reader: Membership, asked: Asked, blind: set[int]) -> QuerySet[Any, Any]:
    """Select the rows in the state that is asked for.

    DISPUTED selects all rows whose grades differ; `annotate.judgments.consensus` then decides which
    of them are disputed.
    """
    rows = _all_rows(reader.project, asked)
    if asked.state is None and asked.grades is None:
        return rows
    here = {"narrative": OuterRef("pk"), "candidate": OuterRef("candidate")}
    who: dict[str, Any] = (
        {"annotator__is_machine": False} if asked.person is None else {"annotator": asked.person}
    )
    judged = Judgment.objects.current().filter(**here, **who)
    flags = Flag.objects.current().filter(**here, **who)
    everybody = Judgment.objects.current().of_people().filter(**here)
    if blind and (asked.person != reader.pk or asked.grades):
        # The reader may not know others' answers to them yet, so no filter may reveal these.
        rows = rows.filter(~Q(pair__in=blind) | Exists(everybody.filter(annotator=reader)))
    for grade in asked.grades or ():
        rows = rows.filter(Exists(everybody.filter(relevance=grade)))
    if asked.state is None:
        return rows
    narrowed: dict[Wanted, Callable[[], QuerySet[Any, Any]]] = {
        Wanted.JUDGED: lambda: rows.filter(Exists(judged)),
        Wanted.FLAGGED: lambda: rows.filter(Exists(flags)),
        Wanted.STALE: lambda: rows.filter(Exists(_stale_judgments(who))),
        Wanted.TAKEN: lambda: rows.filter(Exists(_unanswered_assignments(asked.person))),
        Wanted.EMPTY: lambda: rows.filter(
            ~Exists(judged),
            ~Exists(flags),
            ~Exists(_assignments(asked.person)),
            ~Exists(_stale_judgments(who)),
        ),
        Wanted.OPEN: lambda: _too_few_answers(rows, reader.project, here),
        Wanted.DISPUTED: lambda: rows.filter(
            ~Exists(Adjudication.objects.current().filter(**here)),
            Exists(everybody.filter(_others_differ())),
        ),
        Wanted.SETTLED: lambda: rows.filter(Exists(Adjudication.objects.current().filter(**here))),
    }
    narrowed_rows: QuerySet[Any, Any] = narrowed[asked.state]()
    if asked.person is not None and asked.state in {Wanted.DISPUTED, Wanted.SETTLED}:
        narrowed_rows = narrowed_rows.filter(Exists(judged))
    return narrowed_rows


def _assignments(person: int | None) -> QuerySet[Assignment]:
    kept = Assignment.objects.keeping_their_places()
    assignments = kept.filter(pair=OuterRef("pair_id"), task=JUDGE)
    return assignments if person is None else assignments.filter(member=person)


def _unanswered_assignments(person: int | None) -> QuerySet[Assignment]:
    """Select assignments whose person has never answered the candidate, under any version."""
    same = {"candidate": OuterRef(OuterRef("candidate")), "annotator": OuterRef("member")}
    now = {"narrative": OuterRef(OuterRef("pk")), **same}
    once = {
        "narrative__pair": OuterRef("pair_id"),
        "narrative__side": OuterRef(OuterRef("side")),
        **same,
    }
    # An index finds most people's answers; only for the others are older versions searched.
    return _assignments(person).filter(
        ~Exists(Statement.objects.current().filter(repeat=False, **now)),
        ~Exists(Judgment.objects.not_superseded().filter(**once)),
    )


def _stale_judgments(who: dict[str, Any]) -> QuerySet[Judgment]:
    """Select judgments under an older version of the narrative or of the text.

    Their annotators have no answer under the current versions.
    """
    now = {
        "narrative": OuterRef(OuterRef("pk")),
        "candidate": OuterRef(OuterRef("candidate")),
        "annotator": OuterRef("annotator"),
    }
    return (
        Judgment.objects.not_superseded()
        .filter(
            ~Q(narrative=OuterRef("pk")) | Q(text_replaced_at__isnull=False),
            narrative__pair=OuterRef("pair_id"),
            narrative__side=OuterRef("side"),
            candidate=OuterRef("candidate"),
            **who,
        )
        .filter(~Exists(Statement.objects.current().filter(repeat=False, **now)))
    )


def _others_differ() -> Exists:
    """Return the condition of a judgment that somebody else gave another grade."""
    other = (
        Judgment.objects.current()
        .of_people()
        .filter(narrative=OuterRef("narrative"), candidate=OuterRef("candidate"))
    )
    return Exists(other.exclude(relevance=OuterRef("relevance")))


def _too_few_answers(
    rows: QuerySet[Any, Any], project: Project, here: dict[str, Any]
) -> QuerySet[Any, Any]:
    """Select rows with fewer judgments and final flags than the project asks for."""
    answers = Statement.objects.current().final().of_people().filter(**here)
    number = answers.order_by().values("candidate").annotate(n=Count("pk")).values("n")
    counted: QuerySet[Any, Any] = rows.annotate(
        answered=Coalesce(Subquery(number, output_field=IntegerField()), Value(0))
    )
    return counted.filter(answered__lt=project.overlap_judge)


def _key_of(row: Row) -> Key:
    return Key(row.narrative.pair_id, row.candidate.pk)
