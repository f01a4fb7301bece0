"""Which checks and reviews a new text of a document makes stale."""

from __future__ import annotations

from annotate.collection.intake.stale import AnswerTable, UnaffectedAnswers

# Checks of claimed labels, which are made of what a document says.
CHECKS = AnswerTable(
    "audit_check",
    *("check", "checks"),
    "r.item_id IN (SELECT i.id FROM audit_sampleitem i WHERE i.candidate_id IN ({candidates}))",
    "r.superseded_at IS NULL",
)


# Reviews of instructions, beside which the documents lay.
REVIEWS = UnaffectedAnswers(
    """
    SELECT COUNT(DISTINCT t.review_id) FROM audit_reviewedtext t
    JOIN stage_docs_changed x ON x.id = t.document_id WHERE x.version >= 2
    """,
    *("review", "reviews"),
)
