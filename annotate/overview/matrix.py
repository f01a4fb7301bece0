"""Documents x people: what each said of each document under the narratives in force.

A row is a candidate under one narrative in force; rows come by pair and candidate, in pages that a
key opens. No document's text is read here, and no grade that the reader may not know yet.
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
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotate.collection.models import Candidate
from annotate.collection.unseen import IsSeen, Unseen
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.consensus import Outcome, State, consensus
from annotate.judgments.models import Adjudication, Flag, Judgment
from annotate.pairs.models import Assignment, Narrative
from annotate.pairs.pool import narratives_in_force
from annotate.projects.models import Membership, Project

SIZE = 50
_JUDGE = Assignment.Task.JUDGE


class CellState(StrEnum):
    """How a person stands with a document."""

    JUDGED = "judged"
    FLAGGED = "flagged"
    # Judged under an older version of the narrative, or of the document's text, only.
    STALE = "stale"
    # The assignment is taken, and nothing said yet.
    TAKEN = "taken"
    EMPTY = "empty"
    # Not for the reader, who judges here and has not judged this document yet.
    HIDDEN = "hidden"


class Wanted(StrEnum):
    """Which rows are asked for: by what somebody (or the chosen person) said, or what it comes to.

    OPEN are documents of which too few people have spoken.
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
    """What one person said of one document."""

    said: CellState
    relevance: int | None = None
    # Of a flag its kind in words; of a stale judgment the version of the narrative it was made
    # under.
    words: str = ""
    kind: str = ""
    # Of a judgment that is stale because the document has a newer text: the version it was made of.
    text: int | None = None


class Key(NamedTuple):
    """The place of a row in the list."""

    pair: int
    candidate: int

    def __str__(self) -> str:
        return f"{self.pair}~{self.candidate}"

    @classmethod
    def parse(cls, text: str) -> Key | None:
        """Read a key as `str` writes it; None for what is none."""
        parts = text.split("~")
        if len(parts) != 2 or not all(part.isdecimal() and len(part) < 19 for part in parts):
            return None
        return cls(int(parts[0]), int(parts[1]))


@dataclass
class Row:
    """One document under one narrative in force, with a cell for each person."""

    narrative: Narrative
    candidate: Candidate
    # None while others' answers are hidden from the reader.
    outcome: Outcome | None
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True)
class Matrix:
    """A page of the matrix. `before` and `after` open the pages around it; None: there is none."""

    people: list[Membership]
    rows: list[Row]
    before: Key | None
    after: Key | None


@dataclass(frozen=True)
class Asked:
    """What is looked for: in one query (by key) or category, of one person (by key), in one state,
    where two people gave these two grades.

    Of the category "-" are pairs that name none.
    """

    query: int | None = None
    category: str = ""
    person: int | None = None
    state: Wanted | None = None
    grades: tuple[int, int] | None = None
    after: Key | None = None
    before: Key | None = None


def people_of(project: Project) -> list[Membership]:
    """Who has a column: people who hold an assignment of a judge or have judged, by name; one
    query.
    """
    assignments = Assignment.objects.filter(member=OuterRef("pk"), task=_JUDGE)
    said = Judgment.objects.filter(annotator=OuterRef("pk"))
    found = project.memberships.people().filter(Exists(assignments) | Exists(said))
    return list(found.order_by("name"))


def matrix(reader: Membership, people: Sequence[Membership], asked: Asked) -> Matrix:
    """Return a page of the matrix as the reader, a lead, may see it: eight queries.

    `people` have the columns. Where more than half decide, some rows only seem disputed; then what
    comes behind them is read as well.
    """
    people = list(people)
    if asked.person is not None:
        people = [one for one in people if one.pk == asked.person]
    blind = blind_pairs(reader)
    found = _rows(reader, asked, people, blind, SIZE + 1)
    if asked.before is not None:
        rows, more = found[:SIZE][::-1], len(found) > SIZE
        before = _key(rows[0]) if more else None
        after = _key(rows[-1]) if rows else None
    else:
        rows, more = found[:SIZE], len(found) > SIZE
        before = _key(rows[0]) if rows and asked.after is not None else None
        after = _key(rows[-1]) if more else None
    return Matrix(people, rows, before, after)


def count(reader: Membership, asked: Asked) -> int:
    """How many rows there are in a query, a category or the project, whatever their state: one
    query.
    """
    return _all(reader.project, asked).count()


