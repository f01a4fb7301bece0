from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from tests.errands.models import Errand

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HELD = {"claim": uuid.UUID(int=1), "lease_until": AT}

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"state": "running", "started_at": AT}, "running_has_a_lease"),
        ({"state": "running", **HELD}, "running_has_a_lease"),
        ({"state": "queued", **HELD}, "running_has_a_lease"),
        ({"state": "done", "finished_at": AT, **HELD}, "running_has_a_lease"),
        ({"state": "done"}, "finished_at_its_end"),
        ({"state": "queued", "finished_at": AT}, "finished_at_its_end"),
        ({"state": "failed", "finished_at": AT}, "failed_says_why"),
        ({"state": "done", "finished_at": AT, "error": "No."}, "failed_says_why"),
        ({"state": "cancelled", "finished_at": AT}, "cancelled_when_asked"),
    ],
)
def test_the_database_refuses_inconsistent_fields(fields, constraint):
    with pytest.raises(IntegrityError, match=f"job_{constraint}"), transaction.atomic():
        Errand.objects.create(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "queued"},
        {"state": "running", "started_at": AT, **HELD},
        {"state": "done", "started_at": AT, "finished_at": AT},
        {"state": "failed", "finished_at": AT, "error": "Line 5 has three columns."},
        {"state": "cancelled", "cancel_requested_at": AT, "finished_at": AT},
    ],
)
def test_the_database_accepts_consistent_fields(fields):
    assert Errand.objects.create(**fields).pk
