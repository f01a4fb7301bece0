"""Intake of a machine's filter: store the decisions and take out what is discarded."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.collection.removal import MAX_REASON
from annotate.projects.models import Membership
from base import bulk
from formats.records import FilterRecord

MAX_NAME = Membership._meta.get_field("name").max_length or 0
# The beginning of the reason for taking something out.
DISCARDED = "Discarded by {}: "


class _Thing(NamedTuple):
    """What a decision can be about: its table and column, and the rows of the stage about it."""

    column: str
    table: str
    which: str
    found: str


_THINGS = (
    _Thing(
        "query_id",
        "annotate_query",
        "s.doc_id = '' AND s.pair_id = ''",
        "SELECT s.n, q.id AS thing FROM stage_filter s JOIN annotate_query q "
        "ON q.project_id = %(project)s AND q.query_id = s.query_id",
    ),
    _Thing(
        "pair_id",
        "annotate_instructionpair",
        "s.pair_id <> ''",
        "SELECT s.n, p.id AS thing FROM stage_filter s JOIN annotate_query q "
        "ON q.project_id = %(project)s AND q.query_id = s.query_id "
        "JOIN annotate_instructionpair p ON p.query_id = q.id AND p.pair_id = s.pair_id",
    ),
    _Thing(
        "candidate_id",
        "annotate_candidate",
        "s.doc_id <> ''",
        "SELECT s.n, c.id AS thing FROM stage_filter s JOIN annotate_query q "
        "ON q.project_id = %(project)s AND q.query_id = s.query_id "
        "JOIN annotate_document d ON d.project_id = %(project)s AND d.doc_id = s.doc_id "
        "JOIN annotate_candidate c ON c.query_id = q.id AND c.document_id = d.id",
    ),
)


class Filters(StagedRecords):
    """Decisions of machines on queries, instructions and documents of this project."""

    order = 70
    records: ClassVar = (FilterRecord,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.decisions = self.create_stage(
            "stage_filter",
            query_id="text",
            machine="text",
            decision="text",
            reason="text",
            doc_id="text",
            pair_id="text",
            back="integer",
            thing="integer 0",
            known="integer 0",
        )

    def take(self, record: FilterRecord, place: int) -> None:
        self.taken += 1
        if not 0 < len(record.machine) <= MAX_NAME:
            self.intake.refuse(f"a machine's name has 1 to {MAX_NAME} characters", place)
            return
        most = MAX_REASON - len(DISCARDED.format(record.machine))
        if len(record.reason) > most:
            self.intake.refuse(f"the reason is longer than {most} characters", place)
            return
        ids = (record.doc_id or "", record.pair_id or "")
        back = int(record.brought_back)
        self.decisions.add(place, *record[:4], *ids, back, weight=len(record.reason))

    def check(self) -> None:
        self.refuse_contradictions(
            self.decisions,
            ["query_id", "doc_id", "pair_id", "machine"],
            "s.decision <> f.decision OR s.reason <> f.reason OR s.back <> f.back",
            lambda first, query_id, doc_id, pair_id, machine: (
                f"{machine} decided otherwise on this of query {query_id} on {first}"
            ),
        )

    def write(self) -> None:
        for thing in _THINGS:
            self.intake.run(
                f"""
                UPDATE stage_filter SET thing = x.thing FROM ({thing.found}) x
                WHERE x.n = stage_filter.n AND {thing.which.replace("s.", "stage_filter.")}
                """  # noqa: S608 (our own statements)
            )
        self.intake.refuse_rows(
            "SELECT n, place, query_id, doc_id, pair_id FROM stage_filter WHERE thing = 0",
            _unknown,
        )
        self.intake.add_raters("SELECT n, place, machine AS name, 1 AS machine FROM stage_filter")
        for thing in _THINGS:
            self._refuse_other(thing)
        if self.intake.report.refused:
            return
        for thing in _THINGS:
            self._write(thing)
        self.new = bulk.number("SELECT COUNT(*) FROM stage_filter WHERE known = 0")
        counts = self.intake.row_counts("filter_decisions")
        counts.new += self.new
        counts.unchanged += bulk.number("SELECT COUNT(*) FROM stage_filter WHERE known = 1")

    def _refuse_other(self, thing: _Thing) -> None:
        """Refuse a decision that differs from an earlier one of the machine; mark known ones."""
        here = f"""
            FROM stage_filter s
            JOIN annotate_membership m ON m.project_id = %(project)s AND m.name = s.machine
            JOIN annotate_filterdecision o
                ON o.machine_id = m.id AND o.{thing.column} = s.thing
            WHERE {thing.which}
            """
        self.intake.refuse_rows(
            f"""
            SELECT s.n, s.place, s.machine, s.query_id {here}
            AND (CASE WHEN o.discards THEN 'discard' ELSE 'keep' END) <> s.decision
            """,
            lambda machine, query_id: (
                f"{machine} decided otherwise on this of query {query_id} before: bring it back, "
                "or take it out, on its page"
            ),
        )
        self.intake.run(f"UPDATE stage_filter SET known = 1 WHERE n IN (SELECT s.n {here})")  # noqa: S608

    def _write(self, thing: _Thing) -> None:
        """Insert the new decisions about one kind of object, and take out what they discard."""
        machine = "m.project_id = %(project)s AND m.name = s.machine"
        self.intake.run(
            f"""
            INSERT INTO annotate_filterdecision
                (project_id, machine_id, {thing.column}, discards, reason, at)
            SELECT %(project)s, m.id, s.thing, s.decision = 'discard', s.reason, %(now)s
            FROM stage_filter s JOIN annotate_membership m ON {machine}
            WHERE {thing.which} AND s.known = 0 ORDER BY s.n
            """  # noqa: S608 (our own statements)
        )
        gone = self.intake.run(
            f"""
            UPDATE {thing.table} SET removed_at = %(now)s, removed_by_id = m.id,
                removed_reason = 'Discarded by ' || s.machine || ': ' || s.reason
            FROM stage_filter s JOIN annotate_membership m ON {machine}
            WHERE s.thing = {thing.table}.id AND {thing.which}
            AND s.known = 0 AND s.decision = 'discard' AND s.back = 0
            AND {thing.table}.removed_at IS NULL
            """  # noqa: S608
        )
        self.intake.row_counts("taken_out").new += gone


def _unknown(query_id: str, doc_id: str, pair_id: str) -> str:
    if doc_id:
        return f"query {query_id} has no document {doc_id} in its pool"
    if pair_id:
        return f"query {query_id} has no instruction pair {pair_id}"
    return f"there is no query {query_id} here"
