"""Runs and qrels as input of measures: ranks from scores, and sentences about bad input."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from .measurement import CannotMeasure

FloatArray: TypeAlias = npt.NDArray[np.float64]
Ties: TypeAlias = Literal["id_descending", "file"]
Missing: TypeAlias = Literal["after_last", "left_out"]


class Line(Protocol):
    """The parts of a run line that measures read; ``formats.RunLine`` has them."""

    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...
    @property
    def score(self) -> float: ...


Run: TypeAlias = "Mapping[str, Mapping[str, float]] | Iterable[Line] | Scores"
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]

# How many ids a warning names before it counts the others.
_MOST_NAMED = 5


class Scores:
    """A run with fast look-up of ranks: prepared once, it can be passed to every measure.

    Queries without documents count as missing. A document that occurs twice in a query keeps its
    higher score, at the place of its first line.

    Args:
        run: Scores by query and document, or lines of a run in any order.
        name: The name of the run in warnings, such as "original run".

    Raises:
        ValueError: a score that is not a finite number, or a run of another shape.
    """

    def __init__(self, run: Run, name: str = "run") -> None:
        self.name = name
        self.repeated = 0
        self._by_query: dict[str, Mapping[str, float]] = {}
        # Scores of a query, ascending: they need little memory, and bisection finds a rank.
        self._ascending: dict[str, FloatArray] = {}
        # Ranks already looked up, by query and way of breaking ties; shared between measures.
        self._ranks: dict[str, dict[Ties, dict[str, int]]] = {}
        if isinstance(run, Scores):
            self.repeated = run.repeated
            self._by_query, self._ascending = run._by_query, run._ascending
            self._ranks = run._ranks
            return
        if isinstance(run, Mapping):
            self._by_query = {query: documents for query, documents in run.items() if documents}
        elif isinstance(run, Iterable):
            self._by_query = dict(self._group_lines(run))
        else:
            raise CannotMeasure(f"the {name} is {type(run).__name__}; give a mapping or lines")
        for query, documents in self._by_query.items():
            self._ascending[query] = self._check_scores(query, documents)

    def _group_lines(self, lines: Iterable[Line]) -> Mapping[str, Mapping[str, float]]:
        grouped: dict[str, dict[str, float]] = {}
        for line in lines:
            try:
                query, document, score = line.query_id, line.doc_id, line.score
            except AttributeError:
                raise CannotMeasure(
                    f"the {self.name} is not a run: give a mapping of query to document to score, "
                    f"or lines with query_id, doc_id and score; found {line!r}"
                ) from None
            documents = grouped.setdefault(query, {})
            if document in documents:
                self.repeated += 1
                score = max(score, documents[document])
            documents[document] = score
        return grouped

    def only(self, queries: Iterable[str], name: str = "") -> Scores:
        """Return the run with only these queries; both runs share the ranks looked up.

        >>> list(Scores({"q": {"a": 1.0}, "r": {"a": 1.0}}).only(["r", "s"]))
        ['r']
        """
        part = Scores(self, name or self.name)
        part._by_query = {q: self._by_query[q] for q in queries if q in self._by_query}
        return part

    def with_ids(self, ids: Mapping[str, str]) -> Scores:
        """Return the run with queries under other ids; skip queries that it lacks.

        >>> run = Scores({"q": {"a": 1.0}}).with_ids({"q settled as 1": "q", "r settled as 1": "r"})
        >>> list(run)
        ['q settled as 1']
        """
        part = Scores({}, self.name)
        for new, query in ids.items():
            if query in self._by_query:
                part._by_query[new] = self._by_query[query]
                part._ascending[new] = self._ascending[query]
                part._ranks[new] = self._ranks.setdefault(query, {})
        return part

    def _check_scores(self, query: str, documents: Mapping[str, float]) -> FloatArray:
        if not isinstance(documents, Mapping):
            raise CannotMeasure(
                f"query {query} of the {self.name}: documents are a mapping of id to score, "
                f"not {type(documents).__name__}"
            )
        scores = np.array(list(documents.values()))
        if scores.dtype.kind not in "fiu":
            raise CannotMeasure(
                f"query {query} of the {self.name} has a score that is not a number"
            )
        if not np.isfinite(scores).all():
            document, score = next(
                (document, score) for document, score in documents.items() if score - score != 0
            )
            raise CannotMeasure(
                f"document {document} of query {query} in the {self.name} has the score {score}; "
                "give a finite number or leave the line out"
            )
        return np.sort(scores.astype(np.float64))

    def __contains__(self, query: object) -> bool:
        return query in self._by_query

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def size(self, query: str) -> int:
        """Return the number of documents of a query."""
        return len(self._ascending[query])

    def documents(self, query: str) -> Mapping[str, float]:
        """Return the scores of a query by document."""
        return self._by_query[query]

    def score(self, query: str, document: str) -> float | None:
        """Return the score of a document; None if the run lacks it."""
        return self._by_query[query].get(document)

    def rank(self, query: str, document: str, ties: Ties = "id_descending") -> int | None:
        """Return the rank of a document from 1, by descending score; None if the run lacks it.

        >>> run = Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0}})
        >>> [run.rank("q", document) for document in "abc"]
        [3, 2, 1]
        >>> [run.rank("q", document, "file") for document in "abc"]
        [2, 3, 1]
        """
        return self.ranks(query, (document,), ties).get(document)

    def ranks(
        self, query: str, documents: Collection[str], ties: Ties = "id_descending"
    ) -> Mapping[str, int]:
        """Return ranks of documents, and perhaps of others; documents not in the run are missing.

        >>> dict(Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0}}).ranks("q", ["b", "c", "z"]))
        {'b': 2, 'c': 1}
        """
        cached = self._ranks.setdefault(query, {}).setdefault(ties, {})
        scores = self._by_query[query]
        new = [document for document in documents if document not in cached and document in scores]
        if not new:
            return cached
        ascending = self._ascending[query]
        values = [scores[document] for document in new]
        upper = np.searchsorted(ascending, values, side="right")
        lower = np.searchsorted(ascending, values, side="left")
        cached.update(zip(new, (len(ascending) + 1 - upper).tolist(), strict=True))
        tied = np.flatnonzero(upper - lower > 1)
        places = self._places_among_tied(query, {values[at] for at in tied}, ties)
        for at in tied:
            cached[new[at]] += places[new[at]]
        return cached

    def _places_among_tied(self, query: str, scores: set[float], ties: Ties) -> dict[str, int]:
        """Return how many documents with the same score rank before each one with these scores."""
        if not scores:
            return {}
        tied: dict[float, list[str]] = {score: [] for score in scores}
        for document, score in self._by_query[query].items():
            if score in tied:
                tied[score].append(document)
        if ties == "id_descending":
            for its in tied.values():
                its.sort(reverse=True)
        return {document: place for its in tied.values() for place, document in enumerate(its)}

    def top(self, query: str, k: int, ties: Ties = "id_descending") -> list[str]:
        """Return the first k documents of a query.

        >>> run = Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0, "d": 1.0}})
        >>> run.top("q", 2), run.top("q", 2, "file")
        (['c', 'b'], ['c', 'a'])
        """
        items = list(self.first(query, k).items())
        if ties == "id_descending":
            items.sort(key=lambda item: item[0], reverse=True)
        items.sort(key=lambda item: -item[1])
        return [document for document, _ in items[:k]]

    def first(self, query: str, k: int) -> dict[str, float]:
        """Return the first k documents of a query, and those tied with the last, with scores.

        >>> Scores({"q": {"a": 2.0, "b": 2.0, "c": 3.0, "d": 1.0}}).first("q", 2)
        {'a': 2.0, 'b': 2.0, 'c': 3.0}
        """
        ascending = self._ascending[query]
        least = float(ascending[max(0, len(ascending) - k)])
        return {document: its for document, its in self._by_query[query].items() if its >= least}

    def all_tied(self, queries: Iterable[str]) -> list[str]:
        """Return queries with several documents that all have one score."""
        return [
            query
            for query in queries
            if query in self
            and self.size(query) > 1
            and self._ascending[query][0] == self._ascending[query][-1]
        ]


def ranks_of(
    run: Scores, query: str, documents: Collection[str], *, ties: Ties, missing: Missing
) -> tuple[list[int | None], list[str]]:
    """Return the rank of each document, and the documents that the run lacks.

    Documents that the run lacks have the rank after the last, or None if they are left out.
    """
    ranks = run.ranks(query, documents, ties)
    lacking = [document for document in documents if document not in ranks]
    if not lacking:
        return [ranks[document] for document in documents], lacking
    after = run.size(query) + 1 if missing == "after_last" else None
    return [ranks.get(document, after) for document in documents], lacking


def count_queries(count: int) -> str:
    """Count queries in words.

    >>> count_queries(1), count_queries(1200)
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def list_ids(ids: Collection[str]) -> str:
    """Name a few ids and count the others.

    >>> list_ids(["q2", "q1"]), list_ids([f"q{n}" for n in range(7)])
    ('q1, q2', 'q0, q1, q2, q3, q4 and 2 more')
    """
    named = sorted(map(str, ids))
    shown = ", ".join(named[:_MOST_NAMED])
    return f"{shown} and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else shown


