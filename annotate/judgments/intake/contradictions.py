"""Refuse lines of one file that contradict each other, and drop repeated ones."""

from __future__ import annotations

import uuid

from annotate.collection.intake.arrivals import Intake
from annotate.judgments.intake.statement_kinds import KEY
from base import bulk


def refuse_other_relevance(intake: Intake) -> None:
    """Refuse a second, different relevance by one rater for one document, unless times differ."""
    intake.refuse_rows(
        f"""
        SELECT n, place, place AS here, first_place, doc_id, query_id, rater FROM (
            SELECT s.*, FIRST_VALUE(place) OVER w AS first_place,
                FIRST_VALUE(relevance) OVER w AS first_relevance,
                FIRST_VALUE(at) OVER w AS first_at
            FROM stage_statements s
            WHERE (what = 'judgment' OR ungraded = 1) AND ended_at IS NULL
            WINDOW w AS (PARTITION BY {KEY} ORDER BY n)
        ) x
        WHERE relevance <> first_relevance
        AND (at IS NULL OR first_at IS NULL OR at = first_at)
        """,  # noqa: S608 (a constant)
        lambda place, first, doc_id, query_id, rater: (
            f"{rater} has given document {doc_id}"
            f"{f' of query {query_id}' if query_id else ''} another relevance on "
            f"{intake.describe_place(first, place)}"
        ),
    )


def refuse_other_content(intake: Intake) -> None:
    """Refuse a UUID that another line of the file uses for other content."""
    intake.refuse_rows(
        """
        SELECT n, place, place AS here, first_place, what, uuid FROM (
            SELECT s.*, FIRST_VALUE(place) OVER w AS first_place,
                FIRST_VALUE(relevance) OVER w AS first_relevance,
                FIRST_VALUE(doc_id) OVER w AS first_doc,
                FIRST_VALUE(rater) OVER w AS first_rater,
                FIRST_VALUE(what) OVER w AS first_what,
                FIRST_VALUE(verdicts) OVER w AS first_verdicts,
                FIRST_VALUE(kind) OVER w AS first_kind
            FROM stage_statements s WHERE given = 1
            WINDOW w AS (PARTITION BY uuid ORDER BY n)
        ) x
        WHERE COALESCE(relevance, 0) <> COALESCE(first_relevance, 0) OR doc_id <> first_doc
        OR what <> first_what OR rater <> first_rater OR verdicts <> first_verdicts
        OR kind <> first_kind
        """,
        lambda place, first, what, key: (
            f"the UUID {uuid.UUID(str(key))} is that of another {what} on "
            f"{intake.describe_place(first, place)}"
        ),
    )


def drop_repeated(intake: Intake) -> None:
    """Keep only the first of several equal statements."""
    intake.run(
        f"""
        DELETE FROM stage_statements WHERE n IN (
            SELECT n FROM (
                SELECT n, ROW_NUMBER() OVER (
                    PARTITION BY what, uuid, {KEY}, relevance, kind, words, at, ended_at
                    ORDER BY n
                ) AS nth FROM stage_statements
            ) x WHERE nth > 1
        )
        """  # noqa: S608
    )


def note_ungraded(intake: Intake) -> None:
    """Note in the report how many lines have the value that means no grade."""
    if ungraded := bulk.number(
        "SELECT COUNT(*) FROM stage_statements WHERE ungraded = 1 AND ended_at IS NULL"
    ):
        lines, outcome = (
            ("1 line has", "kept as a flag")
            if ungraded == 1
            else (f"{ungraded:,} lines have", "kept as flags")
        )
        intake.report.notes.append(
            f"{lines} the value {intake.options.no_grade}, which means no grade: {outcome}, "
            "“cannot judge”"
        )
