"""Group runs into systems, and read their scores.

A run over instructions names pairs, a run over queries names queries. One system can have both: the
run over queries is its ranking before the change, for every pair of a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from annotate.collection.models import Run
from base.errors import Refused
from formats.problems import FormatError
from formats.source import Source
from formats.trec_run import read_run

SIDES = ("original", "changed", "reversed")
# How many lines all runs of an evaluation may have: a worker holds them in memory.
MOST_LINES = 10_000_000
MOST_SYSTEMS = 20
# How many ids of a run that belong to no judged pair are counted.
MOST_OTHERS = 100_000

_WORDS = {
    "original": {"original", "orig", "ori", "og", "base", "queries", "query"},
    "changed": {"changed", "altered", "ins", "instr", "instructed", "instruction", "instructions"},
    "reversed": {"reversed", "reverse", "rev"},
}
_SIDE_WORDS = set().union(*_WORDS.values())
# A side, or the size of a model: "bm25.base.run", "bge-base.run".
_SIZE = "base"
_ENDINGS = {"run", "trec", "txt", "res", "gz"}


class System(NamedTuple):
    """A system with its runs, by side."""

    name: str
    runs: Mapping[str, Run]


def propose_systems(runs: Sequence[Run]) -> list[System]:
    """Group runs into systems by their names without words for a side, then by their tags.

    `bm25.original.run` and `bm25.changed.run` are one system, bm25. Runs of a group in which two
    have the same side become separate systems.
    """
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(_stem(run.name) or _stem(run.tag) or run.tag or run.name, []).append(run)
    by_tag: dict[str, list[Run]] = {}
    for alone in [its[0] for its in by_name.values() if len(its) == 1]:
        by_tag.setdefault(alone.tag, []).append(alone)
    systems: list[System] = []
    for name, group in by_name.items():
        same_tag = by_tag.get(group[0].tag, []) if len(group) == 1 else []
        if len(same_tag) > 1 and _have_distinct_sides(same_tag) and group[0].tag:
            if group[0] is same_tag[0]:
                systems.append(System(group[0].tag, {side_of(run): run for run in same_tag}))
        elif _have_distinct_sides(group):
            systems.append(System(_name_of(group, name), {side_of(run): run for run in group}))
        else:
            systems += [System(run.name, {side_of(run): run}) for run in group]
    return systems


def side_of(run: Run) -> str:
    """Return the side of a run: reversed if stored so, else by its name, else by its lines."""
    if run.side == Run.Side.REVERSED:
        return "reversed"
    words = set(_name_parts(run.name))
    if run.side == Run.Side.ALTERED:
        words.discard(_SIZE)
    for side in ("reversed", "changed", "original"):
        if words & _WORDS[side]:
            return side
    return "changed" if run.side == Run.Side.ALTERED else "original"


def _name_of(runs: Sequence[Run], stem: str) -> str:
    """Return the name of a system of runs with this stem: with the size if all of them have it."""
    names = {_stem(run.name, _SIDE_WORDS - {_SIZE}) for run in runs}
    if len(runs) == 1 or len(names) > 1:
        return stem
    return names.pop() or stem


def _have_distinct_sides(runs: Sequence[Run]) -> bool:
    return len({side_of(run) for run in runs}) == len(runs)


def _name_parts(name: str) -> list[str]:
    return [part for part in re.split(r"[^a-z0-9+]+", name.casefold()) if part]


def _stem(name: str, words: AbstractSet[str] = _SIDE_WORDS) -> str:
    """Return a run's name without these words for a side and without endings; case is kept."""
    parts = re.split(r"([^A-Za-z0-9+]+)", name)
    rest = [
        part
        for place, part in enumerate(parts)
        if place % 2 or part.casefold() not in words | _ENDINGS
    ]
    return re.sub(r"([._-])[._-]+", r"\1", "".join(rest)).strip("._- ")