def check_choice(name: str, value: object, kind: object) -> None:
    """Raise ValueError unless ``value`` is one of the literals of ``kind``."""
    choices = get_args(kind)
    if value not in choices:
        raise CannotMeasure(f"{name} is {' or '.join(map(repr, choices))}, not {value!r}")


def warn_of_runs(
    runs: Iterable[Scores], queries: Collection[str], *, ties: Ties | None = None
) -> list[str]:
    """Return sentences about missing or unused queries, repeated lines and ties in runs.

    Args:
        runs: The runs of a measure.
        queries: The queries on which it is computed.
        ties: How ties are broken, if ranks count.
    """
    warnings = []
    for run in runs:
        lacking = [query for query in queries if query not in run]
        if lacking:
            sentence = f"the {run.name} lacks {count_queries(len(lacking))} ({list_ids(lacking)})"
            warnings.append(sentence + _hint_at_case(lacking, run))
        extra = [query for query in run if query not in queries]
        if extra:
            warnings.append(
                f"the {run.name} has {count_queries(len(extra))} that the measure does not use "
                f"({list_ids(extra)})"
            )
        if run.repeated:
            warnings.append(
                f"{run.repeated:,} lines of the {run.name} repeat a document of their query; "
                "the higher score counts"
            )
        tied = run.all_tied(queries) if ties else []
        if tied:
            order = "the order of the file" if ties == "file" else "descending id"
            warnings.append(
                f"all scores are equal in {count_queries(len(tied))} of the {run.name} "
                f"({list_ids(tied)}); their order is {order}"
            )
    return warnings