def _rows(
    reader: Membership, asked: Asked, people: Sequence[Membership], blind: set[int], size: int
) -> list[Row]:
    """The rows in the order in which they are walked, `size` of them if there are so many."""
    found: list[Row] = []
    place = asked.before or asked.after
    backward = asked.before is not None
    wanted = _filtered(reader, asked, blind)
    while True:
        rows = _behind(wanted, place, backward=backward)
        keys = list(rows.values_list("pk", "pair_id", "candidate")[:size])
        filled = _fill(reader, keys, people, blind)
        if asked.state is Wanted.DISPUTED:
            filled = [row for row in filled if row.outcome and row.outcome.state is State.DISPUTED]
        found += filled
        if len(keys) < size or len(found) >= size:
            return found[:size]
        place = Key(*keys[-1][1:])


def _all(project: Project, asked: Asked) -> QuerySet[Any, Any]:
    """Every narrative in force with every candidate that is judged under it."""
    rows = narratives_in_force(project)
    if asked.query is not None:
        rows = rows.filter(pair__query=asked.query)
    if asked.category:
        rows = rows.filter(pair__category="" if asked.category == "-" else asked.category)
    rows = rows.annotate(
        candidate=F("pair__query__candidates__pk"),
        prior=F("pair__query__candidates__prior_relevance"),
        removed_at=F("pair__query__candidates__removed_at"),
    ).filter(
        IsSeen(F("candidate"), kind=Unseen.Kind.CANDIDATE),
        candidate__isnull=False,
        removed_at__isnull=True,
    )
    if project.judge_scope == Project.Scope.RELEVANT:
        rows = rows.filter(prior__gte=project.relevant_from)
    return rows


def _behind(rows: QuerySet[Any, Any], place: Key | None, *, backward: bool) -> QuerySet[Any, Any]:
    way = "lt" if backward else "gt"
    if place is not None:
        # The first of the two says nothing new, and lets an index find where to begin.
        rows = rows.filter(**{f"pair_id__{way}e": place.pair}).filter(
            Q(**{f"pair_id__{way}": place.pair})
            | Q(pair_id=place.pair, **{f"candidate__{way}": place.candidate})
        )
    return (
        rows.order_by("-pair_id", "-candidate")
        if backward
        else rows.order_by("pair_id", "candidate")
    )


def _filtered(reader: Membership, asked: Asked, blind: set[int]) -> QuerySet[Any, Any]:
    """The rows in the state that is asked for. Disputed ones only by what all of them show: that
    grades differ; `annotate.judgments.consensus` says which of them are.
    """
    rows = _all(reader.project, asked)
    if asked.state is None and asked.grades is None:
        return rows
    here = {"narrative": OuterRef("pk"), "candidate": OuterRef("candidate")}
    who: dict[str, Any] = (
        {"annotator__is_machine": False} if asked.person is None else {"annotator": asked.person}
    )
    said = Judgment.objects.current().filter(**here, **who)
    flags = Flag.objects.current().filter(**here, **who)
    everybody = Judgment.objects.current().of_people().filter(**here)
    if blind and (asked.person != reader.pk or asked.grades):
        # What others said of them is not for this reader yet, so no filter may tell it either.
        rows = rows.filter(~Q(pair__in=blind) | Exists(everybody.filter(annotator=reader)))
    for grade in asked.grades or ():
        rows = rows.filter(Exists(everybody.filter(relevance=grade)))
    if asked.state is None:
        return rows
    narrowed: dict[Wanted, Callable[[], QuerySet[Any, Any]]] = {
        Wanted.JUDGED: lambda: rows.filter(Exists(said)),
        Wanted.FLAGGED: lambda: rows.filter(Exists(flags)),
        Wanted.STALE: lambda: rows.filter(Exists(_stale(who))),
        Wanted.TAKEN: lambda: rows.filter(Exists(_waiting(asked.person))),
        Wanted.EMPTY: lambda: rows.filter(
            ~Exists(said), ~Exists(flags), ~Exists(_assignments(asked.person)), ~Exists(_stale(who))
        ),
        Wanted.OPEN: lambda: _open(rows, reader.project, everybody, here),
        Wanted.DISPUTED: lambda: rows.filter(
            ~Exists(Adjudication.objects.current().filter(**here)),
            Exists(everybody.filter(_others_differ())),
        ),
        Wanted.SETTLED: lambda: rows.filter(Exists(Adjudication.objects.current().filter(**here))),
    }
    found: QuerySet[Any, Any] = narrowed[asked.state]()
    if asked.person is not None and asked.state in {Wanted.DISPUTED, Wanted.SETTLED}:
        found = found.filter(Exists(said))
    return found


def _assignments(person: int | None) -> QuerySet[Assignment]:
    assignments = Assignment.objects.filter(pair=OuterRef("pair_id"), task=_JUDGE)
    return assignments if person is None else assignments.filter(member=person)


