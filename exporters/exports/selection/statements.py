"""Records of judgments, flags, adjudications, reviews, rubrics and decisions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from annotate.judgments.models import Adjudication, Flag, Judgment, Verdict
from annotate.projects.models import Project
from audit.reviews import rubrics
from audit.reviews.models import Decision, Rating, Review, ReviewedText, Rubric
from exporters.exports.selection.ordered_rows import (
    BATCH,
    TEXT_READ,
    batches,
    bytewise,
    statement_columns,
    stream_rows,
)
from exporters.exports.selection.selection import Pair, QueryRow
from formats.records import (
    AdjudicationRecord,
    DecisionRecord,
    Evidence,
    FlagRecord,
    JudgmentRecord,
    RatingRecord,
    ReviewRecord,
    RubricRecord,
    TextRead,
    VerdictRecord,
)

# How many judgments' verdicts are fetched at once.
VERDICTS = 500

# The columns of a judgment without its verdicts, and their fields in the record.
_JUDGMENT = statement_columns(
    JudgmentRecord,
    uuid="uuid_text",
    evidence="evidence_text",
    clauses="clauses_text",
    verdicts="",
)
_JUDGMENT_FIELDS = [name for name in JudgmentRecord._fields if name != "verdicts"]


def judgments(of: Sequence[QueryRow]) -> Iterator[JudgmentRecord]:
    """Yield every judgment of people and machines, including superseded ones."""
    for batch in batches(of, BATCH):
        among = [query.pk for query in batch]
        rows = Judgment.objects.filter(candidate__query__in=among)
        # As text: this avoids parsing empty lists of evidence, and converting UUIDs twice.
        with_text = rows.annotate(
            evidence_text=Cast("evidence", TextField()),
            clauses_text=Cast("clauses", TextField()),
            uuid_text=Cast("uuid", TextField()),
            text=TEXT_READ,
        )
        walked = stream_rows(
            with_text.order_by(*_candidate_order("annotator__name"), "uuid"), "pk", *_JUDGMENT
        )
        for (_pk, *row), verdicts in _with_verdicts(walked, among):
            fields = dict(zip(_JUDGMENT_FIELDS, row, strict=True))
            fields["uuid"] = _with_hyphens(fields["uuid"])
            for spans in ("evidence", "clauses"):
                fields[spans] = _evidence(fields[spans])
            yield JudgmentRecord(**fields, verdicts=verdicts)


def _with_verdicts(
    rows: Iterable[tuple[Any, ...]], of: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], tuple[VerdictRecord, ...]]]:
    """Yield each judgment, its key first, with its verdicts; most collections have no verdicts."""
    if not Verdict.objects.of_judgments().filter(statement__candidate__query__in=of).exists():
        yield from ((row, ()) for row in rows)
        return
    for chunk in batches(rows, VERDICTS):
        verdicts: dict[int, list[VerdictRecord]] = {}
        stored = Verdict.objects.filter(statement__in=[row[0] for row in chunk])
        for judgment, number, answer in stream_rows(
            stored.order_by("condition__number"), "statement", "condition__number", "answer"
        ):
            verdicts.setdefault(judgment, []).append(VerdictRecord(number, answer))
        yield from ((row, tuple(verdicts.get(row[0], ()))) for row in chunk)


def _with_hyphens(uuid: str) -> str:
    """Return a UUID with hyphens; SQLite stores only its digits."""
    if len(uuid) == 32:
        return f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
    return uuid


def _evidence(spans: str) -> tuple[Evidence, ...]:
    if spans == "[]":
        return ()
    return tuple(Evidence(span["start"], span["end"]) for span in json.loads(spans))


def flags(of: Sequence[QueryRow]) -> Iterator[FlagRecord]:
    """Yield every flag, including cleared ones."""
    for batch in batches(of, BATCH):
        rows = Flag.objects.filter(candidate__query__in=[query.pk for query in batch])
        ordered = rows.annotate(text=TEXT_READ).order_by(
            *_candidate_order("annotator__name"), bytewise("flag"), "uuid"
        )
        for row in stream_rows(ordered, *statement_columns(FlagRecord, kind="flag", words="note")):
            record = FlagRecord._make(row)
            yield record._replace(uuid=str(record.uuid))


def adjudications(of: Sequence[QueryRow]) -> Iterator[AdjudicationRecord]:
    """Yield every settling decision, including withdrawn ones."""
    for batch in batches(of, BATCH):
        rows = Adjudication.objects.filter(candidate__query__in=[query.pk for query in batch])
        ordered = rows.annotate(text=TEXT_READ).order_by(*_candidate_order("by__name"), "relevance")
        for row in stream_rows(ordered, *statement_columns(AdjudicationRecord)):
            yield AdjudicationRecord._make(row)


def reviews(of: Sequence[Pair]) -> Iterator[ReviewRecord]:
    """Yield every submitted review, with its ratings in the order of the criteria."""
    keys: dict[tuple[int, str], list[str]] = {}
    for batch in batches(of, BATCH):
        rows = Review.objects.submitted().filter(narrative__pair__in=[pair.pk for pair in batch])
        submitted = stream_rows(
            rows.order_by(*_instruction_order("auditor__name")),
            "pk",
            "narrative__pair__project",
            "narrative__pair__pair_id",
            "narrative__pair__query__query_id",
            "auditor__name",
            "rubric",
            "narrative__side",
            "narrative__version",
            "started_at",
            "submitted_at",
            "auditor__is_machine",
        )
        for chunk in batches(submitted, BATCH):
            ratings: dict[int, list[RatingRecord]] = {}
            answers = Rating.objects.filter(review__in=[row[0] for row in chunk])
            for review, *answer in stream_rows(answers, "review", "criterion", "level", "words"):
                ratings.setdefault(review, []).append(RatingRecord._make(answer))
            documents: dict[int, list[TextRead]] = {}
            at_hand = ReviewedText.objects.filter(review__in=[row[0] for row in chunk])
            ordered = at_hand.order_by(bytewise("document__doc_id"))
            for review, *read in stream_rows(ordered, "review", "document__doc_id", "text_version"):
                documents.setdefault(review, []).append(TextRead._make(read))
            for pk, project, *fields, machine in chunk:
                parts = tuple(ratings.get(pk, [])), machine, tuple(documents.get(pk, []))
                record = ReviewRecord._make([*fields, *parts])
                under = project, record.rubric
                if under not in keys:
                    keys[under] = list(rubrics.get_rubric(*under).keys)
                yield record._replace(ratings=_in_order(record.ratings, keys[under]))


def _in_order(ratings: Iterable[RatingRecord], keys: list[str]) -> tuple[RatingRecord, ...]:
    return tuple(sorted(ratings, key=lambda rating: keys.index(rating.criterion)))


def rubrics_of(project: Project) -> Iterator[RubricRecord]:
    """Yield the project's own rubrics and those it chose, by name, with the current one last."""
    kept = list(Rubric.objects.filter(project=project))
    chosen = [rubric for rubric in kept if rubric.chosen_at is not None]
    in_force = max(chosen, key=lambda rubric: (rubric.chosen_at, rubric.pk), default=None)
    for rubric in sorted(kept, key=lambda rubric: (rubric == in_force, rubric.name.encode())):
        yield rubric.content


