"""Find suspects: documents that are claimed to be relevant and that runs miss."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef

from annotate.collection.models import Query, Run, RunLine
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Project
from audit.checks.claims import Claim, ClaimSelection, build_frame
from base.errors import Refused


class Suspect(NamedTuple):
    """A claim, and how many of the runs that have its query miss its document."""

    claim: Claim
    missed: int
    of: int

    @property
    def key(self) -> str:
        """Its place in the list, for the address of the next page."""
        return f"{self.missed}-{self.claim.narrative.pk}-{self.claim.candidate}"


@dataclass(frozen=True)
class FoundSuspects:
    """The suspects, most missed first, and the numbers of documents searched and left out."""

    suspects: list[Suspect]
    # Documents claimed to be relevant whose query is in at least `at_least` of the runs.
    gold: int
    # The other documents claimed to be relevant: too few runs have their query.
    left_out: int
    left_out_queries: int
    # Those whose documents have no text.
    without_text: int = 0


def find_suspects(
    project: Project,
    selection: ClaimSelection,
    *,
    runs: Collection[Run],
    depth: int,
    at_least: int,
    below: float | None = None,
) -> FoundSuspects:
    """Return the documents claimed relevant that at least `at_least` runs do not rank up to
    `depth`, or score lower than `below`.

    A run without a line for a query neither finds nor misses its documents. A run over instructions
    counts only for claims under the altered narrative of the same pair, one over reversed
    instructions only for those under the reversed narrative. If one mode alone is asked for, only
    the runs of that mode count. Ranks follow from the scores, as trec_eval orders them.

    Refused: a run of another project, a depth or number below 1, a number larger than that
    of runs, a score that is not a number.
    """
    _validate_runs(project, runs, depth, at_least, below)
    frame = build_frame(project, selection._replace(relevant_only=True))
    gold = frame.claims
    covered = _coverage(project, runs)
    hits = _hits(runs, depth, below)

    suspects, searched = [], 0
    left: set[int] = set()
    of_narratives: dict[Narrative, list[Claim]] = defaultdict(list)
    for claim in gold:
        of_narratives[claim.narrative].append(claim)
    for narrative, claims in of_narratives.items():
        rankings = _rankings(narrative, selection.side)
        of = sum(covered[ranking] for ranking in rankings)
        if of < at_least:
            left.add(narrative.pair.query_id)
            continue
        searched += len(claims)
        counts = [hits[ranking] for ranking in rankings]
        for claim in claims:
            missed = of - sum(in_ranking[claim.document] for in_ranking in counts)
            if of and missed >= at_least:
                suspects.append(Suspect(claim, missed, of))
    suspects.sort(key=_order)
    return FoundSuspects(suspects, searched, len(gold) - searched, len(left), frame.without_text)


def _validate_runs(
    project: Project, runs: Collection[Run], depth: int, at_least: int, below: float | None
) -> None:
    if any(run.project_id != project.pk for run in runs):
        raise Refused("Choose runs of this project.")
    if below is not None and not math.isfinite(below):
        raise Refused("The score is a number, such as 0.5.")
    if depth < 1 or at_least < 1:
        raise Refused("The rank and the number of runs must be at least 1.")
    if runs and at_least > len(runs):
        raise Refused(
            f"{at_least} runs cannot miss a document if only {len(runs)} are chosen. Choose "
            "more runs, or ask for fewer."
        )


def merge_suspects(by_mode: Sequence[FoundSuspects]) -> FoundSuspects:
    """Merge the suspects of several modes into one list, most missed first."""
    if len(by_mode) == 1:
        return by_mode[0]
    every = [suspect for of_mode in by_mode for suspect in of_mode.suspects]
    every.sort(key=_order)
    return FoundSuspects(
        every,
        sum(of_mode.gold for of_mode in by_mode),
        sum(of_mode.left_out for of_mode in by_mode),
        max(of_mode.left_out_queries for of_mode in by_mode),
        sum(of_mode.without_text for of_mode in by_mode),
    )


def _order(suspect: Suspect) -> tuple[int, str, str]:
    """Return the key that sorts the most missed first, then by query and name."""
    claim = suspect.claim
    return -suspect.missed, claim.narrative.pair.query.query_id, claim.name


# The key of a ranking: a query alone (the pair is None) or one of its pairs, and a side.
Ranking = tuple[int, int | None, str]


def _rankings(narrative: Narrative, mode: str) -> list[Ranking]:
    """Return the rankings that count for claims under a narrative; only those of `mode`, unless it
    is "".
    """
    rankings: list[Ranking] = []
    if mode in ("", Narrative.Side.ORIGINAL):
        rankings.append((narrative.pair.query_id, None, Run.Side.ORIGINAL))
    if narrative.side != Narrative.Side.ORIGINAL:
        rankings.append((narrative.pair.query_id, narrative.pair_id, narrative.side))
    return rankings


def _coverage(project: Project, runs: Collection[Run]) -> Counter[Ranking]:
    """Return how many of the runs have each ranking; one index lookup for each."""
    coverage: Counter[Ranking] = Counter()
    for run in runs:
        if run.names_pairs:
            lines = RunLine.objects.filter(run=run, pair=OuterRef("pk"))
            pairs = InstructionPair.objects.filter(Exists(lines), project=project)
            rows = pairs.values_list("query_id", "pk")
            coverage.update((query, pair, run.side) for query, pair in rows)
        else:
            lines = RunLine.objects.filter(run=run, query=OuterRef("pk"), pair=None)
            queries = Query.objects.filter(Exists(lines), project=project)
            rows_of_queries = queries.values_list("pk", flat=True)
            coverage.update((query, None, run.side) for query in rows_of_queries)
    return coverage


def _hits(runs: Collection[Run], depth: int, below: float | None) -> dict[Ranking, Counter[int]]:
    """Return by ranking how many runs have each document up to `depth` with a sufficient score."""
    lines = RunLine.objects.filter(run__in=runs, rank__lte=depth)
    if below is not None:
        lines = lines.filter(score__gte=below)
    rows = lines.order_by().values_list("query", "pair", "run__side", "document")
    hits: dict[Ranking, Counter[int]] = defaultdict(Counter)
    for query, pair, side, document, times in rows.annotate(hits=Count("run")).iterator():
        hits[query, pair, side][document] = times
    return hits
