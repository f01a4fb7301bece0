"""What attacks share: a project with one thing of every kind, in which all have spoken."""

from __future__ import annotations

from tests.attacks.repeated import repeated_requests
from tests.attacks.test_parameters import beside
from tests.test_blindness import stage

__all__ = ["beside", "repeated_requests", "stage"]
