"""Write flags."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.judgments.intake import supersede
from annotate.judgments.intake.statement_kinds import FLAG
from annotate.pairs.intake.steps import end_known
from base import bulk


def write(intake: Intake) -> None:
    """Write the flags that the project does not have yet."""
    end_known(intake, "stage_statements", FLAG.table, FLAG.ended, where=FLAG.where)
    supersede.end_all_but_the_last(intake, FLAG)
    supersede.find_superseded(intake, FLAG)
    supersede.end_outdated(intake, FLAG)
    supersede.supersede_current(intake, FLAG)
    intake.run(
        f"""
        INSERT INTO annotate_flag (uuid, narrative_id, candidate_id, annotator_id, kind, words,
            at, made_at, ended_at, text_version, text_replaced_at)
        SELECT COALESCE(s.uuid, {bulk.new_uuid()}), s.narrative, s.candidate, s.member, s.kind,
            s.words, COALESCE(s.at, %(now)s), s.made_at, s.ended_at, s.text_read,
            s.text_replaced
        FROM stage_statements s WHERE s.what = 'flag' AND s.known IS NULL
        ORDER BY s.n
        """  # noqa: S608 (nothing but a constant is put in)
    )
    supersede.count(
        intake, FLAG, "flags", "(judged IS NOT NULL OR flagged IS NOT NULL) AND ended_at IS NULL"
    )
