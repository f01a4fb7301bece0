"""Steps that several intakes share: of those that name pairs, limits, pairs of other queries and
reopened work; of those of answers, their authors, ends of old answers and counts.

The latter work on a stage with the columns `known` (the key of the existing row), `member` and
`state` (1 changed, 2 new).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.expressions import RawSQL
from django.db.models.functions import FirstValue

from annotate.collection.core_queries import set_core_queries
from annotate.collection.intake.arrivals import Intake, NamedQuery, StagedLine
from annotate.collection.intake.documents import Documents
from annotate.collection.models import Candidate, Query
from annotate.pairs.models import Assignment, InstructionPair
from annotate.pairs.pool import in_scope
from annotate.projects.models import Membership

MAX_NAME = Membership._meta.get_field("name").max_length or 0

# The member who withdrew a row `s` of a stage.
WITHDRAWN_BY = """(
    SELECT m.id FROM annotate_membership m
    WHERE m.project_id = %(project)s AND m.name = s.withdrawn_by
)"""


def update_titles(intake: Intake, staged: type[StagedLine]) -> None:
    """Set titles and descriptions of queries from a stage; an empty one erases nothing.

    Sets `retitled` on the rows of the stage whose query existed and has changed.
    """
    # Several pairs of a query are several rows: one may have its title, another its description.
    stage = staged._meta.db_table
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
    retitled = staged.objects.filter(retitled=1)
    intake.row_counts("queries").changed += retitled.values("query_id").distinct().count()


def refuse_other_query(intake: Intake, rows: QuerySet[Any], pair_id: str = "pair_id") -> None:
    """Refuse rows of a stage whose pair belongs to another query."""
    pair = InstructionPair.objects.filter(project=intake.project, pair_id=OuterRef(pair_id))
    of_other = pair.exclude(query__query_id=OuterRef("query_id"))
    intake.refuse_rows(
        rows.annotate(of=Subquery(of_other.values("query__query_id")))
        .filter(of__isnull=False)
        .values_list("n", "place", pair_id, "of", "query_id"),
        lambda pair, query, stated: (
            f"instruction pair {pair} belongs to query {query} in this project, not to {stated}"
        ),
    )


def point_to_pairs(intake: Intake, rows: QuerySet[Any]) -> None:
    """Look up the instruction of each row of a stage that names one and has none yet."""
    pair = InstructionPair.objects.filter(project=intake.project, pair_id=OuterRef("pair_id"))
    rows.filter(instruction=None, pair_id__isnull=False).update(
        instruction=Subquery(pair.values("pk"))
    )


def refuse_unknown_pairs(intake: Intake, rows: QuerySet[Any]) -> None:
    """Refuse these rows of a stage, because the project does not have their pair."""
    intake.refuse_rows(
        rows.values_list("n", "place", "pair_id"),
        lambda pair_id: f"there is no instruction pair {pair_id} in this project: load it first",
    )


def point_to_candidates(intake: Intake, rows: QuerySet[Any]) -> None:
    """Look up the candidate of each row of a stage with an instruction, if there is one."""
    candidate = Candidate.with_removed.filter(
        query__pairs=OuterRef("instruction"),
        document__project=intake.project,
        document__doc_id=OuterRef("doc_id"),
    )
    rows.filter(candidate=None).update(candidate=Subquery(candidate.values("pk")))


def insert_candidates_of_pairs(intake: Intake, staged: type[StagedLine], origin: str = "") -> int:
    """Add the documents that rows of a stage name to the pools of their pairs; return how many."""
    return intake.insert_candidates(
        f"""
        SELECT DISTINCT p.query_id AS query, d.id AS document, CAST(NULL AS integer) AS relevance
        FROM {staged._meta.db_table} s
        CROSS JOIN annotate_instructionpair p CROSS JOIN annotate_document d
        WHERE s.candidate IS NULL AND p.id = s.pair
        AND d.project_id = %(project)s AND d.doc_id = s.doc_id
        """,  # noqa: S608
        origin,
    )


def reopen_assignments(intake: Intake, pairs: Any, *tasks: str) -> None:
    """Reopen the finished assignments of these tasks, because their pairs (keys) have changed."""
    Assignment.objects.filter(done_at__isnull=False, task__in=tasks, pair__in=pairs).update(
        done_at=None
    )


def finish_load(intake: Intake) -> None:
    """Update pairs, core queries and assignments after a load wrote its rows."""
    take_out_new_pairs(intake)
    if NamedQuery.objects.exists():
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
        grown = Candidate.objects.filter(query__query_id__in=NamedQuery.objects.values("query_id"))
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


def find_members(intake: Intake, rows: QuerySet[Any], name: str) -> None:
    """Find the member named in a field; by now everybody named is a member."""
    member = Membership.objects.filter(project=intake.project, name=OuterRef(name))
    rows.update(member=Subquery(member.values("pk")))


def refuse_machines(intake: Intake, rows: QuerySet[Any], name: str, act: str) -> None:
    """Refuse an act that only people can do ("a decision") if a machine is named for it."""
    intake.refuse_rows(
        rows.filter(member__is_machine=True).values_list("n", "place", name),
        lambda name: f"“{name}” is a machine in this project: {act} is made by a person",
    )


def refuse_second(
    intake: Intake,
    rows: QuerySet[Any],
    key: Sequence[Any],
    columns: Sequence[str],
    sentence: Callable[..., str],
) -> None:
    """Refuse rows with the same key as an earlier row of the file.

    `sentence` takes the place of the first one in words, then the columns.
    """
    first_n, first_place = (
        Window(FirstValue(name), partition_by=list(key), order_by="n") for name in ("n", "place")
    )
    intake.refuse_repeats(
        rows.annotate(first_n=first_n, first_place=first_place)
        .filter(n__gt=F("first_n"))
        .values_list("n", "place", "first_place", *columns),
        sentence,
    )


def refuse_missing_texts(intake: Intake, rows: QuerySet[Any], version: str, newest: str) -> None:
    """Refuse text versions that a document does not have.

    `version` is the field of the version in the stage, `newest` that of the document's newest one.
    """
    intake.refuse_rows(
        rows.annotate(newest=F(newest))
        .filter(Q(newest=None) | Q(newest__lt=F(version)), **{f"{version}__gt": 1})
        .values_list("n", "place", "doc_id", version, "newest"),
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


def count_states(intake: Intake, staged: QuerySet[Any], kind: str) -> tuple[int, int]:
    """Add the rows of a stage to the report; return the numbers of new and of changed rows."""
    counted = staged.aggregate(
        total=Count("n"),
        new=Count("n", filter=Q(state=2)),
        changed=Count("n", filter=Q(state=1)),
    )
    total, new, changed = counted["total"], counted["new"], counted["changed"]
    if total:
        rows = intake.row_counts(kind)
        rows.new += new
        rows.changed += changed
        rows.unchanged += total - new - changed
    return new, changed
