"""Mark answers stale when documents get new texts.

An answer names the text version that was read. When a newer one arrives, `text_replaced_at` is set
on the answers to the older ones: they are kept and no longer counted anywhere. All of this happens
in the transaction that writes the new texts.
"""

from __future__ import annotations

from typing import NamedTuple

from annotate.collection.intake.arrivals import Intake
from annotate.collection.shown_documents import shown_to_judges_sql
from base import bulk


class AnswerTable(NamedTuple):
    """A table of answers about documents.

    `about` and `current` are SQL conditions on a row `r`: whether it is about one of `{candidates}`
    (a query for keys), and whether it is current.
    """

    table: str
    singular: str
    plural: str
    about: str
    current: str


_OF_CANDIDATE = "r.candidate_id IN ({candidates})"
_IS_JUDGMENT = "NOT r.repeat AND r.relevance IS NOT NULL"
_answer_tables = [
    AnswerTable(
        "annotate_statement",
        *("judgment", "judgments"),
        *(f"{_OF_CANDIDATE} AND {_IS_JUDGMENT}", "r.ended_at IS NULL"),
    ),
    AnswerTable(
        "annotate_statement",
        *("flag", "flags"),
        *(f"{_OF_CANDIDATE} AND NOT r.repeat AND r.relevance IS NULL", "r.ended_at IS NULL"),
    ),
    AnswerTable(
        "annotate_statement",
        *("repeat", "repeats"),
        *(f"{_OF_CANDIDATE} AND r.repeat", "r.ended_at IS NULL"),
    ),
    AnswerTable(
        "annotate_adjudication",
        *("settling decision", "settling decisions"),
        *(_OF_CANDIDATE, "r.withdrawn_at IS NULL"),
    ),
    AnswerTable(
        "annotate_conditionadjudication",
        *("settled condition", "settled conditions"),
        *(_OF_CANDIDATE, "r.withdrawn_at IS NULL"),
    ),
]


def register(*tables: AnswerTable) -> None:
    """Register more tables with answers to mark stale; apps call it once, at start."""
    _answer_tables.extend(table for table in tables if table not in _answer_tables)


class UnaffectedAnswers(NamedTuple):
    """Answers that do not become stale, although documents were shown beside them.

    `counted`: SQL that counts those beside which a document of `stage_docs_changed` was shown.
    """

    counted: str
    singular: str
    plural: str


_unaffected: list[UnaffectedAnswers] = []


def register_unaffected(*statements: UnaffectedAnswers) -> None:
    """Register more answers to count as shown beside documents; apps call it once, at start."""
    _unaffected.extend(statement for statement in statements if statement not in _unaffected)


# The candidates of documents that get a new text. A first text replaces nothing.
_CANDIDATES = """
    SELECT c.id FROM stage_docs_changed x JOIN annotate_candidate c ON c.document_id = x.id
    WHERE x.version >= 2
    """


def note_stale_answers(intake: Intake) -> None:
    """Count the answers that become stale, and note them in the report."""
    documents = bulk.number("SELECT COUNT(*) FROM stage_docs_changed WHERE version >= 2")
    if not documents:
        return
    counted = [(_count(table), table) for table in _answer_tables]
    spans = intake.number(
        f"""
        SELECT COALESCE(SUM({_length_of("r.evidence")}), 0) FROM annotate_statement r
        WHERE r.candidate_id IN ({_CANDIDATES}) AND {_IS_JUDGMENT} AND r.text_replaced_at IS NULL
        AND r.ended_at IS NULL
        """  # noqa: S608 (our own statements)
    )
    parts = {table.plural: _amount(n, table.singular, table.plural) for n, table in counted if n}
    if "judgments" in parts:
        parts["judgments"] += f" with {_amount(spans, 'evidence span', 'evidence spans')}"
    texts = "1 document gets" if documents == 1 else f"{documents:,} documents get"
    answers = ", ".join(parts.values())
    intake.report.notes.append(
        f"{texts} another text. "
        + (
            f"Answers to the earlier text: {answers}. They are kept under that text and become "
            "stale: they no longer count, and judges are asked again"
            if answers
            else "The earlier text has no answers"
        )
    )
    for unaffected in _unaffected:
        if count := bulk.number(unaffected.counted):
            intake.report.notes.append(
                f"{_amount(count, unaffected.singular, unaffected.plural)} had the earlier text at "
                "hand. They rate the instruction and stay as they are; their pages say that a "
                "document has another text since"
            )


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
    for answers in _answer_tables:
        intake.run(
            f"""
            UPDATE {answers.table} AS r SET text_replaced_at = %(now)s
            WHERE r.text_replaced_at IS NULL AND {answers.about.format(candidates=_CANDIDATES)}
            """  # noqa: S608 (our own statements)
        )
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


def _count(answers: AnswerTable) -> int:
    return bulk.number(
        f"""
        SELECT COUNT(*) FROM {answers.table} r
        WHERE {answers.about.format(candidates=_CANDIDATES)}
        AND r.text_replaced_at IS NULL AND {answers.current}
        """  # noqa: S608 (our own statements)
    )


def _length_of(spans: str) -> str:
    return f"jsonb_array_length({spans})" if bulk.on_postgresql() else f"json_array_length({spans})"


def _amount(n: int, singular: str, plural: str) -> str:
    return f"{n:,} {singular if n == 1 else plural}"
