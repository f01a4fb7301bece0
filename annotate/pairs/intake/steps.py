"""Steps shared by the intakes of answers: find their authors, end old answers, count.

Each works on a stage with the columns `known` (the key of the existing row), `member` and `state`
(1 changed, 2 new).
"""

from __future__ import annotations

from collections.abc import Callable

from annotate.collection.intake.arrivals import Intake
from base import bulk

# The member who withdrew a row `s` of a stage.
WITHDRAWN_BY = """(
    SELECT m.id FROM annotate_membership m
    WHERE m.project_id = %(project)s AND m.name = s.withdrawn_by
)"""


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
