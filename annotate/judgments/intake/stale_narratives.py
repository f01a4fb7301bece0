"""Note in the report of a file how many answers its new narratives make stale."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.judgments.narrative_answers import describe_answers


def note_stale_narratives(intake: Intake) -> None:
    """Count the answers under the narratives that get another version, and note them."""
    replaced = sorted(intake.replaced_narratives)
    # The rows may be written a second time, after a conflict.
    intake.replaced_narratives.clear()
    intake.report.stale_answers = describe_answers(replaced) if replaced else ""
    if not intake.report.stale_answers:
        return
    narratives = (
        "1 narrative gets another version"
        if len(replaced) == 1
        else f"{len(replaced):,} narratives get another version"
    )
    intake.report.notes.append(
        f"{narratives}. Answers under the present one: {intake.report.stale_answers}. They are "
        "kept with it and become stale: they no longer count, and people are asked again. A lead "
        "can go back to the earlier version"
    )
