"""Generated TOML, YAML and CITATION.cff can be parsed, whatever names and texts they hold."""

from __future__ import annotations

import ast
import tomllib
from types import SimpleNamespace
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from annotate.models import Project
from exporters.exports.layouts import card, citation, ir_datasets
from exporters.exports.layouts.rows import quoted
from exporters.exports.models import Publication

# Names that were saved before they were checked; a database holds no half surrogate pair.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
ODD = 'a\x1b\x7f\x85\u2028\u202e\ufffe\uffff\U0001f30a\U0001ffff"\\: #\n- b'


@given(TEXTS)
@example(ODD)
def test_a_quoted_text_is_the_same_text_in_yaml_and_in_toml(text):
    assert yaml.safe_load(f"key: {quoted(text)}") == {"key": text}
    assert tomllib.loads(f"key = {quoted(text)}") == {"key": text}


@given(TEXTS, TEXTS, TEXTS, TEXTS)
@example(ODD, ODD, ODD, ODD)
def test_a_citation_file_and_a_card_hold_every_name(name, creator, publisher, description):
    project = Project(slug="tides", name=name)
    published: Any = SimpleNamespace(
        project=project,
        publication=Publication(
            project=project,
            licence=publisher,
            creators=creator,
            publisher=publisher,
            year=2026,
            description=description,
            languages="eng-Latn",
        ),
    )

    part: Any = (SimpleNamespace(name="corpus"), {"lines": 4})

    cff = yaml.safe_load(citation._cff(published.publication))
    head = yaml.safe_load("\n".join(card._metadata(published, [part])))

    assert (cff["title"], cff["abstract"]) == (name, description)
    assert cff["preferred-citation"]["publisher"] == {"name": publisher}
    assert len(cff["authors"]) >= 1
    assert head["pretty_name"] == name


@given(TEXTS)
@example(ODD)
def test_the_package_of_ir_datasets_holds_every_name(name):
    text = ir_datasets._pyproject(Project(slug="tides", name=name), "irds_tides")

    assert tomllib.loads(text)["project"]["description"] == f"{name}, for ir_datasets"


def test_the_code_of_ir_datasets_can_be_parsed_with_an_odd_name(tides, write):
    Project.objects.filter(pk=tides.project.pk).update(name=ODD)
    tides.project.refresh_from_db()

    folder = write(tides.project, "ir-datasets")

    assert ast.parse(folder["irds_tides/__init__.py"])
