"""Steps that several intakes share: of those that name pairs, limits, pairs of other queries and
reopened work; of those of answers, their authors, ends of old answers and counts.

The latter work on a stage with the columns `known` (the key of the existing row), `member` and
`state` (1 changed, 2 new).
"""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from annotate.collection.core_queries import set_core_queries
from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.documents import Documents
from annotate.collection.models import Candidate, Query
from annotate.pairs.models import Assignment
from annotate.pairs.pool import in_scope
from annotate.projects.models import Membership
from base import bulk

MAX_NAME = Membership._meta.get_field("name").max_length or 0

# The member who withdrew a row `s` of a stage.
WITHDRAWN_BY = """(
    SELECT m.id FROM annotate_membership m
    WHERE m.project_id = %(project)s AND m.name = s.withdrawn_by
)"""


def update_titles(intake: Intake, stage: str) -> None:
    """Set titles and descriptions of queries from a stage; an empty one erases nothing.

    Sets `retitled` on the rows of the stage whose query existed and has changed.
    """
    # Several pairs of a query are several rows: one may have its title, another its description.
    named = f"""
        (SELECT query_id, MAX(NULLIF(title, '')) AS title,
            MAX(NULLIF(description, '')) AS description FROM {stage} GROUP BY query_id)
        """  # noqa: S608 (our own stages)
    differs = "(q.title <> s.title OR q.description <> s.description)"
    intake.run(
        f"""
        UPDATE {stage} SET retitled = 1 WHERE query_id IN (
            SELECT s.query_id FROM {named} s
            CROSS JOIN annotate_query q
            CROSS JOIN stage_query_ids g
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND g.query_id = s.query_id AND g.fresh = 0 AND {differs}
        )
        """  # noqa: S608
    )
    intake.run(
        f"""
        UPDATE annotate_query SET title = COALESCE(s.title, annotate_query.title),
            description = COALESCE(s.description, annotate_query.description)
        FROM {named} s JOIN annotate_query q
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


def point_to_pairs(intake: Intake, stage: str) -> None:
    """Look up the pair of each row of a stage that names one and has none yet."""
    intake.run(
        f"""
        UPDATE {stage} SET pair = (
            SELECT p.id FROM annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = {stage}.pair_id
        )
        WHERE pair IS NULL AND pair_id IS NOT NULL
        """  # noqa: S608
    )


def refuse_unknown_pairs(intake: Intake, stage: str, missing: str) -> None:
    """Refuse rows of a stage whose pair the project does not have: a condition."""
    intake.refuse_rows(
        f"SELECT n, place, pair_id FROM {stage} WHERE {missing}",  # noqa: S608
        lambda pair_id: f"there is no instruction pair {pair_id} in this project: load it first",
    )


def point_to_candidates(intake: Intake, stage: str) -> None:
    """Look up the candidate of each row of a stage with a pair and a document, if there is one."""
    intake.run(
        f"""
        UPDATE {stage} SET candidate = (
            SELECT c.id FROM annotate_instructionpair p
            CROSS JOIN annotate_document d
            CROSS JOIN annotate_candidate c
            WHERE p.id = {stage}.pair
            AND d.project_id = %(project)s AND d.doc_id = {stage}.doc_id
            AND c.query_id = p.query_id AND c.document_id = d.id
        )
        WHERE candidate IS NULL
        """  # noqa: S608
    )


def insert_candidates_of_pairs(intake: Intake, stage: str, origin: str = "") -> int:
    """Add the documents that rows of a stage name to the pools of their pairs; return how many."""
    return intake.insert_candidates(
        f"""
        SELECT DISTINCT p.query_id AS query, d.id AS document, CAST(NULL AS integer) AS relevance
        FROM {stage} s CROSS JOIN annotate_instructionpair p CROSS JOIN annotate_document d
        WHERE s.candidate IS NULL AND p.id = s.pair
        AND d.project_id = %(project)s AND d.doc_id = s.doc_id
        """,  # noqa: S608
        origin,
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


def finish_load(intake: Intake) -> None:
    """Update pairs, core queries and assignments after a load wrote its rows."""
    take_out_new_pairs(intake)
    named = bulk.number("SELECT COUNT(*) FROM stage_query_ids")
    if named:
        set_core_queries(Query.objects.filter(project=intake.project))
    reopen_judging(intake)


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


def reopen_judging(intake: Intake) -> None:
    """Reopen judging of pairs whose pool has grown, or has a document with another text."""
    candidates = intake.row_counts("candidates")
    if candidates.new or candidates.changed:
        grown = Candidate.objects.filter(
            query__query_id__in=RawSQL("SELECT query_id FROM stage_query_ids", ())
        )
        # It is not recorded which existing candidates changed: any query of the file may have one.
        if not candidates.changed:
            grown = grown.filter(pk__gt=intake.newest_candidate)
        _reopen_with(intake, grown)
    if intake.has_records(Documents):
        replaced = RawSQL("SELECT id FROM stage_docs_changed WHERE version >= 2", ())
        _reopen_with(intake, Candidate.objects.filter(document__in=replaced))


def _reopen_with(intake: Intake, candidates: QuerySet[Candidate]) -> None:
    """Reopen judging of the pairs whose judges are shown one of these candidates."""
    shown = in_scope(intake.project, candidates, OuterRef("pair"))
    Assignment.objects.filter(
        Exists(shown.filter(query=OuterRef("pair__query"))),
        pair__project=intake.project,
        task=Assignment.Task.JUDGE,
        done_at__isnull=False,
    ).update(done_at=None)


def find_members(intake: Intake, stage: str, name: str) -> None:
    """Find the member named in a column; by now everybody named is a member."""
    intake.run(
        f"""
        UPDATE {stage} SET member = (
            SELECT m.id FROM annotate_membership m
            WHERE m.project_id = %(project)s AND m.name = {stage}.{name}
        )
        """  # noqa: S608 (our own stages)
    )


def refuse_machines(
    intake: Intake, stage: str, name: str, act: str, *, where: str = "1 = 1"
) -> None:
    """Refuse an act that only people can do ("a decision") if a machine is named for it."""
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.{name} FROM {stage} s
        JOIN annotate_membership m ON m.id = s.member WHERE {where} AND m.is_machine
        """,  # noqa: S608
        lambda name: f"“{name}” is a machine in this project: {act} is made by a person",
    )


