"""The project in which a script runs, with its people and clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path

from annotate.collection.models import Candidate
from annotate.judgments import assignments
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership, Project

# Seconds that successive answers take, repeated in turn.
PACES = (34, 51, 27, 45, 62, 38)


@dataclass
class Stage:
    """The project in which a script runs, the folder of its files, and its people by name."""

    project: Project
    folder: Path
    people: Mapping[str, Membership]
    now: datetime = field(init=False)
    by: Membership = field(init=False)

    def pair(self, pair_id: str) -> InstructionPair:
        """Return the instruction pair with this id."""
        return self.project.pairs.get(pair_id=pair_id)

    def narrative(self, pair_id: str, side: str = Narrative.Side.ALTERED) -> Narrative:
        """Return the current narrative on a side of a pair."""
        narrative = self.pair(pair_id).current(side)
        assert narrative is not None, f"{pair_id} has no {side} narrative"
        return narrative

    def candidate(self, pair: InstructionPair, doc_id: str) -> Candidate:
        """Return the candidate with this document id in the pool of the pair's query."""
        pool = Candidate.objects.select_related("document")
        return pool.get(query=pair.query_id, document__doc_id=doc_id)

    def rater(self, name: str) -> Membership | None:
        """Return the rater of this name; None for an empty name."""
        return self.project.memberships.get(name=name) if name else None


def take_assignment(stage: Stage, pair: InstructionPair, task: str) -> None:
    """Take an assignment, or keep the one that the person already has."""
    assignments.take(pair=pair, task=task, by=stage.by, become_blind=True, now=stage.now)


def answer_times(stage: Stage) -> Iterator[tuple[datetime, int]]:
    """Yield the time of each answer and the milliseconds for which the document was viewed."""
    now = stage.now
    for seconds in cycle(PACES):
        now += timedelta(seconds=seconds)
        yield now, (seconds - 2) * 1000


def verdict_answers(narrative: Narrative, letters: str) -> dict[int, str]:
    """Return an answer for each condition, by its key: y is met, n is not met, ? is can't tell."""
    keys = narrative.conditions.order_by("number").values_list("pk", flat=True) if letters else []
    words = {"y": "met", "n": "not_met", "?": "cant_tell"}
    return {key: words[letter] for key, letter in zip(keys, letters, strict=True)}
