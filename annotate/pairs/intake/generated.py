"""Intake of documents that were written for one instruction: they enter only its pool."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.pairs.intake.steps import (
    insert_candidates_of_pairs,
    point_to_candidates,
    point_to_pairs,
    refuse_unknown_pairs,
)
from base import bulk
from formats.records import Doc, Generated


class GeneratedDocuments(StagedRecords):
    """Documents of one instruction of a query.

    One that is already in the query's pool is restricted to its instruction; it is refused if it
    has labels or answers under another one.
    """

    # After all other records that add candidates, and before answers about them.
    order = 55
    records: ClassVar = (Generated,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.generated = self.create_stage(
            "stage_generated",
            pair_id="text",
            doc_id="text",
            # Looked up when it is written.
            pair="integer NULL",
            candidate="integer NULL",
        )

    def take(self, record: Generated, place: int) -> None:
        self.taken += 1
        self.generated.add(place, record.pair_id, record.doc_id)
        if record.text is not None:
            self.intake.stager_for(Doc)(Doc(record.doc_id, text=record.text), place)

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_generated"]

    def check(self) -> None:
        self.refuse_contradictions(
            self.generated,
            ["pair_id", "doc_id"],
            "1 = 0",
            lambda first, pair_id, doc_id: f"{doc_id} of {pair_id} is already on {first}",
        )

    def write(self) -> None:
        intake = self.intake
        point_to_pairs(intake, "stage_generated")
        refuse_unknown_pairs(intake, "stage_generated", "pair IS NULL")
        if intake.report.refused:
            return
        point_to_candidates(intake, "stage_generated")
        joined = insert_candidates_of_pairs(intake, "stage_generated")
        point_to_candidates(intake, "stage_generated")
        if self._refuse_used_elsewhere():
            return
        taken = intake.run(
            """
            UPDATE annotate_candidate SET made_for_id = s.pair FROM stage_generated s
            WHERE annotate_candidate.id = s.candidate AND annotate_candidate.made_for_id IS NULL
            """
        )
        self.new, self.changed = joined, taken - joined
        rows = intake.row_counts("candidates")
        rows.changed += taken - joined
        rows.unchanged += bulk.number("SELECT COUNT(*) FROM stage_generated") - taken

    def _refuse_used_elsewhere(self) -> int:
        """Refuse documents that another instruction uses as well; return their number."""
        refused = self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.doc_id, s.pair_id, o.pair_id AS other FROM stage_generated s
            JOIN annotate_candidate c ON c.id = s.candidate
            JOIN annotate_instructionpair o ON o.id = COALESCE(c.made_for_id, (
                SELECT MIN(x.pair) FROM stage_generated x WHERE x.candidate = s.candidate
            ))
            WHERE o.id <> s.pair
            """,
            lambda doc_id, pair_id, other: (
                f"document {doc_id} was generated for instruction {other}, so it cannot be "
                f"generated for {pair_id}"
            ),
        )
        answers = " UNION ALL ".join(
            f"SELECT narrative_id, candidate_id FROM {table} "  # noqa: S608 (our own tables)
            "WHERE candidate_id IN (SELECT candidate FROM stage_generated)"
            for table in ("annotate_statement", "annotate_adjudication")
        )
        return refused + self.intake.refuse_rows(
            f"""
            SELECT s.n, s.place, s.doc_id, s.pair_id, MIN(o.pair_id) AS other
            FROM stage_generated s JOIN ({answers}) j ON j.candidate_id = s.candidate
            JOIN annotate_narrative v ON v.id = j.narrative_id AND v.pair_id <> s.pair
            JOIN annotate_instructionpair o ON o.id = v.pair_id
            GROUP BY s.n, s.place, s.doc_id, s.pair_id
            """,  # noqa: S608 (our own tables)
            lambda doc_id, pair_id, other: (
                f"document {doc_id} has labels or answers under instruction {other}, so it cannot "
                f"be a document of {pair_id} alone"
            ),
        )
