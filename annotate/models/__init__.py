"""What is judged, who judges, what they said."""

from __future__ import annotations

from annotate.models.collection import Candidate, Document, DocumentText, Query, Run, RunLine
from annotate.models.instruction import Condition, Draft, InstructionPair, Narrative
from annotate.models.invitation import Invitation
from annotate.models.judgment import (
    Adjudication,
    Assignment,
    ConditionAdjudication,
    Flag,
    Judgment,
    Verdict,
)
from annotate.models.load import Load
from annotate.models.looking import GuidelineCase, LookAgain
from annotate.models.project import Category, Grade, Guideline, Membership, Project
from annotate.models.repeat import Repeat
from annotate.models.token import Token
from annotate.models.trail import Deed, Link
from annotate.models.unseen import Unseen
from base.idempotency import KeptAnswer
from base.users import Preferences, User

__all__ = [
    "Adjudication",
    "Assignment",
    "Candidate",
    "Category",
    "Condition",
    "ConditionAdjudication",
    "Deed",
    "Document",
    "DocumentText",
    "Draft",
    "Flag",
    "Grade",
    "Guideline",
    "GuidelineCase",
    "InstructionPair",
    "Invitation",
    "Judgment",
    "KeptAnswer",
    "Link",
    "Load",
    "LookAgain",
    "Membership",
    "Narrative",
    "Preferences",
    "Project",
    "Query",
    "Repeat",
    "Run",
    "RunLine",
    "Token",
    "Unseen",
    "User",
    "Verdict",
]
