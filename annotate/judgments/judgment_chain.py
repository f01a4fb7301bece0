"""Hash-chain entries of judgments, from stored rows and from new judgments."""

from __future__ import annotations

import json
import uuid as uuids
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from annotate.collection.spans import Span
from annotate.projects.hash_chain import (
    Content,
    Event,
    Kind,
    Row,
    content_event,
    end_event,
    hashed_time,
    stream,
    uuid_of,
)
from annotate.projects.models import Project
from base import bulk

KIND = "judgment"


def content(
    *,
    pair_id: str,
    side: str,
    version: int,
    doc_id: str,
    annotator: str,
    relevance: int,
    note: str,
    evidence: str,
    clauses: str,
    verdicts: str,
    active_ms: int | None,
    pressed: str,
    source: str,
    at: datetime | str | None,
    made_at: datetime | str | None,
    text_version: int | None = None,
) -> Content:
    """Return a judgment's content in the order in which it is hashed.

    `spans` and `answers` format three of the values, `of_text` the last.
    """
    return (
        pair_id,
        side,
        version,
        doc_id,
        annotator,
        relevance,
        note,
        evidence,
        clauses,
        verdicts,
        active_ms,
        pressed,
        source,
        hashed_time(at),
        hashed_time(made_at),
        *of_text(text_version),
    )


def of_text(version: int | None) -> Content:
    """Return the text version that was read, as the last part of the content.

    Empty for the first version, so that hashes made before versions existed stay valid.
    """
    return (f"text {version}",) if version is not None and version > 1 else ()


def ended(at: datetime | str | None, withdrawn_at: datetime | str | None) -> Content | None:
    """Return when a judgment was superseded and withdrawn; None if it is current."""
    if at is None and withdrawn_at is None:
        return None
    return (hashed_time(at), hashed_time(withdrawn_at))


def spans(marked: Iterable[Span]) -> str:
    """Format marked spans: "3-9 12-20"."""
    return " ".join(f"{span.start}-{span.end}" for span in marked)


def answers(given: Mapping[int, str]) -> str:
    """Format verdicts by condition number: "1:met 2:not_met"."""
    return " ".join(f"{number}:{given[number]}" for number in sorted(given))


def rows(
    where: str,
    parameters: Mapping[str, Any],
    *,
    joined: str = "",
    order: str = "j.uuid",
    texts: bool = False,
) -> Iterator[Row]:
    """Yield judgments as they are now; `where`, `joined` and `order` are SQL on `annotate_judgment
    j`.

    `texts`: include the text version that was read. Only migration 0010 calls this without it: in
    its schema, judgments have none.
    """
    listed = "string_agg({0}, ' ')" if bulk.on_postgresql() else "group_concat({0}, ' ')"
    listed = listed.format("k.number || ':' || w.answer")
    # Keeps SQLite's driver from parsing each time, only for it to be formatted again.
    raw = "" if bulk.on_postgresql() else " || ''"
    columns = ("at", "made_at", "superseded_at", "withdrawn_at")
    moments = ", ".join(f"j.{column}{raw}" for column in columns)
    sql = f"""
        SELECT j.uuid, p.pair_id, v.side, v.version, d.doc_id, m.name, j.relevance, j.note,
            j.evidence, j.clauses, (
                SELECT {listed} FROM annotate_verdict w
                JOIN annotate_condition k ON k.id = w.condition_id WHERE w.judgment_id = j.id
            ), j.active_ms, j.pressed, j.source, {moments},
            {"j.text_version" if texts else "NULL"}
        FROM annotate_judgment j
        JOIN annotate_narrative v ON v.id = j.narrative_id
        JOIN annotate_instructionpair p ON p.id = v.pair_id
        JOIN annotate_candidate c ON c.id = j.candidate_id
        JOIN annotate_document d ON d.id = c.document_id
        JOIN annotate_membership m ON m.id = j.annotator_id
        {joined}
        WHERE {where} ORDER BY {order}
    """  # noqa: S608 (our own conditions)
    for found in stream(sql, parameters):
        uuid, words, how = found[0], found[1:8], found[11:14]
        evidence, clauses, verdicts = found[8:11]
        at, made_at, superseded_at, withdrawn_at, text_version = found[14:]
        what = (
            *words,
            _spans(evidence),
            _spans(clauses),
            " ".join(sorted(verdicts.split(" "), key=_number)) if verdicts else "",
            *how,
            hashed_time(at),
            hashed_time(made_at),
            *of_text(text_version),
        )
        yield Row(uuid_of(uuid), what, ended(superseded_at, withdrawn_at))


def events_of_new(found: Iterable[Row]) -> Iterator[Event]:
    """Yield the events of new judgments."""
    for name, what, over in found:
        yield content_event(KIND, name, what)
        if over is not None:
            yield end_event(KIND, name, over)


def events_of_ended(found: Iterable[Row]) -> Iterator[Event]:
    """Yield the events of judgments that ended or became current again."""
    for name, _what, over in found:
        yield end_event(KIND, name, over)


def event_of_end(name: uuids.UUID, at: datetime) -> Event:
    """Return the event of a judgment that was superseded."""
    return end_event(KIND, name, ended(at, None))


def _read(project: Project | None) -> Iterator[Row]:
    if project is None:
        return iter(())
    return rows("m.project_id = %(project)s", {"project": project.pk}, texts=True)


def _label(what: Content) -> str:
    pair_id, side, version, doc_id, annotator = what[:5]
    return f"the judgment of {annotator} on {doc_id} ({pair_id}, {side} {version})"


def _spans(stored: str) -> str:
    # Most judgments have none, and parsing a million of them takes time.
    if stored == "[]":
        return ""
    return spans(Span(span["start"], span["end"]) for span in json.loads(stored))


def _number(answer: str) -> int:
    return int(answer.partition(":")[0])


JUDGMENTS = Kind(_read, _label)
