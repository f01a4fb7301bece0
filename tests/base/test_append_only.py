"""Append-only tables are registered by the app that owns them."""

from __future__ import annotations

import pytest

from base import append_only
from base.providers import NotRegistered


def test_the_audit_log_the_chain_and_calls_of_models_are_registered():
    assert append_only._tables == ["audit_call", "annotate_auditevent", "annotate_link"]


def test_nothing_can_be_deleted_if_no_table_is_registered(monkeypatch):
    monkeypatch.setattr(append_only, "_tables", [])

    with pytest.raises(NotRegistered), append_only.deletions_allowed():
        pass
