"""The layout `multiconir`: a table of queries with one to ten conditions.

A row is a query: its pairs with 1, 2, ... k conditions, as a list and as running text, and its
documents, in columns by the conditions they meet. The manifest lists what fits no column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from annotate.collection.models import Query
from annotate.projects.models import Project
from base.texts import amount
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import finish
from exporters.exports.layouts.published import (
    ALTERED,
    Answers,
    Published,
    Row,
    Shape,
    answered_pools,
    gather,
)
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.selection.selection import Pair
from formats.multiconir import conditions_of, query_id_of
from formats.texts import CannotHold

SHAPE = Shape(claims=True, sides=(ALTERED,), change=False, needs_texts=True)
TABLE = "multiconir.csv"
NO_PLACE = "no place in a row of growing conditions"
NOT_HELD = (
    (
        "Documents have no ids: the column of a text says which conditions it meets. Titles, "
        "grades and sides other than the altered one are left out."
    ),
    "Queries are rows, counted from 0; ids.tsv has both ids.",
)


class _Text(NamedTuple):
    """One query text: a pair with its conditions, as a list or as running text."""

    pair: Pair
    text: str
    conditions: tuple[str, ...]
    as_list: bool
    pool: dict[str, Row]
    answers: dict[str, Answers]


class _Query(NamedTuple):
    """A row of the table: its texts by their number of conditions, and its documents."""

    query_id: str
    domain: str
    lists: dict[int, _Text]
    natural: dict[int, _Text]
    positive: int
    # Documents by the number of their column HN.
    negatives: dict[int, int]


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the table."""
    published = gather(project, report, SHAPE)
    queries = _queries(published, report)
    if not queries:
        raise CannotHold(
            "no query has pairs with one, two and more conditions and documents that meet all of "
            "them or break those of a column, as a MultiConIR row needs"
        )
    _leave_out(published, queries)
    domains = any(query.domain for query in queries)
    most = max(len(query.lists) for query in queries)
    natural = any(query.natural for query in queries)
    with into.file(
        TABLE, "A row for each query: texts with 1 to k conditions, and documents."
    ) as stream:
        columns = ["Domain"] if domains else []
        columns += [f"Query{k}" for k in range(1, most + 1)]
        if natural:
            columns += [f"Natural_Query{k}" for k in range(1, most + 1)]
        columns += ["Positive", *(f"HN{k}" for k in range(1, most + 1))]
        stream.write(rows.table_line(*columns, delimiter=","))
        for query in queries:
            cells = _cells(published, query)
            line = (cells.get(column, "") for column in columns)
            stream.write(rows.table_line(*line, delimiter=","))
    rows.write_ids(into, _ids(queries))
    return finish("multiconir", published, into, not_held=NOT_HELD)


def _ids(queries: list[_Query]) -> Iterator[tuple[Pair, str]]:
    """Yield each pair with its id in the table: the row, the conditions, and n for running text."""
    seen: Counter[str] = Counter()
    for number, query in enumerate(queries):
        here = query_id_of(query.domain, seen[query.domain]) if query.domain else str(number)
        seen[query.domain] += 1
        for mark, texts in (("", query.lists), ("n", query.natural)):
            for k, text in texts.items():
                yield text.pair, f"{here}_{k}{mark}"


def _queries(published: Published, report: Report) -> list[_Query]:
    """Return the rows that can be made, ordered by domain, by number, or by id."""
    by_query: dict[Query, list[_Text]] = {}
    for text in _texts(published, report):
        by_query.setdefault(text.pair.query, []).append(text)
    queries = [row for query, its in by_query.items() if (row := _make_row(query, its))]
    if any(query.domain for query in queries):
        return sorted(queries, key=_place_in_domain)
    if all(rows.is_number(query.query_id) for query in queries):
        return sorted(queries, key=lambda query: int(query.query_id))
    return sorted(queries, key=lambda query: query.query_id.encode())


