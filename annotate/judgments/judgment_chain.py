"""Hash-chain entries of judgments, from stored rows and from new judgments."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Concat

from annotate.judgments.models import Judgment, Statement, Verdict
from annotate.projects.hash_chain import (
    Content,
    Event,
    Kind,
    Row,
    content_event,
    end_event,
    hashed_time,
)
from base.bulk import CHUNK, listed_values

KIND = "judgment"
# What a candidate is called in files. Its query too, so that it cannot be moved to another one.
NAMES_OF_CANDIDATE = ("candidate__query__query_id", "candidate__document__doc_id")


def names_of_narrative(path: str) -> tuple[str, ...]:
    """Return the columns of what a narrative is called in files: query, pair, side, version."""
    pair = f"{path}__pair"
    return (f"{pair}__query__query_id", f"{pair}__pair_id", f"{path}__side", f"{path}__version")


def event_of_new(row: Statement, about: Content, verdicts: Mapping[int, str]) -> Event:
    """Return the event of a judgment that was just saved.

    `about`: the values of _ABOUT; `verdicts`: by condition number.
    """
    values = {name: getattr(row, name) for name in _COLUMNS} | {"verdicts": verdicts}
    return content_event(KIND, row.uuid, _content(about, values))


def _content(about: Content, values: Mapping[str, Any]) -> Content:
    """Return a judgment's content in the order in which it is hashed."""
    return (
        *about,
        *(
            _FORMATS[name](values[name]) if name in _FORMATS else values[name]
            for name in Statement.CONTENT
        ),
        values["source"],
        hashed_time(values["at"]),
        hashed_time(values["made_at"]),
        *of_text(values["text_version"]),
    )


def of_text(version: int | None) -> Content:
    """Return the text version that was read, as the last part of the content.

    Empty for the first version, so that hashes made before versions existed stay valid.
    """
    return (f"text {version}",) if version is not None and version > 1 else ()


def ended(at: datetime | None, withdrawn_at: datetime | None) -> Content | None:
    """Return when a judgment was superseded and withdrawn; None if it is current."""
    if at is None and withdrawn_at is None:
        return None
    return (hashed_time(at), hashed_time(withdrawn_at))


def _read(judgments: QuerySet[Judgment]) -> Iterator[Row]:
    """Yield judgments as they are now. Memory does not grow.

    A verdict on a condition of another narrative is no part of one.
    """
    verdicts = (
        Verdict.objects.filter(statement=OuterRef("pk"), condition__narrative=OuterRef("narrative"))
        .order_by()
        .values("statement")
        .annotate(listed=listed_values(Concat("condition__number", Value(":"), "answer"), " "))
    )
    found = judgments.values_list(*_ABOUT, Subquery(verdicts.values("listed")), *_COLUMNS)
    for row in found.iterator(CHUNK):
        about, listed = row[: len(_ABOUT)], row[len(_ABOUT)]
        values = dict(zip(_COLUMNS, row[len(_ABOUT) + 1 :], strict=True))
        answers = (verdict.partition(":") for verdict in (listed or "").split())
        values["verdicts"] = {int(number): answer for number, _colon, answer in answers}
        yield Row(
            values["uuid"],
            _content(about, values),
            ended(values["ended_at"], values["withdrawn_at"]),
        )


def event_of_end(name: uuids.UUID, at: datetime) -> Event:
    """Return the event of a judgment that was superseded."""
    return end_event(KIND, name, ended(at, None))


def _label(what: Content) -> str:
    _query, pair_id, side, version, _query_of_document, doc_id, annotator = what[:7]
    return f"the judgment of {annotator} on {doc_id} ({pair_id}, {side} {version})"


def _format_spans(spans: list[dict[str, int]]) -> str:
    """Format marked spans: "3-9 12-20"."""
    return " ".join(f"{span['start']}-{span['end']}" for span in spans)


def _format_verdicts(verdicts: Mapping[int, str]) -> str:
    """Format verdicts by condition number: "1:met 2:not_met"."""
    return " ".join(f"{number}:{verdicts[number]}" for number in sorted(verdicts))


_FORMATS: dict[str, Callable[[Any], str]] = {
    "evidence": _format_spans,
    "clauses": _format_spans,
    "verdicts": _format_verdicts,
}
# What a judgment is about.
_ABOUT = (*names_of_narrative("narrative"), *NAMES_OF_CANDIDATE, "annotator__name")
# The columns of a judgment that are read for its links.
_COLUMNS = (
    *("uuid", "source", "at", "made_at", "ended_at", "withdrawn_at", "text_version"),
    *(name for name in Statement.CONTENT if name != "verdicts"),
)

KINDS = {KIND: Kind(Judgment.objects.all, "annotator__project", _read, _label)}
