"""The commands of the guides run as they stand, on the files that they name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from annotate.projects.models import Project

pytestmark = pytest.mark.usefixtures("idle_pulse")

DOCS = Path(settings.BASE_DIR) / "docs"
GUIDES = ["start.md", *sorted(f"ways/{path.name}" for path in (DOCS / "ways").glob("*.md"))]


def commands_of(guide):
    """Return the commands in the blocks marked `sh`, without the word `rejudge`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / guide).read_text("utf-8"), re.M | re.S)
    lines = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert {program for program, *_arguments in lines} == {"rejudge"}
    return [arguments for _program, *arguments in lines]


@pytest.mark.long
@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_a_guide_run_as_they_stand(guide, tmp_path, monkeypatch, db, capsys):
    monkeypatch.chdir(tmp_path)

    for command, *arguments in commands_of(guide):
        if command != "prepare":  # the tests' own database is ready
            call_command(command, *arguments)

    assert Project.objects.count() == 1
    assert "Traceback" not in capsys.readouterr().err


def test_the_first_guide_ends_with_a_pair_of_qrels_with_the_same_topics(tmp_path, monkeypatch, db):
    monkeypatch.chdir(tmp_path)

    for command, *arguments in commands_of("start.md"):
        if command not in {"prepare", "agreement", "measure"}:
            call_command(command, *arguments)

    topics = [
        {line.split()[0] for line in Path(f"sea-v1.0/qrels.{side}.txt").read_text().splitlines()}
        for side in ("original", "changed")
    ]
    assert topics[0] == topics[1] != set()
