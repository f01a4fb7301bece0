"""Intake of what pairs and qrels do not have: queries, candidates, and what is taken out."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.collection.removal import MAX_REASON
from annotate.pairs.intake.steps import MAX_NAME, refuse_other_query, update_titles
from base import bulk
from formats.records import CollectionRecord

# The table of each type of record.
_TABLES = {
    "query": "annotate_query",
    "instruction": "annotate_instructionpair",
    "candidate": "annotate_candidate",
}
# How the row `t` of a line `s` about a query `q` is found.
_JOINED = {
    "query": "JOIN annotate_query t ON t.id = q.id",
    "instruction": "JOIN annotate_instructionpair t ON t.query_id = q.id AND t.pair_id = s.pair_id",
    "candidate": "JOIN annotate_document d ON d.project_id = q.project_id AND d.doc_id = s.doc_id "
    "JOIN annotate_candidate t ON t.query_id = q.id AND t.document_id = d.id",
}
# Not taken out yet. A decision on its reviews removes an instruction without a reason; one that was
# taken out as well has the reason.
_STILL_IN = {
    "query": "t.removed_at IS NULL",
    "instruction": "(t.removed_at IS NULL OR t.removed_reason = '')",
    "candidate": "t.removed_at IS NULL",
}


class Collection(StagedRecords):
    """Queries, instructions and candidates. What is taken out already keeps its reason."""

    order = 75
    records: ClassVar = (CollectionRecord,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.rows = self.create_stage(
            "stage_collection",
            what="text",
            query_id="text",
            pair_id="text",
            doc_id="text",
            relevance="integer",
            title="text",
            description="text",
            reason="text",
            at="moment",
            who="text",
            machine="integer",
            # Looked up when it is written: the row, and whether it is new (2) or changed (1).
            thing="integer 0",
            state="integer 0",
            retitled="integer 0",
        )

    def take(self, record: CollectionRecord, place: int) -> None:
        self.taken += 1
        if len(record.reason) > MAX_REASON:
            self.intake.refuse(f"the reason is longer than {MAX_REASON} characters", place)
        elif len(record.by or "") > MAX_NAME:
            self.intake.refuse(f"a name has at most {MAX_NAME} characters", place)
        else:
            ids = (record.query_id, record.pair_id or "", record.doc_id or "")
            self.rows.add(
                *(place, record.type, *ids, record.relevance),
                *(record.title, record.description, record.reason, record.at),
                *(record.by, int(record.machine)),
                weight=len(record.description) + len(record.reason),
            )

    def query_ids(self) -> list[str]:
        return ["SELECT query_id, n FROM stage_collection"]

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_collection WHERE what = 'candidate'"]

    def check(self) -> None:
        self.refuse_contradictions(
            self.rows,
            ["what", "query_id", "pair_id", "doc_id"],
            "s.reason <> f.reason OR s.title <> f.title OR s.description <> f.description "
            "OR COALESCE(s.relevance, 40000) <> COALESCE(f.relevance, 40000)",
            lambda first, what, query_id, pair_id, doc_id: (
                f"{what} {doc_id or pair_id or query_id} is different on {first}"
            ),
        )

    def write(self) -> None:
        refuse_other_query(self.intake, "stage_collection")
        for what, joined in _JOINED.items():
            self._find(what, joined)
        self.intake.refuse_rows(
            "SELECT n, place, pair_id FROM stage_collection WHERE what = 'instruction' AND NOT "
            "EXISTS (SELECT 1 FROM annotate_instructionpair p WHERE p.project_id = %(project)s "
            "AND p.pair_id = stage_collection.pair_id)",
            lambda pair_id: (
                f"there is no instruction pair {pair_id} in this project: load it first"
            ),
        )
        self.intake.add_raters(
            "SELECT n, place, who AS name, machine FROM stage_collection WHERE who IS NOT NULL"
        )
        if self.intake.report.refused:
            return
        self._write_queries()
        self._write_candidates()
        for what, table in _TABLES.items():
            self._take_out(what, table)
        self.new = bulk.number("SELECT COUNT(*) FROM stage_collection WHERE state = 2")
        self.changed = bulk.number("SELECT COUNT(*) FROM stage_collection WHERE state = 1")

    def _find(self, what: str, joined: str) -> None:
        self.intake.run(
            f"""
            UPDATE stage_collection SET thing = x.thing FROM (
                SELECT s.n, t.id AS thing FROM stage_collection s
                JOIN annotate_query q ON q.project_id = %(project)s AND q.query_id = s.query_id
                {joined} WHERE s.what = '{what}'
            ) x WHERE x.n = stage_collection.n
            """  # noqa: S608 (our own statements)
        )

    def _write_queries(self) -> None:
        update_titles(self.intake, "stage_collection")
        self.intake.run(
            """
            UPDATE stage_collection SET state = CASE WHEN retitled = 1 THEN 1 ELSE 2 END
            WHERE what = 'query' AND (retitled = 1 OR query_id IN (
                SELECT query_id FROM stage_query_ids WHERE fresh = 1
            ))
            """
        )

    def _write_candidates(self) -> None:
        """Write the candidates that the project lacks, and relevances that differ."""
        run = self.intake.run
        made = run("UPDATE stage_collection SET state = 2 WHERE what = 'candidate' AND thing = 0")
        run(
            """
            INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
            SELECT q.id, d.id, s.relevance,
                CASE WHEN s.relevance IS NULL THEN 'listed' ELSE 'prior' END
            FROM stage_collection s
            JOIN annotate_query q ON q.project_id = %(project)s AND q.query_id = s.query_id
            JOIN annotate_document d ON d.project_id = %(project)s AND d.doc_id = s.doc_id
            WHERE s.what = 'candidate' AND s.thing = 0 ORDER BY q.id, d.id
            """
        )
        self._find("candidate", _JOINED["candidate"])
        run(
            """
            UPDATE stage_collection SET state = 1
            WHERE state = 0 AND relevance IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM annotate_candidate c
                WHERE c.id = stage_collection.thing
                AND c.prior_relevance = stage_collection.relevance
            )
            """
        )
        changed = run(
            """
            UPDATE annotate_candidate SET prior_relevance = s.relevance FROM stage_collection s
            WHERE s.what = 'candidate' AND s.state = 1 AND s.thing = annotate_candidate.id
            """
        )
        rows = self.intake.row_counts("candidates")
        rows.new += made
        rows.changed += changed
        rows.unchanged += (
            bulk.number("SELECT COUNT(*) FROM stage_collection WHERE what = 'candidate'")
            - made
            - changed
        )

    def _take_out(self, what: str, table: str) -> None:
        out = f"s.thing = t.id AND s.what = '{what}' AND s.reason <> '' AND {_STILL_IN[what]}"
        self.intake.run(
            f"""
            UPDATE stage_collection SET state = 1 WHERE state = 0 AND n IN (
                SELECT s.n FROM stage_collection s JOIN {table} t ON {out}
            )
            """  # noqa: S608 (our own statements)
        )
        gone = self.intake.run(
            f"""
            UPDATE {table} AS t SET removed_at = COALESCE(s.at, %(now)s),
                removed_reason = s.reason, removed_by_id = (
                    SELECT m.id FROM annotate_membership m
                    WHERE m.project_id = %(project)s AND m.name = s.who
                )
            FROM stage_collection s WHERE {out}
            """  # noqa: S608
        )
        self.intake.row_counts("taken_out").new += gone
