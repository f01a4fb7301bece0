"""Hash-chain entries of settling decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from annotate.judgments.judgment_chain import NAMES_OF_CANDIDATE, names_of_narrative, of_text
from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time

KIND, CONDITION = "adjudication", "condition settled"


def _read_adjudications(rows: QuerySet[Any]) -> Iterator[Row]:
    return _read(rows, "relevance")


def _read_conditions(rows: QuerySet[Any]) -> Iterator[Row]:
    # Both narratives, so that the condition cannot be exchanged for one of another narrative.
    return _read(rows, *names_of_narrative("condition__narrative"), "condition__number", "answer")


def _read(rows: QuerySet[Any], *decision: str) -> Iterator[Row]:
    """Yield decisions; `decision` are the columns of what was decided."""
    found = rows.values_list(
        *("uuid", *names_of_narrative("narrative"), *NAMES_OF_CANDIDATE, *decision),
        *("by__name", "reason", "cause", "at"),
        *("withdrawn_at", "withdrawn_by__name", "text_version"),
    )
    for name, *what, at, withdrawn_at, withdrawn_by, text in found.iterator():
        ended = None if withdrawn_at is None else (hashed_time(withdrawn_at), withdrawn_by)
        yield Row(name, (*what, hashed_time(at), *of_text(text)), ended)


def _label(what: Content) -> str:
    _query, pair_id, side, version, _query_of_document, doc_id = what[:6]
    return f"how {doc_id} ({pair_id}, {side} {version}) was settled"


KINDS = {
    KIND: Kind(Adjudication.objects.all, "by__project", _read_adjudications, _label),
    CONDITION: Kind(ConditionAdjudication.objects.all, "by__project", _read_conditions, _label),
}
