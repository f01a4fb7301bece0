"""Texts of several lines are counted and stored as they were typed."""

from __future__ import annotations

import pytest

from annotate.guidelines.forms import GuidelineForm, RejudgeForm
from annotate.pools.forms import ReplacementForm
from annotate.projects.forms import RulesForm
from annotate.rewriting.forms import NarrativeForm, SendBackForm
from audit.checks.forms import CheckForm
from exporters.releases.forms import ReleaseForm


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (CheckForm, "words"),
        (GuidelineForm, "text"),
        (NarrativeForm, "conditions"),
        (NarrativeForm, "text"),
        (RejudgeForm, "words"),
        (ReleaseForm, "note"),
        (ReplacementForm, "text"),
        (RulesForm, "description"),
        (SendBackForm, "reason"),
    ],
)
def test_a_line_end_of_a_browser_counts_as_one_character(form, name):
    field = form.base_fields[name]
    longest = "\na" * (field.max_length // 2)

    assert field.clean("b" + longest[1:].replace("\n", "\r\n")) == "b" + longest[1:]
