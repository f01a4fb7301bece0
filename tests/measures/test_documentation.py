from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import measures

DOCS = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
MODULES = sorted(module.name for module in pkgutil.iter_modules(measures.__path__))
FUNCTIONS = [name for name in measures.__all__ if inspect.isfunction(getattr(measures, name))]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_are_correct(module):
    assert doctest.testmod(import_module(f"measures.{module}")).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_measure_has_an_example(name):
    assert ">>> " in str(getattr(measures, name).__doc__)


def test_every_measure_has_its_section_with_an_example():
    sections = re.split(r"^### ", DOCS, flags=re.MULTILINE)[1:]

    assert sorted(section.split("`")[1] for section in sections) == sorted(FUNCTIONS)
    assert [section.split("`")[1] for section in sections if "Example: " not in section] == []


def test_every_field_of_a_measurement_is_documented():
    paragraph = DOCS.partition("returns a `Measurement`: ")[2].partition(".")[0]

    assert set(re.findall(r"`(\w+)`", paragraph)) == {f.name for f in fields(measures.Measurement)}


def test_every_reason_for_undefined_is_listed():
    sources = "".join(inspect.getsource(import_module(f"measures.{module}")) for module in MODULES)
    reasons = re.findall(r"^\| undefined: (.+?) \|", DOCS, re.MULTILINE)

    assert len(reasons) == 9
    for reason in reasons:
        assert f'"{reason}"' in sources
