"""Find the statements that the project already has, by UUID or else by content."""

from __future__ import annotations

import uuid

from annotate.collection.intake.arrivals import Intake
from annotate.judgments.intake.statement_kinds import (
    ADJUDICATION,
    FLAG,
    JUDGMENT,
    NAMESPACE,
    OTHER_VERDICTS,
    TEXT_NAMED,
    StatementKind,
)
from base import bulk
from base.bulk import Stage


def find_judgments(intake: Intake, renamed: Stage) -> None:
    """Find judgments by UUID; refuse one whose content differs.

    `renamed` collects the claims that get another UUID.
    """
    if _find_by_uuid(intake, JUDGMENT):
        return
    if _rename_later_claims(renamed) and _find_by_uuid(intake, JUDGMENT):
        return
    verdicts = OTHER_VERDICTS.format(row="o", statement="s.n")
    _refuse_other_content(
        intake, JUDGMENT, f"o.repeat OR o.flag <> '' OR o.relevance <> s.relevance OR {verdicts}"
    )


def find_flags(intake: Intake) -> None:
    """Find flags by UUID, and by content those without one or from before flags had UUIDs."""
    if _find_by_uuid(intake, FLAG):
        return
    _refuse_other_content(intake, FLAG, "o.repeat OR o.flag <> s.kind")
    _find_by_content(
        intake,
        FLAG,
        "NOT o.repeat AND o.flag = stage_statements.kind AND o.note = stage_statements.words",
        among="known IS NULL AND (given = 0 OR at IS NOT NULL)",
    )


def find_adjudications(intake: Intake) -> None:
    """Find adjudications by content: they have no UUID."""
    _find_by_content(
        intake,
        ADJUDICATION,
        "o.relevance = stage_statements.relevance AND o.cause = stage_statements.kind "
        "AND o.reason = stage_statements.words",
        among="known IS NULL",
    )


def _find_by_uuid(intake: Intake, kind: StatementKind) -> int:
    """Find rows by UUID; refuse those of another project, and return how many were refused."""
    intake.run(
        f"""
        UPDATE stage_statements SET known = (
            SELECT o.id FROM {kind.table} o WHERE o.uuid = stage_statements.uuid
        )
        WHERE {kind.where}
        """  # noqa: S608 (our own tables)
    )
    return intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.uuid FROM stage_statements s
        CROSS JOIN {kind.table} o CROSS JOIN annotate_membership m
        WHERE {kind.where} AND o.id = s.known AND m.id = o.{kind.author}
        AND m.project_id <> %(project)s
        """,  # noqa: S608
        lambda key: (
            f"the {kind.what} with the UUID {uuid.UUID(str(key))} is already in another project "
            "of this installation, and a UUID can exist only once: remove the field uuid from "
            f"every line, and they become new {kind.what}s of this project"
        ),
    )


def _refuse_other_content(intake: Intake, kind: StatementKind, differs: str) -> None:
    """Refuse statements whose UUID is stored with other content.

    In `differs`, `o` is the stored row and `s` the staged statement.
    """
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.uuid FROM stage_statements s
        CROSS JOIN {kind.table} o CROSS JOIN annotate_narrative v
        WHERE {kind.where} AND o.id = s.known AND v.id = o.narrative_id AND (
            v.pair_id <> s.pair OR o.candidate_id <> s.candidate
            OR o.{kind.author} <> s.member OR v.side <> COALESCE(s.side, v.side)
            OR v.version <> COALESCE(s.version, v.version)
            OR NOT {TEXT_NAMED.format(row="o", statement="s")}
            OR {differs}
        )
        """,  # noqa: S608
        lambda key: (
            f"a {kind.what} with the UUID {uuid.UUID(str(key))} already exists with other content"
        ),
    )


def _find_by_content(intake: Intake, kind: StatementKind, same: str, *, among: str) -> None:
    """Find the first row with the same content, target and time."""
    intake.run(
        f"""
        UPDATE stage_statements SET known = (
            SELECT MIN(o.id) FROM {kind.table} o
            JOIN annotate_narrative v ON v.id = o.narrative_id
            WHERE o.candidate_id = stage_statements.candidate
            AND o.{kind.author} = stage_statements.member AND {same}
            AND o.at = COALESCE(stage_statements.at, o.at)
            AND v.pair_id = stage_statements.pair AND v.side = stage_statements.side
            AND v.version = COALESCE(stage_statements.version, v.version)
            AND {TEXT_NAMED.format(row="o", statement="stage_statements")}
        )
        WHERE {kind.where} AND {among}
        """  # noqa: S608
    )


def _rename_later_claims(renamed: Stage) -> int:
    """Give claims about a newer narrative version their own UUIDs, and return how many there are.

    The version is known only now: until here, a claim repeated for the next version has the UUID
    of the claim for the last one.
    """
    for place, n, key, version in bulk.select(
        """
        SELECT s.place, s.n, s.uuid, s.version FROM stage_statements s
        CROSS JOIN annotate_statement j CROSS JOIN annotate_narrative v
        WHERE s.what = 'judgment' AND s.given = 0 AND j.id = s.known
        AND v.id = j.narrative_id AND v.pair_id = s.pair AND v.side = s.side
        AND v.version < s.version
        ORDER BY s.n
        """
    ):
        name = f"{uuid.UUID(str(key))}\x1f{version}"
        renamed.add(place, n, uuid.uuid5(NAMESPACE, name))
    if renamed.count:
        renamed.settle()
        bulk.index("stage_renamed", "statement")
        bulk.run(
            """
            UPDATE stage_statements SET known = NULL, uuid = (
                SELECT r.uuid FROM stage_renamed r WHERE r.statement = stage_statements.n
            )
            WHERE n IN (SELECT statement FROM stage_renamed)
            """
        )
    return renamed.count
