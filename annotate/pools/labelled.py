"""labelled@k: the share of a run's first k documents that have a label, disputed ones as well.

Computed for each query that has a label, then averaged over these queries. Judged@k, which an
evaluation computes with ir_measures, counts documents that have a line in the qrels: a disputed one
has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, NamedTuple

from annotate.collection.models import Candidate, Run, RunLine
from annotate.judgments.in_force import judgments_in_pools
from annotate.pools.actions import MAX_DEPTH
from annotate.projects.models import Project
from base.errors import Refused

CUTOFFS = (10, 20, 100)
MOST_CUTOFFS = 10


class Labelled(NamedTuple):
    """The labelled@k of a run: how many of its first documents have a label."""

    run: str
    system: str
    topics: Annotated[int, "Topics of the run that have a label."]
    labelled: Annotated[
        dict[int, float | None],
        "By cutoff, the mean share over these topics; null without a topic.",
    ]


def labelled_at(project: Project, cutoffs: Sequence[int] = CUTOFFS) -> list[Labelled]:
    """Return labelled@k of every run of a project, ordered by name.

    A label is an earlier relevance or a current judgment of people, as in the qrels. The topics of
    a run over instructions are pairs, and its labels are those of the pair. Refused: invalid
    cutoffs.
    """
    if not 1 <= len(cutoffs) <= MOST_CUTOFFS or not all(1 <= k <= MAX_DEPTH for k in cutoffs):
        raise Refused(f"Give 1 to {MOST_CUTOFFS} cutoffs, each from 1 to {MAX_DEPTH:,}.")
    runs = list(Run.objects.filter(project=project).order_by("name"))
    if not runs:
        return []
    labels = _read_labels(project)
    return [_labelled_at_of_run(run, labels, sorted(set(cutoffs))) for run in runs]


class _Labels(NamedTuple):
    """Which documents have a label, by key: with a query or, under its narrative, with a pair."""

    of_queries: set[tuple[int, int]]
    of_pairs: set[tuple[int, int]]
    # Those that were not relevant before, with their query: where only the others are judged, this
    # is their label under altered narratives.
    not_relevant_before: set[tuple[int, int]]


def _read_labels(project: Project) -> _Labels:
    judged = list(
        judgments_in_pools(project)
        .order_by()
        .values_list("narrative__pair__pk", "candidate__query__pk", "candidate__document__pk")
        .distinct()
    )
    candidates = Candidate.objects.filter(
        query__project=project, query__removed_at__isnull=True
    ).order_by()
    loaded = candidates.values_list("query__pk", "document__pk")
    not_relevant = loaded.filter(prior_relevance__lt=project.relevant_from)
    return _Labels(
        {(query, document) for _pair, query, document in judged}
        | set(loaded.filter(prior_relevance__isnull=False)),
        {(pair, document) for pair, _query, document in judged},
        set(not_relevant) if project.judge_scope == Project.Scope.RELEVANT else set(),
    )


def _labelled_at_of_run(run: Run, labels: _Labels, cutoffs: list[int]) -> Labelled:
    by_topic: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    lines = RunLine.objects.filter(run=run, rank__lte=cutoffs[-1])
    for pair, query, document, rank in lines.values_list(
        "pair__pk", "query__pk", "document__pk", "rank"
    ):
        if run.names_pairs:
            is_labelled = (pair, document) in labels.of_pairs or (
                run.side == Run.Side.ALTERED and (query, document) in labels.not_relevant_before
            )
        else:
            is_labelled = (query, document) in labels.of_queries
        by_topic[pair if run.names_pairs else query].append((rank, is_labelled))
    of_topics = labels.of_pairs if run.names_pairs else labels.of_queries
    topics = by_topic.keys() & {topic for topic, _document in of_topics}
    shares: dict[int, float | None] = {}
    for k in cutoffs:
        of_each = [
            fmean(is_labelled for rank, is_labelled in by_topic[topic] if rank <= k)
            for topic in topics
        ]
        shares[k] = fmean(of_each) if of_each else None
    return Labelled(run.name, run.tag, len(topics), shares)
