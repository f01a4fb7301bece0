"""Decide which of several statements is current: the newest supersedes the others."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.judgments.intake.statement_kinds import TEXT_READ, StatementKind
from annotate.pairs.intake.steps import count_states


def end_all_but_the_last(intake: Intake, kind: StatementKind) -> None:
    """End all but the last of one person's new statements of one kind on one document."""
    intake.run(
        """
        UPDATE stage_statements SET ended_at = x.next_at FROM (
            SELECT n, LEAD(COALESCE(at, %(now)s)) OVER (
                PARTITION BY narrative, candidate, member, COALESCE(text_read, 1)
                ORDER BY COALESCE(at, %(now)s), n
            ) AS next_at
            FROM stage_statements
            WHERE what = %(what)s AND known IS NULL AND ended_at IS NULL
        ) x
        WHERE x.n = stage_statements.n AND x.next_at IS NOT NULL
        """,
        what=kind.what,
    )


def find_superseded(intake: Intake, kind: StatementKind) -> None:
    """Find the current statement that each new one may supersede."""
    intake.run(
        f"""
        UPDATE stage_statements SET superseded = (
            SELECT o.id FROM annotate_statement o
            WHERE o.narrative_id = stage_statements.narrative
            AND o.candidate_id = stage_statements.candidate
            AND o.annotator_id = stage_statements.member AND o.ended_at IS NULL
            AND NOT o.repeat AND {TEXT_READ.format(row="o")}
        )
        WHERE what = %(what)s AND known IS NULL AND ended_at IS NULL
        """,  # noqa: S608 (a constant)
        what=kind.what,
    )


def end_outdated(intake: Intake, kind: StatementKind) -> None:
    """End each dated statement that is older than the current one: it supersedes nothing."""
    intake.run(
        """
        UPDATE stage_statements SET ended_at = o.at FROM annotate_statement o
        WHERE o.id = stage_statements.superseded AND o.at > stage_statements.at
        AND stage_statements.what = %(what)s AND stage_statements.known IS NULL
        AND stage_statements.ended_at IS NULL
        """,
        what=kind.what,
    )


def supersede_current(intake: Intake, kind: StatementKind) -> None:
    """End the current statement for each new one."""
    intake.run(
        """
        UPDATE annotate_statement SET ended_at = COALESCE(s.at, %(now)s) FROM stage_statements s
        WHERE annotate_statement.id = s.superseded AND s.what = %(what)s AND s.known IS NULL
        AND s.ended_at IS NULL
        """,
        what=kind.what,
    )


def count(intake: Intake, kind: StatementKind, rows: str, superseding: str) -> None:
    """Mark and count new statements; those that match `superseding` count as changes."""
    intake.run(
        f"""
        UPDATE stage_statements SET state = CASE WHEN {superseding} THEN 1 ELSE 2 END
        WHERE {kind.where} AND known IS NULL
        """  # noqa: S608 (our own conditions)
    )
    count_states(intake, "stage_statements", rows, where=kind.where)
