"""Intake of rubrics."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake import Intake, StagedRecords
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED
from audit.reviews.models import Rubric as RubricRow
from formats.records import RubricRecord


class Rubrics(StagedRecords):
    """Rubrics. The content of a stored name cannot change."""

    order = 70
    records: ClassVar = (RubricRecord,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        # Kept in memory: the reader limits the length of a file of rubrics.
        self.rubrics: list[tuple[RubricRecord, int]] = []

    def take(self, record: RubricRecord, place: int) -> None:
        self.taken += 1
        self.rubrics.append((record, place))

    def write(self) -> None:
        project = self.intake.project
        existing = {**SHIPPED, **{row.name: row.content for row in project.rubrics.all()}}
        stored = set(project.rubrics.values_list("name", flat=True))
        fresh = []
        for record, place in self.rubrics:
            if record.name in existing and tuple(existing[record.name]) != tuple(record):
                self.intake.refuse(
                    f"a different rubric {record.name} already exists: give this one another "
                    f"name, for example {rubrics.next_name(project.pk, record.name)}",
                    place,
                )
            elif record.name not in stored:
                fresh.append(
                    RubricRow.from_content(record, project=project, created_at=self.intake.now)
                )
        if self.intake.report.refused:
            return
        if fresh:
            fresh[-1].chosen_at = self.intake.now
        RubricRow.objects.bulk_create(fresh)
        self.new = len(fresh)
        rows = self.intake.row_counts("rubrics")
        rows.new += len(fresh)
        rows.unchanged += len(self.rubrics) - len(fresh)
