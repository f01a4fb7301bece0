"""The history of one person's statements about one document.

A statement is a judgment, a flag or the answer to a repeat.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from annotate.judgments.models import Flag, Judgment, Repeat

END_COLUMNS = {Judgment: "superseded_at", Flag: "cleared_at", Repeat: "superseded_at"}


def content_of(row: Judgment | Flag | Repeat) -> int | str:
    """Return the grade, or the kind of flag."""
    if isinstance(row, Flag):
        return row.kind
    return row.flag if row.relevance is None else row.relevance


def ended_at(row: Judgment | Flag | Repeat) -> datetime | None:
    """Return when a statement ended, or None if it is current."""
    return row.cleared_at if isinstance(row, Flag) else row.superseded_at


def end_statement(row: Judgment | Flag | Repeat, at: datetime | None) -> None:
    """End a statement at the given time, or make it current again (None)."""
    type(row)._default_manager.filter(pk=row.pk).update(**{END_COLUMNS[type(row)]: at})


def same_target(row: Judgment | Flag | Repeat) -> Q:
    """Return a filter for statements by the same person about the same document, under the same
    narrative version and text version.
    """
    same_text = Q(text_version=row.text_version or 1)
    if (row.text_version or 1) == 1:
        same_text |= Q(text_version=None)
    return same_text & Q(
        narrative=row.narrative_id, candidate=row.candidate_id, annotator=row.annotator_id
    )


def find_superseded(row: Judgment | Flag | Repeat) -> Judgment | Flag | Repeat | None:
    """Return the statement that this one superseded, if any."""
    superseded: list[Judgment | Flag | Repeat]
    if isinstance(row, Repeat):
        superseded = list(Repeat.objects.filter(same_target(row), withdrawn_at=None, at__lt=row.at))
    else:
        ended = Q(superseded_at=row.at)
        if isinstance(row, Judgment) and row.replaces_id is not None:
            ended |= Q(pk=row.replaces_id)
        superseded = [
            *Judgment.objects.filter(ended, same_target(row), withdrawn_at=None),
            *Flag.objects.filter(same_target(row), cleared_at=row.at),
        ]
    others = (other for other in superseded if other != row)
    return max(others, key=lambda other: other.at, default=None)


def was_withdrawn(row: Judgment | Flag | Repeat) -> bool:
    """Return whether a statement was withdrawn.

    A cleared flag was withdrawn if no other statement was made at the time it ended.
    """
    if not isinstance(row, Flag):
        return row.withdrawn_at is not None
    made_then = same_target(row) & Q(at=row.cleared_at)
    return row.cleared_at is not None and not any(
        model.objects.filter(made_then).exists() for model in (Judgment, Flag)
    )


def has_current(row: Judgment | Flag | Repeat) -> bool:
    """Return whether there is a current statement by the same person about the same document."""
    if isinstance(row, Repeat):
        return Repeat.objects.filter(same_target(row), superseded_at=None).exists()
    return (
        Judgment.objects.filter(same_target(row), superseded_at=None).exists()
        or Flag.objects.filter(same_target(row), cleared_at=None).exists()
    )
