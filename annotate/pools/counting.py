"""Choose and count the documents of a pool, query by query.

A count and the making of a pool use the same code. No document text is read. Only the rankings of a
few queries are in memory at a time.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotate.collection.models import Candidate, Query, Run
from annotate.judgments.in_force import judgments_in_force
from annotate.pools import choosing
from annotate.pools.choosing import RankedDocument, Stratum
from annotate.projects.models import Project
from base import bulk

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
        return self.depth if self.method in {choosing.UNION, choosing.SAMPLE} else None


class ChosenDocument(NamedTuple):
    """A document chosen for a pool. `state`: new, judged, waiting or removed."""

    document: int
    doc_id: str
    state: str
    # The keys of the runs that rank it.
    runs: frozenset[int]


NEW, JUDGED, WAITING, REMOVED = "new", "judged", "waiting", "removed"


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

    def as_json(self) -> dict[str, Any]:
        """Return the counts as pages, the API and the row of a pool have them."""
        total = self.total
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
            "documents": total.total(),
            **_states(total),
            "queries": [
                {"query_id": query_id, "documents": states.total(), **_states(states)}
                for query_id, states in self.queries
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


def _states(of: Counter[str]) -> dict[str, int]:
    return {state: of[state] for state in (NEW, JUDGED, WAITING, REMOVED)}


def warnings(recipe: Recipe, counts: dict[str, Any]) -> list[str]:
    """Return what a lead should know before making this pool, as sentences."""
    sentences = []
    relevant = recipe.project.judge_scope == Project.Scope.RELEVANT
    if relevant and counts[NEW]:
        sentences.append(
            "This project judges only documents that were relevant before, and new "
            "candidates have no earlier relevance: nobody will be asked about them. Choose "
            "in the settings to judge the whole pool."
        )
    if counts[REMOVED]:
        sentences.append(
            f"{counts[REMOVED]:,} of these documents was taken out before. It stays out."
            if counts[REMOVED] == 1
            else f"{counts[REMOVED]:,} of these documents were taken out before. They stay out."
        )
    if not counts["documents"]:
        sentences.append("No document is chosen. Choose other runs or a larger depth.")
    elif not counts[NEW]:
        sentences.append("Every document is already a candidate: the pool adds none.")
    if lacking := [run["name"] for run in counts["runs"] if not run["documents"]]:
        sentences.append(f"No document comes from {', '.join(map(str, lacking))}.")
    return sentences


def choose_documents(recipe: Recipe) -> Iterator[tuple[int, str, list[ChosenDocument]]]:
    """Yield each query with documents: its key, its id, and the chosen documents."""
    for batch in _batches(recipe):
        keys = list(batch)
        candidates = _candidates(recipe.project, keys)
        ranked = _ranked(recipe, keys)
        if recipe.method == choosing.JUDGED:
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
    return sorted(
        chosen, key=lambda entry: choosing.seeded_order(recipe.seed, query_id, entry.doc_id)
    )


def count_documents(recipe: Recipe, step: Callable[[], object] = lambda: None) -> PoolCounts:
    """Count what a pool would contain; `step` is called for each query."""
    counts = PoolCounts(recipe)
    for _query, query_id, chosen in choose_documents(recipe):
        counts.add(query_id, chosen)
        step()
    return counts


def _choose(
    recipe: Recipe, query_id: str, ranked: list[RankedDocument], states: dict[int, str]
) -> list[ChosenDocument]:
    if recipe.method == choosing.FUSION:
        ranked = choosing.top_by_fusion(ranked, recipe.depth or 0)
    elif recipe.method == choosing.SAMPLE:
        ranked = choosing.draw_sample(ranked, recipe.strata, seed=recipe.seed, query_id=query_id)
    elif recipe.method == choosing.JUDGED:
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
    for names_pairs in (False, True):
        runs = [run.pk for run in recipe.runs if run.names_pairs == names_pairs]
        if not runs:
            continue
        # Both conditions use the index of a unique constraint.
        pairs = "SELECT p.id FROM annotate_instructionpair p WHERE p.query_id IN"
        where = (
            f"l.pair_id IN ({pairs} ({_numbers(queries)}))"
            if names_pairs
            else f"l.pair_id IS NULL AND l.query_id IN ({_numbers(queries)})"
        )
        deepest = "" if recipe.deepest is None else f"AND l.rank <= {int(recipe.deepest)}"
        rows = bulk.select(
            f"""
            SELECT l.query_id, l.document_id, l.run_id, l.rank FROM annotate_runline l
            WHERE l.run_id IN ({_numbers(runs)}) AND {where} {deepest}
            """  # noqa: S608 (numbers alone are put in)
        )
        for query, document, run, rank in rows:
            of_query = ranked[query]
            entry = of_query.get(document)
            if entry is None:
                entry = of_query[document] = RankedDocument(document, "")
            entry.ranks[run] = min(rank, entry.ranks.get(run, rank))
    _set_doc_ids(ranked)
    return ranked


def _set_doc_ids(ranked: dict[int, dict[int, RankedDocument]]) -> None:
    """Set the id of every document."""
    documents = {document for of_query in ranked.values() for document in of_query}
    ids = _doc_ids(sorted(documents))
    for of_query in ranked.values():
        for document, entry in of_query.items():
            entry.doc_id = ids[document]


def _doc_ids(documents: list[int]) -> dict[int, str]:
    ids: dict[int, str] = {}
    for start in range(0, len(documents), 10_000):
        part = documents[start : start + 10_000]
        sql = f"""
            SELECT d.id, d.doc_id FROM annotate_document d WHERE d.id IN ({_numbers(part)})
        """  # noqa: S608 (numbers alone are put in)
        ids.update(bulk.select(sql))
    return ids


def _candidates(project: Project, queries: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the state of every candidate of these queries, by query and document."""
    rows = Candidate.with_removed.filter(query__in=queries).order_by()
    judged = set(
        judgments_in_force(project)
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
    ranked: dict[int, dict[int, RankedDocument]], candidates: dict[int, dict[int, str]]
) -> None:
    """Add the judged documents that no run ranks."""
    missing = {
        query: [
            document
            for document, state in of_query.items()
            if state == JUDGED and document not in ranked[query]
        ]
        for query, of_query in candidates.items()
    }
    ids = _doc_ids(sorted({document for documents in missing.values() for document in documents}))
    for query, documents in missing.items():
        ranked[query].update(
            {document: RankedDocument(document, ids[document]) for document in documents}
        )


def _numbers(keys: Sequence[int]) -> str:
    return ", ".join(str(int(key)) for key in keys)
