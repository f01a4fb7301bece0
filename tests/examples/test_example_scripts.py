"""The files of the examples, before they are loaded."""

from __future__ import annotations

import re

import pytest

from annotate.projects.kinds import KINDS
from config.examples.actions import ACTIONS
from config.examples.making import ABOUT, SCRIPT, kinds_with_examples, read_example, read_script

EXAMPLES = kinds_with_examples()


def test_every_kind_that_follows_a_paper_has_an_example():
    assert set(EXAMPLES) == set(KINDS) - {"own"}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_script_names_known_actions_and_people_in_the_order_of_time(kind):
    example = read_example(kind)
    lines = list(read_script(example))

    assert {line.did for line in lines} <= set(ACTIONS)
    assert {line.by for line in lines} <= {example.lead, *example.people, *example.raters}
    days = [(-line.days, line.clock) for line in lines if line.by == example.lead]
    assert days == sorted(days)
    # No action of an example is in the future.
    assert min(line.days for line in lines) >= 1


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_file_is_used_and_described(kind):
    example = read_example(kind)
    used = {line.fields["file"] for line in read_script(example) if "file" in line.fields}
    there = {path.name for path in example.folder.iterdir()}
    readme = (example.folder / "README.md").read_text(encoding="utf-8")
    described = [
        name.strip()
        for names in re.findall(r"^\| `([^`]+)` \| [^|]*\| [^|]+ \|$", readme, re.MULTILINE)
        for name in names.split(",")
    ]

    assert used | {ABOUT, SCRIPT, "README.md"} == there
    for name in there - {"README.md"}:
        pattern = re.sub(r"\.(original|changed|reversed)\.", ".*.", name)
        assert pattern in described, name


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_is_small(kind):
    folder = read_example(kind).folder

    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000
