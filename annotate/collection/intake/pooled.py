"""Intake of candidates without a relevance: documents that a published set lists for judging."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake.arrivals import Intake, StagedRecords
from base import bulk
from formats.records import Pooled


class Pools(StagedRecords):
    """Documents of a query's pool. One that also has a relevance keeps it."""

    # After the earlier relevance of the same file.
    order = 45
    records: ClassVar = (Pooled,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.pooled = self.create_stage("stage_pooled", query_id="text", doc_id="text")

    def take(self, record: Pooled, place: int) -> None:
        self.taken += 1
        self.pooled.add(place, record.query_id, record.doc_id)

    def query_ids(self) -> list[str]:
        return ["SELECT query_id, n FROM stage_pooled"]

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_pooled"]

    def check(self) -> None:
        self.refuse_contradictions(
            self.pooled,
            ["query_id", "doc_id"],
            "1 = 0",
            lambda first, query_id, doc_id: f"{doc_id} of {query_id} is already on {first}",
        )

    def write(self) -> None:
        self.new = self.intake.run(
            """
            INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
            SELECT q.id, d.id, NULL, 'listed' FROM stage_pooled s
            CROSS JOIN annotate_query q CROSS JOIN annotate_document d
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            AND NOT EXISTS (
                SELECT 1 FROM annotate_candidate c
                WHERE c.query_id = q.id AND c.document_id = d.id
            )
            ORDER BY q.id, d.id
            """
        )
        rows = self.intake.row_counts("candidates")
        rows.new += self.new
        rows.unchanged += bulk.number("SELECT COUNT(*) FROM stage_pooled") - self.new
