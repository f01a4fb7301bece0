"""Verifying rows against their hash chains.

It finds rows that were changed, removed or inserted other than by the actions, and links of a chain
that were changed.
"""

from __future__ import annotations

import hashlib
import uuid as uuids
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from annotate.pairs.models import Assignment
from annotate.projects import hash_chain
from annotate.projects.hash_chain import (
    KINDS,
    NOTHING,
    End,
    Row,
    digest,
    link_hash,
)
from annotate.projects.models import Link, Project
from base.bulk import CHUNK

# How many faults are reported one by one.
MAX_FAULTS = 1_000

# A project's short name ("" for the installation) and a chain.
ChainPlace = tuple[str, uuids.UUID]


class Fault(NamedTuple):
    """A difference from a chain. `what`: changed, stands, gone, unlinked, link, shorter."""

    what: str
    sentence: str
    kind: str = ""
    name: uuids.UUID | None = None
    chain: uuids.UUID | None = None
    number: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fault as `--json` prints it."""
        return {
            "what": self.what,
            "sentence": self.sentence,
            "kind": self.kind,
            "uuid": str(self.name) if self.name else None,
            "chain": str(self.chain) if self.chain else None,
            "number": self.number,
        }


@dataclass
class Verification:
    """The result of verifying one project."""

    project: str
    rows: Counter[str] = field(default_factory=Counter)
    links: int = 0
    ends: dict[uuids.UUID, End] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    # The number of all faults; `faults` has the first `MAX_FAULTS`.
    wrong: int = 0

    @property
    def sum(self) -> str:
        """Return one digest over the ends of all chains."""
        whole = hashlib.sha256()
        for chain, end in sorted(self.ends.items()):
            whole.update(f"{chain.hex} {end.number} {end.sum.hex()}\n".encode())
        return whole.hexdigest()

    def add(self, fault: Fault) -> None:
        """Count a fault, and keep it if it is one of the first."""
        self.wrong += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)


def verify(
    project: Project | None, earlier: Mapping[ChainPlace, End] | None = None
) -> Verification:
    """Compare all rows of a project (None: of the installation) with its chains.

    The chains are compared with their ends at an `earlier` time. Everything is read through
    cursors; the caller opens a snapshot if it is to be consistent. Nothing is written.
    """
    verification = Verification(project.slug if project else "")
    for kind in sorted(KINDS):
        try:
            _compare_rows(kind, project, verification)
        except (ValueError, TypeError, LookupError) as error:
            # A value that no action can have written, such as a UUID of other letters.
            sentence = f"a row of the kind {kind} cannot be read: {error}; compare it by hand"
            verification.add(Fault("changed", sentence, kind))
    _check_chains(project, verification, earlier or {})
    return verification


def _compare_rows(kind: str, project: Project | None, verification: Verification) -> None:
    """Compare rows with links, both sorted by UUID, in one pass."""
    chained = KINDS[kind]
    rows = chained.read(chained.of(project))
    links = _links(kind, project)
    row, link = next(rows, None), next(links, None)
    while row is not None or link is not None:
        if link is None or (row is not None and row.name < link.name):
            assert row is not None
            verification.rows[kind] += 1
            sentence = f"{chained.label(row.content)} is not in a chain: no action inserted it"
            verification.add(Fault("unlinked", sentence, kind, row.name))
            row = next(rows, None)
        elif row is None or link.name < row.name:
            sentence = f"the {kind} with the UUID {link.name} is gone"
            verification.add(Fault("gone", sentence, kind, link.name))
            link = next(links, None)
        else:
            verification.rows[kind] += 1
            for fault in _differences(kind, row, link, chained.label(row.content)):
                verification.add(fault)
            row, link = next(rows, None), next(links, None)


class _LinkedDigests(NamedTuple):
    """The digests that the chains have of one row: of its content, and of how it ended."""

    name: uuids.UUID
    recorded: bytes | None
    stands: bytes | None


def _links(kind: str, project: Project | None) -> Iterator[_LinkedDigests]:
    links = (
        Link.objects.filter(project=project, kind=kind)
        .order_by("name", "pk")
        .values_list("name", "event", "digest")
        .iterator(CHUNK)
    )
    for name, events in groupby(links, key=itemgetter(0)):
        # The first event has the content's digest; of several ends, the last one counts.
        recorded = stands = None
        for _name, event, what in events:
            if event == Link.Event.END:
                stands = bytes(what)
            elif recorded is None:
                recorded = bytes(what)
        yield _LinkedDigests(name, recorded, stands)


def _differences(kind: str, row: Row, link: _LinkedDigests, label: str) -> Iterator[Fault]:
    if link.recorded is None:
        yield Fault("unlinked", f"{label} is not in a chain", kind, row.name)
    elif link.recorded != digest(kind, row.content):
        yield Fault("changed", f"{label} was changed after it was recorded", kind, row.name)
    stands = link.stands or digest(kind, None)
    if stands != digest(kind, row.ended):
        over = "was ended" if row.ended else "was made current"
        yield Fault("stands", f"{label} {over}, but not by an action", kind, row.name)


def _check_chains(
    project: Project | None, verification: Verification, earlier: Mapping[ChainPlace, End]
) -> None:
    """Recompute every sum of every chain and compare it."""
    names = _ChainNames(project)
    links = (
        Link.objects.filter(project=project)
        .order_by("chain", "number")
        .values_list("chain", "number", "event", "kind", "name", "digest", "sum")
        .iterator(CHUNK)
    )
    for chain, several in groupby(links, key=itemgetter(0)):
        before = earlier.get((verification.project, chain), End())
        end, was_there = End(), before == End()
        for _chain, number, event, kind, name, what, sum_ in several:
            verification.links += 1
            stored = bytes(sum_)
            if number != end.number + 1:
                missing = (
                    f"{end.number + 1:,}"
                    if number == end.number + 2
                    else (f"{end.number + 1:,} to {number - 1:,}")
                )
                sentence = f"link {missing} of {names.of(chain)} is gone"
                verification.add(Fault("link", sentence, chain=chain, number=end.number + 1))
            elif stored != link_hash(end.sum, number, event, kind, name.bytes, bytes(what)):
                sentence = f"link {number:,} of {names.of(chain)} was changed"
                verification.add(Fault("link", sentence, kind, name, chain, number))
            end = End(number, stored)
            was_there = was_there or end == before
        verification.ends[chain] = end
        if not was_there:
            sentence = (
                f"{names.of(chain)} no longer has the link {before.number:,} that it had then"
            )
            verification.add(Fault("shorter", sentence, chain=chain, number=before.number))
    for (slug, chain), before in earlier.items():
        if slug == verification.project and chain not in verification.ends:
            sentence = f"{names.of(chain)}, which had {before.number:,} links, is gone"
            verification.add(Fault("shorter", sentence, chain=chain, number=before.number))


class _ChainNames:
    """Names of chains for people; looked up when the first one is needed."""

    def __init__(self, project: Project | None) -> None:
        self._project = project
        self._known: dict[uuids.UUID, str] | None = None

    def of(self, chain: uuids.UUID) -> str:
        """Return the name of a chain."""
        if self._known is None:
            assignments = Assignment.objects.filter(
                task=Assignment.Task.JUDGE, pair__project=self._project
            )
            self._known = {
                hash_chain.of_assignment(pair, name): f"the chain of {name}'s judgments of {pair}"
                for pair, name in assignments.values_list("pair__pair_id", "member__name")
            }
        return self._known.get(chain, f"the chain {chain}")


# --- ends that are kept elsewhere -----------------------------------------------------------------


def write_ends(verification: Verification) -> Iterator[str]:
    """Yield the ends of a project's chains as lines.

    A line has project ("-": the installation), chain, number and sum.
    """
    for chain, end in sorted(verification.ends.items()):
        yield f"{verification.project or '-'} {chain} {end.number} {end.sum.hex()}\n"


def read_ends(lines: Iterator[str]) -> dict[ChainPlace, End]:
    """Parse lines that `write_ends` yielded. Raise ValueError for any other line."""
    ends: dict[ChainPlace, End] = {}
    for place, line in enumerate(lines, 1):
        try:
            project, chain, number, stored = line.split()
            end = End(int(number), bytes.fromhex(stored))
            if len(end.sum) != len(NOTHING) or end.number < 1:
                raise ValueError
            ends["" if project == "-" else project, uuids.UUID(chain)] = end
        except ValueError as error:
            raise ValueError(f"line {place:,} is not the end of a chain") from error
    return ends
