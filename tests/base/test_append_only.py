"""Append-only tables are registered by the app that owns them."""

from __future__ import annotations

import pytest

from base import constraints
from base.providers import NotRegistered


def test_the_audit_log_the_chain_calls_of_models_and_releases_are_registered():
    assert constraints._tables == [
        *("exporters_release", "audit_call", "annotate_auditevent", "annotate_link")
    ]


def test_nothing_can_be_deleted_if_no_table_is_registered(monkeypatch):
    monkeypatch.setattr(constraints, "_tables", [])

    with pytest.raises(NotRegistered), constraints.deletions_allowed():
        pass
