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
from rejudge_client.frames import frame
from rejudge_client.judging import Case, JudgingResult, JudgingSession

__all__ = [
    "Case",
    "Conflict",
    "Damaged",
    "Failed",
    "Forbidden",
    "JudgingResult",
    "JudgingSession",
    "NotFound",
    "NotSignedIn",
    "Problem",
    "Project",
    "Refused",
    "Rejudge",
    "RejudgeError",
    "Unreachable",
    "frame",
]
