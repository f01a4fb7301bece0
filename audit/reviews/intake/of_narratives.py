"""Shared intake of reviews and decisions: both refer to a version of a narrative."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake import StagedRecords
from annotate.pairs.intake.shared import refuse_other_query
from annotate.pairs.intake.steps import count_states, find_members

# The narrative version and the author of a review or decision, as the file names them.
NAMED = {"pair_id": "text", "query_id": "text", "side": "text", "version": "integer", "who": "text"}
# The narrative and member, looked up when it is written.
FOUND = {
    "narrative": "integer NULL",
    "member": "integer NULL",
    "known": "integer NULL",
    "state": "integer 0",
}


class OfNarratives(StagedRecords):
    """Intake of rows about a version of a narrative."""

    name: ClassVar[str]
    kind: ClassVar[str]
    # The column that says whether the author is a machine; a constant if only people are.
    machine: ClassVar[str] = "0"

    def query_ids(self) -> list[str]:
        return [f"SELECT query_id, n FROM {self.name}"]  # noqa: S608 (our own stage)

    def find(self) -> None:
        """Look up narrative and member of each row; refuse rows about unknown versions."""
        intake = self.intake
        refuse_other_query(intake, self.name)
        intake.run(
            f"""
            UPDATE {self.name} SET narrative = (
                SELECT v.id FROM annotate_instructionpair p
                JOIN annotate_narrative v ON v.pair_id = p.id
                WHERE p.project_id = %(project)s AND p.pair_id = {self.name}.pair_id
                AND v.side = {self.name}.side AND v.version = {self.name}.version
            )
            """  # noqa: S608
        )
        intake.refuse_rows(
            f"SELECT n, place, pair_id, side, version FROM {self.name} WHERE narrative IS NULL",  # noqa: S608
            lambda pair, side, version: (
                f"there is no version {version} of the {side} narrative of {pair} in this "
                "project: load the instruction pairs first"
            ),
        )
        intake.add_raters(
            f"SELECT n, place, who AS name, {self.machine} AS machine FROM {self.name}"  # noqa: S608
        )
        find_members(intake, self.name, "who")

    def count(self) -> None:
        """Count the new and the changed rows."""
        self.new, self.changed = count_states(self.intake, self.name, self.kind)
