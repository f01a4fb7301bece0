"""Checks and reviews that a new text of a document or a new narrative makes stale or affects."""

from __future__ import annotations

from annotate.collection.intake.stale_answers import AnswerTable, UnaffectedAnswers

# Checks of claimed labels depend on the text of a document.
CHECKS = AnswerTable(
    "audit_check",
    *("check", "checks"),
    "r.item_id IN (SELECT i.id FROM audit_sampleitem i WHERE i.candidate_id IN ({candidates}))",
    "r.ended_at IS NULL",
)


# Reviews of instructions, which showed the documents beside them.
REVIEWS = UnaffectedAnswers(
    """
    SELECT COUNT(DISTINCT t.review_id) FROM audit_reviewedtext t
    JOIN stage_docs_changed x ON x.id = t.document_id WHERE x.version >= 2
    """,
    *("review", "reviews"),
)
