"""Rules of the project's kind that rows of a file break, reported row by row in the preview.

Nothing is corrected and nothing refused: a lead decides whether to load such a file. The queries
run after the rows are written, so they see the file together with the project's own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial

from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.qrels import Qrels
from annotate.judgments.intake.statements import Statements
from annotate.pairs.intake.pairs import Pairs
from annotate.projects.kinds import kind_of


class LoadRule(StrEnum):
    """A rule of a kind on the rows of a file."""

    # A least number of documents is relevant to each instruction.
    POSITIVES = "positives"
    # A reversed instruction comes with the instruction that it reverses.
    REVERSED = "reversed"
    # No narrative has more conditions than the kind allows, no label counts more than there are.
    CONDITION_COUNT = "condition_count"
    # The category of an instruction is one of the project's types.
    CATEGORY = "category"
    # The dimension of a condition is one of the project's types.
    DIMENSION = "dimension"


def report_broken_rules(intake: Intake) -> None:
    """Report the rows that break rules of the kind."""
    intake.report.clear_broken()
    for rule in kind_of(intake.project.kind).load_rules:
        _RULES[LoadRule(rule.rule)](intake, rule.limits)


def _positives(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report instructions whose labels have too few relevant documents."""
    if not intake.has_records(Pairs):
        return
    least = limits["least"]
    intake.report_broken_rows(
        """
        SELECT s.n, s.place, s.pair_id, COUNT(DISTINCT CASE
            WHEN j.relevance >= %(relevant_from)s THEN j.candidate_id END) AS relevant
        FROM stage_pairs s
        JOIN annotate_instructionpair p ON p.project_id = %(project)s AND p.pair_id = s.pair_id
        JOIN annotate_narrative v ON v.pair_id = p.id AND v.side = 'altered' AND v.is_current
        JOIN annotate_statement j ON j.narrative_id = v.id AND j.ended_at IS NULL
            AND j.text_replaced_at IS NULL AND NOT j.repeat AND j.relevance IS NOT NULL
        GROUP BY s.n, s.place, s.pair_id
        HAVING COUNT(DISTINCT CASE
            WHEN j.relevance >= %(relevant_from)s THEN j.candidate_id END) < %(least)s
        """,
        lambda pair, relevant: (
            f"instruction {pair} has {relevant} relevant "
            f"{'document' if relevant == 1 else 'documents'}; this kind asks for at least {least}"
        ),
        relevant_from=intake.project.relevant_from,
        least=least,
    )


def _reversed(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report reversed instructions without the instruction that they reverse."""
    if not intake.has_records(Pairs):
        return
    intake.report_broken_rows(
        """
        SELECT MIN(s.n) AS n, MIN(s.place) AS place, s.pair_id
        FROM stage_narratives s
        JOIN annotate_instructionpair p ON p.project_id = %(project)s AND p.pair_id = s.pair_id
        WHERE s.side = 'reversed' AND NOT EXISTS (
            SELECT 1 FROM annotate_narrative o WHERE o.pair_id = p.id AND o.side = 'altered'
        )
        GROUP BY s.pair_id
        """,
        lambda pair: f"{pair} has a reversed instruction but not the one that it reverses",
    )


def _condition_count(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report narratives with too many conditions, and labels above the number of conditions."""
    if intake.has_records(Pairs):
        most = limits["most"]
        intake.report_broken_rows(
            """
            SELECT MIN(s.n) AS n, MIN(s.place) AS place, s.pair_id, COUNT(*) AS conditions
            FROM stage_conditions s
            GROUP BY s.pair_id, s.side, s.version HAVING COUNT(*) > %(most)s
            """,
            lambda pair, conditions: (
                f"instruction {pair} has {conditions} conditions; this kind allows at most {most}"
            ),
            most=most,
        )
    of_narrative = "SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = "
    if intake.has_records(Statements):
        intake.report_broken_rows(
            f"""
            SELECT s.n, s.place, s.doc_id, s.relevance, ({of_narrative} s.narrative) AS conditions
            FROM stage_statements s
            WHERE s.what = 'judgment' AND s.relevance > ({of_narrative} s.narrative)
            AND EXISTS (SELECT 1 FROM annotate_condition c WHERE c.narrative_id = s.narrative)
            """,  # noqa: S608 (our own statements)
            _too_many_conditions,
        )
    if intake.has_records(Qrels):
        intake.report_broken_rows(
            f"""
            SELECT n, place, doc_id, relevance, conditions FROM (
                SELECT s.n, s.place, s.doc_id, s.relevance, (
                    SELECT MAX(({of_narrative} v.id)) FROM annotate_narrative v
                    JOIN annotate_instructionpair p ON p.id = v.pair_id
                    JOIN annotate_query q ON q.id = p.query_id
                    WHERE q.project_id = %(project)s AND q.query_id = s.query_id
                ) AS conditions
                FROM stage_qrels s
            ) counted WHERE conditions > 0 AND relevance > conditions
            """,  # noqa: S608
            _too_many_conditions,
        )


def _too_many_conditions(doc_id: str, relevance: int, conditions: int) -> str:
    return (
        f"{doc_id} is labelled as meeting {relevance} conditions, but there "
        f"{'is' if conditions == 1 else 'are'} {conditions}"
    )


def _type(stage: str, column: str, noun: str, intake: Intake, limits: Mapping[str, int]) -> None:
    """Report rows whose column names none of the project's types, if it has types."""
    if not intake.has_records(Pairs):
        return
    of_project = "SELECT 1 FROM annotate_category k WHERE k.project_id = %(project)s"
    intake.report_broken_rows(
        f"""
        SELECT s.n, s.place, s.{column} FROM {stage} s WHERE s.{column} <> ''
        AND EXISTS ({of_project}) AND NOT EXISTS ({of_project} AND k.key = s.{column})
        """,  # noqa: S608 (our own stages)
        lambda name: f"the {noun} {name} is not one of the project's types",
    )


_RULES: Mapping[LoadRule, Callable[[Intake, Mapping[str, int]], None]] = {
    LoadRule.POSITIVES: _positives,
    LoadRule.REVERSED: _reversed,
    LoadRule.CONDITION_COUNT: _condition_count,
    LoadRule.CATEGORY: partial(_type, "stage_pairs", "category", "category"),
    LoadRule.DIMENSION: partial(_type, "stage_conditions", "name", "dimension"),
}
