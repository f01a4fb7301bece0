"""All models of this app: what is judged, who judges, and their answers."""

from __future__ import annotations

from annotate.collection.models import (
    Candidate,
    Document,
    DocumentText,
    FilterDecision,
    PassageRule,
    Query,
    Run,
    RunLine,
)
from annotate.guidelines.models import GuidelineCase
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Flag,
    Judgment,
    RejudgeRequest,
    Repeat,
    Revision,
    Statement,
    Verdict,
)
from annotate.loading.models import Load, LoadedCandidate
from annotate.pairs.models import (
    Assignment,
    Condition,
    DrawnPair,
    InstructionPair,
    NamedPerson,
    Narrative,
    ReviewDraw,
)
from annotate.people.models import Invitation, Token
from annotate.pools.models import (
    HardNegativeRun,
    HardNegatives,
    Pool,
    PoolEntry,
    PoolRun,
    ReplacedCandidate,
    Replacement,
)
from annotate.projects.models import (
    AuditEvent,
    Category,
    Grade,
    Guideline,
    Link,
    Membership,
    Project,
)
from annotate.rewriting.models import Draft
from base.idempotency import KeptAnswer
from base.users import Preferences, User

__all__ = [
    "Adjudication",
    "Assignment",
    "AuditEvent",
    "Candidate",
    "Category",
    "Condition",
    "ConditionAdjudication",
    "Document",
    "DocumentText",
    "Draft",
    "DrawnPair",
    "FilterDecision",
    "Flag",
    "Grade",
    "Guideline",
    "GuidelineCase",
    "HardNegativeRun",
    "HardNegatives",
    "InstructionPair",
    "Invitation",
    "Judgment",
    "KeptAnswer",
    "Link",
    "Load",
    "LoadedCandidate",
    "Membership",
    "NamedPerson",
    "Narrative",
    "PassageRule",
    "Pool",
    "PoolEntry",
    "PoolRun",
    "Preferences",
    "Project",
    "Query",
    "RejudgeRequest",
    "Repeat",
    "ReplacedCandidate",
    "Replacement",
    "ReviewDraw",
    "Revision",
    "Run",
    "RunLine",
    "Statement",
    "Token",
    "User",
    "Verdict",
]
