"""Actions of pools, used by the pages, the command, the API and the job: make one, and choose the
systems whose non-relevant documents a release lists as hard negatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, models, transaction
from django.utils import timezone

from annotate.collection.models import Run
from annotate.judgments.blindness import must_answer_first
from annotate.pools.access import BLIND
from annotate.pools.choosing import (
    NEW,
    FullPoolCount,
    PoolCounts,
    Recipe,
    Stratum,
    choose_documents,
    count_documents,
    in_seed_order,
    parse_strata,
    warnings,
)
from annotate.pools.models import HardNegativeRun, HardNegatives, Pool, PoolEntry, PoolRun
from annotate.pools.removal import reopen_judging
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base import bulk
from base.errors import Refused, refuse_invalid_names
from base.stages import Stage, StagedRow
from jobs import queue
from jobs.errors import JobError
from jobs.models import Job
from jobs.runner import Progress, save_result

MAX_NAME = 60
MOST_RUNS = 100
MAX_DEPTH = 10_000
MAX_SEED = 2**31 - 1
CHANGED = (
    "Runs, candidates or judgments changed after this pool was counted, and it would hold other "
    "documents now. Count it again."
)


def recipe_of(
    *,
    project: Project,
    method: str,
    runs: Sequence[str],
    depth: int | None = None,
    strata: str = "",
    seed: int = 1,
) -> Recipe:
    """Return a validated recipe; `runs` are names, `strata` has the format of `parse_strata`.

    Refused: an unknown method or run, no run where the method needs one, an invalid depth or seed,
    invalid strata.
    """
    if method not in Pool.Method.values:
        raise Refused(
            f"{method} is not a method of pooling. The methods are: "
            f"{', '.join(Pool.Method.values)}."
        )
    chosen_runs = runs_named(project, runs)
    if not chosen_runs and method != Pool.Method.JUDGED:
        raise Refused("A pool is drawn from runs. Choose one or more.")
    parsed_strata: tuple[Stratum, ...] = ()
    if method == Pool.Method.SAMPLE:
        try:
            parsed_strata = tuple(parse_strata(strata))
        except ValueError as error:
            raise Refused(str(error)) from error
        depth = parsed_strata[-1].until
    elif strata.strip():
        raise Refused("Only a stratified sample has strata. Leave them out.")
    if method == Pool.Method.JUDGED:
        depth = None
    elif depth is None or not 1 <= depth <= MAX_DEPTH:
        raise Refused(f"The depth of a pool is a number from 1 to {MAX_DEPTH:,}.")
    if not 0 <= seed <= MAX_SEED:
        raise Refused(f"A seed is a number from 0 to {MAX_SEED}.")
    return Recipe(project, method, chosen_runs, depth, parsed_strata, seed)


def runs_named(project: Project, names: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs with these names, in this order. Refused: an unknown one, too many."""
    wanted = list(dict.fromkeys(names))
    if len(wanted) > MOST_RUNS:
        raise Refused(f"At most {MOST_RUNS} runs can be chosen.")
    by_name = {run.name: run for run in Run.objects.filter(project=project, name__in=wanted)}
    if missing := [name for name in wanted if name not in by_name]:
        raise Refused(f"This project has no run called {missing[0]}. Load it first.")
    return tuple(by_name[name] for name in wanted)


def count_pool(recipe: Recipe) -> FullPoolCount:
    """Count the documents of a pool without making it; add `warnings`, a list of sentences."""
    counted = count_documents(recipe).as_json()
    return {**counted, "warnings": warnings(recipe, counted)}


