"""What is judged, who judges, what they said."""

from __future__ import annotations

from annotate.models.collection import Candidate, Document, DocumentText, Query, Run, RunLine
from annotate.models.instruction import InstructionPair, Narrative
from annotate.models.judgment import Adjudication, Assignment, Flag, Judgment
from annotate.models.load import Load
from annotate.models.project import Grade, Guideline, Membership, Project, User

__all__ = [
    "Adjudication",
    "Assignment",
    "Candidate",
    "Document",
    "DocumentText",
    "Flag",
    "Grade",
    "Guideline",
    "InstructionPair",
    "Judgment",
    "Load",
    "Membership",
    "Narrative",
    "Project",
    "Query",
    "Run",
    "RunLine",
    "User",
]