def _waiting(person: int | None) -> QuerySet[Assignment]:
    """Assignments whose person has said nothing of the candidate, not even once."""
    said = {"candidate": OuterRef(OuterRef("candidate")), "annotator": OuterRef("member")}
    now = {"narrative": OuterRef(OuterRef("pk")), **said}
    once = {
        "narrative__pair": OuterRef("pair_id"),
        "narrative__side": OuterRef(OuterRef("side")),
        **said,
    }
    # What most have said is found by an index; only who has not is looked for in older versions.
    return _assignments(person).filter(
        ~Exists(Judgment.objects.current().filter(**now)),
        ~Exists(Flag.objects.current().filter(**now)),
        ~Exists(Judgment.objects.standing().filter(**once)),
    )


def _stale(who: dict[str, Any]) -> QuerySet[Judgment]:
    """Judgments under an older version of the narrative or the text, of who has said nothing under
    those in force.
    """
    now = {
        "narrative": OuterRef(OuterRef("pk")),
        "candidate": OuterRef(OuterRef("candidate")),
        "annotator": OuterRef("annotator"),
    }
    return (
        Judgment.objects.standing()
        .filter(
            Q(narrative__version__lt=OuterRef("version")) | Q(text_replaced_at__isnull=False),
            narrative__pair=OuterRef("pair_id"),
            narrative__side=OuterRef("side"),
            candidate=OuterRef("candidate"),
            **who,
        )
        .filter(~Exists(Judgment.objects.current().filter(**now)))
        .filter(~Exists(Flag.objects.current().filter(**now)))
    )


def _others_differ() -> Exists:
    """Of a judgment: somebody else gave another grade."""
    other = (
        Judgment.objects.current()
        .of_people()
        .filter(narrative=OuterRef("narrative"), candidate=OuterRef("candidate"))
    )
    return Exists(other.exclude(relevance=OuterRef("relevance")))


def _open(
    rows: QuerySet[Any, Any], project: Project, said: QuerySet[Judgment], here: dict[str, Any]
) -> QuerySet[Any, Any]:
    """Fewer people have judged or flagged for good than are asked."""

    def number(of: QuerySet[Any, Any]) -> Coalesce:
        counted = of.order_by().values("candidate").annotate(n=Count("pk")).values("n")
        return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))

    flags = Flag.objects.current().filter(**here, annotator__is_machine=False)
    final = flags.exclude(kind=Flag.Kind.LATER)
    counted: QuerySet[Any, Any] = rows.annotate(spoken=number(said) + number(final))
    return counted.filter(spoken__lt=project.overlap_judge)


def _key(row: Row) -> Key:
    return Key(row.narrative.pair_id, row.candidate.pk)


def _fill(
    reader: Membership,
    keys: Sequence[tuple[int, int, int]],
    people: Sequence[Membership],
    blind: set[int],
) -> list[Row]:
    """Read what stands in these rows (narrative, pair, candidate): seven queries."""
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk({narrative for narrative, _, _ in keys})
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        {candidate for _, _, candidate in keys}
    )
    said = _cells_of(keys, {one.pair_id: one.side for one in narratives.values()})
    assignments = set(
        Assignment.objects.filter(pair__in={pair for _, pair, _ in keys}, task=_JUDGE).values_list(
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
        cells = said.get((narrative, candidate), {})
        own = cells.get(reader.pk)
        hidden = pair in blind and (own is None or own.said is not CellState.JUDGED)
        grades = [cell.relevance for cell in cells.values() if cell.said is CellState.JUDGED]
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
    """What people said, by narrative and candidate, then by person: three queries."""
    found: dict[tuple[int, int], dict[int, Cell]] = defaultdict(dict)
    in_force = {(pair, candidate): narrative for narrative, pair, candidate in keys}
    for pair, candidate, annotator, relevance, version, text in _older(keys, sides):
        if (pair, candidate) in in_force:
            cell = Cell(CellState.STALE, relevance, str(version), text=text)
            found[in_force[pair, candidate], candidate][annotator] = cell
    under = {
        "narrative__in": {narrative for narrative, _, _ in keys},
        "candidate__in": {candidate for _, _, candidate in keys},
        "annotator__is_machine": False,
    }
    for flag in Flag.objects.current().filter(**under):
        cell = Cell(CellState.FLAGGED, None, flag.get_kind_display(), flag.kind)
        found[flag.narrative_id, flag.candidate_id][flag.annotator_id] = cell
    judgments = Judgment.objects.current().filter(**under)
    for narrative, candidate, annotator, relevance in judgments.values_list(
        "narrative_id", "candidate_id", "annotator_id", "relevance"
    ):
        found[narrative, candidate][annotator] = Cell(CellState.JUDGED, relevance)
    return found


def _older(
    keys: Sequence[tuple[int, int, int]], sides: Mapping[int, str]
) -> Iterator[tuple[int, int, int, int, int, int | None]]:
    """Judgments under older versions of the pairs' sides or of the documents' texts, the oldest
    first, with the version of the text if it is an older one.
    """
    rows = (
        Judgment.objects.standing()
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