def request_pool(
    *,
    recipe: Recipe,
    name: str,
    by: Membership | None,
    counted: str = "",
    now: datetime | None = None,
) -> Pool:
    """Create the row of a pool, enqueue the job that makes it, and return the row.

    `counted`: the sha256 of the count that was shown; the job makes exactly that pool or fails.
    Without `by` nothing is enqueued: the command makes the pool itself. Refused: a member who is
    not a lead or is blind, an archived project, an invalid or taken name, while another pool is
    being made.
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise Refused(f"A pool has a name of 1 to {MAX_NAME} characters.")
    refuse_invalid_names(name)
    with transaction.atomic():
        # Of two concurrent requests, the second waits here and then finds the first one's pool.
        project = lock_project(recipe.project.pk, by, "Only leads of this project can make pools.")
        if by is not None and must_answer_first(by):
            raise Refused(BLIND)
        _check_name_free(project, name)
        pool = Pool.objects.create(
            project=project,
            by=by,
            requested_at=now or timezone.now(),
            name=name,
            method=recipe.method,
            depth=recipe.depth,
            strata=[list(stratum) for stratum in recipe.strata],
            seed=recipe.seed,
            counted=counted,
        )
        PoolRun.objects.bulk_create(
            PoolRun(pool=pool, run=run, system=run.tag, sha256=run.sha256) for run in recipe.runs
        )
        if by is not None:
            queue.enqueue(pool)
        record(project=project, what="pool.asked", about=pool, by=by, now=now)
    return pool


def _check_name_free(project: Project, name: str) -> None:
    existing = Pool.objects.filter(project=project).exclude(
        state__in=[Job.State.FAILED, Job.State.CANCELLED]
    )
    if existing.filter(name__iexact=name).exists():
        raise Refused(f"There is already a pool called {name}. Choose another name.")
    under_way = existing.exclude(state=Job.State.DONE).first()
    if under_way is not None:
        raise Refused(
            f"The pool {under_way.name} is being made. Wait until it is done, or cancel it."
        )


def recipe_of_pool(pool: Pool) -> Recipe:
    """Return the recipe of a pool."""
    runs = PoolRun.objects.filter(pool=pool).select_related("run").order_by("pk")
    strata = tuple(Stratum(*stratum) for stratum in pool.strata)
    in_order = tuple(pool_run.run for pool_run in runs)
    return Recipe(pool.project, pool.method, in_order, pool.depth, strata, pool.seed)


class StagedEntry(StagedRow):
    """A chosen document."""

    query = models.BigIntegerField()
    document = models.BigIntegerField()
    is_new = models.BigIntegerField()

    class Meta(StagedRow.Meta):
        db_table = "stage_pool"


def make_pool(job: Pool, progress: Progress) -> None:
    """Make a pool: choose its documents, and add those that are not candidates yet.

    Chosen documents are staged in a temporary table; entries, candidates and counts are written in
    one transaction.
    """
    if job.counts is not None:
        return
    progress.start(job.project.queries.count(), "Choosing documents")
    stage = Stage(StagedEntry)
    try:
        pool_counts = PoolCounts(recipe_of_pool(job))
        for query, query_id, chosen in choose_documents(pool_counts.recipe):
            pool_counts.add(query_id, chosen)
            for entry in in_seed_order(pool_counts.recipe, query_id, chosen):
                stage.add(query, entry.document, int(entry.state == NEW))
            progress.advance()
        stage.settle()
        if job.counted and job.counted != pool_counts.sha256:
            raise JobError(CHANGED)
        progress.start(None, "Adding candidates")
        with transaction.atomic():
            # Serialize the loads and pools of the project.
            Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
            _write_pool(job, pool_counts)
    finally:
        if not connection.needs_rollback:
            stage.drop()


def _write_pool(job: Pool, pool_counts: PoolCounts) -> None:
    """Write the entries, and add new candidates in the order of entries, which reveals no rank."""
    bulk.run(
        """
        INSERT INTO annotate_poolentry (pool_id, query_id, document_id, is_new)
        SELECT %(pool)s, s.query, s.document, s.is_new <> 0 FROM stage_pool s ORDER BY s.n
        """,
        {"pool": job.pk},
    )
    added = bulk.run(
        """
        INSERT INTO annotate_candidate
            (query_id, document_id, prior_relevance, origin, removed_reason)
        SELECT s.query, s.document, CAST(NULL AS integer), 'run', ''
        FROM stage_pool s WHERE s.is_new <> 0 ORDER BY s.n
        ON CONFLICT (query_id, document_id) DO NOTHING
        """
    )
    if added != pool_counts.total[NEW]:
        raise JobError(CHANGED)
    if job.project.judge_scope != Project.Scope.RELEVANT:
        reopen_judging(PoolEntry.objects.filter(pool=job, is_new=True).values("query"))
    counts = pool_counts.as_json()
    save_result(job, counts=counts)
    record(
        project=job.project,
        what="pool.made",
        about=job,
        by=job.by,
        words=f"{counts['documents']} documents, {counts['new']} new",
    )


# --- hard negatives -------------------------------------------------------------------------------


class Systems(NamedTuple):
    """The runs whose first documents are considered, and to which depth; without runs, no file."""

    runs: list[Run]
    depth: int

    @property
    def names(self) -> list[str]:
        """The names of the runs."""
        return [run.name for run in self.runs]


def hard_negative_systems(project: Project) -> Systems:
    """Return the systems whose non-relevant documents a release lists; by default none."""
    rule = HardNegatives.objects.filter(project=project).first()
    if rule is None:
        return Systems([], 10)
    runs = Run.objects.filter(pk__in=rule.of_runs.values("run")).order_by("name")
    return Systems(list(runs), rule.depth)


def choose_hard_negatives(
    *,
    project: Project,
    runs: Sequence[str],
    depth: int,
    by: Membership | None,
    now: datetime | None = None,
) -> Systems:
    """Set the systems, by the names of their runs, and the depth; without runs there is no file.

    Refused: a member who is not a lead, an archived project, an unknown run, too many runs, an
    invalid depth.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise Refused(f"The depth of hard negatives is a number from 1 to {MAX_DEPTH:,}.")
    with transaction.atomic():
        locked = lock_project(
            project.pk, by, "Only leads of this project can change what a release contains."
        )
        chosen = runs_named(locked, runs)
        before = hard_negative_systems(locked)
        row, _made = HardNegatives.objects.update_or_create(
            project=locked, defaults={"depth": depth}
        )
        row.of_runs.all().delete()
        HardNegativeRun.objects.bulk_create(HardNegativeRun(of=row, run=run) for run in chosen)
        after = hard_negative_systems(locked)
        if before != after:
            record(
                project=locked,
                what="hard_negatives.chosen",
                about=locked,
                by=by,
                changes={
                    "runs": (", ".join(before.names), ", ".join(after.names)),
                    "depth": (before.depth, depth),
                },
                now=now,
            )
    return after
