"""Documents that are claimed to be relevant and that runs fail to find: look at them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef

from annotate.models import Candidate, Project, Query, Run, RunLine
from audit.checks.claims import Asked, Claim, frame


class Suspect(NamedTuple):
    """A claim, and by how many of the runs that have its query it is missed."""

    claim: Claim
    missed: int
    of: int


@dataclass(frozen=True)
class Suspicion:
    """The suspects, most missed first, and what they were found among."""

    suspects: list[Suspect]
    # Documents claimed to be relevant whose query is in at least `at_least` of the runs.
    gold: int
    # Documents claimed to be relevant whose query is not.
    left_out: int
    left_out_queries: int


def suspicion(
    project: Project,
    asked: Asked,
    *,
    runs: Collection[Run],
    depth: int,
    at_least: int,
    below: float | None = None,
) -> Suspicion:
    """Return the documents claimed relevant that at least so many runs do not rank up to `depth`,
    or score lower than `below`.

    A run without a single line for a query says nothing about its documents, so it neither finds
    nor misses them. Ranks are those the scores give, as trec_eval orders them.
    """
    gold = frame(project, asked._replace(relevant_only=True)).claims
    covered = _runs_of_queries(project, runs)
    kept = [claim for claim in gold if covered[claim.under.query] >= at_least]
    hits = _hits(runs, depth, below)
    suspects = [
        Suspect(claim, missed, of)
        for claim in kept
        if (of := covered[claim.under.query])
        and (missed := of - hits[claim.under.query, claim.document]) >= at_least
    ]
    suspects.sort(key=lambda one: (-one.missed, one.claim.under.query_id, one.claim.name))
    left = {claim.under.query for claim in gold if covered[claim.under.query] < at_least}
    return Suspicion(suspects, len(kept), len(gold) - len(kept), len(left))


def _runs_of_queries(project: Project, runs: Collection[Run]) -> Counter[int]:
    """How many of the runs have each query: one look into the index for each."""
    found: Counter[int] = Counter()
    for run in runs:
        has = Exists(RunLine.objects.filter(run=run, query=OuterRef("pk")))
        found.update(Query.objects.filter(has, project=project).values_list("pk", flat=True))
    return found


def _hits(runs: Collection[Run], depth: int, below: float | None) -> Counter[tuple[int, int]]:
    """How many of the runs rank each document of a pool up to `depth`, and score it high enough."""
    pool = Candidate.objects.filter(query=OuterRef("query"), document=OuterRef("document"))
    found = RunLine.objects.filter(Exists(pool), run__in=runs, rank__lte=depth)
    if below is not None:
        found = found.filter(score__gte=below)
    rows = found.order_by().values_list("query", "document").annotate(hits=Count("run"))
    return Counter({(query, document): hits for query, document, hits in rows})