def decisions(of: Sequence[Pair]) -> Iterator[DecisionRecord]:
    """Yield every decision on an instruction, including withdrawn ones."""
    for batch in batches(of, BATCH):
        rows = Decision.objects.filter(narrative__pair__in=[pair.pk for pair in batch])
        for row in stream_rows(
            rows.order_by(*_instruction_order("by__name"), "at", bytewise("outcome")),
            "narrative__pair__pair_id",
            "narrative__pair__query__query_id",
            "by__name",
            "outcome",
            "narrative__side",
            "narrative__version",
            "at",
            "reason",
            "withdrawn_by__name",
            "withdrawn_at",
        ):
            yield DecisionRecord._make(row)


def _candidate_order(who: str) -> list[Any]:
    """Return the order of records about candidates: document, narrative version, person, time."""
    return [
        bytewise("candidate__query__query_id"),
        bytewise("candidate__document__doc_id"),
        bytewise("narrative__pair__pair_id"),
        bytewise("narrative__side"),
        "narrative__version",
        bytewise(who),
        "at",
    ]


def _instruction_order(who: str) -> list[Any]:
    """Return the order of records about instructions."""
    return [
        bytewise("narrative__pair__pair_id"),
        bytewise("narrative__side"),
        "narrative__version",
        bytewise(who),
    ]
