"""Reviews and decisions from a file: what `annotate.collection.intake` does not know."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake import Arrivals, Intake
from annotate.collection.intake.stale import Beside, StatementTable
from annotate.pairs.intake.shared import MAX_NAME, refuse_other_query
from annotate.projects import chain
from audit.reviews import chain_content as sums
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED, Rubric
from audit.reviews.models import Decision, Review
from audit.reviews.models import Rubric as Kept
from base import bulk
from formats.records import DecisionRecord, ReviewRecord, RubricRecord

MAX_RUBRIC = Review._meta.get_field("rubric").max_length or 0

# What a review or decision is about, and by whom: found when it is written.
_FOUND = {
    "narrative": "integer NULL",
    "member": "integer NULL",
    "known": "integer NULL",
    "state": "integer 0",
}


# Checks of claimed labels, which are made of what a document says.
CHECKS = StatementTable(
    "audit_check",
    *("check", "checks"),
    "r.item_id IN (SELECT i.id FROM audit_sampleitem i WHERE i.candidate_id IN ({candidates}))",
    "r.superseded_at IS NULL",
)


# Reviews of instructions, beside which the documents lay.
REVIEWS = Beside(
    """
    SELECT COUNT(DISTINCT t.review_id) FROM audit_reviewedtext t
    JOIN stage_docs_changed x ON x.id = t.document_id WHERE x.version >= 2
    """,
    *("review", "reviews"),
)


class OfNarratives(Arrivals):
    """What is said of a version of a narrative, not of a document."""

    name: ClassVar[str]
    kind: ClassVar[str]
    # The column that says whether a machine said it: constant where only people do.
    machine: ClassVar[str] = "0"

    def query_ids(self) -> list[str]:
        return [f"SELECT query_id FROM {self.name}"]  # noqa: S608 (our own stage)

    def find(self) -> None:
        """Find narrative and member of each; refuse what is about a version that is not here."""
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
        intake.refuse_found(
            f"SELECT n, place, pair_id, side, version FROM {self.name} WHERE narrative IS NULL",  # noqa: S608
            lambda pair, side, version: (
                f"there is no version {version} of the {side} narrative of {pair} in this "
                "project: load the instruction pairs first"
            ),
        )
        intake.add_raters(
            f"SELECT n, place, who AS name, {self.machine} AS machine FROM {self.name}"  # noqa: S608
        )
        intake.run(
            f"""
            UPDATE {self.name} SET member = (
                SELECT m.id FROM annotate_membership m
                WHERE m.project_id = %(project)s AND m.name = {self.name}.who
            )
            """  # noqa: S608
        )

    def count(self) -> None:
        """Count what is new and what has changed."""
        [(new, changed, total)] = bulk.select(
            f"""
            SELECT COALESCE(SUM(CASE WHEN state = 2 THEN 1 ELSE 0 END), 0),
                COALESCE(SUM(CASE WHEN state = 1 THEN 1 ELSE 0 END), 0), COUNT(*)
            FROM {self.name}
            """  # noqa: S608
        )
        self.new, self.changed = new, changed
        rows = self.intake.rows(self.kind)
        rows.new += new
        rows.changed += changed
        rows.unchanged += total - new - changed


class Rubrics(Arrivals):
    """What instructions are rated on. A name that is known says what it said."""

    order = 70
    records: ClassVar = (RubricRecord,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        # A file of them is short: its reader sees to that.
        self.rubrics: list[tuple[RubricRecord, int]] = []

    def take(self, record: RubricRecord, place: int) -> None:
        self.taken += 1
        self.rubrics.append((record, place))

    def write(self) -> None:
        project = self.intake.project
        known = {**SHIPPED, **{one.name: one.content for one in project.rubrics.all()}}
        kept = set(project.rubrics.values_list("name", flat=True))
        fresh = []
        for record, place in self.rubrics:
            if record.name in known and tuple(known[record.name]) != tuple(record):
                self.intake.refuse(
                    f"there is a rubric {record.name} already, and it says otherwise: give this "
                    f"one another name, for example {rubrics.next_name(project.pk, record.name)}",
                    place,
                )
            elif record.name not in kept:
                fresh.append(Kept.of(record, project=project, created_at=self.intake.now))
        if self.intake.report.refused:
            return
        if fresh:
            fresh[-1].chosen_at = self.intake.now
        Kept.objects.bulk_create(fresh)
        self.new = len(fresh)
        rows = self.intake.rows("rubrics")
        rows.new += len(fresh)
        rows.unchanged += len(self.rubrics) - len(fresh)


class Reviews(OfNarratives):
    """Auditors' passes, each with its ratings. One that is here already stays as it is."""

    order = 80
    records: ClassVar = (ReviewRecord,)
    name: ClassVar = "stage_reviews"
    kind: ClassVar = "reviews"
    machine: ClassVar = "machine"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.reviews = self.stage(
            self.name,
            pair_id="text",
            query_id="text",
            side="text",
            version="integer",
            who="text",
            rubric="text",
            machine="integer",
            started_at="moment",
            at="moment",
            **_FOUND,
        )
        self.ratings = self.stage(
            "stage_ratings",
            review="integer",
            criterion="text",
            level="text",
            place_on_scale="integer",
            rejects="integer",
            words="text",
        )
        self.texts = self.stage(
            "stage_reviewed_texts",
            review="integer",
            doc_id="text",
            version="integer",
            document="integer NULL",
        )
        self._rubrics: dict[str, Rubric | None] = {}

    def take(self, record: ReviewRecord, place: int) -> None:
        self.taken += 1
        rubric = self._rubric(record.rubric)
        fault = _no_rubric(record) if rubric is None else _fault(record, rubric)
        if rubric is None or fault:
            self.intake.refuse(fault or "", place)
            return
        self.reviews.add(
            place,
            record.pair_id,
            record.query_id,
            record.side,
            record.version,
            record.auditor,
            record.rubric,
            int(record.machine),
            record.started_at,
            record.at,
        )
        for rating in record.ratings:
            level = rubric.level(rating.level)
            assert level is not None
            self.ratings.add(
                place,
                self.reviews.count,
                rating.criterion,
                level.value,
                rubric.place(level),
                int(level.rejects),
                rating.words,
            )
        for read in record.documents:
            self.texts.add(place, self.reviews.count, read.doc_id, read.text_version)

    def _rubric(self, name: str) -> Rubric | None:
        """Return the rubric of that name; None: the project has none."""
        if name not in self._rubrics:
            try:
                self._rubrics[name] = rubrics.named(self.intake.project.pk, name)
            except rubrics.UnknownRubric:
                self._rubrics[name] = None
        return self._rubrics[name]

    def check(self) -> None:
        self.intake.refuse_found(
            """
            SELECT n, place, place AS here, first_place, who, pair_id FROM (
                SELECT s.*, FIRST_VALUE(n) OVER w AS first, FIRST_VALUE(place) OVER w AS first_place
                FROM stage_reviews s
                WINDOW w AS (PARTITION BY pair_id, side, version, who ORDER BY n)
            ) x WHERE n <> first
            """,
            lambda place, first, who, pair: (
                f"{who} has reviewed this version of {pair} on {self.intake.line(first, place)}"
            ),
        )

    def write(self) -> None:
        self.find()
        self._find_documents()
        bulk.index("stage_ratings", "review")
        run = self.intake.run
        run(
            """
            UPDATE stage_reviews SET known = (
                SELECT r.id FROM audit_review r WHERE r.narrative_id = stage_reviews.narrative
                AND r.auditor_id = stage_reviews.member
            )
            """
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.who, s.version, s.pair_id FROM stage_reviews s
            JOIN audit_review r ON r.id = s.known
            WHERE r.rubric <> s.rubric OR r.submitted_at IS NULL OR EXISTS (
                SELECT 1 FROM stage_ratings t WHERE t.review = s.n AND NOT EXISTS (
                    SELECT 1 FROM audit_rating o WHERE o.review_id = r.id
                    AND o.criterion = t.criterion AND o.level = t.level AND o.words = t.words
                )
            ) OR EXISTS (
                SELECT 1 FROM stage_reviewed_texts t WHERE t.review = s.n AND NOT EXISTS (
                    SELECT 1 FROM audit_reviewedtext o WHERE o.review_id = r.id
                    AND o.document_id = t.document AND o.text_version = t.version
                )
            )
            """,
            lambda who, version, pair: (
                f"{who} has reviewed version {version} of {pair} here already, and said otherwise: "
                "a review stays as it is"
            ),
        )
        if self.intake.report.refused:
            return
        run(
            """
            INSERT INTO audit_review (narrative_id, auditor_id, rubric, started_at, submitted_at)
            SELECT narrative, member, rubric, COALESCE(started_at, at, %(now)s),
                COALESCE(at, %(now)s)
            FROM stage_reviews WHERE known IS NULL ORDER BY n
            """
        )
        run(
            """
            INSERT INTO audit_rating (review_id, criterion, level, place, rejects, words)
            SELECT r.id, t.criterion, t.level, t.place_on_scale, t.rejects = 1, t.words
            FROM stage_ratings t
            JOIN stage_reviews s ON s.n = t.review
            JOIN audit_review r ON r.narrative_id = s.narrative AND r.auditor_id = s.member
            WHERE s.known IS NULL ORDER BY t.n
            """
        )
        run(
            """
            INSERT INTO audit_reviewedtext (review_id, document_id, text_version)
            SELECT r.id, t.document, t.version
            FROM stage_reviewed_texts t
            JOIN stage_reviews s ON s.n = t.review
            JOIN audit_review r ON r.narrative_id = s.narrative AND r.auditor_id = s.member
            WHERE s.known IS NULL ORDER BY t.n
            """
        )
        if not self.intake.dry_run:
            fresh = bulk.select(
                """
                SELECT r.id FROM stage_reviews s JOIN audit_review r
                    ON r.narrative_id = s.narrative AND r.auditor_id = s.member
                WHERE s.known IS NULL
                """
            )
            keys = {key for (key,) in fresh}
            sums.follow(sums.REVIEW, self.intake.project.pk, new=keys, texts=True)
        run("UPDATE stage_reviews SET state = 2 WHERE known IS NULL")
        self.count()

    def _find_documents(self) -> None:
        """Find the documents that were at hand; refuse those that are not here, and their texts."""
        self.intake.run(
            """
            UPDATE stage_reviewed_texts SET document = (
                SELECT d.id FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = stage_reviewed_texts.doc_id
            )
            """
        )
        self.intake.refuse_found(
            "SELECT n, place, doc_id FROM stage_reviewed_texts WHERE document IS NULL",
            lambda doc_id: (
                f"there is no document {doc_id} in this project, which was at hand in this review: "
                "load the documents first"
            ),
        )
        self.intake.refuse_found(
            """
            SELECT t.n, t.place, t.doc_id, t.version, d.text_version AS newest
            FROM stage_reviewed_texts t JOIN annotate_document d ON d.id = t.document
            WHERE t.version > 1 AND COALESCE(d.text_version, 0) < t.version
            """,
            lambda doc_id, version, newest: (
                f"the text of document {doc_id} has no version {version} here; the newest is "
                f"{newest or 'none'}: load the documents first"
            ),
        )


class Decisions(OfNarratives):
    """What became of narratives. One that stands already is not overruled by a file."""

    order = 90
    records: ClassVar = (DecisionRecord,)
    name: ClassVar = "stage_decisions"
    kind: ClassVar = "decisions"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.decisions = self.stage(
            self.name,
            pair_id="text",
            query_id="text",
            side="text",
            version="integer",
            who="text",
            outcome="text",
            reason="text",
            at="moment",
            withdrawn_by="text",
            withdrawn_at="moment",
            **_FOUND,
        )

    def take(self, record: DecisionRecord, place: int) -> None:
        self.taken += 1
        if not record.reason.strip() and record.outcome != Decision.Outcome.ACCEPTED:
            self.intake.refuse("a decision to revise or remove needs a reason", place)
        elif (record.withdrawn_by is None) != (record.withdrawn_at is None):
            self.intake.refuse("a withdrawn decision says by whom and when", place)
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
        self.intake.refuse_found(
            """
            SELECT n, place, place AS here, first_place, pair_id FROM (
                SELECT s.*, FIRST_VALUE(n) OVER w AS first, FIRST_VALUE(place) OVER w AS first_place
                FROM stage_decisions s WHERE withdrawn_at IS NULL
                WINDOW w AS (PARTITION BY pair_id, side, version ORDER BY n)
            ) x WHERE n <> first
            """,
            lambda place, first, pair: (
                f"this version of {pair} was decided on {self.intake.line(first, place)}"
            ),
        )

    def write(self) -> None:
        self.find()
        run = self.intake.run
        self.intake.add_raters(
            "SELECT n, place, withdrawn_by AS name, 0 AS machine FROM stage_decisions "
            "WHERE withdrawn_by IS NOT NULL"
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.who FROM stage_decisions s
            JOIN annotate_membership m ON m.id = s.member WHERE m.is_machine
            """,
            lambda name: f"“{name}” is a machine here: a decision is made by a person",
        )
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
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.version, s.pair_id, m.name, d.outcome FROM stage_decisions s
            JOIN audit_decision d ON d.narrative_id = s.narrative AND d.withdrawn_at IS NULL
            JOIN annotate_membership m ON m.id = d.by_id
            WHERE s.known IS NULL AND s.withdrawn_at IS NULL
            """,
            lambda version, pair, who, outcome: (
                f"{who} has decided version {version} of {pair} here already: "
                f"{Decision.Outcome(outcome).label.lower()}"
            ),
        )
        if self.intake.report.refused:
            return
        newest = bulk.number("SELECT MAX(d.id) FROM audit_decision d")
        self._withdraw()
        run(
            """
            INSERT INTO audit_decision
                (narrative_id, outcome, reason, by_id, at, withdrawn_at, withdrawn_by_id)
            SELECT s.narrative, s.outcome, s.reason, s.member, COALESCE(s.at, %(now)s),
                s.withdrawn_at, (
                    SELECT m.id FROM annotate_membership m
                    WHERE m.project_id = %(project)s AND m.name = s.withdrawn_by
                )
            FROM stage_decisions s WHERE s.known IS NULL ORDER BY s.n
            """
        )
        if not self.intake.dry_run:
            self._link(newest)
        run("UPDATE stage_decisions SET state = 2 WHERE known IS NULL")
        self._mark_pairs()
        self.count()

    def _link(self, newest: int) -> None:
        """Put what was decided since the key `newest`, and what was withdrawn, into their chain."""
        project = self.intake.project.pk
        withdrawn = bulk.select("SELECT s.known FROM stage_decisions s WHERE s.state = 1")
        fresh = chain.unlinked(sums.DECISION, project, sums.decisions(project))
        sums.follow(
            sums.DECISION,
            project,
            new={key for key in fresh if key > newest},
            ended={key for (key,) in withdrawn},
        )

    def _withdraw(self) -> None:
        """Withdraw what stands here while the file knows that it no longer does."""
        run = self.intake.run
        run(
            """
            UPDATE stage_decisions SET state = 1 WHERE withdrawn_at IS NOT NULL AND EXISTS (
                SELECT 1 FROM audit_decision d
                WHERE d.id = stage_decisions.known AND d.withdrawn_at IS NULL
            )
            """
        )
        run(
            """
            UPDATE audit_decision SET withdrawn_at = s.withdrawn_at, withdrawn_by_id = m.id
            FROM stage_decisions s JOIN annotate_membership m
                ON m.project_id = %(project)s AND m.name = s.withdrawn_by
            WHERE audit_decision.id = s.known AND s.state = 1
            """
        )
        # What was taken out with a reason stays out.
        kept_out = {"sent_back": "", "removed": "AND removed_reason = ''"}
        for outcome, prefix in (("revise", "sent_back"), ("removed", "removed")):
            run(
                f"""
                UPDATE annotate_instructionpair SET {prefix}_at = NULL, {prefix}_by_id = NULL
                WHERE id IN (
                    SELECT v.pair_id FROM stage_decisions s
                    JOIN annotate_narrative v ON v.id = s.narrative
                    WHERE s.state = 1 AND s.outcome = '{outcome}'
                ) {kept_out[prefix]}
                """  # noqa: S608 (constants)
            )

    def _mark_pairs(self) -> None:
        """Let a decision have its effect on the pair, as it has on a page."""
        for outcome, prefix in (("revise", "sent_back"), ("removed", "removed")):
            self.intake.run(
                f"""
                UPDATE annotate_instructionpair SET
                    {prefix}_at = COALESCE(s.at, %(now)s), {prefix}_by_id = s.member
                FROM stage_decisions s JOIN annotate_narrative v ON v.id = s.narrative
                WHERE annotate_instructionpair.id = v.pair_id AND s.state = 2
                AND s.withdrawn_at IS NULL AND s.outcome = '{outcome}' AND v.version = (
                    SELECT MAX(o.version) FROM annotate_narrative o
                    WHERE o.pair_id = v.pair_id AND o.side = v.side
                )
                """  # noqa: S608
            )


def _no_rubric(record: ReviewRecord) -> str:
    if len(record.rubric) > MAX_RUBRIC:
        return f"the rubric is longer than {MAX_RUBRIC} characters"
    return f"there is no rubric “{record.rubric}” in this project: load it first"


def _fault(record: ReviewRecord, rubric: Rubric) -> str | None:
    """Say in a sentence why this review cannot be kept, if it cannot."""
    if len(record.auditor) > MAX_NAME:
        return f"a name has at most {MAX_NAME} characters"
    rated = [rating.criterion for rating in record.ratings]
    for rating in record.ratings:
        if rating.criterion not in rubric.keys:
            return f"“{rating.criterion}” is not one of the criteria: {', '.join(rubric.keys)}"
        if rubric.level(rating.level) is None:
            levels = ", ".join(level.value for level in rubric.levels)
            return f"“{rating.level}” is not a level: {levels}"
        if rated.count(rating.criterion) > 1:
            return f"{rating.criterion} is rated twice"
    if missing := [key for key in rubric.keys if key not in rated]:
        return f"the review lacks a rating of {', '.join(missing)}"
    return None
