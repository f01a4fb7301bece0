"""Choose and count the documents of a pool, query by query.

A count and the making of a pool use the same code. Only ids, ranks and the seed decide, so that
every database chooses the same documents. No document text is read, and only the rankings of a few
queries are in memory at a time.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypedDict

from annotate.collection.models import Candidate, Query, Run, RunLine
from annotate.judgments.in_force import judgments_in_pools
from annotate.pools.models import Pool
from annotate.projects.models import Project

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


# Limits of what is in memory at a time: lines of runs, and queries.
LINES_AT_ONCE = 50_000
MOST_QUERIES_AT_ONCE = 100
# The assumed depth of a run where no depth limits it.
_UNBOUNDED = 1_000


@dataclass(frozen=True)
class Recipe:
    """The rule of a pool: a method with its parameters, and the runs it chooses from."""

    project: Project
    method: str
    runs: tuple[Run, ...]
    depth: int | None = None
    strata: tuple[Stratum, ...] = ()
    seed: int = 1

    @property
    def deepest(self) -> int | None:
        """The last rank read from a run; None for every line."""
        return self.depth if self.method in {Pool.Method.UNION, Pool.Method.SAMPLE} else None


class ChosenDocument(NamedTuple):
    """A document chosen for a pool. `state`: new, judged, waiting or removed."""

    document: int
    doc_id: str
    state: str
    # The keys of the runs that rank it.
    runs: frozenset[int]


NEW, JUDGED, WAITING, REMOVED = "new", "judged", "waiting", "removed"


class DocumentCounts(TypedDict):
    """Numbers of documents by state; `waiting` ones are candidates that nobody has judged."""

    documents: int
    new: int
    judged: int
    waiting: int
    removed: Annotated[int, "Taken out before; they stay out."]


class QueryCount(DocumentCounts):
    """The counts of one query."""

    query_id: str


class RunCount(TypedDict):
    """The documents that one run contributes."""

    name: str
    documents: int
    alone: Annotated[int, "Of these, documents from no other run."]
    shared: Annotated[list[int], "Documents shared with each run, in the order of `runs`."]


class PoolCount(DocumentCounts):
    """The contents of a pool, counted, as pages, the API and its row have them."""

    queries: list[QueryCount]
    runs: list[RunCount]
    sha256: Annotated[str, "Of the documents, and of which of them are new."]


class FullPoolCount(PoolCount):
    """The contents that a pool would have, counted, with warnings."""

    warnings: list[str]


@dataclass
class PoolCounts:
    """Counts of a pool's documents: per query, per run, and the overlap of runs."""

    recipe: Recipe
    # For each query with documents: its id, and the number of documents by state.
    queries: list[tuple[str, Counter[str]]] = field(default_factory=list)
    _together: Counter[frozenset[int]] = field(default_factory=Counter)
    _sum: Any = field(default_factory=hashlib.sha256)

    def add(self, query_id: str, chosen: Sequence[ChosenDocument]) -> None:
        """Count the documents of one query."""
        self.queries.append((query_id, Counter(entry.state for entry in chosen)))
        self._together.update(entry.runs for entry in chosen)
        words = sorted(f"{entry.doc_id}\n{entry.state == NEW}\n" for entry in chosen)
        self._sum.update(f"{query_id}\n{''.join(words)}\n".encode())

    @property
    def sha256(self) -> str:
        """The digest of the chosen documents, and of which of them are new."""
        return str(self._sum.hexdigest())

    @property
    def total(self) -> Counter[str]:
        """The number of documents by state, over all queries."""
        return sum((states for _, states in self.queries), Counter())

    def as_json(self) -> PoolCount:
        """Return the counts as JSON-ready values."""
        brought: Counter[int] = Counter()
        alone: Counter[int] = Counter()
        shared: Counter[tuple[int, int]] = Counter()
        for runs, many in self._together.items():
            for run in runs:
                brought[run] += many
                if len(runs) == 1:
                    alone[run] += many
                for other in runs:
                    shared[run, other] += many
        runs_in_order = [run.pk for run in self.recipe.runs]
        return {
            **_count_states(self.total),
            "queries": [
                {"query_id": query_id, **_count_states(states)} for query_id, states in self.queries
            ],
            "runs": [
                {
                    "name": run.name,
                    "documents": brought[run.pk],
                    "alone": alone[run.pk],
                    # In the order of the runs; with itself, all of its documents.
                    "shared": [shared[run.pk, other] for other in runs_in_order],
                }
                for run in self.recipe.runs
            ],
            "sha256": self.sha256,
        }


def _count_states(states: Counter[str]) -> DocumentCounts:
    return {
        "documents": states.total(),
        "new": states[NEW],
        "judged": states[JUDGED],
        "waiting": states[WAITING],
        "removed": states[REMOVED],
    }


