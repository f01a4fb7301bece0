"""Choose the documents of a query from its rankings, and order them. Pure.

Only ids, ranks and the seed decide, so that every database chooses the same documents.
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
# Scores are integers, so that no order depends on rounding.
_WHOLE = 10**15
MOST_STRATA = 10
_STRATUM = re.compile(r"(\d{1,9}):(\d{1,3})")


class Stratum(NamedTuple):
    """Ranks from the end of the previous stratum up to `until`, and the percentage to draw."""

    until: int
    percent: int


@dataclass
class RankedDocument:
    """A document of a query; `ranks` maps a run's key to the document's best rank in it."""

    document: int
    doc_id: str
    ranks: dict[int, int] = field(default_factory=dict)

    @property
    def best(self) -> int:
        """The best rank in any run."""
        return min(self.ranks.values())


def parse_strata(words: str) -> list[Stratum]:
    """Parse strata as people write them: "10:100 50:20" takes all of ranks 1-10, 20% of 11-50.

    Raises ValueError with an error message.

    >>> parse_strata("10:100 50:20")
    [Stratum(until=10, percent=100), Stratum(until=50, percent=20)]
    """
    strata = []
    for word in words.replace(",", " ").split():
        match = _STRATUM.fullmatch(word)
        if match is None:
            raise ValueError(
                f"“{word[:40]}” is not a stratum. Write the last rank, a colon and a percentage, "
                "as in 10:100 50:20."
            )
        strata.append(Stratum(int(match[1]), int(match[2])))
    check_strata(strata)
    return strata


def check_strata(strata: Sequence[Stratum]) -> None:
    """Raise ValueError with an error message for strata that cannot be drawn from."""
    if not strata:
        raise ValueError("A stratified sample needs strata, as in 10:100 50:20.")
    if len(strata) > MOST_STRATA:
        raise ValueError(f"There are {len(strata)} strata; at most {MOST_STRATA} are allowed.")
    before = 0
    for stratum in strata:
        if stratum.until <= before:
            raise ValueError(
                f"The stratum to rank {stratum.until} does not come after rank {before}. Write the "
                "strata in the order of their ranks."
            )
        if not 1 <= stratum.percent <= 100:
            raise ValueError(
                f"{stratum.percent}% cannot be drawn. Write a percentage from 1 to 100."
            )
        before = stratum.until


def fusion_score(ranks: Iterable[int]) -> int:
    """Return the reciprocal rank fusion score of a document, as a whole number."""
    return sum(_WHOLE // (RRF_K + rank) for rank in ranks)


def top_by_fusion(ranked: Iterable[RankedDocument], depth: int) -> list[RankedDocument]:
    """Return the first `depth` documents by fused score; ties are ordered by id, descending."""
    order = sorted(
        ranked,
        key=lambda document: (fusion_score(document.ranks.values()), document.doc_id.encode()),
        reverse=True,
    )
    return order[:depth]


def draw_sample(
    ranked: Iterable[RankedDocument], strata: Sequence[Stratum], *, seed: int, query_id: str
) -> list[RankedDocument]:
    """Draw from each stratum its percentage of documents, rounded up, by their best ranks."""
    of_stratum: list[list[RankedDocument]] = [[] for _ in strata]
    for document in ranked:
        for number, stratum in enumerate(strata):
            if document.best <= stratum.until:
                of_stratum[number].append(document)
                break
    chosen = []
    for stratum, members in zip(strata, of_stratum, strict=True):
        members.sort(key=lambda document: seeded_order(seed, query_id, document.doc_id))
        chosen += members[: -(-len(members) * stratum.percent // 100)]
    return chosen


def seeded_order(seed: int, query_id: str, doc_id: str) -> bytes:
    """Return a document's sort key in the order of a seed, which is independent of ranks."""
    # Ids contain no line ends, so different ids never give the same string.
    words = f"{seed}\n{query_id}\n{doc_id}".encode()
    return hashlib.blake2b(words, digest_size=16).digest()
