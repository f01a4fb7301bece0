"""Mark answers stale when documents get new texts.

An answer names the text version that was read. When a newer one arrives, `text_replaced_at` is set
on the answers to the older ones: they are kept and no longer counted anywhere. All of this happens
in the transaction that writes the new texts.
"""

from __future__ import annotations

from django.db.models.expressions import RawSQL

from annotate.collection.answers import (
    count_evidence,
    describe_about,
    describe_beside,
    kinds_about_documents,
)
from annotate.collection.intake.arrivals import Intake
from annotate.collection.shown_documents import shown_to_judges_sql
from base import bulk
from base.amounts import amount

# The documents that get a new text. A first text replaces nothing.
_DOCUMENTS = RawSQL("SELECT x.id FROM stage_docs_changed x WHERE x.version >= 2", ())
_CANDIDATES = RawSQL(
    "SELECT c.id FROM stage_docs_changed x JOIN annotate_candidate c ON c.document_id = x.id "
    "WHERE x.version >= 2",
    (),
)


def note_stale_answers(intake: Intake) -> None:
    """Count the answers that become stale, and note them in the report."""
    documents = bulk.number("SELECT COUNT(*) FROM stage_docs_changed WHERE version >= 2")
    if not documents:
        return
    answers = ", ".join(describe_about(_CANDIDATES))
    spans = count_evidence(_CANDIDATES)
    evidence = f" ({amount(spans, 'evidence span')})" if spans else ""
    texts = amount(documents, "document gets", "documents get")
    intake.report.notes.append(
        f"{texts} another text. "
        + (
            f"Answers to the earlier text: {answers}{evidence}. They are kept under that text and "
            "become stale: they no longer count, and judges are asked again"
            if answers
            else "The earlier text has no answers"
        )
    )
    intake.report.notes += [
        f"{unaffected} had the earlier text at hand. They rate the instruction and stay as they "
        "are; their pages say that a document has another text since"
        for unaffected in describe_beside(_DOCUMENTS)
    ]


def lock_answers(intake: Intake) -> None:
    """Block answers about the changed documents until the end of the transaction.

    The locks are taken in the order in which judging takes them: the assignment, then the document
    (`annotate.collection.text_versions`).
    """
    if not bulk.on_postgresql():
        return
    intake.run(
        """
        SELECT s.id FROM annotate_assignment s WHERE s.task = 'judge' AND s.pair_id IN (
            SELECT p.id FROM stage_docs_changed x
            JOIN annotate_candidate c ON c.document_id = x.id
            JOIN annotate_instructionpair p ON p.query_id = c.query_id
            WHERE x.version IS NOT NULL
        ) ORDER BY s.id FOR UPDATE
        """
    )
    intake.run(
        "SELECT id FROM annotate_document WHERE id IN (SELECT id FROM stage_docs_changed "
        "WHERE version IS NOT NULL) ORDER BY id FOR UPDATE"
    )


def mark_stale(intake: Intake) -> None:
    """Mark answers about replaced texts stale, and reopen the assignments they belong to."""
    paths = {
        (kind.current().model._meta.concrete_model, kind.candidate)
        for kind in kinds_about_documents()
    }
    for model, candidate in paths:
        of_earlier_texts = model._base_manager.filter(
            text_replaced_at=None, **{f"{candidate}__in": _CANDIDATES}
        )
        of_earlier_texts.update(text_replaced_at=intake.now)
    shown = shown_to_judges_sql(intake.project, "c")
    intake.run(
        f"""
        UPDATE annotate_assignment SET done_at = NULL
        WHERE done_at IS NOT NULL AND task = 'judge' AND pair_id IN (
            SELECT p.id FROM stage_docs_changed x
            JOIN annotate_candidate c ON c.document_id = x.id AND c.removed_at IS NULL AND {shown}
            JOIN annotate_instructionpair p ON p.query_id = c.query_id
                AND (c.made_for_id IS NULL OR c.made_for_id = p.id)
            WHERE x.version >= 2
        )
        """  # noqa: S608 (our own statements)
    )
