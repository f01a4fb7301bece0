"""Models of the second pass: reviews, decisions, label checks, reveals and agreement reports."""

from __future__ import annotations

from audit.checks.models import Check, Sample, SampleItem
from audit.reports.models import AgreementReport
from audit.reviews.models import Decision, Rating, Review, ReviewedText, Rubric
from audit.settling.models import Reveal

__all__ = [
    "AgreementReport",
    "Check",
    "Decision",
    "Rating",
    "Reveal",
    "Review",
    "ReviewedText",
    "Rubric",
    "Sample",
    "SampleItem",
]
