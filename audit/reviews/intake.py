"""Intake of rubrics, of reviews with their ratings and texts, and of decisions."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotate.collection.intake import Intake, StagedLine, StagedRecords
from annotate.collection.models import Document
from annotate.pairs.intake.steps import (
    MAX_NAME,
    WITHDRAWN_BY,
    count_states,
    end_known,
    find_members,
    refuse_machines,
    refuse_missing_texts,
    refuse_other_query,
    refuse_second,
)
from annotate.pairs.models import Narrative
from annotate.projects import hash_chain
from annotate.projects.models import Membership
from audit.reviews import review_chain, rubrics
from audit.reviews.criteria import SHIPPED, Rubric
from audit.reviews.models import Decision, Review
from audit.reviews.models import Rubric as RubricRow
from base import bulk
from base.stages import StagedRow, key_of
from formats.records import DecisionRecord, ReviewRecord, RubricRecord

MAX_RUBRIC = Review._meta.get_field("rubric").max_length or 0


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


class StagedOfNarrative(StagedLine):
    """What somebody said of a version of a narrative, as the file names both."""

    pair_id = models.TextField()
    query_id = models.TextField()
    side = models.TextField()
    version = models.BigIntegerField()
    who = models.TextField()
    narrative = key_of(Narrative, "narrative")
    member = key_of(Membership, "member")
    # 1 changed, 2 new.
    state = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        abstract = True


class OfNarratives(StagedRecords):
    """Intake of rows about a version of a narrative."""

    model: ClassVar[type[StagedOfNarrative]]
    kind: ClassVar[str]
    # Whether the author is a machine: a field, or one value for all.
    machine: ClassVar[str | Value] = Value(0)

    def query_ids(self) -> list[QuerySet[Any]]:
        return [self.model.objects.values_list("query_id", "n")]

    def find(self) -> None:
        """Look up narrative and member of each row; refuse rows about unknown versions."""
        intake, staged = self.intake, self.model.objects.all()
        refuse_other_query(intake, staged)
        narrative = Narrative.objects.filter(
            pair__project=intake.project,
            pair__pair_id=OuterRef("pair_id"),
            side=OuterRef("side"),
            version=OuterRef("version"),
        )
        staged.update(narrative=Subquery(narrative.values("pk")))
        intake.refuse_rows(
            staged.filter(narrative=None).values_list("n", "place", "pair_id", "side", "version"),
            lambda pair, side, version: (
                f"there is no version {version} of the {side} narrative of {pair} in this "
                "project: load the instruction pairs first"
            ),
        )
        intake.add_raters((staged, "who", self.machine))
        find_members(intake, staged, "who")

    def count(self) -> None:
        """Count the new and the changed rows."""
        self.new, self.changed = count_states(self.intake, self.model.objects.all(), self.kind)


class StagedReview(StagedOfNarrative):
    """A review."""

    rubric = models.TextField()
    machine = models.BigIntegerField()
    started_at = models.DateTimeField(null=True)
    at = models.DateTimeField(null=True)
    known = key_of(Review, "known")

    class Meta(StagedRow.Meta):
        db_table = "stage_reviews"


class StagedRating(StagedLine):
    """A rating of a review."""

    review = models.BigIntegerField()
    criterion = models.TextField()
    level = models.TextField()
    place_on_scale = models.BigIntegerField()
    rejects = models.BigIntegerField()
    words = models.TextField()

    class Meta(StagedRow.Meta):
        db_table = "stage_ratings"


class StagedReviewedText(StagedLine):
    """A text that was at hand in a review."""

    review = models.BigIntegerField()
    doc_id = models.TextField()
    version = models.BigIntegerField()
    document = key_of(Document, "document")

    class Meta(StagedRow.Meta):
        db_table = "stage_reviewed_texts"


class Reviews(OfNarratives):
    """Auditors' reviews, each with its ratings. A stored review cannot change."""

    order = 80
    records: ClassVar = (ReviewRecord,)
    model: ClassVar = StagedReview
    kind: ClassVar = "reviews"
    machine: ClassVar = "machine"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.reviews = self.create_stage(StagedReview)
        self.ratings = self.create_stage(StagedRating)
        self.texts = self.create_stage(StagedReviewedText)
        self._rubrics: dict[str, Rubric | None] = {}

    def take(self, record: ReviewRecord, place: int) -> None:
        self.taken += 1
        rubric = self._rubric(record.rubric)
        fault = _why_no_rubric(record) if rubric is None else _why_refused(record, rubric)
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
        """Return the rubric of this name, or None if the project does not have it."""
        if name not in self._rubrics:
            try:
                self._rubrics[name] = rubrics.get_rubric(self.intake.project.pk, name)
            except rubrics.UnknownRubric:
                self._rubrics[name] = None
        return self._rubrics[name]

    def check(self) -> None:
        refuse_second(
            self.intake,
            StagedReview.objects.all(),
            ["pair_id", "side", "version", "who"],
            ["who", "pair_id"],
            lambda first, who, pair: f"{who} has reviewed this version of {pair} on {first}",
        )

    def write(self) -> None:
        self.find()
        self._find_documents()
        bulk.index("stage_ratings", "review")
        same = Review.objects.filter(narrative=OuterRef("narrative"), auditor=OuterRef("member"))
        StagedReview.objects.update(known=Subquery(same.values("pk")))
        self._refuse_other_reviews()
        if self.intake.report.refused:
            return
        self._insert()
        if not self.intake.dry_run:
            written = StagedReview.objects.filter(known=None).annotate(
                written=Subquery(same.values("pk"))
            )
            hash_chain.append_new(
                review_chain.REVIEW,
                self.intake.project.pk,
                Review.objects.filter(pk__in=written.values("written")),
            )
        StagedReview.objects.filter(known=None).update(state=2)
        self.count()

    def _refuse_other_reviews(self) -> None:
        """Refuse reviews stored with different ratings, documents or rubric, or as a draft."""
        self.intake.refuse_rows(
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
                f"{who} has already reviewed version {version} of {pair}, with other content: a "
                "review cannot change"
            ),
        )

    def _insert(self) -> None:
        """Insert the new reviews, with their ratings and texts."""
        run = self.intake.run
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
            INSERT INTO audit_rating
                (review_id, criterion, level, place, rejects, words, made_at, answered)
            SELECT r.id, t.criterion, t.level, t.place_on_scale, t.rejects = 1, t.words,
                r.submitted_at, '[]'
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

    def _find_documents(self) -> None:
        """Look up the documents that were at hand; refuse unknown documents and texts."""
        staged = StagedReviewedText.objects.all()
        document = Document.objects.filter(project=self.intake.project, doc_id=OuterRef("doc_id"))
        staged.update(document=Subquery(document.values("pk")))
        self.intake.refuse_rows(
            staged.filter(document=None).values_list("n", "place", "doc_id"),
            lambda doc_id: (
                f"there is no document {doc_id} in this project, which was at hand in this review: "
                "load the documents first"
            ),
        )
        known = staged.filter(document__isnull=False)
        refuse_missing_texts(self.intake, known, "version", "document__text_version")


