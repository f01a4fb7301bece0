"""What is judged, who judges, what they said."""

from __future__ import annotations

from annotate.collection.models import Candidate, Document, DocumentText, Query, Run, RunLine
from annotate.collection.unseen import Unseen
from annotate.judgments.models import (
    Adjudication,
    Assignment,
    ConditionAdjudication,
    Flag,
    Judgment,
    Verdict,
)
from annotate.models.invitation import Invitation
from annotate.models.load import Load
from annotate.models.looking import GuidelineCase, LookAgain
from annotate.models.repeat import Repeat
from annotate.models.trail import Deed, Link
from annotate.pairs.models import Condition, Draft, InstructionPair, Narrative
from annotate.people.models import Token
from annotate.projects.models import Category, Grade, Guideline, Membership, Project
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
