"""Intake of documents that were written for one instruction: they enter only its pool."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, QuerySet, Window
from django.db.models.functions import Coalesce, FirstValue

from annotate.collection.intake.arrivals import Intake, StagedLine, StagedRecords
from annotate.collection.models import Candidate
from annotate.pairs.intake.steps import (
    insert_candidates_of_pairs,
    point_to_candidates,
    point_to_pairs,
    refuse_unknown_pairs,
)
from annotate.pairs.models import InstructionPair
from base.stages import StagedRow, key_of
from formats.records import Doc, Generated


class StagedGenerated(StagedLine):
    """A document of one instruction."""

    pair_id = models.TextField()
    doc_id = models.TextField()
    instruction = key_of(InstructionPair, "pair")
    candidate = key_of(Candidate, "candidate")

    class Meta(StagedRow.Meta):
        db_table = "stage_generated"


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
        self.generated = self.create_stage(StagedGenerated)

    def take(self, record: Generated, place: int) -> None:
        self.taken += 1
        self.generated.add(place, record.pair_id, record.doc_id)
        if record.text is not None:
            self.intake.stager_for(Doc)(Doc(record.doc_id, text=record.text), place)

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedGenerated.objects.values_list("doc_id")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedGenerated.objects.all(),
            ["pair_id", "doc_id"],
            [],
            lambda first, pair_id, doc_id: f"{doc_id} of {pair_id} is already on {first}",
        )

    def write(self) -> None:
        intake, staged = self.intake, StagedGenerated.objects.all()
        point_to_pairs(intake, staged)
        refuse_unknown_pairs(intake, staged.filter(instruction=None))
        if intake.report.refused:
            return
        point_to_candidates(intake, staged)
        joined = insert_candidates_of_pairs(intake, StagedGenerated)
        point_to_candidates(intake, staged)
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
        rows.unchanged += staged.count() - taken

    def _refuse_used_elsewhere(self) -> int:
        """Refuse documents that another instruction uses as well; return their number."""
        first = Window(FirstValue("pair_id"), partition_by="candidate", order_by="instruction")
        made_for = Coalesce("candidate__made_for__pair_id", first, output_field=models.TextField())
        refused = self.intake.refuse_rows(
            StagedGenerated.objects.annotate(other=made_for)
            .exclude(pair_id=F("other"))
            .values_list("n", "place", "doc_id", "pair_id", "other"),
            lambda doc_id, pair_id, other: (
                f"document {doc_id} was generated for instruction {other}, so it cannot be "
                f"generated for {pair_id}"
            ),
        )
        return refused + self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.doc_id, s.pair_id, MIN(o.pair_id) AS other
            FROM stage_generated s JOIN (
                SELECT narrative_id, candidate_id FROM annotate_statement
                WHERE candidate_id IN (SELECT candidate FROM stage_generated)
                UNION ALL
                SELECT narrative_id, candidate_id FROM annotate_adjudication
                WHERE candidate_id IN (SELECT candidate FROM stage_generated)
            ) j ON j.candidate_id = s.candidate
            JOIN annotate_narrative v ON v.id = j.narrative_id AND v.pair_id <> s.pair
            JOIN annotate_instructionpair o ON o.id = v.pair_id
            GROUP BY s.n, s.place, s.doc_id, s.pair_id
            """,
            lambda doc_id, pair_id, other: (
                f"document {doc_id} has labels or answers under instruction {other}, so it cannot "
                f"be a document of {pair_id} alone"
            ),
        )
