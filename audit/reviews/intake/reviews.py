"""Intake of reviews, each with its ratings and the text versions that were at hand."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake import Intake
from annotate.pairs.intake.shared import MAX_NAME
from annotate.pairs.intake.steps import refuse_missing_texts, refuse_second
from audit.reviews import review_chain, rubrics
from audit.reviews.criteria import Rubric
from audit.reviews.intake.of_narratives import FOUND, NAMED, OfNarratives
from audit.reviews.models import Review
from base import bulk
from formats.records import ReviewRecord

MAX_RUBRIC = Review._meta.get_field("rubric").max_length or 0


class Reviews(OfNarratives):
    """Auditors' reviews, each with its ratings. A stored review cannot change."""

    order = 80
    records: ClassVar = (ReviewRecord,)
    name: ClassVar = "stage_reviews"
    kind: ClassVar = "reviews"
    machine: ClassVar = "machine"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.reviews = self.create_stage(
            self.name,
            **NAMED,
            rubric="text",
            machine="integer",
            started_at="moment",
            at="moment",
            **FOUND,
        )
        self.ratings = self.create_stage(
            "stage_ratings",
            review="integer",
            criterion="text",
            level="text",
            place_on_scale="integer",
            rejects="integer",
            words="text",
        )
        self.texts = self.create_stage(
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
            self.name,
            "pair_id, side, version, who",
            "who, pair_id",
            lambda first, who, pair: f"{who} has reviewed this version of {pair} on {first}",
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
        self._refuse_other_reviews()
        if self.intake.report.refused:
            return
        self._insert()
        if not self.intake.dry_run:
            fresh = bulk.select(
                """
                SELECT r.id FROM stage_reviews s JOIN audit_review r
                    ON r.narrative_id = s.narrative AND r.auditor_id = s.member
                WHERE s.known IS NULL
                """
            )
            keys = {key for (key,) in fresh}
            review_chain.follow(review_chain.REVIEW, self.intake.project.pk, new=keys)
        run("UPDATE stage_reviews SET state = 2 WHERE known IS NULL")
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
        self.intake.run(
            """
            UPDATE stage_reviewed_texts SET document = (
                SELECT d.id FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = stage_reviewed_texts.doc_id
            )
            """
        )
        self.intake.refuse_rows(
            "SELECT n, place, doc_id FROM stage_reviewed_texts WHERE document IS NULL",
            lambda doc_id: (
                f"there is no document {doc_id} in this project, which was at hand in this review: "
                "load the documents first"
            ),
        )
        refuse_missing_texts(
            self.intake,
            "FROM stage_reviewed_texts s JOIN annotate_document d ON d.id = s.document",
            "version",
        )


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
