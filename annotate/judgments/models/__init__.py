"""Models of people's answers on documents: judgments, flags, repeats, and decisions on them."""

from __future__ import annotations

from annotate.judgments.models.adjudications import Adjudication, ConditionAdjudication
from annotate.judgments.models.judgments import Flag, Judgment, JudgmentQuerySet, Verdict
from annotate.judgments.models.looking_again import RejudgeRequest, Repeat, RepeatQuerySet
from annotate.judgments.models.revisions import Revision

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
    "Verdict",
]
