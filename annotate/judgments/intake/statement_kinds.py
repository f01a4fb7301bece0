"""The three kinds of statements in the database, and shared SQL."""

from __future__ import annotations

import uuid
from typing import NamedTuple

# The namespace of derived UUIDs: an arbitrary constant that must not change.
NAMESPACE = uuid.UUID("7d6e2f0a-6c0b-5b43-9d55-0d5a3a2f6c41")


class StatementKind(NamedTuple):
    """A kind of statement: its name in the stage, its table, the columns of its author and end."""

    what: str
    table: str
    author: str
    ended: str
    # SQL that is true for a row `o` that a staged statement on the same document supersedes.
    excludes: str

    @property
    def where(self) -> str:
        """SQL that is true for staged rows of this kind."""
        return f"what = '{self.what}'"


_SAME_PERSON = "o.annotator_id = stage_statements.member AND NOT o.repeat"
JUDGMENT = StatementKind(
    "judgment", "annotate_statement", "annotator_id", "ended_at", excludes=_SAME_PERSON
)
FLAG = StatementKind(
    "flag", "annotate_statement", "annotator_id", "ended_at", excludes=_SAME_PERSON
)
ADJUDICATION = StatementKind(
    "adjudication", "annotate_adjudication", "by_id", "withdrawn_at", excludes="1 = 1"
)

# The columns that group statements on the same target, which exclude each other.
KEY = (
    "COALESCE(query_id, ''), COALESCE(pair_id, ''), COALESCE(side, ''), COALESCE(version, 0), "
    "doc_id, COALESCE(text_version, 0), rater"
)

# True if a row `{row}` has the text version that a statement names, or it names none.
TEXT_NAMED = (
    "COALESCE({row}.text_version, 1) = COALESCE({statement}.text_version, {row}.text_version, 1)"
)
# True if a row `{row}` has the text version that a statement is about.
TEXT_READ = "COALESCE({row}.text_version, 1) = COALESCE(stage_statements.text_read, 1)"

# True if the file has a verdict that the judgment `{row}` does not have.
OTHER_VERDICTS = """EXISTS (
    SELECT 1 FROM stage_verdicts x WHERE x.statement = {statement} AND NOT EXISTS (
        SELECT 1 FROM annotate_verdict y JOIN annotate_condition c ON c.id = y.condition_id
        WHERE y.statement_id = {row}.id AND c.number = x.number AND y.answer = x.answer
    )
)"""
