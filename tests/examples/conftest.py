"""A tiny example that replaces the examples of Rejudge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from config.examples import making

LINES = [
    {
        "at": "2 days before, 09:00",
        "did": "load",
        "file": "topics.jsonl",
        "format_name": "topics-json",
    },
    {
        "at": "1 days before, 10:00",
        "by": "ada",
        "did": "rewrite",
        "pair": "1",
        "text": "Only sea harbours.",
    },
]


class Tiny:
    """The folder of the example, whose script a test can rewrite."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        topic = {"query_id": "1", "title": "harbours", "narrative": "Any harbour."}
        self._write("topics.jsonl", [topic])
        self.about(people=["ada", "ben"], raters=["finn"])
        self.script(LINES)

    def about(self, **people: list[str]) -> None:
        words = {"name": "Harbours", "description": "One topic.", "lead": "carla", **people}
        (self._folder / making.ABOUT).write_text(json.dumps(words), encoding="utf-8")

    def script(self, lines: list[dict[str, Any]]) -> None:
        self._write(making.SCRIPT, lines)

    def _write(self, name: str, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self._folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """The example of FollowIR: one topic, rewritten by ada. Other kinds have no example."""
    monkeypatch.setattr(making, "FOLDER", tmp_path)
    return Tiny(tmp_path / "followir")
