"""Refuse statements with unknown grades, spans outside a text, or verdicts on no condition."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake


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
