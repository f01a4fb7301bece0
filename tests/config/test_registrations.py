"""Providers of lower packages are registered in a running installation, and raise if not."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from annotate.collection.intake import arrivals
from annotate.models import RunLine
from base.providers import NotRegistered, Provider


def providers() -> dict[str, Provider[..., Any]]:
    """Return every provider of the product, by its module and name."""
    return {
        f"{name}.{attribute}": value
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in {"annotate", "audit", "exporters", "keeping", "config"}
        for attribute, value in vars(module).items()
        if isinstance(value, Provider)
    }


def test_every_provider_is_registered():
    every = providers()

    assert "audit.settling.kinds.judgments.effects_on_measures" in every
    assert [name for name, one in every.items() if not one.is_registered] == []


def test_a_question_without_an_answer_raises():
    with pytest.raises(NotRegistered, match="How many\\?"):
        Provider("How many?")()


def test_files_are_written_in_a_fixed_order_of_kinds():
    assert [kind.__name__ for kind in arrivals._kinds] == [
        *(
            "Documents",
            "Topics",
            "Pairs",
            "Qrels",
            "Pools",
            "Runs",
            "GeneratedDocuments",
            "Statements",
        ),
        *("Rubrics", "Filters", "Collection", "Reviews", "Decisions"),
    ]


def test_a_record_of_an_unregistered_kind_is_refused(monkeypatch):
    monkeypatch.setattr(arrivals, "_kinds", [])

    with pytest.raises(TypeError, match="nothing takes a RunLine"):
        arrivals.Intake.stager_for(SimpleNamespace(), RunLine)  # type: ignore[arg-type]
