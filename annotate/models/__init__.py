"""What is judged, who judges, what they said."""

from __future__ import annotations

from annotate.models.collection import Candidate, Document, DocumentText, Query, Run, RunLine
from annotate.models.instruction import Condition, Draft, InstructionPair, Narrative
from annotate.models.judgment import Adjudication, Assignment, Flag, Judgment, Verdict
from annotate.models.load import Load
from annotate.models.project import Grade, Guideline, Membership, Preferences, Project, User
from annotate.models.repeat import Repeat

__all__ = [
    "Adjudication",
    "Assignment",
    "Candidate",
    "Condition",
    "Document",
    "DocumentText",
    "Draft",
    "Flag",
    "Grade",
    "Guideline",
    "InstructionPair",
    "Judgment",
    "Load",
    "Membership",
    "Narrative",
    "Preferences",
    "Project",
    "Query",
    "Repeat",
    "Run",
    "RunLine",
    "User",
    "Verdict",
]
