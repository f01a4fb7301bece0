"""Reading the files of the examples: names, people and scripts. Pure.

An example is a folder `examples/<kind>/` with `example.json` (`Example`) and `script.jsonl`, which
has one line for each action, in order. docs/kinds.md describes the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from annotate.projects.kinds import KINDS

FOLDER = Path(__file__).parents[2] / "examples"
# The files of the example project, which follows no kind (`config.example`).
OWN_FILES = FOLDER / "tides"
SCRIPT, ABOUT = "script.jsonl", "example.json"


@dataclass(frozen=True)
class Example:
    """An example, as `example.json` describes it.

    `lead` and `people` are names in the script; `raters` never sign in, not even in the demo.
    """

    kind: str
    name: str
    description: str
    lead: str
    people: tuple[str, ...]
    raters: tuple[str, ...]
    folder: Path

    api_fields = ("kind", "name", "description")


class Line(NamedTuple):
    """One line of a script: `did` names an action of `config.kind_examples.making.ACTIONS`.

    The action happened `days` days before the example is made, at the time `clock` (UTC).
    """

    number: int
    did: str
    by: str
    days: int
    clock: time
    fields: Mapping[str, Any]

    def at(self, made_at: datetime) -> datetime:
        """Return the time of the line in an example that is made at `made_at`."""
        day = made_at.astimezone(UTC).date() - timedelta(days=self.days)
        return datetime.combine(day, self.clock, UTC)


def kinds_with_examples() -> list[str]:
    """Return the kinds that have an example, in the order of `KINDS`."""
    return [kind for kind in KINDS if (FOLDER / kind / ABOUT).exists()]


def read_example(kind: str) -> Example:
    """Read the example of a kind. Raise KeyError if the kind has none."""
    if kind not in kinds_with_examples():
        raise KeyError(kind)
    description = json.loads((FOLDER / kind / ABOUT).read_text(encoding="utf-8"))
    people, raters = (tuple(description.pop(name)) for name in ("people", "raters"))
    return Example(kind=kind, people=people, raters=raters, folder=FOLDER / kind, **description)


def read_examples() -> list[Example]:
    """Read the examples of all kinds that have one."""
    return [read_example(kind) for kind in kinds_with_examples()]


def read_script(example: Example) -> Iterator[Line]:
    """Read the lines of an example's script."""
    text = (example.folder / SCRIPT).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        fields = json.loads(line)
        days, clock = fields.pop("at").split(" days before, ")
        yield Line(
            number=number,
            did=fields.pop("did"),
            by=fields.pop("by", example.lead),
            days=int(days),
            clock=time.fromisoformat(clock),
            fields=fields,
        )
