"""Find the rows that statements refer to: member, pair, candidate, text version, narrative."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.qrels import Qrels
from annotate.judgments.intake import known_statements
from annotate.judgments.intake.statement_kinds import ADJUDICATION
from annotate.pairs.intake.pairs import Pairs
from annotate.pairs.intake.shared import refuse_other_query
from annotate.pairs.intake.steps import find_members as point_to_members
from annotate.pairs.intake.steps import refuse_machines, refuse_missing_texts
from base import bulk
from base.bulk import Stage


def find_pairs(intake: Intake) -> None:
    """Find the pair of each statement; create one with an empty original if the query has none."""
    refuse_other_query(intake, "stage_statements")
    if intake.report.refused:
        return
    _point_to_pairs(intake)
    intake.refuse_rows(
        """
        SELECT n, place, pair_id FROM stage_statements
        WHERE pair IS NULL AND pair_id IS NOT NULL
        AND (query_id IS NULL OR query_id <> pair_id)
        """,
        lambda pair_id: f"there is no instruction pair {pair_id} in this project: load it first",
    )
    _find_sole_pairs(intake)
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.query_id FROM stage_statements s
        CROSS JOIN annotate_instructionpair p
        WHERE s.pair IS NULL AND COALESCE(s.pair_id, s.query_id) = s.query_id
        AND p.project_id = %(project)s AND p.pair_id = s.query_id
        """,
        lambda query_id: (
            f"query {query_id} has no instruction pair, and another query's pair has its id: "
            "load its pair first"
        ),
    )
    if not intake.report.refused:
        _make_pairs(intake)


