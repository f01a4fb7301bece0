"""Shared by TREC qrels and runs, which have columns: ids without white space."""

from __future__ import annotations

from formats.ids import check_id
from formats.source import Source


def id_problem(value: str, what: str) -> str | None:
    """Return why this cannot be an id in a column, or None if it can."""
    try:
        check_id(value, what)
    except ValueError as error:
        return str(error)
    return None


def count_columns(fields: list[str]) -> str:
    """Return how many columns a line has, in words."""
    return "1 column" if len(fields) == 1 else f"{len(fields)} columns"


def has_valid_ids(source: Source, number: int, line: str, query_id: str, doc_id: str) -> bool:
    """Return whether both ids of a line are valid; refuse the line otherwise."""
    for value, what in ((query_id, "query_id"), (doc_id, "doc_id")):
        if problem := id_problem(value, what):
            source.refuse(problem, line=number, text=line)
            return False
    return True
