"""labelled@k: the share of a run's first k documents that have a label, disputed ones as well.

Computed for each query that has a label, then averaged over these queries. Judged@k, which an
evaluation computes with ir_measures, counts documents that have a line in the qrels: a disputed one
has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from django.db import connection

from annotate.collection.models import Run
from annotate.judgments.in_force import judgments_in_force
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
    judgments_sql: tuple[str, tuple[Any, ...]] = (
        judgments_in_force(project)
        .order_by()
        .values_list("narrative__pair_id", "candidate_id")
        .query.sql_with_params()
    )
    runs = Run.objects.filter(project=project).select_related("project").order_by("name")
    return [_labelled_at_of_run(run, sorted(set(cutoffs)), *judgments_sql) for run in runs]


def _labelled_at_of_run(
    run: Run, cutoffs: list[int], judgments_sql: str, parameters: Sequence[Any]
) -> Labelled:
    # A condition on a candidate `c`.
    in_pool = "c.removed_at IS NULL"
    if run.names_pairs:
        topic, labelled = "l.pair_id", "(l.pair_id, c.id) IN (SELECT pair, candidate FROM judged)"
        if run.side == Run.Side.ALTERED and run.project.judge_scope == Project.Scope.RELEVANT:
            # Nobody judges these: their earlier relevance counts.
            labelled += f" OR c.prior_relevance < {int(run.project.relevant_from)}"
        topics = "SELECT pair FROM judged"
    else:
        topic = "l.query_id"
        labelled = "c.prior_relevance IS NOT NULL OR c.id IN (SELECT candidate FROM judged)"
        topics = f"""
            SELECT c.query_id FROM annotate_candidate c WHERE {in_pool} AND ({labelled})
        """  # noqa: S608 (our own words)
    sums = ", ".join(
        f"SUM(CASE WHEN t.rank <= {k} THEN t.labelled ELSE 0 END), "
        f"SUM(CASE WHEN t.rank <= {k} THEN 1 ELSE 0 END)"
        for k in map(int, cutoffs)
    )
    sql = f"""
        WITH judged (pair, candidate) AS ({judgments_sql}), t AS (
            SELECT {topic} AS topic, l.rank, CASE WHEN {labelled} THEN 1 ELSE 0 END AS labelled
            FROM annotate_runline l
            LEFT JOIN annotate_candidate c ON c.query_id = l.query_id
                AND c.document_id = l.document_id AND {in_pool}
            WHERE l.run_id = {int(run.pk)} AND l.rank <= {int(cutoffs[-1])}
        )
        SELECT {sums} FROM t WHERE t.topic IN ({topics}) GROUP BY t.topic
    """  # noqa: S608 (numbers, our own words and a query of the ORM)
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows = cursor.fetchall()
    shares: dict[int, float | None] = {}
    for number, k in enumerate(cutoffs):
        of_topics = [row[2 * number] / row[2 * number + 1] for row in rows]
        shares[k] = sum(of_topics) / len(of_topics) if of_topics else None
    return Labelled(run.name, run.tag, len(rows), shares)
