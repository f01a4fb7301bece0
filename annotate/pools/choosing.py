"""Which documents of a query a method chooses from its rankings, and in which order. Pure.

Everything is decided by ids, ranks and the seed, so that every database chooses the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

UNION, FUSION, SAMPLE, JUDGED = "union", "fusion", "sample", "judged"
# The constant of reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009.
RRF_K = 60
# Scores are whole numbers, so that no order depends on how sums of fractions are rounded.
_WHOLE = 10**15
MOST_STRATA = 10
_STRATUM = re.compile(r"(\d{1,9}):(\d{1,3})")


class Stratum(NamedTuple):
    """Ranks up to `until`, after those of the stratum before, and the percentage drawn of them."""

    until: int
    percent: int


@dataclass
class Ranked:
    """A document of a query with its best rank in each run, by the run's key."""

    document: int
    doc_id: str
    ranks: dict[int, int] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """The best rank in any run."""
        return min(self.ranks.values())


def parse_strata(words: str) -> list[Stratum]:
    """Read strata as people write them: "10:100 50:20" takes ranks 1-10 whole, 20% of 11-50.

    Raises ValueError with a sentence.

    >>> parse_strata("10:100 50:20")
    [Stratum(until=10, percent=100), Stratum(until=50, percent=20)]
    """
    strata = []
    for word in words.replace(",", " ").split():
        found = _STRATUM.fullmatch(word)
        if found is None:
            raise ValueError(
                f"“{word[:40]}” is no stratum. Write the last rank, a colon and a percentage, as "
                "in 10:100 50:20."
            )
        strata.append(Stratum(int(found[1]), int(found[2])))
    check_strata(strata)
    return strata


def strata_words(strata: Iterable[Sequence[int]]) -> str:
    """Write strata as `parse_strata` reads them."""
    return " ".join(f"{until}:{percent}" for until, percent in strata)


def check_strata(strata: Sequence[Stratum]) -> None:
    """Raise ValueError with a sentence for strata that cannot be drawn from."""
    if not strata:
        raise ValueError("A stratified sample needs strata, as in 10:100 50:20.")
    if len(strata) > MOST_STRATA:
        raise ValueError(f"There are {len(strata)} strata; at most {MOST_STRATA} are taken.")
    before = 0
    for one in strata:
        if one.until <= before:
            raise ValueError(
                f"The stratum to rank {one.until} does not lie behind rank {before}. Write the "
                "strata in the order of their ranks."
            )
        if not 1 <= one.percent <= 100:
            raise ValueError(f"{one.percent}% cannot be drawn. Write a percentage from 1 to 100.")
        before = one.until


def fused(ranks: Iterable[int]) -> int:
    """Return the reciprocal rank fusion score of a document, as a whole number."""
    return sum(_WHOLE // (RRF_K + rank) for rank in ranks)


def top_by_fusion(ranked: Iterable[Ranked], depth: int) -> list[Ranked]:
    """Return the first `depth` documents by their fused score; ties by id, downwards."""
    order = sorted(
        ranked, key=lambda one: (fused(one.ranks.values()), one.doc_id.encode()), reverse=True
    )
    return order[:depth]


def sampled(
    ranked: Iterable[Ranked], strata: Sequence[Stratum], *, seed: int, query_id: str
) -> list[Ranked]:
    """Draw from each stratum of best ranks its percentage, rounded up."""
    of_stratum: list[list[Ranked]] = [[] for _ in strata]
    for one in ranked:
        for number, stratum in enumerate(strata):
            if one.best <= stratum.until:
                of_stratum[number].append(one)
                break
    chosen = []
    for stratum, members in zip(strata, of_stratum, strict=True):
        members.sort(key=lambda one: place(seed, query_id, one.doc_id))
        chosen += members[: -(-len(members) * stratum.percent // 100)]
    return chosen


def place(seed: int, query_id: str, doc_id: str) -> bytes:
    """Return where a document stands in the order of a seed. It does not follow any rank."""
    # Ids hold no line end: two pairs of ids never make the same words.
    words = f"{seed}\n{query_id}\n{doc_id}".encode()
    return hashlib.blake2b(words, digest_size=16).digest()