def refuse_second(
    intake: Intake,
    stage: str,
    key: str,
    columns: str,
    sentence: Callable[..., str],
    *,
    where: str = "1 = 1",
) -> None:
    """Refuse rows with the same key as an earlier row of the file.

    `sentence` takes the place of the first one in words, then the columns.
    """
    intake.refuse_rows(
        f"""
        SELECT n, place, place AS here, first_place, {columns} FROM (
            SELECT s.*, FIRST_VALUE(n) OVER w AS first, FIRST_VALUE(place) OVER w AS first_place
            FROM {stage} s WHERE {where} WINDOW w AS (PARTITION BY {key} ORDER BY n)
        ) x WHERE n <> first
        """,  # noqa: S608
        lambda place, first, *values: sentence(intake.describe_place(first, place), *values),
    )


def refuse_missing_texts(intake: Intake, staged: str, version: str) -> None:
    """Refuse text versions that a document does not have.

    `staged` joins rows `s` of a stage with their documents `d`.
    """
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.doc_id, s.{version}, d.text_version AS newest {staged}
        AND s.{version} > 1 AND COALESCE(d.text_version, 0) < s.{version}
        """,
        lambda doc_id, version, newest: (
            f"the text of document {doc_id} has no version {version}; the newest is "
            f"{newest or 'none'}: load the documents first"
        ),
    )


def end_known(
    intake: Intake,
    stage: str,
    table: str,
    ended: str,
    *,
    staged: str = "ended_at",
    also: str = "",
    where: str = "1 = 1",
) -> None:
    """End current rows for which the file gives an end.

    `ended` and `staged` are the columns of the end time in table and stage; `also` sets more
    columns.
    """
    intake.run(
        f"""
        UPDATE {stage} SET state = 1 WHERE {where} AND {staged} IS NOT NULL AND EXISTS (
            SELECT 1 FROM {table} o WHERE o.id = {stage}.known AND o.{ended} IS NULL
        )
        """  # noqa: S608
    )
    intake.run(
        f"""
        UPDATE {table} SET {ended} = s.{staged}{also} FROM {stage} s
        WHERE {table}.id = s.known AND {where} AND s.state = 1
        """  # noqa: S608
    )


def count_states(intake: Intake, stage: str, kind: str, *, where: str = "1 = 1") -> tuple[int, int]:
    """Add the rows of a stage to the report; return the numbers of new and of changed rows."""
    [(new, changed, total)] = bulk.select(
        f"""
        SELECT COALESCE(SUM(CASE WHEN state = 2 THEN 1 ELSE 0 END), 0),
            COALESCE(SUM(CASE WHEN state = 1 THEN 1 ELSE 0 END), 0), COUNT(*)
        FROM {stage} WHERE {where}
        """  # noqa: S608
    )
    if total:
        rows = intake.row_counts(kind)
        rows.new += new
        rows.changed += changed
        rows.unchanged += total - new - changed
    return new, changed