def warnings(recipe: Recipe, counts: PoolCount) -> list[str]:
    """Return what a lead should know before making this pool, as sentences."""
    sentences = []
    relevant = recipe.project.judge_scope == Project.Scope.RELEVANT
    if relevant and counts["new"]:
        sentences.append(
            "This project judges only documents that were relevant before, and new "
            "candidates have no earlier relevance: nobody will be asked about them. Choose "
            "in the settings to judge the whole pool."
        )
    if counts["removed"]:
        sentences.append(
            f"{counts['removed']:,} of these documents was taken out before. It stays out."
            if counts["removed"] == 1
            else f"{counts['removed']:,} of these documents were taken out before. They stay out."
        )
    if not counts["documents"]:
        sentences.append(
            "No document is judged yet."
            if recipe.method == Pool.Method.JUDGED
            else "No document is chosen. Choose other runs or a larger depth."
        )
    elif not counts["new"]:
        sentences.append("Every document is already a candidate: the pool adds none.")
    if lacking := [run["name"] for run in counts["runs"] if not run["documents"]]:
        sentences.append(f"No document comes from {', '.join(lacking)}.")
    return sentences


def choose_documents(recipe: Recipe) -> Iterator[tuple[int, str, list[ChosenDocument]]]:
    """Yield each query with documents: its key, its id, and the chosen documents."""
    for batch in _batches(recipe):
        keys = list(batch)
        candidates = _candidates(recipe.project, keys)
        ranked = _ranked(recipe, keys)
        if recipe.method == Pool.Method.JUDGED:
            _add_unranked(ranked, candidates)
        for query, query_id in batch.items():
            states = candidates.get(query, {})
            chosen = _choose(recipe, query_id, list(ranked.get(query, {}).values()), states)
            if chosen:
                yield query, query_id, chosen


def in_seed_order(
    recipe: Recipe, query_id: str, chosen: Sequence[ChosenDocument]
) -> list[ChosenDocument]:
    """Sort the documents of a query in the order of the seed, which is independent of ranks."""
    return sorted(chosen, key=lambda entry: seeded_order(recipe.seed, query_id, entry.doc_id))


def count_documents(recipe: Recipe) -> PoolCounts:
    """Count what a pool would contain."""
    counts = PoolCounts(recipe)
    for _query, query_id, chosen in choose_documents(recipe):
        counts.add(query_id, chosen)
    return counts


def _choose(
    recipe: Recipe, query_id: str, ranked: list[RankedDocument], states: dict[int, str]
) -> list[ChosenDocument]:
    if recipe.method == Pool.Method.FUSION:
        ranked = top_by_fusion(ranked, recipe.depth or 0)
    elif recipe.method == Pool.Method.SAMPLE:
        ranked = draw_sample(ranked, recipe.strata, seed=recipe.seed, query_id=query_id)
    elif recipe.method == Pool.Method.JUDGED:
        ranked = [entry for entry in ranked if states.get(entry.document) == JUDGED]
    return [
        ChosenDocument(
            entry.document, entry.doc_id, states.get(entry.document, NEW), frozenset(entry.ranks)
        )
        for entry in ranked
    ]


def _batches(recipe: Recipe) -> Iterator[dict[int, str]]:
    """Yield the project's queries in batches that map keys to ids.

    Queries that were taken out get no candidates and are left out.
    """
    lines = len(recipe.runs) * (recipe.deepest or _UNBOUNDED)
    size = max(1, min(LINES_AT_ONCE // max(lines, 1), MOST_QUERIES_AT_ONCE))
    rows = list(
        Query.objects.filter(project=recipe.project, removed_at__isnull=True)
        .order_by("pk")
        .values_list("pk", "query_id")
    )
    for start in range(0, len(rows), size):
        yield dict(rows[start : start + size])


def _ranked(recipe: Recipe, queries: Sequence[int]) -> dict[int, dict[int, RankedDocument]]:
    """Return the documents that the runs rank for these queries, by query and document.

    In a run over instructions a document has its best rank under any pair of the query.
    """
    ranked: dict[int, dict[int, RankedDocument]] = {query: {} for query in queries}
    lines = RunLine.objects.filter(query__in=queries, run__in=recipe.runs).order_by()
    if recipe.deepest is not None:
        lines = lines.filter(rank__lte=recipe.deepest)
    columns = ("query_id", "document_id", "document__doc_id", "run_id", "rank")
    for query, document, doc_id, run, rank in lines.values_list(*columns).iterator():
        entry = ranked[query].setdefault(document, RankedDocument(document, doc_id))
        entry.ranks[run] = min(rank, entry.ranks.get(run, rank))
    return ranked


def _candidates(project: Project, queries: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the state of every candidate of these queries, by query and document."""
    rows = Candidate.with_removed.filter(query__in=queries).order_by()
    judged = set(
        judgments_in_pools(project)
        .filter(candidate__query__in=queries)
        .order_by()
        .values_list("candidate", flat=True)
        .distinct()
    )
    states: dict[int, dict[int, str]] = {}
    for pk, query, document, prior, removed_at in rows.values_list(
        "pk", "query_id", "document_id", "prior_relevance", "removed_at"
    ):
        state = JUDGED if prior is not None or pk in judged else WAITING
        states.setdefault(query, {})[document] = state if removed_at is None else REMOVED
    return states


def _add_unranked(
    ranked: dict[int, dict[int, RankedDocument]], states: dict[int, dict[int, str]]
) -> None:
    """Add the judged documents that no run ranks."""
    rows = Candidate.with_removed.filter(query__in=list(ranked)).order_by()
    for query, document, doc_id in rows.values_list("query_id", "document_id", "document__doc_id"):
        if states.get(query, {}).get(document) == JUDGED:
            ranked[query].setdefault(document, RankedDocument(document, doc_id))
