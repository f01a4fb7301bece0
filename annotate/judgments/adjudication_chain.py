"""Hash-chain entries of settling decisions."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from django.db.models import QuerySet

from annotate.judgments.judgment_chain import of_text
from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects import hash_chain
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import Project

KIND, CONDITION = "adjudication", "condition settled"


def adjudications(project: int, **among: Any) -> Iterator[tuple[int, Row]]:
    """Return a project's decisions on documents, each with its key; `among` are filters, if any."""
    rows = Adjudication.objects.filter(by__project=project, **among)
    return _decisions(rows, _of("narrative"), "relevance")


def conditions(project: int, **among: Any) -> Iterator[tuple[int, Row]]:
    """Return a project's decisions on conditions, in the same form as `adjudications`."""
    rows = ConditionAdjudication.objects.filter(by__project=project, **among)
    about = (*_of("condition__narrative"), "condition__number")
    return _decisions(rows, about, "answer")


def _decisions(
    rows: QuerySet[Any], about: tuple[str, ...], decision: str
) -> Iterator[tuple[int, Row]]:
    """Return decisions, each with its key; `about` and `decision` are columns."""
    return hash_chain.with_uuids(
        (
            key,
            (*where, by, hashed_time(at)),
            (*where, by, decided, reason, cause, hashed_time(at), *of_text(text)),
            _ended(over, by_whom),
        )
        for key, *where, by, decided, reason, cause, at, over, by_whom, text in rows.order_by("pk")
        .values_list(
            *("pk", *about, "by__name", decision, "reason", "cause", "at"),
            *("withdrawn_at", "withdrawn_by__name", "text_version"),
        )
        .iterator()
    )


def follow(
    project: int,
    *,
    new: Container[int] = (),
    ended: Container[int] = (),
    **among: Any,
) -> None:
    """Append decisions on documents to their chain."""
    hash_chain.append_changes(KIND, project, adjudications(project, **among), new=new, ended=ended)


def follow_conditions(
    project: int,
    *,
    new: Container[int] = (),
    ended: Container[int] = (),
    **among: Any,
) -> None:
    """Append decisions on conditions to their chain."""
    hash_chain.append_changes(
        CONDITION, project, conditions(project, **among), new=new, ended=ended
    )


def _of(narrative: str) -> tuple[str, ...]:
    pair = f"{narrative}__pair__pair_id"
    return (pair, f"{narrative}__side", f"{narrative}__version", "candidate__document__doc_id")


def _ended(at: Any, by: str | None) -> Content | None:
    return None if at is None else (hashed_time(at), by)


def _read_adjudications(project: Project | None) -> Iterator[Row]:
    return hash_chain.sorted_by_uuid(adjudications(project.pk) if project else ())


def _read_conditions(project: Project | None) -> Iterator[Row]:
    return hash_chain.sorted_by_uuid(conditions(project.pk) if project else ())


def _label(what: Content) -> str:
    pair_id, side, version, doc_id = what[:4]
    return f"how {doc_id} ({pair_id}, {side} {version}) was settled"


ADJUDICATIONS = Kind(_read_adjudications, _label)
CONDITIONS = Kind(_read_conditions, _label)
