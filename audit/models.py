"""Models of the second pass: reviews, decisions, label checks, reveals, agreement reports, and
language models with their runs and calls.
"""

from __future__ import annotations

from audit.checks.models import Check, Sample, SampleItem
from audit.model_runs.models import Call, Endpoint, ModelRun, ProjectBudget, Prompt
from audit.reports.models import AgreementReport
from audit.reviews.models import Decision, Rating, Review, ReviewedText, Rubric
from audit.settling.models import Reveal

__all__ = [
    "AgreementReport",
    "Call",
    "Check",
    "Decision",
    "Endpoint",
    "ModelRun",
    "ProjectBudget",
    "Prompt",
    "Rating",
    "Reveal",
    "Review",
    "ReviewedText",
    "Rubric",
    "Sample",
    "SampleItem",
]