def _find_sole_pairs(intake: Intake) -> None:
    """Find the pair of each statement that names only its query; refuse a query with several."""
    bulk.drop("stage_pairs_of")
    intake.run(
        """
        CREATE TEMPORARY TABLE stage_pairs_of AS
        SELECT q.query_id, MIN(p.id) AS pair, COUNT(*) AS pairs FROM annotate_query q
        JOIN annotate_instructionpair p ON p.query_id = q.id
        WHERE q.project_id = %(project)s AND q.query_id IN (
            SELECT query_id FROM stage_statements WHERE pair IS NULL AND pair_id IS NULL
        )
        GROUP BY q.query_id
        """
    )
    bulk.index("stage_pairs_of", "query_id")
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.query_id, x.pairs FROM stage_statements s
        JOIN stage_pairs_of x ON x.query_id = s.query_id
        WHERE s.pair IS NULL AND s.pair_id IS NULL AND x.pairs > 1
        """,
        lambda query_id, pairs: (
            f"query {query_id} has {pairs} instruction pairs: say which one, in pair_id"
        ),
    )
    intake.run(
        """
        UPDATE stage_statements SET pair = (
            SELECT x.pair FROM stage_pairs_of x WHERE x.query_id = stage_statements.query_id
        )
        WHERE pair IS NULL AND pair_id IS NULL
        """
    )
    bulk.drop("stage_pairs_of")


def _point_to_pairs(intake: Intake) -> None:
    intake.run(
        """
        UPDATE stage_statements SET pair = (
            SELECT p.id FROM annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = stage_statements.pair_id
        )
        WHERE pair IS NULL AND pair_id IS NOT NULL
        """
    )


def _make_pairs(intake: Intake) -> None:
    made = intake.run(
        """
        INSERT INTO annotate_instructionpair
            (project_id, query_id, pair_id, category, origin, model)
        SELECT %(project)s, q.id, q.query_id, '', 'human', '' FROM annotate_query q
        WHERE q.project_id = %(project)s AND q.query_id IN (
            SELECT query_id FROM stage_statements WHERE pair IS NULL
        )
        ORDER BY q.id
        """
    )
    if not made:
        return
    intake.run(
        """
        UPDATE stage_statements SET pair = (
            SELECT p.id FROM annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = stage_statements.query_id
        )
        WHERE pair IS NULL
        """
    )
    written = intake.run(
        """
        INSERT INTO annotate_narrative
            (pair_id, side, version, is_current, text, note, created_at)
        SELECT DISTINCT s.pair, 'original', 1, TRUE, '', '', %(now)s FROM stage_statements s
        WHERE NOT EXISTS (SELECT 1 FROM annotate_narrative v WHERE v.pair_id = s.pair)
        """
    )
    intake.row_counts("pairs").new += made
    intake.row_counts("narratives").new += written


def find_candidates(intake: Intake) -> None:
    """Find the candidate of each statement; add documents that are not in the pool to it."""
    _point_to_candidates(intake)
    joined = intake.run(
        """
        INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
        SELECT DISTINCT p.query_id, d.id, CAST(NULL AS integer), 'judged'
        FROM stage_statements s CROSS JOIN annotate_instructionpair p
        CROSS JOIN annotate_document d
        WHERE s.candidate IS NULL AND p.id = s.pair
        AND d.project_id = %(project)s AND d.doc_id = s.doc_id
        """
    )
    if joined:
        _point_to_candidates(intake)
    candidates = intake.row_counts("candidates")
    candidates.new += joined
    if not intake.has_records(Qrels):
        candidates.unchanged += (
            bulk.number("SELECT COUNT(DISTINCT candidate) FROM stage_statements") - joined
        )


def _point_to_candidates(intake: Intake) -> None:
    intake.run(
        """
        UPDATE stage_statements SET candidate = (
            SELECT c.id FROM annotate_instructionpair p
            CROSS JOIN annotate_document d
            CROSS JOIN annotate_candidate c
            WHERE p.id = stage_statements.pair
            AND d.project_id = %(project)s AND d.doc_id = stage_statements.doc_id
            AND c.query_id = p.query_id AND c.document_id = d.id
        )
        WHERE candidate IS NULL
        """
    )


def find_texts(intake: Intake) -> None:
    """Find the text version that each statement is about: the one it names, or the newest."""
    refuse_missing_texts(
        intake,
        "FROM stage_statements s CROSS JOIN annotate_candidate c CROSS JOIN annotate_document d "
        "WHERE c.id = s.candidate AND d.id = c.document_id",
        "text_version",
    )
    intake.run(
        """
        UPDATE stage_statements SET text_read = COALESCE(text_version, (
            SELECT d.text_version FROM annotate_candidate c
            CROSS JOIN annotate_document d
            WHERE c.id = stage_statements.candidate AND d.id = c.document_id
        ))
        """
    )
    intake.run(
        """
        UPDATE stage_statements SET text_replaced = (
            SELECT t.created_at FROM annotate_candidate c
            CROSS JOIN annotate_document d CROSS JOIN annotate_documenttext t
            WHERE c.id = stage_statements.candidate AND d.id = c.document_id
            AND t.document_id = d.id AND t.version = stage_statements.text_read + 1
            AND t.version <= d.text_version
        )
        WHERE text_version IS NOT NULL
        """
    )


def find_narratives(intake: Intake, renamed: Stage) -> None:
    """Find the narrative version of each statement: the one it names, or the current one."""
    if intake.has_records(Pairs):
        # Claims are about the narratives they came with, even after these were rewritten.
        bulk.index("stage_narratives", "pair_id, side")
        intake.run(
            """
            UPDATE stage_statements SET version = (
                SELECT MAX(x.version) FROM stage_narratives x
                WHERE x.pair_id = stage_statements.pair_id AND x.side = stage_statements.side
                AND x.withdrawn_at IS NULL
            )
            WHERE version IS NULL AND side IS NOT NULL
            """
        )
    known_statements.find_judgments(intake, renamed)
    intake.run(
        """
        UPDATE stage_statements SET side = CASE WHEN EXISTS (
            SELECT 1 FROM annotate_narrative v
            WHERE v.pair_id = stage_statements.pair AND v.side = 'altered'
        ) THEN 'altered' ELSE 'original' END
        WHERE side IS NULL
        """
    )
    known_statements.find_flags(intake)
    known_statements.find_adjudications(intake)
    intake.run(
        """
        UPDATE stage_statements SET narrative = (
            SELECT v.id FROM annotate_narrative v
            WHERE v.pair_id = stage_statements.pair AND v.side = stage_statements.side
            AND (v.version = stage_statements.version
                OR stage_statements.version IS NULL AND v.is_current)
        )
        WHERE known IS NULL
        """
    )
    intake.refuse_rows(
        """
        SELECT s.n, s.place, p.pair_id, s.side, s.version, (
            SELECT MAX(x.version) FROM annotate_narrative x
            WHERE x.pair_id = s.pair AND x.side = s.side
        ) AS newest
        FROM stage_statements s CROSS JOIN annotate_instructionpair p
        WHERE s.known IS NULL AND s.narrative IS NULL AND p.id = s.pair
        """,
        lambda pair, side, version, newest: (
            f"the {side} narrative of {pair} has no version {version}; the newest is {newest}"
            if newest
            else f"instruction pair {pair} has no {side} narrative"
        ),
    )


def find_members(intake: Intake) -> None:
    """Find the member who made each statement; create members without a login for new raters."""
    intake.add_raters(
        "SELECT n, place, rater AS name, machine FROM stage_statements UNION ALL "
        "SELECT n, place, withdrawn_by, 0 FROM stage_statements WHERE withdrawn_by IS NOT NULL"
    )
    point_to_members(intake, "stage_statements", "rater")
    refuse_machines(
        intake, "stage_statements", "rater", "an adjudication", where=ADJUDICATION.where
    )