def warn_of_documents(missing: Collection[tuple[str, str]], run: Scores, rule: str) -> list[str]:
    """Return a sentence about documents that a run lacks, and how they count."""
    if not missing:
        return []
    documents = "document" if len(missing) == 1 else "documents"
    ranked = {
        query: {str(document).casefold() for document in run.documents(query)}
        for query in {query for query, _ in missing}
    }
    same = sum(document.casefold() in ranked[query] for query, document in missing)
    hint = f"; {same:,} of them differ from a ranked id only by case" if same else ""
    ids = {document for _, document in missing}
    return [f"the {run.name} lacks {len(missing):,} {documents} ({list_ids(ids)}), {rule}{hint}"]


def _hint_at_case(ids: Collection[str], run: Scores) -> str:
    folded = {str(query).casefold() for query in run}
    same = sum(str(query).casefold() in folded for query in ids)
    return f"; {same:,} of them differ from an id of the run only by case" if same else ""


def as_documents(documents: str | Iterable[str]) -> tuple[str, ...]:
    """Return one or several documents as a tuple without repetitions; a set is sorted."""
    if isinstance(documents, str):
        return (documents,)
    if isinstance(documents, (set, frozenset)):
        return tuple(sorted(documents))
    return tuple(dict.fromkeys(documents))


def is_number(value: object) -> bool:
    """Return whether a value is a number, including nan and infinity."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def mean(values: Collection[float]) -> float:
    """Return the exact mean, which does not depend on the order of the values."""
    return math.fsum(values) / len(values)
