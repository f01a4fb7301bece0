"""Fixtures of the attacks: a project with one object of every kind, judged by everyone."""

from __future__ import annotations

from tests.attacks.repeated import repeated_requests
from tests.attacks.test_parameters import beside
from tests.test_blindness import asking_for_htmx, committed_stage, stage

__all__ = ["asking_for_htmx", "beside", "committed_stage", "repeated_requests", "stage"]
