"""Statements that are sent again, with the same UUID and the same content: they count once."""

from __future__ import annotations

from annotate.judging.lookup import JudgingState, warning_of
from annotate.judging.statement import (
    VALID_KEYS,
    FlagStatement,
    GradeStatement,
    Recorded,
    Target,
    statement_of,
)
from annotate.judgments.models import Statement
from annotate.projects.models import Membership
from base.errors import Refused


def find_superseded(row: Statement) -> Statement | None:
    """Return the statement that this one superseded, unless a file has withdrawn it since."""
    superseded = row.replaces
    if superseded is None or superseded.withdrawn_at is not None:
        return None
    return superseded


def find_resent(
    target: Target, by: Membership, statement: GradeStatement | FlagStatement, state: JudgingState
) -> Recorded:
    """Return the statement already recorded under this UUID; refuse if its content or its target
    differs.
    """
    row = Statement.objects.filter(
        uuid=statement.uuid,
        narrative=target.narrative,
        candidate=target.candidate,
        annotator=by,
        repeat=target.again,
    ).first()
    if row is None or statement_of(row) != _as_saved(statement):
        raise Refused(uuid_conflict_message())
    return Recorded(row, warning_of(state, find_superseded(row), statement))


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
