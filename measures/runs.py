"""Runs and qrels as measures take them: scores to ranks, and sentences for bad input."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

Ties: TypeAlias = Literal["id_descending", "file"]
Missing: TypeAlias = Literal["after_last", "left_out"]


class Line(Protocol):
    """What a measure reads of a line of a run, such as ``formats.RunLine``."""

    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...
    @property
    def score(self) -> float: ...


Run: TypeAlias = "Mapping[str, Mapping[str, float]] | Iterable[Line] | Scores"
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]

# Ids that a warning names before it says how many more there are.
_NAMED = 5


class Scores:
    """A run whose ranks are looked up: prepared once, it can be given to every measure.

    Queries without documents count as missing. A document that occurs twice in a query keeps its
    higher score, at the place of its first line.

    Args:
        run: Scores by query and document, or lines of a run in any order.
        name: What the run is called in warnings, such as "original run".

    Raises:
        ValueError: a score that is not a finite number, or a run of another shape.
    """

    def __init__(self, run: Run, name: str = "run") -> None:
        self.name = name
        self.repeated = 0
        self._by_query: dict[str, Mapping[str, float]]
        # Scores of a query, ascending: small in memory, and bisect finds a rank in it.
        self._ascending: dict[str, array[float]] = {}
        if isinstance(run, Scores):
            self.repeated = run.repeated
            self._by_query, self._ascending = run._by_query, run._ascending
            return
        if isinstance(run, Mapping):
            self._by_query = {query: documents for query, documents in run.items() if documents}
        elif isinstance(run, Iterable):
            self._by_query = dict(self._grouped(run))
        else:
            raise ValueError(f"the {name} is {type(run).__name__}; give a mapping or lines")
        for query, documents in self._by_query.items():
            self._ascending[query] = self._checked(query, documents)

    def _grouped(self, lines: Iterable[Line]) -> Mapping[str, Mapping[str, float]]:
        grouped: dict[str, dict[str, float]] = {}
        for line in lines:
            try:
                query, document, score = line.query_id, line.doc_id, line.score
            except AttributeError:
                raise ValueError(
                    f"the {self.name} is no run: give a mapping of query to document to score, "
                    f"or lines with query_id, doc_id and score; found {line!r}"
                ) from None
            documents = grouped.setdefault(query, {})
            if document in documents:
                self.repeated += 1
                score = max(score, documents[document])
            documents[document] = score
        return grouped

    def _checked(self, query: str, documents: Mapping[str, float]) -> array[float]:
        if not isinstance(documents, Mapping):
            raise ValueError(
                f"query {query} of the {self.name}: documents are a mapping of id to score, "
                f"not {type(documents).__name__}"
            )
        scores = np.array(list(documents.values()))
        if scores.dtype.kind not in "fiu":
            raise ValueError(f"query {query} of the {self.name} has a score that is not a number")
        if not np.isfinite(scores).all():
            document, score = next(
                (document, score) for document, score in documents.items() if score - score != 0
            )
            raise ValueError(
                f"document {document} of query {query} in the {self.name} has the score {score}; "
                "give a finite number or leave the line out"
            )
        return array("d", np.sort(scores.astype(np.float64)).tobytes())

    def __contains__(self, query: object) -> bool:
        return query in self._by_query

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def size(self, query: str) -> int:
        """Number of documents of a query."""
        return len(self._ascending[query])

    def documents(self, query: str) -> Mapping[str, float]:
        """Scores of a query by document."""
        return self._by_query[query]

    def score(self, query: str, document: str) -> float | None:
        """Score of a document; None where the run lacks it."""
        return self._by_query[query].get(document)

    def rank(self, query: str, document: str, ties: Ties = "id_descending") -> int | None:
        """Rank of a document from 1, by score descending; None where the run lacks it.

        >>> run = Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0}})
        >>> [run.rank("q", document) for document in "abc"]
        [3, 2, 1]
        >>> [run.rank("q", document, "file") for document in "abc"]
        [2, 3, 1]
        """
        documents = self._by_query[query]
        score = documents.get(document)
        if score is None:
            return None
        ascending = self._ascending[query]
        upper = bisect_right(ascending, score)
        before = len(ascending) - upper
        if upper > 1 and ascending[upper - 2] == score:
            tied = [other for other, its in documents.items() if its == score]
            if ties == "file":
                before += tied.index(document)
            else:
                before += sum(other > document for other in tied)
        return before + 1

    def top(self, query: str, k: int, ties: Ties = "id_descending") -> list[str]:
        """The first k documents of a query.

        >>> run = Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0, "d": 1.0}})
        >>> run.top("q", 2), run.top("q", 2, "file")
        (['c', 'b'], ['c', 'a'])
        """
        ascending = self._ascending[query]
        least = ascending[max(0, len(ascending) - k)]
        items = [item for item in self._by_query[query].items() if item[1] >= least]
        if ties == "id_descending":
            items.sort(key=lambda item: item[0], reverse=True)
        items.sort(key=lambda item: -item[1])
        return [document for document, _ in items[:k]]

    def all_tied(self, queries: Iterable[str]) -> list[str]:
        """Queries with several documents that all have one score."""
        return [
            query
            for query in queries
            if query in self
            and self.size(query) > 1
            and self._ascending[query][0] == self._ascending[query][-1]
        ]


class Place(NamedTuple):
    """Rank and score of one document in one run; the score is None where the run lacks it."""

    rank: int
    score: float | None


def place_of(
    run: Scores, query: str, document: str, *, ties: Ties, missing: Missing
) -> Place | None:
    """Where a document stands; None where the run lacks it and missing documents are left out."""
    rank = run.rank(query, document, ties)
    if rank is not None:
        return Place(rank, run.score(query, document))
    return Place(run.size(query) + 1, None) if missing == "after_last" else None


def queries_of(count: int) -> str:
    """Count queries in words.

    >>> queries_of(1), queries_of(1200)
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def listed(ids: Collection[str]) -> str:
    """Name a few ids and how many more there are.

    >>> listed(["q2", "q1"]), listed([f"q{n}" for n in range(7)])
    ('q1, q2', 'q0, q1, q2, q3, q4 and 2 more')
    """
    named = sorted(map(str, ids))
    shown = ", ".join(named[:_NAMED])
    return f"{shown} and {len(named) - _NAMED:,} more" if len(named) > _NAMED else shown