def check_systems(systems: Sequence[System], baseline: str) -> None:
    """Refuse systems that cannot be measured together, with a sentence."""
    if not systems:
        raise Refused("Choose at least one run to measure.")
    if len(systems) > MOST_SYSTEMS:
        raise Refused(f"At most {MOST_SYSTEMS} systems are measured at once.")
    names = [system.name for system in systems]
    for system in systems:
        if not system.name or len(system.name) > 255:
            raise Refused("Give every system a name of at most 255 characters.")
        if names.count(system.name) > 1:
            raise Refused(f"Two systems are called {system.name}.")
        if not system.runs:
            raise Refused(f"Choose a run of {system.name}.")
    if baseline and baseline not in names:
        raise Refused(
            f"There is no system {baseline} to compare with. Choose one of: {', '.join(names)}."
        )


class Ranking(NamedTuple):
    """A run as it was read: scores by topic and document, the number of measured lines, and notes
    about ids that are not measured.
    """

    scores: dict[str, dict[str, float]]
    lines: int
    notes: list[str]


def read_ranking(run: Run, side: str, topics: Mapping[str, str], room: int) -> Ranking:
    """Read the scores of a run for these topics.

    Args:
        run: The run; its file is read as it was uploaded.
        side: The side that the run is read for. On the original side, a run over queries is the
            ranking of every pair of a query. On the other sides its lines name pairs, even if pairs
            have the ids of their queries.
        topics: The query of each pair.
        room: How many lines may be read.

    Raises:
        Refused: The run has more lines, none of these topics, or cannot be read.
    """
    of_pairs = run.names_pairs or side != "original"
    wanted = set(topics) if of_pairs else set(topics.values())
    scores: dict[str, dict[str, float]] = {}
    others: set[str] = set()
    lines = 0
    with run.file.open("rb") as stream:
        source = Source(stream, run.name)
        try:
            for line in read_run(source):
                if line.query_id in wanted:
                    lines += 1
                    if lines > room:
                        raise Refused(
                            f"The runs have more than {MOST_LINES:,} lines together. Measure "
                            "fewer at once, or cut them to 1,000 documents per query."
                        )
                    scores.setdefault(line.query_id, {})[line.doc_id] = line.score
                elif len(others) < MOST_OTHERS:
                    others.add(line.query_id)
        except FormatError as error:
            raise Refused(f"{run.name} cannot be read: {error}.") from error
    notes = _notes_on_ids(run.name, others, wanted)
    if not scores:
        raise Refused(
            (
                f"No line of {run.name} names {'a pair' if of_pairs else 'the query of a pair'} "
                f"that is judged. Choose another run for the {side} side."
            )
            + "".join(f" {note}" for note in notes[1:])
        )
    if of_pairs:
        return Ranking(scores, lines, notes)
    of_queries = {pair: scores[query] for pair, query in topics.items() if query in scores}
    return Ranking(of_queries, lines, notes)


def _notes_on_ids(run: str, others: set[str], wanted: set[str]) -> list[str]:
    """Return notes about the ids of a run that belong to no judged pair."""
    if not others:
        return []
    count = f"{len(others):,}{' or more' if len(others) == MOST_OTHERS else ''}"
    notes = [
        (
            f"{run}: {count} id belongs to no judged pair and is not measured."
            if len(others) == 1
            else f"{run}: {count} ids belong to no judged pair and are not measured."
        )
    ]
    folded = {wanted_id.casefold() for wanted_id in wanted}
    if alike := sorted(other for other in others if other.casefold() in folded):
        notes.append(
            f"{run}: {', '.join(alike[:5])} differs from the id of a judged pair only in case."
            if len(alike) == 1
            else f"{run}: {', '.join(alike[:5])} differ from the ids of judged pairs only in case."
        )
    return notes


def as_json(systems: Iterable[System]) -> list[dict[str, object]]:
    """Return systems as an evaluation stores them: names and checksums of their runs."""
    return [
        {
            "name": system.name,
            "runs": {
                side: {"name": system.runs[side].name, "sha256": system.runs[side].sha256}
                for side in SIDES
                if side in system.runs
            },
        }
        for system in systems
    ]
