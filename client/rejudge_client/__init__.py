"""A small typed client for Rejudge's API."""

from __future__ import annotations

from rejudge_client.client import Project, Rejudge
from rejudge_client.errors import (
    Conflict,
    Damaged,
    Failed,
    Forbidden,
    NotFound,
    NotSignedIn,
    Problem,
    Refused,
    RejudgeError,
    Unreachable,
)
from rejudge_client.judging import Case, Done, JudgingSession

__all__ = [
    "Case",
    "Conflict",
    "Damaged",
    "Done",
    "Failed",
    "Forbidden",
    "JudgingSession",
    "NotFound",
    "NotSignedIn",
    "Problem",
    "Project",
    "Refused",
    "Rejudge",
    "RejudgeError",
    "Unreachable",
]