def check_choice(name: str, value: object, kind: object) -> None:
    """Raise ValueError unless ``value`` is one of the literals of ``kind``."""
    choices = get_args(kind)
    if value not in choices:
        raise ValueError(f"{name} is {' or '.join(map(repr, choices))}, not {value!r}")


def warn_of_runs(
    runs: Iterable[Scores], wanted: Collection[str], *, ties: Ties | None = None
) -> list[str]:
    """Sentences about what runs lack, repeat or leave undecided.

    Args:
        runs: The runs of a measure.
        wanted: The queries it is computed on.
        ties: How ties are broken, where ranks count.
    """
    warnings = []
    for run in runs:
        lacking = [query for query in wanted if query not in run]
        if lacking:
            sentence = f"the {run.name} lacks {queries_of(len(lacking))} ({listed(lacking)})"
            warnings.append(sentence + _other_case(lacking, run))
        extra = [query for query in run if query not in wanted]
        if extra:
            warnings.append(
                f"the {run.name} has {queries_of(len(extra))} that the measure does not use "
                f"({listed(extra)})"
            )
        if run.repeated:
            warnings.append(
                f"{run.repeated:,} lines of the {run.name} repeat a document of their query; "
                "the higher score counts"
            )
        tied = run.all_tied(wanted) if ties else []
        if tied:
            order = "the order of the file" if ties == "file" else "descending id"
            warnings.append(
                f"all scores are equal in {queries_of(len(tied))} of the {run.name} "
                f"({listed(tied)}); their order is {order}"
            )
    return warnings


def warn_of_documents(missing: Collection[tuple[str, str]], run: Scores, rule: str) -> list[str]:
    """A sentence about documents that a run lacks, and how they count."""
    if not missing:
        return []
    documents = "document" if len(missing) == 1 else "documents"
    ranked = {query: {str(d).casefold() for d in run.documents(query)} for query, _ in missing}
    same = sum(document.casefold() in ranked[query] for query, document in missing)
    hint = f"; {same:,} of them differ from a ranked id only by case" if same else ""
    ids = {document for _, document in missing}
    return [f"the {run.name} lacks {len(missing):,} {documents} ({listed(ids)}), {rule}{hint}"]


def _other_case(ids: Collection[str], run: Scores) -> str:
    known = {str(query).casefold() for query in run}
    same = sum(str(query).casefold() in known for query in ids)
    return f"; {same:,} of them differ from an id of the run only by case" if same else ""


def as_documents(documents: str | Iterable[str]) -> tuple[str, ...]:
    """One document or several as a tuple without repeats; a set in ascending order."""
    if isinstance(documents, str):
        return (documents,)
    if isinstance(documents, (set, frozenset)):
        return tuple(sorted(documents))
    return tuple(dict.fromkeys(documents))


def is_number(value: object) -> bool:
    """Whether a value is a number, nan and infinity included."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def mean(values: Collection[float]) -> float:
    """Exact mean, which does not depend on the order of the values."""
    return math.fsum(values) / len(values)
