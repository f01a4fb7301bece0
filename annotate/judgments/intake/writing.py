"""Write judgments with their verdicts, and flags; append the judgments to a chain."""

from __future__ import annotations

import uuid

from django.db.models.expressions import RawSQL

from annotate.collection.intake.arrivals import Intake
from annotate.judgments import judgment_chain
from annotate.judgments.intake import supersede
from annotate.judgments.intake.statement_kinds import (
    FLAG,
    HOW,
    JUDGMENT,
    OTHER_VERDICTS,
    StatementKind,
)
from annotate.judgments.models import Judgment, Statement
from annotate.pairs.intake.steps import end_known
from annotate.projects import hash_chain
from base import bulk


def write(intake: Intake, *, with_verdicts: bool) -> None:
    """Write the judgments and the flags that the project does not have yet."""
    newest = bulk.number("SELECT MAX(id) FROM annotate_statement")
    _write(intake, JUDGMENT, "judgments")
    if with_verdicts:
        _write_verdicts(intake)
    _write(intake, FLAG, "flags")
    if not intake.dry_run:
        _link(intake, newest)


def _write(intake: Intake, kind: StatementKind, rows: str) -> None:
    """Write the statements of one kind; `rows` is its name in the report."""
    end_known(
        intake,
        "stage_statements",
        kind.table,
        kind.ended,
        also=", withdrawn_at = s.withdrawn_at",
        where=kind.where,
    )
    supersede.end_all_but_the_last(intake, kind)
    supersede.find_superseded(intake, kind)
    if kind == JUDGMENT:
        _renew_undated(intake)
        _match_current(intake)
    supersede.end_outdated(intake, kind)
    supersede.supersede_current(intake, kind)
    intake.run(
        f"""
        INSERT INTO annotate_statement (uuid, narrative_id, candidate_id, annotator_id, repeat,
            relevance, flag, note, {", ".join(HOW)}, evidence, clauses, source, at, made_at,
            ended_at, withdrawn_at, text_version, text_replaced_at, replaces_id)
        SELECT COALESCE(s.uuid, {bulk.new_uuid()}), s.narrative, s.candidate, s.member, FALSE,
            CASE WHEN s.kind = '' THEN s.relevance END, s.kind, s.words,
            {", ".join(f"s.{name}" for name in HOW)}, s.evidence, s.clauses, 'file',
            COALESCE(s.at, %(now)s), s.made_at, s.ended_at, s.withdrawn_at, s.text_read,
            s.text_replaced,
            CASE WHEN s.ended_at IS NULL AND NOT EXISTS (
                SELECT 1 FROM annotate_statement o WHERE o.replaces_id = s.superseded
            ) THEN s.superseded END
        FROM stage_statements s WHERE {kind.where} AND s.known IS NULL
        ORDER BY s.n
        """  # noqa: S608 (our own columns)
    )
    supersede.count(intake, kind, rows, "superseded IS NOT NULL AND ended_at IS NULL")


def _renew_undated(intake: Intake) -> None:
    """Turn a known, undated judgment that another file has superseded since into a new one.

    If the person has judged again on a page since, nothing changes.
    """
    intake.run(
        f"""
        UPDATE stage_statements SET known = NULL, uuid = {bulk.new_uuid()}, superseded = (
            SELECT c.id FROM annotate_statement k JOIN annotate_statement c
                ON c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
                AND c.annotator_id = k.annotator_id
                AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
            WHERE k.id = stage_statements.known AND c.ended_at IS NULL AND NOT c.repeat
        ), narrative = (
            SELECT k.narrative_id FROM annotate_statement k WHERE k.id = stage_statements.known
        ), text_read = (
            SELECT k.text_version FROM annotate_statement k WHERE k.id = stage_statements.known
        ), text_replaced = (
            SELECT k.text_replaced_at FROM annotate_statement k
            WHERE k.id = stage_statements.known
        )
        WHERE n IN (
            SELECT s.n FROM stage_statements s
            CROSS JOIN annotate_statement k CROSS JOIN annotate_statement c
            WHERE s.what = 'judgment' AND s.at IS NULL AND s.given = 0 AND s.ended_at IS NULL
            AND k.id = s.known AND k.ended_at IS NOT NULL
            AND c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
            AND c.annotator_id = k.annotator_id AND c.ended_at IS NULL AND NOT c.repeat
            AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
            AND c.source = 'file' AND c.relevance <> k.relevance
        )
        """  # noqa: S608 (a constant)
    )


def _match_current(intake: Intake) -> None:
    """Match statements without a UUID to the current judgment if it has the same content."""
    intake.run(
        f"""
        UPDATE stage_statements SET known = superseded
        WHERE what = 'judgment' AND known IS NULL AND given = 0 AND EXISTS (
            SELECT 1 FROM annotate_statement j
            WHERE j.id = stage_statements.superseded AND j.relevance = stage_statements.relevance
            AND (stage_statements.words = '' OR j.note = stage_statements.words)
            AND NOT {OTHER_VERDICTS.format(row="j", statement="stage_statements.n")}
        )
        """  # noqa: S608 (a constant)
    )


def _write_verdicts(intake: Intake) -> None:
    """Write the verdicts of the newly written judgments."""
    written = intake.run(
        """
        INSERT INTO annotate_verdict (statement_id, condition_id, answer)
        SELECT j.id, c.id, x.answer
        FROM stage_verdicts x
        CROSS JOIN stage_statements s
        CROSS JOIN annotate_statement j
        CROSS JOIN annotate_condition c
        WHERE s.n = x.statement AND s.known IS NULL AND j.uuid = s.uuid
        AND c.narrative_id = s.narrative AND c.number = x.number
        ORDER BY x.n
        """
    )
    verdicts = intake.row_counts("verdicts")
    verdicts.new += written
    verdicts.unchanged += (
        bulk.number(
            "SELECT COUNT(*) FROM stage_verdicts x JOIN stage_statements s ON s.n = x.statement"
        )
        - written
    )


def _link(intake: Intake, newest: int) -> None:
    """Append the written judgments, whose keys are above `newest`, to a new hash chain, which
    nobody else writes to.
    """
    loaded = Judgment.objects.filter(
        annotator__project=intake.project, source=Statement.Source.FILE
    )
    new = judgment_chain.rows(loaded.filter(pk__gt=newest).order_by("pk"))
    of_ended = RawSQL(
        """
        SELECT superseded FROM stage_statements
        WHERE what IN ('judgment', 'flag') AND known IS NULL AND ended_at IS NULL
        AND superseded IS NOT NULL
        UNION SELECT known FROM stage_statements
        WHERE what = 'judgment' AND state = 1 AND known IS NOT NULL
        """,
        (),
    )
    ended = judgment_chain.rows(Judgment.objects.filter(pk__in=of_ended).order_by("pk"))
    project, links = intake.project.pk, uuid.uuid4()
    end = hash_chain.End()
    if hash_chain.append(project, links, judgment_chain.events_of_new(new), after=end):
        end = hash_chain.end_of(project, links)
    hash_chain.append(project, links, judgment_chain.events_of_ended(ended), after=end)
