"""Find the rows that statements refer to, and refuse those that do not fit.

The rows are a member, a pair, a candidate, a text version and a narrative; or the statement itself,
if the project has it already.
"""

from __future__ import annotations

import uuid

from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.qrels import Qrels
from annotate.judgments.intake.statement_kinds import (
    ADJUDICATION,
    FLAG,
    JUDGMENT,
    NAMESPACE,
    OTHER_VERDICTS,
    TEXT_NAMED,
    StatementKind,
)
from annotate.pairs.intake.pairs import Pairs
from annotate.pairs.intake.steps import find_members as point_to_members
from annotate.pairs.intake.steps import (
    insert_candidates_of_pairs,
    point_to_candidates,
    point_to_pairs,
    refuse_machines,
    refuse_missing_texts,
    refuse_other_query,
    refuse_unknown_pairs,
)
from base import bulk
from base.bulk import Stage


def find_pairs(intake: Intake) -> None:
    """Find the pair of each statement; create one with an empty original if the query has none."""
    refuse_other_query(intake, "stage_statements")
    if intake.report.refused:
        return
    point_to_pairs(intake, "stage_statements")
    refuse_unknown_pairs(
        intake,
        "stage_statements",
        "pair IS NULL AND pair_id IS NOT NULL AND (query_id IS NULL OR query_id <> pair_id)",
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
    point_to_candidates(intake, "stage_statements")
    joined = insert_candidates_of_pairs(intake, "stage_statements", "judged")
    if joined:
        point_to_candidates(intake, "stage_statements")
    if not intake.has_records(Qrels):
        candidates = bulk.number("SELECT COUNT(DISTINCT candidate) FROM stage_statements")
        intake.row_counts("candidates").unchanged += candidates - joined


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
    _find_judgments(intake, renamed)
    intake.run(
        """
        UPDATE stage_statements SET side = CASE WHEN EXISTS (
            SELECT 1 FROM annotate_narrative v
            WHERE v.pair_id = stage_statements.pair AND v.side = 'altered'
        ) THEN 'altered' ELSE 'original' END
        WHERE side IS NULL
        """
    )
    _find_flags(intake)
    _find_adjudications(intake)
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


# --- statements that the project already has, by UUID or else by content --------------------------


def _find_judgments(intake: Intake, renamed: Stage) -> None:
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


def _find_flags(intake: Intake) -> None:
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


def _find_adjudications(intake: Intake) -> None:
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


# --- statements that do not fit -------------------------------------------------------------------


def refuse_unknown_grades(intake: Intake) -> None:
    """Refuse grades that the project does not have."""
    grades = sorted(intake.project.grades.values_list("value", flat=True))
    listed = ", ".join(map(str, grades))

    def sentence(relevance: int) -> str:
        text = f"{relevance} is not a grade of this project; its grades are {listed}"
        if relevance < 0 and intake.options.no_grade is None:
            text += f" (if {relevance} means no grade, say so when loading: --no-grade {relevance})"
        return text

    intake.refuse_rows(
        """
        SELECT n, place, relevance FROM stage_statements
        WHERE what IN ('judgment', 'adjudication') AND relevance NOT IN (
            SELECT g.value FROM annotate_grade g WHERE g.project_id = %(project)s
        )
        """,
        sentence,
    )


def refuse_other_instructions(intake: Intake) -> None:
    """Refuse statements on a document under an instruction that it was not generated for."""
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.doc_id, o.pair_id AS own, p.pair_id AS other
        FROM stage_statements s
        CROSS JOIN annotate_candidate c CROSS JOIN annotate_instructionpair o
        CROSS JOIN annotate_instructionpair p
        WHERE c.id = s.candidate AND o.id = c.made_for_id AND o.id <> s.pair AND p.id = s.pair
        """,
        lambda doc_id, own, other: (
            f"document {doc_id} was generated for instruction {own}, so it has no label under "
            f"{other}"
        ),
    )


def refuse_spans_outside(intake: Intake) -> None:
    """Refuse new judgments whose spans are outside a known text."""
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.doc_id, s.evidence_end, t.length
        FROM stage_statements s
        CROSS JOIN annotate_candidate c CROSS JOIN annotate_documenttext t
        WHERE s.known IS NULL AND s.evidence_end > 0 AND c.id = s.candidate
        AND t.document_id = c.document_id AND t.version = s.text_read
        AND t.length < s.evidence_end
        """,
        lambda doc_id, end, length: (
            f"the evidence goes to character {end:,}, but the text of document {doc_id} has "
            f"{length:,}"
        ),
    )
    intake.refuse_rows(
        """
        SELECT s.n, s.place, p.pair_id, v.side, v.version, s.clauses_end,
            LENGTH(v.text) AS length
        FROM stage_statements s
        CROSS JOIN annotate_narrative v CROSS JOIN annotate_instructionpair p
        WHERE s.known IS NULL AND s.clauses_end > 0 AND v.id = s.narrative
        AND p.id = v.pair_id AND LENGTH(v.text) < s.clauses_end
        """,
        lambda pair, side, version, end, length: (
            f"the clauses go to character {end:,}, but version {version} of the {side} "
            f"narrative of {pair} has {length:,}"
        ),
    )


def refuse_unknown_conditions(intake: Intake) -> None:
    """Refuse new judgments with a verdict on a condition that their narrative does not have."""
    intake.refuse_rows(
        """
        SELECT x.n, s.place, p.pair_id, v.side, v.version, x.number, (
            SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = v.id
        ) AS conditions
        FROM stage_verdicts x
        CROSS JOIN stage_statements s
        CROSS JOIN annotate_narrative v
        CROSS JOIN annotate_instructionpair p
        WHERE s.n = x.statement AND s.known IS NULL AND v.id = s.narrative AND p.id = v.pair_id
        AND NOT EXISTS (
            SELECT 1 FROM annotate_condition c
            WHERE c.narrative_id = v.id AND c.number = x.number
        )
        """,
        lambda pair, side, version, number, conditions: (
            f"there is a verdict on condition {number}, but version {version} of the {side} "
            f"narrative of {pair} has {conditions or 'no'} "
            f"condition{'' if conditions == 1 else 's'}"
        ),
    )
