"""Models of people's answers on documents: judgments, flags, repeats, and decisions on them."""

from __future__ import annotations

from annotate.judgments.models.adjudications import Adjudication, ConditionAdjudication
from annotate.judgments.models.rejudge_requests import RejudgeRequest
from annotate.judgments.models.revisions import Revision
from annotate.judgments.models.statements import (
    Flag,
    Judgment,
    JudgmentQuerySet,
    Repeat,
    RepeatQuerySet,
    Statement,
    StatementQuerySet,
    Verdict,
)

__all__ = [
    "Adjudication",
    "ConditionAdjudication",
    "Flag",
    "Judgment",
    "JudgmentQuerySet",
    "RejudgeRequest",
    "Repeat",
    "RepeatQuerySet",
    "Revision",
    "Statement",
    "StatementQuerySet",
    "Verdict",
]
