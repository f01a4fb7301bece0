"""Write adjudications, and append them to their chain."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.judgments import adjudication_chain
from annotate.judgments.intake import supersede
from annotate.judgments.intake.statement_kinds import ADJUDICATION, TEXT_READ
from annotate.pairs.intake.steps import WITHDRAWN_BY, end_known, refuse_second
from annotate.projects import hash_chain
from base import bulk


def write(intake: Intake) -> None:
    """Write the adjudications that the project does not have yet; they replace current ones."""
    newest = bulk.number("SELECT MAX(a.id) FROM annotate_adjudication a")
    refuse_second(
        intake,
        "stage_statements",
        "narrative, candidate, COALESCE(text_read, 1)",
        "doc_id",
        lambda first, doc_id: f"document {doc_id} was settled differently on {first}",
        where="what = 'adjudication' AND known IS NULL AND ended_at IS NULL",
    )
    if intake.report.refused:
        return
    end_known(
        intake,
        "stage_statements",
        ADJUDICATION.table,
        ADJUDICATION.ended,
        also=f", withdrawn_by_id = {WITHDRAWN_BY}",
        where=ADJUDICATION.where,
    )
    _supersede(intake)
    intake.run(
        f"""
        INSERT INTO annotate_adjudication (uuid, narrative_id, candidate_id, relevance, reason,
            cause, by_id, at, withdrawn_at, text_version, text_replaced_at, withdrawn_by_id)
        SELECT {bulk.new_uuid()}, s.narrative, s.candidate, s.relevance, s.words, s.kind,
            s.member, COALESCE(s.at, %(now)s), s.ended_at, s.text_read, s.text_replaced,
            {WITHDRAWN_BY}
        FROM stage_statements s WHERE s.what = 'adjudication' AND s.known IS NULL
        ORDER BY s.n
        """  # noqa: S608
    )
    _link(intake, newest)
    supersede.count(
        intake, ADJUDICATION, "adjudications", "settled IS NOT NULL AND ended_at IS NULL"
    )


def _supersede(intake: Intake) -> None:
    """Withdraw the current decision if the new one is newer, else mark the new one withdrawn."""
    run = intake.run
    run(
        f"""
        UPDATE stage_statements SET settled = (
            SELECT a.id FROM annotate_adjudication a
            WHERE a.narrative_id = stage_statements.narrative
            AND a.candidate_id = stage_statements.candidate AND a.withdrawn_at IS NULL
            AND {TEXT_READ.format(row="a")}
        )
        WHERE what = 'adjudication' AND known IS NULL AND ended_at IS NULL
        """  # noqa: S608 (a constant)
    )
    # Older than the current decision: withdrawn by its author, at its time.
    run(
        """
        UPDATE stage_statements SET ended_at = a.at, withdrawn_by = m.name
        FROM annotate_adjudication a JOIN annotate_membership m ON m.id = a.by_id
        WHERE a.id = stage_statements.settled AND a.at > stage_statements.at
        AND stage_statements.ended_at IS NULL
        """
    )
    run(
        """
        UPDATE annotate_adjudication SET
            withdrawn_at = COALESCE(s.at, %(now)s), withdrawn_by_id = s.member
        FROM stage_statements s
        WHERE annotate_adjudication.id = s.settled AND s.ended_at IS NULL
        """
    )


def _link(intake: Intake, newest: int) -> None:
    """Append decisions above the key `newest`, and the ends of those they replace, to the chain."""
    if intake.dry_run or not bulk.number(
        "SELECT COUNT(*) FROM stage_statements WHERE what = 'adjudication'"
    ):
        return
    project = intake.project.pk
    ended = bulk.select(
        """
        SELECT s.settled FROM stage_statements s
        WHERE s.what = 'adjudication' AND s.settled IS NOT NULL AND s.ended_at IS NULL
        UNION SELECT s.known FROM stage_statements s
        WHERE s.what = 'adjudication' AND s.state = 1 AND s.known IS NOT NULL
        """
    )
    rows = list(adjudication_chain.adjudications(project))
    fresh = hash_chain.find_unlinked(adjudication_chain.KIND, project, rows)
    adjudication_chain.follow(
        project,
        new={key for key in fresh if key > newest},
        ended={key for (key,) in ended},
    )
