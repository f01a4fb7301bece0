from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import agreement
from agreement import Coefficient

from .published import PUBLISHED

DOCS = (Path(__file__).parents[2] / "docs" / "agreement.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "module", ["alpha", "comparison", "kappa", "pooled", "student_t", "supplements", "ratings"]
)
def test_the_examples_in_docstrings_are_correct(module):
    failed, tried = doctest.testmod(import_module(f"agreement.{module}"))

    assert tried > 0
    assert failed == 0


def test_every_coefficient_has_its_section():
    functions = {n for n in agreement.__all__ if inspect.isfunction(getattr(agreement, n))}

    assert set(re.findall(r"^### `(\w+)`$", DOCS, re.MULTILINE)) == functions


def test_every_published_example_is_listed_and_no_other():
    table = DOCS.partition("## Published examples")[2]

    listed = re.findall(r"^\| (.+) \| (.+) \| (-?[\d.]+) \|$", table, re.MULTILINE)

    assert listed == [tuple(example[:3]) for example in PUBLISHED]


def test_every_field_of_a_coefficient_is_documented():
    paragraph = DOCS.partition("returns a `Coefficient`: ")[2].partition("\n\n")[0]

    assert set(re.findall(r"`(\w+)`", paragraph)) == {field.name for field in fields(Coefficient)}


def test_every_reason_for_undefined_is_listed():
    sources = "".join(
        inspect.getsource(import_module(f"agreement.{module}"))
        for module in ("supplements", "estimate", "kappa")
    )

    reasons = re.findall(r"^\| undefined: (.+?) \|", DOCS, re.MULTILINE)

    assert len(reasons) == 7
    for reason in reasons:
        assert f'"{reason}"' in sources
