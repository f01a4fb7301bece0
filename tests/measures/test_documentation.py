from __future__ import annotations

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import measures

MODULES = sorted(module.name for module in pkgutil.iter_modules(measures.__path__))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_are_what_they_say(module):
    assert doctest.testmod(import_module(f"measures.{module}")).failed == 0


@pytest.mark.parametrize("name", [n for n in measures.__all__ if n[0].islower()])
def test_every_measure_has_an_example(name):
    function = getattr(measures, name)

    assert inspect.isfunction(function)
    assert ">>> " in str(function.__doc__)
