"""A program loads a file: rows that break rules, and refused files."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from rejudge_client.client import Project
from rejudge_client.connection import Connection
from rejudge_client.errors import Refused

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
    """Accepts a file and records how its load was confirmed, or that its file was discarded."""

    def __init__(self, load: dict[str, Any] = LOADED) -> None:
        self.load = load
        self.confirmed: list[dict[str, Any]] = []
        self.discarded: list[str] = []
        self.bar = MagicMock()

    def upload(self, *_: Any) -> dict[str, Any]:
        return self.load

    def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        return self.load

    def put(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("confirmation/"):
            self.confirmed.append(content)
        if path.endswith("leaving/"):
            self.discarded.append(path)
        return self.load


@pytest.mark.parametrize("despite", [True, False])
def test_rows_that_break_rules_are_loaded_only_on_request(tmp_path, despite):
    server = Server()
    (tmp_path / "pairs.jsonl").write_text("{}")
    tides = Project(cast("Connection", server), {"slug": "tides", "name": "Tides", "role": "lead"})

    tides.load("pairs-jsonl", tmp_path / "pairs.jsonl", despite_rules=despite)

    assert server.confirmed == [{"despite_rules": despite, "carry_claims": False}]


def test_a_refused_file_is_discarded(tmp_path):
    problem = {"line": 1, "text": None, "message": "this has 6 columns"}
    server = Server({**LOADED, "report": {"refused": 1, "problems": [problem]}})
    (tmp_path / "bm25.run").write_text("301 Q0 A 1 2.5 bm25")
    tides = Project(cast("Connection", server), {"slug": "tides", "name": "Tides", "role": "lead"})

    with pytest.raises(Refused, match="this has 6 columns"):
        tides.load("trec-qrels", tmp_path / "bm25.run")

    assert server.discarded == ["projects/tides/loads/2/leaving/"]
