"""Intake of decisions on reviewed narratives."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake import Intake
from annotate.pairs.intake.shared import MAX_NAME, NEWEST
from annotate.pairs.intake.steps import WITHDRAWN_BY, end_known, refuse_machines, refuse_second
from annotate.projects import hash_chain
from audit.reviews import review_chain
from audit.reviews.intake.of_narratives import FOUND, NAMED, OfNarratives
from audit.reviews.models import Decision
from base import bulk
from formats.records import DecisionRecord

# Decisions in a file do not change a pair that was taken out with a reason.
_UNLESS_OUT = {"sent_back": "", "removed": "AND annotate_instructionpair.removed_reason = ''"}
# A version may be loaded after the date of its decision, and is sent back all the same.
_DECIDED_AT = {
    "removed": "COALESCE(s.at, %(now)s)",
    "sent_back": "CASE WHEN COALESCE(s.at, %(now)s) > o.created_at THEN COALESCE(s.at, %(now)s) "
    "ELSE o.created_at END",
}

# A removed instruction stays removed, whatever is loaded later; one sent back was then rewritten.
_STILL_APPLIES = {"removed": "1 = 1", "sent_back": NEWEST.format("o")}


class Decisions(OfNarratives):
    """Decisions on narratives. A file cannot overrule a current decision."""

    order = 90
    records: ClassVar = (DecisionRecord,)
    name: ClassVar = "stage_decisions"
    kind: ClassVar = "decisions"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.decisions = self.create_stage(
            self.name,
            **NAMED,
            outcome="text",
            reason="text",
            at="moment",
            withdrawn_by="text",
            withdrawn_at="moment",
            **FOUND,
        )

    def take(self, record: DecisionRecord, place: int) -> None:
        self.taken += 1
        if not record.reason.strip() and record.outcome != Decision.Outcome.ACCEPTED:
            self.intake.refuse("a decision to revise or remove needs a reason", place)
        elif (record.withdrawn_by is None) != (record.withdrawn_at is None):
            self.intake.refuse(
                "a withdrawn decision needs both withdrawn_by and withdrawn_at", place
            )
        elif any(len(name) > MAX_NAME for name in (record.by, record.withdrawn_by or "")):
            self.intake.refuse(f"a name has at most {MAX_NAME} characters", place)
        else:
            self.decisions.add(
                place,
                record.pair_id,
                record.query_id,
                record.side,
                record.version,
                record.by,
                record.outcome,
                record.reason,
                record.at,
                record.withdrawn_by,
                record.withdrawn_at,
            )

    def check(self) -> None:
        refuse_second(
            self.intake,
            self.name,
            "pair_id, side, version",
            "pair_id",
            lambda first, pair: f"this version of {pair} was decided on {first}",
            where="withdrawn_at IS NULL",
        )

    def write(self) -> None:
        self.find()
        run = self.intake.run
        self.intake.add_raters(
            "SELECT n, place, withdrawn_by AS name, 0 AS machine FROM stage_decisions "
            "WHERE withdrawn_by IS NOT NULL"
        )
        refuse_machines(self.intake, self.name, "who", "a decision")
        run(
            """
            UPDATE stage_decisions SET known = (
                SELECT MIN(d.id) FROM audit_decision d
                WHERE d.narrative_id = stage_decisions.narrative
                AND d.by_id = stage_decisions.member
                AND d.outcome = stage_decisions.outcome AND d.reason = stage_decisions.reason
                AND d.at = COALESCE(stage_decisions.at, d.at)
            )
            """
        )
        self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.version, s.pair_id, m.name, d.outcome FROM stage_decisions s
            JOIN audit_decision d ON d.narrative_id = s.narrative AND d.withdrawn_at IS NULL
            JOIN annotate_membership m ON m.id = d.by_id
            WHERE s.known IS NULL AND s.withdrawn_at IS NULL
            """,
            lambda version, pair, who, outcome: (
                f"{who} has already decided on version {version} of {pair}: "
                f"{Decision.Outcome(outcome).label.lower()}"
            ),
        )
        if self.intake.report.refused:
            return
        newest = bulk.number("SELECT MAX(d.id) FROM audit_decision d")
        self._withdraw()
        run(
            f"""
            INSERT INTO audit_decision
                (uuid, narrative_id, outcome, reason, by_id, at, withdrawn_at, withdrawn_by_id)
            SELECT {bulk.new_uuid()}, s.narrative, s.outcome, s.reason, s.member,
                COALESCE(s.at, %(now)s), s.withdrawn_at, {WITHDRAWN_BY}
            FROM stage_decisions s WHERE s.known IS NULL ORDER BY s.n
            """  # noqa: S608
        )
        if not self.intake.dry_run:
            self._link(newest)
        run("UPDATE stage_decisions SET state = 2 WHERE known IS NULL")
        self._mark_pairs()
        self.count()

    def _link(self, newest: int) -> None:
        """Append decisions with keys after `newest`, and withdrawn ones, to their chain."""
        project = self.intake.project.pk
        withdrawn = bulk.select("SELECT s.known FROM stage_decisions s WHERE s.state = 1")
        fresh = hash_chain.find_unlinked(
            review_chain.DECISION, project, review_chain.decisions(project)
        )
        review_chain.follow(
            review_chain.DECISION,
            project,
            new={key for key in fresh if key > newest},
            ended={key for (key,) in withdrawn},
        )

    def _withdraw(self) -> None:
        """Withdraw current decisions that are withdrawn in the file."""
        end_known(
            self.intake,
            self.name,
            "audit_decision",
            "withdrawn_at",
            staged="withdrawn_at",
            also=f", withdrawn_by_id = {WITHDRAWN_BY}",
        )
        for outcome, prefix in (("revise", "sent_back"), ("removed", "removed")):
            self.intake.run(
                f"""
                UPDATE annotate_instructionpair SET {prefix}_at = NULL, {prefix}_by_id = NULL
                WHERE id IN (
                    SELECT v.pair_id FROM stage_decisions s
                    JOIN annotate_narrative v ON v.id = s.narrative
                    WHERE s.state = 1 AND s.outcome = '{outcome}'
                ) {_UNLESS_OUT[prefix]}
                """  # noqa: S608 (constants)
            )

    def _mark_pairs(self) -> None:
        """Apply new decisions to their pairs, as the page does."""
        for outcome, prefix in (("revise", "sent_back"), ("removed", "removed")):
            self.intake.run(
                f"""
                UPDATE annotate_instructionpair SET
                    {prefix}_at = {_DECIDED_AT[prefix]}, {prefix}_by_id = s.member
                FROM stage_decisions s JOIN annotate_narrative o ON o.id = s.narrative
                WHERE annotate_instructionpair.id = o.pair_id AND s.state = 2
                AND s.withdrawn_at IS NULL AND s.outcome = '{outcome}'
                AND {_STILL_APPLIES[prefix]} {_UNLESS_OUT[prefix]}
                """  # noqa: S608
            )
