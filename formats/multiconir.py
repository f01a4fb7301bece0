"""MultiConIR: a table of queries with one to ten conditions, a positive and hard negatives.

Source: the files of "MultiConIR: towards multi-condition information retrieval". A row has the
columns Query1 ... Query10 (k conditions each, numbered in its text), Positive, HN1 ... HN10, and in
the files of tasks 2 and 3 Natural_Query1 ... Natural_Query10, the same as running text. A column
Domain, which Rejudge adds, separates the domains of a file with several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from formats.csv_rows import read_csv
from formats.fields import Fields
from formats.reading import reader
from formats.records import (
    ConditionRecord,
    Doc,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    Topic,
    VerdictRecord,
)
from formats.source import Source
from formats.texts import excerpt

RATER = "multiconir-claims"
MOST_CONDITIONS = 20


class _ClaimedDocument(NamedTuple):
    doc_id: str
    text: str
    # Numbers of the conditions that it is claimed to violate.
    violates: frozenset[int]


@reader("multiconir", "row")
def read_multiconir(
    source: Source,
) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    """Yield for each row a query, its documents, and an instruction pair for each of its texts.

    The query's id is the row's position from 0, or `<domain>-<position in it>` if it has a domain.
    Pairs are `<query>_<k>` and, as running text, `<query>_<k>n`, with k conditions each. Claims
    about a document (rater "multiconir-claims") are a verdict on each condition, and the number of
    conditions met as the relevance. HNk violates only condition k or, in files with Natural_Query
    columns, conditions 1 to k.
    """
    table = read_csv(source)
    if table is None:
        return
    counts = [int(name[5:]) for name in table.header if re.fullmatch(r"Query[1-9]\d?", name)]
    missing = [name for name in ("Query1", "Positive", "HN1") if name not in table.header]
    if missing:
        source.refuse(f"the header line lacks {', '.join(missing)}")
        return
    if sorted(counts) != list(range(1, len(counts) + 1)) or len(counts) > MOST_CONDITIONS:
        source.refuse(
            "the query columns must be Query1, Query2 and so on, "
            f"up to Query{MOST_CONDITIONS} at most"
        )
        return
    cumulative = any(name.startswith("Natural_Query") for name in table.header)
    seen: Counter[str] = Counter()
    for number, row in enumerate(table.rows):
        fields = Fields(row)
        try:
            domain = " ".join(fields.text("Domain").split())
            query_id = query_id_of(domain, seen[domain]) if domain else str(number)
            seen[domain] += 1
            yield from _read_row(query_id, domain, fields, len(counts), cumulative=cumulative)
        except ValueError as error:
            source.refuse(str(error))
        else:
            fields.report_unread(source)


def query_id_of(domain: str, position: int) -> str:
    """Return the id of the query at this position, from 0, among the rows of a domain."""
    return f"{'-'.join(domain.split())}-{position}"


def _read_row(
    query_id: str, domain: str, row: Fields, most: int, *, cumulative: bool
) -> Iterator[Topic | Doc | Qrel | PairRecord | JudgmentRecord]:
    # A row may end before the last query column, but may not skip one.
    numbers = [k for k in range(1, most + 1) if row.text(f"Query{k}").strip()]
    if gap := next((k for k in range(1, max(numbers, default=1) + 1) if k not in numbers), None):
        raise ValueError(f"Query{gap} is empty")
    texts = {k: row.text(f"Query{k}").strip() for k in numbers}
    conditions = conditions_of(texts[len(numbers)], len(numbers))
    for k, text in texts.items():
        if conditions_of(text, k) != conditions[:k]:
            raise ValueError(f"Query{k} has other conditions than Query{len(numbers)}")
    documents = _parse_documents(query_id, row, len(numbers), cumulative=cumulative)
    title = texts[1]
    yield Topic(query_id, title)
    for document in documents:
        yield Doc(document.doc_id, "", document.text, "plain")
        yield Qrel(query_id, document.doc_id, len(numbers) - len(document.violates))
    for k in numbers:
        styles = [("", texts[k], "as a list")]
        if natural := row.text(f"Natural_Query{k}").strip():
            styles.append(("n", natural, "in running words"))
        for mark, text, style in styles:
            pair_id = f"{query_id}_{k}{mark}"
            first_conditions = tuple(ConditionRecord("", condition) for condition in conditions[:k])
            yield PairRecord(
                pair_id=pair_id,
                query_id=query_id,
                title=title,
                category=f"{k} condition{'' if k == 1 else 's'}",
                origin="llm",
                narratives=(
                    NarrativeRecord("altered", 1, text, note=style, conditions=first_conditions),
                ),
                domain=domain,
                restates=f"{query_id}_{k}" if mark else "",
            )
            for document in documents:
                yield _make_claim(query_id, pair_id, document, k)


def _make_claim(
    query_id: str, pair_id: str, document: _ClaimedDocument, conditions: int
) -> JudgmentRecord:
    verdicts = tuple(
        VerdictRecord(k, "not_met" if k in document.violates else "met")
        for k in range(1, conditions + 1)
    )
    return JudgmentRecord(
        query_id=query_id,
        doc_id=document.doc_id,
        annotator=RATER,
        relevance=sum(verdict.answer == "met" for verdict in verdicts),
        side="altered",
        pair_id=pair_id,
        version=1,
        machine=True,
        verdicts=verdicts,
    )


def _parse_documents(
    query_id: str, row: Fields, most: int, *, cumulative: bool
) -> list[_ClaimedDocument]:
    """Return the positive and those hard negatives that the row has."""
    documents = [
        _ClaimedDocument(f"{query_id}_positive", row.required_text("Positive"), frozenset())
    ]
    for k in range(1, most + 1):
        if text := row.text(f"HN{k}"):
            broken = frozenset(range(1, k + 1)) if cumulative else frozenset((k,))
            documents.append(_ClaimedDocument(f"{query_id}_hn{k}", text, broken))
    return documents


def conditions_of(text: str, count: int) -> list[str]:
    """Return the conditions of a text that numbers them: `Find a book: 1. On bees. 2. Short.`"""
    conditions: list[str] = []
    rest = text
    for number in range(1, count + 1):
        _, mark, rest = _split_at_mark(rest, number)
        if not mark:
            raise ValueError(
                f"no condition “{number}.” in Query{count}, which should number {count}: "
                f"{excerpt(text, 60)}"
            )
        conditions.append(_split_at_mark(rest, number + 1)[0].strip().removesuffix("."))
    if not all(conditions):
        raise ValueError(f"a condition of Query{count} is empty: {excerpt(text, 60)}")
    return conditions


def _split_at_mark(text: str, number: int) -> tuple[str, str, str]:
    """Return the text before the mark of a condition, the mark, and the text after it."""
    match = re.search(rf"(?:^|\s){number}\.\s", text)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0], text[match.end() :]