def _why_no_rubric(record: ReviewRecord) -> str:
    if len(record.rubric) > MAX_RUBRIC:
        return f"the rubric is longer than {MAX_RUBRIC} characters"
    return f"there is no rubric “{record.rubric}” in this project: load it first"


def _why_refused(record: ReviewRecord, rubric: Rubric) -> str | None:
    """Return why this review cannot be stored, or None."""
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


class StagedDecision(StagedOfNarrative):
    """A decision."""

    outcome = models.TextField()
    reason = models.TextField()
    at = models.DateTimeField(null=True)
    withdrawn_by = models.TextField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    known = key_of(Decision, "known")

    class Meta(StagedRow.Meta):
        db_table = "stage_decisions"


class Decisions(OfNarratives):
    """Decisions on narratives. A file cannot overrule a current decision."""

    order = 90
    records: ClassVar = (DecisionRecord,)
    model: ClassVar = StagedDecision
    kind: ClassVar = "decisions"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.decisions = self.create_stage(StagedDecision)

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
            StagedDecision.objects.filter(withdrawn_at=None),
            ["pair_id", "side", "version"],
            ["pair_id"],
            lambda first, pair: f"this version of {pair} was decided on {first}",
        )

    def write(self) -> None:
        self.find()
        run, staged = self.intake.run, StagedDecision.objects.all()
        self.intake.add_raters((staged, "withdrawn_by", Value(0)))
        refuse_machines(self.intake, staged, "who", "a decision")
        same = Decision.objects.filter(
            narrative=OuterRef("narrative"),
            by=OuterRef("member"),
            outcome=OuterRef("outcome"),
            reason=OuterRef("reason"),
            at=Coalesce(OuterRef("at"), F("at")),
        )
        staged.update(known=Subquery(same.order_by("pk").values("pk")[:1]))
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
        staged.filter(known=None).update(state=2)
        self._apply()
        self.count()

    def _link(self, newest: int) -> None:
        """Append decisions with keys after `newest`, and withdrawn ones, to their chain."""
        kind, project = review_chain.DECISION, self.intake.project.pk
        withdrawn = StagedDecision.objects.filter(state=1).values("known")
        # Leads decide meanwhile: what they wrote is linked already.
        written = Decision.objects.filter(by__project=project, pk__gt=newest)
        written = written.exclude(uuid__in=hash_chain.linked(kind, project))
        hash_chain.append_new(kind, project, written)
        hash_chain.append_ended(kind, project, Decision.objects.filter(pk__in=withdrawn))

    def _withdraw(self) -> None:
        """Withdraw current decisions that are withdrawn in the file."""
        end_known(
            self.intake,
            "stage_decisions",
            "audit_decision",
            "withdrawn_at",
            staged="withdrawn_at",
            also=f", withdrawn_by_id = {WITHDRAWN_BY}",
        )
        revised = StagedDecision.objects.filter(state=1, outcome=Decision.Outcome.REVISE)
        Narrative.objects.filter(pk__in=revised.values("narrative")).update(
            sent_back_at=None, sent_back_by=None, sent_back_reason=""
        )
        self.intake.run(
            """
            UPDATE annotate_instructionpair SET removed_at = q.removed_at,
                removed_by_id = q.removed_by_id, removed_reason = q.removed_reason
            FROM annotate_query q
            WHERE q.id = annotate_instructionpair.query_id
            AND annotate_instructionpair.removed_reason = ''
            AND annotate_instructionpair.id IN (
                SELECT v.pair_id FROM stage_decisions s
                JOIN annotate_narrative v ON v.id = s.narrative
                WHERE s.state = 1 AND s.outcome = 'removed'
            )
            """
        )

    def _apply(self) -> None:
        """Apply new decisions, as the page does. A pair taken out with a reason stays as it is."""
        run = self.intake.run
        run(
            """
            UPDATE annotate_narrative SET sent_back_at = COALESCE(s.at, %(now)s),
                sent_back_by_id = s.member, sent_back_reason = ''
            FROM stage_decisions s WHERE annotate_narrative.id = s.narrative AND s.state = 2
            AND s.withdrawn_at IS NULL AND s.outcome = 'revise'
            """
        )
        run(
            """
            UPDATE annotate_instructionpair SET
                removed_at = COALESCE(s.at, %(now)s), removed_by_id = s.member
            FROM stage_decisions s JOIN annotate_narrative o ON o.id = s.narrative
            WHERE annotate_instructionpair.id = o.pair_id AND s.state = 2
            AND s.withdrawn_at IS NULL AND s.outcome = 'removed'
            AND annotate_instructionpair.removed_reason = ''
            """
        )
