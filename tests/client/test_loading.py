"""A program decides whether rows that break a rule of the project's kind are loaded."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from rejudge_client.client import Project
from rejudge_client.connection import Connection

LOADED = {
    "id": 2,
    "state": "done",
    "total": None,
    "done": 0,
    "step": "",
    "file_name": "pairs.jsonl",
    "report": {"refused": 0, "problems": []},
}


class Server:
    """Accepts a file and records how its load was confirmed."""

    def __init__(self) -> None:
        self.confirmed: list[dict[str, Any]] = []
        self.bar = MagicMock()

    def upload(self, *_: Any) -> dict[str, Any]:
        return LOADED

    def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        return LOADED

    def put(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("confirmation/"):
            self.confirmed.append(content)
        return LOADED


@pytest.mark.parametrize("despite", [True, False])
def test_rows_that_break_rules_are_loaded_only_on_request(tmp_path, despite):
    server = Server()
    (tmp_path / "pairs.jsonl").write_text("{}")
    tides = Project(cast("Connection", server), {"slug": "tides", "name": "Tides", "role": "lead"})

    tides.load("pairs-jsonl", tmp_path / "pairs.jsonl", despite_rules=despite)

    assert server.confirmed == [{"despite_rules": despite}]
