"""The history of one person's statements about one document.

A statement is a judgment, a flag or the answer to a repeat. One that is sent again, with the same
UUID and the same content, counts once.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from annotate.judging.lookup import CurrentStatement, JudgingState, warning_of
from annotate.judging.statement import (
    VALID_KEYS,
    FlagStatement,
    GradeStatement,
    Recorded,
    Target,
    statement_of,
)
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.projects.models import Membership
from base.errors import Refused

Row = Judgment | Flag | Repeat


def end_statement(row: Row, at: datetime | None) -> None:
    """End a statement at the given time, or make it current again (None)."""
    type(row)._default_manager.filter(pk=row.pk).update(ended_at=at)


def same_target(row: Row) -> Q:
    """Return a filter for statements by the same person about the same document, under the same
    narrative version and text version.
    """
    same_text = Q(text_version=row.text_version or 1)
    if (row.text_version or 1) == 1:
        same_text |= Q(text_version=None)
    return same_text & Q(
        narrative=row.narrative_id, candidate=row.candidate_id, annotator=row.annotator_id
    )


def find_superseded(row: Row) -> Row | None:
    """Return the statement that this one superseded, if any."""
    superseded: list[Row]
    target = same_target(row) & Q(withdrawn_at=None)
    if isinstance(row, Repeat):
        superseded = list(Repeat.objects.filter(target, at__lt=row.at))
    else:
        ended = Q(ended_at=row.at)
        if isinstance(row, Judgment) and row.replaces_id is not None:
            ended |= Q(pk=row.replaces_id)
        superseded = [
            *Judgment.objects.filter(ended, target),
            *Flag.objects.filter(target, ended_at=row.at),
        ]
    others = (other for other in superseded if other != row)
    return max(others, key=lambda other: other.at, default=None)


def has_current(row: Row) -> bool:
    """Return whether there is a current statement by the same person about the same document."""
    models = (Repeat,) if isinstance(row, Repeat) else (Judgment, Flag)
    current = same_target(row) & Q(ended_at=None)
    return any(model._default_manager.filter(current).exists() for model in models)


def find_resent(
    target: Target, by: Membership, statement: GradeStatement | FlagStatement, state: JudgingState
) -> Recorded:
    """Return the statement already recorded under this UUID; refuse if its content or its target
    differs.
    """
    first = Judgment if isinstance(statement, GradeStatement) else Flag
    row: Row | None = (
        (Repeat if target.again else first)
        ._default_manager.filter(
            uuid=statement.uuid,
            narrative=target.narrative,
            candidate=target.candidate,
            annotator=by,
        )
        .first()
    )
    if row is None or statement_of(row) != _as_saved(statement):
        raise Refused(uuid_conflict_message())
    before = find_superseded(row)
    current = (
        CurrentStatement(before.pk, before.uuid, before.at, statement_of(before).answer)
        if before
        else None
    )
    return Recorded(row, warning_of(state, current, statement))


def _as_saved(statement: GradeStatement | FlagStatement) -> GradeStatement | FlagStatement:
    """Merge a grade's spans as saving does; leave them as they are if they are invalid."""
    if isinstance(statement, FlagStatement):
        return statement
    try:
        return statement.with_merged_spans(document=VALID_KEYS.stop, narrative=VALID_KEYS.stop)
    except ValueError:
        return statement


def uuid_conflict_message() -> str:
    """Return the message for a UUID that was already used for other content."""
    return "This was already sent with other content. Reload the page and judge again."
