"""Constraints that many models have."""

from __future__ import annotations

from django.db.models import CheckConstraint, Q


def at_and_by(name: str, fact: str) -> CheckConstraint:
    """Return the constraint that `{fact}_at` and `{fact}_by` are both set, or neither is."""
    at, by = f"{fact}_at__isnull", f"{fact}_by__isnull"
    return CheckConstraint(
        name=name, condition=Q(**{at: True, by: True}) | Q(**{at: False, by: False})
    )