def _place_in_domain(query: _Query) -> tuple[bytes, int, bytes]:
    """Return a sort key: the domain, then the number at the end of the query's id."""
    number = query.query_id.rpartition("-")[2]
    place = int(number) if rows.is_number(number) else 0
    return query.domain.encode(), place, query.query_id.encode()


def _texts(published: Published, report: Report) -> list[_Text]:
    """Return the texts of pairs with documents that have an answer for every condition."""
    pairs = published.pairs[ALTERED]
    narratives = {pair.pk: text for pair, text in published.narratives(ALTERED, pairs)}
    texts = []
    for pair, pool, answers in answered_pools(published, report):
        conditions = tuple(condition.text for condition in next(iter(answers.values())).conditions)
        graded = {row.doc_id: row for row in pool if row.after is not None}
        text = narratives[pair.pk]
        texts.append(
            _Text(pair, text, conditions, _is_numbered_list(text, conditions), graded, answers)
        )
    return texts


def _is_numbered_list(text: str, conditions: tuple[str, ...]) -> bool:
    """Return whether a text is a numbered list of these conditions, like the paper's queries."""
    try:
        return tuple(conditions_of(text.strip(), len(conditions))) == conditions
    except ValueError:
        return False


def _make_row(query: Query, texts: list[_Text]) -> _Query | None:
    """Return the row of a query, as far as its texts grow by one condition each, or None."""
    longest = max(texts, key=lambda text: len(text.conditions)).conditions
    lists: dict[int, _Text] = {}
    natural: dict[int, _Text] = {}
    for text in texts:
        if text.conditions == longest[: len(text.conditions)]:
            (lists if text.as_list else natural).setdefault(len(text.conditions), text)
    most = next(k for k in range(len(longest) + 1) if k + 1 not in lists)
    lists = {k: lists[k] for k in range(1, most + 1)}
    natural = {k: natural[k] for k in sorted(natural) if k <= most}
    if not lists:
        return None
    # With running texts, the document of column k breaks conditions 1 to k, else condition k alone.
    columns = {
        frozenset(range(1, k + 1)) if natural else frozenset((k,)): k for k in range(1, most + 1)
    }
    positive, negatives = None, dict[int, int]()
    for doc_id, answers in sorted(lists[most].answers.items(), key=lambda item: item[0].encode()):
        row = lists[most].pool.get(doc_id)
        met = most - len(answers.broken)
        # People found another number of met conditions than the machine claims.
        if row is None or (not answers.of_people and not row.is_claim and row.after != met):
            continue
        if not answers.broken:
            positive = row.document if positive is None else positive
        elif (column := columns.get(answers.broken)) is not None:
            negatives.setdefault(column, row.document)
    if positive is None or not negatives:
        return None
    return _Query(query.query_id, query.domain, lists, natural, positive, negatives)


def _leave_out(published: Published, queries: list[_Query]) -> None:
    """Publish only the pairs and documents of a row, and list the other pairs as left out."""
    kept: dict[int, list[Row]] = {}
    for query in queries:
        documents = {query.positive, *query.negatives.values()}
        for text in (*query.lists.values(), *query.natural.values()):
            kept[text.pair.pk] = [row for row in text.pool.values() if row.document in documents]
    if others := published.keep_only(kept, NO_PLACE):
        published.notes.append(
            "Left out, because they meet other conditions than any column says: "
            f"{amount(others, 'document')}."
        )


def _cells(published: Published, query: _Query) -> dict[str, str]:
    """Return the cells of a row, by column."""
    texts = published.texts_of({query.positive, *query.negatives.values()})
    return {
        "Domain": query.domain,
        **{f"Query{k}": text.text for k, text in query.lists.items()},
        **{f"Natural_Query{k}": text.text for k, text in query.natural.items()},
        "Positive": texts.get(query.positive, ""),
        **{f"HN{k}": texts.get(document, "") for k, document in query.negatives.items()},
    }
