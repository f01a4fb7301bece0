"""Hash-chain entries of judgments, from stored rows and from new judgments."""

from __future__ import annotations

import json
import uuid as uuids
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from annotate.judgments.models import Statement
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


def event_of_new(row: Statement, about: Content, verdicts: Mapping[int, str]) -> Event:
    """Return the event of a judgment that was just saved.

    `about`: pair id, side, version, document id and annotator; `verdicts`: by condition number.
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


def ended(at: datetime | str | None, withdrawn_at: datetime | str | None) -> Content | None:
    """Return when a judgment was superseded and withdrawn; None if it is current."""
    if at is None and withdrawn_at is None:
        return None
    return (hashed_time(at), hashed_time(withdrawn_at))


def rows(
    where: str, parameters: Mapping[str, Any], *, joined: str = "", order: str = "j.uuid"
) -> Iterator[Row]:
    """Yield judgments as they are now; `where`, `joined` and `order` are SQL on `annotate_statement
    j`.
    """
    listed = bulk.listed("k.number || ':' || w.answer", " ")
    # Keeps SQLite's driver from parsing each time, only for it to be formatted again.
    raw = "" if bulk.on_postgresql() else " || ''"
    moments = ("at", "made_at", "ended_at", "withdrawn_at")
    columns = ", ".join(f"j.{name}{raw if name in moments else ''}" for name in _COLUMNS)
    sql = f"""
        SELECT p.pair_id, v.side, v.version, d.doc_id, m.name, (
                SELECT {listed} FROM annotate_verdict w
                JOIN annotate_condition k ON k.id = w.condition_id WHERE w.statement_id = j.id
            ), {columns}
        FROM annotate_statement j
        JOIN annotate_narrative v ON v.id = j.narrative_id
        JOIN annotate_instructionpair p ON p.id = v.pair_id
        JOIN annotate_candidate c ON c.id = j.candidate_id
        JOIN annotate_document d ON d.id = c.document_id
        JOIN annotate_membership m ON m.id = j.annotator_id
        {joined}
        WHERE NOT j.repeat AND j.relevance IS NOT NULL AND ({where}) ORDER BY {order}
    """  # noqa: S608 (our own conditions)
    for fetched in stream(sql, parameters):
        about, verdicts, own = fetched[:5], fetched[5], fetched[6:]
        values = dict(zip(_COLUMNS, own, strict=True))
        answers = (verdict.partition(":") for verdict in (verdicts or "").split())
        values["verdicts"] = {int(number): answer for number, _colon, answer in answers}
        yield Row(
            uuid_of(values["uuid"]),
            _content(about, values),
            ended(values["ended_at"], values["withdrawn_at"]),
        )


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
    return rows("m.project_id = %(project)s", {"project": project.pk})


def _label(what: Content) -> str:
    pair_id, side, version, doc_id, annotator = what[:5]
    return f"the judgment of {annotator} on {doc_id} ({pair_id}, {side} {version})"


def _format_spans(stored: str | list[dict[str, int]]) -> str:
    """Format marked spans: "3-9 12-20"."""
    # Most judgments have none, and parsing a million of them takes time.
    if stored in ("[]", []):
        return ""
    spans = json.loads(stored) if isinstance(stored, str) else stored
    return " ".join(f"{span['start']}-{span['end']}" for span in spans)


def _format_verdicts(verdicts: Mapping[int, str]) -> str:
    """Format verdicts by condition number: "1:met 2:not_met"."""
    return " ".join(f"{number}:{verdicts[number]}" for number in sorted(verdicts))


_FORMATS: dict[str, Callable[[Any], str]] = {
    "evidence": _format_spans,
    "clauses": _format_spans,
    "verdicts": _format_verdicts,
}
# The columns of a judgment that are read for its links.
_COLUMNS = (
    *("uuid", "source", "at", "made_at", "ended_at", "withdrawn_at", "text_version"),
    *(name for name in Statement.CONTENT if name != "verdicts"),
)

JUDGMENTS = Kind(_read, _label)
