"""Shared by intakes that name pairs: limits, pairs of other queries, reopened work."""

from __future__ import annotations

from annotate.collection.core_queries import set_core_queries
from annotate.collection.intake.arrivals import Intake
from annotate.collection.models import Query
from annotate.pairs.pool import pool_sql
from annotate.projects.models import Membership
from base import bulk

MAX_NAME = Membership._meta.get_field("name").max_length or 0


def update_titles(intake: Intake, stage: str) -> None:
    """Set titles and descriptions of queries from a stage; an empty one erases nothing.

    Sets `retitled` on the rows of the stage whose query existed and has changed.
    """
    differs = """
        (s.title <> '' AND q.title <> s.title
        OR s.description <> '' AND q.description <> s.description)
        """
    intake.run(
        f"""
        UPDATE {stage} SET retitled = 1 WHERE n IN (
            SELECT s.n FROM {stage} s
            CROSS JOIN annotate_query q
            CROSS JOIN stage_query_ids g
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND g.query_id = s.query_id AND g.fresh = 0 AND {differs}
        )
        """  # noqa: S608 (our own stages)
    )
    intake.run(
        f"""
        UPDATE annotate_query SET
            title = CASE WHEN s.title <> '' THEN s.title ELSE annotate_query.title END,
            description = CASE WHEN s.description <> '' THEN s.description
                ELSE annotate_query.description END
        FROM {stage} s JOIN annotate_query q
            ON q.project_id = %(project)s AND q.query_id = s.query_id
        WHERE annotate_query.id = q.id AND {differs}
        """  # noqa: S608
    )
    intake.row_counts("queries").changed += intake.number(
        f"SELECT COUNT(DISTINCT query_id) FROM {stage} WHERE retitled = 1"  # noqa: S608
    )


def refuse_other_query(intake: Intake, stage: str, pair_id: str = "pair_id") -> None:
    """Refuse rows whose pair belongs to another query."""
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, p.pair_id, q.query_id, s.query_id AS stated FROM {stage} s
        CROSS JOIN annotate_instructionpair p
        CROSS JOIN annotate_query q
        WHERE p.project_id = %(project)s AND p.pair_id = s.{pair_id} AND q.id = p.query_id
        AND q.query_id <> s.query_id
        """,  # noqa: S608
        lambda pair, query, stated: (
            f"instruction pair {pair} belongs to query {query} in this project, not to {stated}"
        ),
    )


def reopen_assignments(intake: Intake, pairs: str, *tasks: str) -> None:
    """Reopen the finished assignments of these tasks, because their pairs have changed.

    `pairs` is SQL for keys of pairs.
    """
    named = ", ".join(f"'{task}'" for task in tasks)
    intake.run(
        f"""
        UPDATE annotate_assignment SET done_at = NULL
        WHERE done_at IS NOT NULL AND task IN ({named}) AND pair_id IN ({pairs})
        """  # noqa: S608
    )


def finish_load(intake: Intake, newest: int) -> None:
    """Update pairs, core queries and assignments after a load wrote its rows."""
    take_out_new_pairs(intake)
    named = bulk.number("SELECT COUNT(*) FROM stage_query_ids")
    if named:
        set_core_queries(Query.objects.filter(project=intake.project))
    reopen_judging(intake, newest)


def take_out_new_pairs(intake: Intake) -> None:
    """Take out new pairs of queries that are taken out."""
    intake.run(
        """
        UPDATE annotate_instructionpair SET removed_at = q.removed_at,
            removed_by_id = q.removed_by_id, removed_reason = q.removed_reason
        FROM annotate_query q
        WHERE q.id = annotate_instructionpair.query_id AND q.project_id = %(project)s
        AND q.removed_at IS NOT NULL AND annotate_instructionpair.removed_at IS NULL
        """
    )


def reopen_judging(intake: Intake, newest: int) -> None:
    """Reopen judging of pairs whose pool has grown."""
    candidates = intake.row_counts("candidates")
    if not candidates.new and not candidates.changed:
        return
    # It is not recorded which existing candidates changed: any query of the file may have one.
    grown = "c.id > %(newest)s" if not candidates.changed else "1 = 1"
    in_scope = pool_sql(intake.project, "c", "p.id")
    intake.params["newest"] = newest
    reopen_assignments(
        intake,
        f"""
        SELECT p.id FROM annotate_instructionpair p WHERE p.project_id = %(project)s AND EXISTS (
            SELECT 1 FROM annotate_candidate c JOIN annotate_query q ON q.id = c.query_id
            JOIN stage_query_ids g ON g.query_id = q.query_id
            WHERE c.query_id = p.query_id AND c.removed_at IS NULL AND {grown} AND {in_scope}
        )
        """,  # noqa: S608 (our own conditions)
        "judge",
    )
