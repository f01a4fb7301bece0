"""Records of what people said: judgments, flags, repeats, checks, reviews and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from django.db.models import Prefetch, Q

from annotate.collection.models import Query
from annotate.judgments.models import Adjudication, Flag, Judgment, Repeat, Verdict
from annotate.pairs.models import Condition
from annotate.projects.models import Project
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import with_checks
from audit.reviews import rubrics
from audit.reviews.models import Decision, Review, ReviewedText, Rubric
from base.bulk import in_byte_order
from exporters.exports.selection.ordered_rows import (
    BATCH,
    TEXT_READ,
    batches,
    statement_columns,
    stream_rows,
)
from exporters.exports.selection.selection import Pair
from formats.fields import to_json
from formats.reading import write_lines
from formats.records import (
    AdjudicationRecord,
    DecisionRecord,
    Evidence,
    FlagRecord,
    JudgmentRecord,
    RatingRecord,
    RepeatRecord,
    ReviewRecord,
    RubricRecord,
    TextRead,
    VerdictRecord,
)

# Fields that are written only if they have a value.
_OMIT_IF_EMPTY = {
    *("side", "shows_reason", "claimed_topic", "claimed_constraint", "reason"),
    *("questions", "reason_read_at"),
}
# The fields of a checked label.
_LABEL = (
    *("sample", "seed", "pair_id", "query_id", "doc_id", "side", "version", "stratum", "missed"),
    *("claimed", "claimed_topic", "claimed_constraint", "reason"),
)
_IS_OVER = Q(outcome__isnull=False) | Q(unjudgeable=True)
# How many judgments' verdicts are fetched at once.
VERDICTS = 500
# The columns of a judgment without its verdicts, and their fields in the record.
_JUDGMENT = statement_columns(JudgmentRecord._fields, verdicts="")
_JUDGMENT_FIELDS = [name for name in JudgmentRecord._fields if name != "verdicts"]


def repeats(project: Project) -> Iterator[RepeatRecord]:
    """Yield every current answer to a repeat, in the order of judgments."""
    rows = Repeat.objects.current().filter(annotator__project=project)
    ordered = rows.order_by(*_candidate_order("annotator__name"))
    for row in stream_rows(ordered, *statement_columns(RepeatRecord._fields)):
        yield RepeatRecord._make(row)


def samples(project: Project) -> Iterator[dict[str, Any]]:
    """Yield every sample in byte order of their names: how it was made, and its labels by stratum.

    `side` is "" for all sides.
    """
    rows = Sample.objects.filter(project=project).select_related("rater", "created_by")
    for sample in rows.order_by(in_byte_order("name")):
        items = with_checks(SampleItem.objects.filter(sample=sample))
        yield {
            "sample": sample.name,
            "kind": sample.kind,
            "asks": sample.asks,
            "side": sample.side,
            "source": sample.source,
            "rater": sample.rater.name if sample.rater else None,
            "relevant_only": sample.relevant_only,
            "stratify": sample.stratify,
            "per": sample.per,
            "size": sample.size,
            "seed": sample.seed,
            "fewer": sample.fewer,
            "at_least": sample.at_least,
            "depth": sample.depth,
            "below": sample.below,
            "runs": list(
                sample.runs.order_by(in_byte_order("name")).values_list("name", flat=True)
            ),
            "frame": dict(sorted(sample.frame.items())),
            "shows_claim": sample.shows_claim,
            "shows_reason": sample.shows_reason,
            "by": sample.created_by.name,
            "at": sample.created_at,
            "labels": items.count(),
            "checked": items.filter(_IS_OVER).count(),
        }


def labels(project: Project) -> Iterator[dict[str, Any]]:
    """Yield every label on which two checkers agree or which a third settled, with their checks.

    Labels are in byte order of sample, pair, side and document. The rest would reveal an open
    check's first answer to the next checker. `outcome` is None if nobody could judge a label.
    """
    every = SampleItem.objects.filter(sample__project=project)
    outcomes = dict(with_checks(every).filter(_IS_OVER).order_by().values_list("pk", "outcome"))
    rows = stream_rows(
        every.order_by(
            in_byte_order("sample__name"),
            in_byte_order("narrative__pair__pair_id"),
            in_byte_order("narrative__side"),
            "narrative__version",
            in_byte_order("candidate__document__doc_id"),
        ),
        "pk",
        *statement_columns(
            _LABEL,
            sample="sample__name",
            seed="sample__seed",
            query_id="narrative__pair__query__query_id",
        ),
    )
    numbers: dict[str, int] = {}
    closed = (row for row in rows if row[0] in outcomes)
    for batch in batches(closed, BATCH):
        by_item = _current_checks([pk for pk, *_label in batch], numbers)
        for pk, *label in batch:
            checks = by_item.get(pk, [])
            yield {
                **dict(zip(_LABEL, label, strict=True)),
                "outcome": outcomes[pk],
                "settled": any(check["place"] == Check.SETTLES for check in checks),
                "checks": checks,
            }


def count_checked(project: Project) -> int:
    """Return how many labels have a completed check, and so a line."""
    return with_checks(SampleItem.objects.filter(sample__project=project)).filter(_IS_OVER).count()


def count_open(project: Project) -> int:
    """Return how many labels are not fully checked yet, and so have no line."""
    return SampleItem.objects.filter(sample__project=project).count() - count_checked(project)


def write_checks(records: Iterable[dict[str, Any]], stream: IO[bytes]) -> int:
    """Write one sample or label per line; return the number of lines."""
    return write_lines((to_json(_fields(record)) for record in records), stream)


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that are written."""
    fields = {
        name: value
        for name, value in record.items()
        if name not in _OMIT_IF_EMPTY or _has_value(name, value)
    }
    if "checks" in record:
        fields["checks"] = [_fields(check) for check in record["checks"]]
    return fields


def _has_value(name: str, value: Any) -> bool:
    """Return whether a field has a value worth writing; False does, except for `shows_reason`."""
    return value is not None and value not in ("", {}) and (name != "shows_reason" or value)


def _current_checks(items: list[int], numbers: dict[str, int]) -> dict[int, list[dict[str, Any]]]:
    """Return the current checks of these items, by place: 1 and 2 are blind, 3 settles.

    `numbers` caches the numbers of conditions by their keys; new ones are added.
    """
    by_item: dict[int, list[dict[str, Any]]] = {}
    checks = Check.objects.current().filter(item__in=items).select_related("checker")
    rows = list(checks.order_by("item", "place"))
    unknown = {int(key) for check in rows for key in check.verdicts if key not in numbers}
    with_number = Condition.objects.filter(pk__in=unknown).values_list("pk", "number")
    numbers.update({str(key): number for key, number in with_number})
    for check in rows:
        answers = sorted((numbers[key], answer) for key, answer in check.verdicts.items())
        record = {
            "place": check.place,
            "annotator": check.checker.name,
            "relevance": check.relevance,
            "cannot_judge": check.cannot_judge,
            "verdicts": {str(number): answer for number, answer in answers},
            "questions": check.questions(),
            "words": check.words,
            "reason_read_at": check.reason_read_at,
            "at": check.at,
        }
        by_item.setdefault(check.item_id, []).append(record)
    return by_item


def judgments(of: Sequence[Query]) -> Iterator[JudgmentRecord]:
    """Yield every judgment of people and machines, including superseded ones."""
    for batch in batches(of, BATCH):
        among = [query.pk for query in batch]
        rows = Judgment.objects.filter(candidate__query__in=among).annotate(text=TEXT_READ)
        ordered = rows.order_by(*_candidate_order("annotator__name"), "uuid")
        walked = stream_rows(ordered, "pk", *_JUDGMENT)
        for (_pk, *row), verdicts in _with_verdicts(walked, among):
            fields = dict(zip(_JUDGMENT_FIELDS, row, strict=True))
            fields["uuid"] = str(fields["uuid"])
            for spans in ("evidence", "clauses"):
                fields[spans] = tuple(Evidence(its["start"], its["end"]) for its in fields[spans])
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


def flags(of: Sequence[Query]) -> Iterator[FlagRecord]:
    """Yield every flag, including cleared ones."""
    columns = statement_columns(FlagRecord._fields, kind="flag", words="note")
    for batch in batches(of, BATCH):
        rows = Flag.objects.filter(candidate__query__in=[query.pk for query in batch])
        ordered = rows.annotate(text=TEXT_READ).order_by(
            *_candidate_order("annotator__name"), in_byte_order("flag"), "uuid"
        )
        for row in stream_rows(ordered, *columns):
            record = FlagRecord._make(row)
            yield record._replace(uuid=str(record.uuid))


def adjudications(of: Sequence[Query]) -> Iterator[AdjudicationRecord]:
    """Yield every settling decision, including withdrawn ones."""
    for batch in batches(of, BATCH):
        rows = Adjudication.objects.filter(candidate__query__in=[query.pk for query in batch])
        ordered = rows.annotate(text=TEXT_READ).order_by(*_candidate_order("by__name"), "relevance")
        for row in stream_rows(ordered, *statement_columns(AdjudicationRecord._fields)):
            yield AdjudicationRecord._make(row)


def reviews(of: Sequence[Pair]) -> Iterator[ReviewRecord]:
    """Yield every submitted review, with its ratings in the order of the criteria."""
    read = ReviewedText.objects.select_related("document")
    texts = Prefetch("texts", read.order_by(in_byte_order("document__doc_id")))
    criteria: dict[str, list[str]] = {}
    for batch in batches(of, BATCH):
        rows = (
            Review.objects.submitted()
            .filter(narrative__pair__in=[pair.pk for pair in batch])
            .select_related("auditor", "narrative__pair__query")
            .prefetch_related("ratings", texts)
        )
        for review in rows.order_by(*_instruction_order("auditor__name")).iterator(BATCH):
            pair = review.narrative.pair
            if review.rubric not in criteria:
                rubric = rubrics.get_rubric(pair.project_id, review.rubric)
                criteria[review.rubric] = list(rubric.keys)
            order = criteria[review.rubric].index
            yield ReviewRecord(
                pair_id=pair.pair_id,
                query_id=pair.query.query_id,
                auditor=review.auditor.name,
                rubric=review.rubric,
                side=review.narrative.side,
                version=review.narrative.version,
                started_at=review.started_at,
                at=review.submitted_at,
                ratings=tuple(
                    RatingRecord(rating.criterion, rating.level, rating.words)
                    for rating in sorted(review.ratings.all(), key=lambda its: order(its.criterion))
                ),
                machine=review.auditor.is_machine,
                documents=tuple(
                    TextRead(text.document.doc_id, text.text_version) for text in review.texts.all()
                ),
            )


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
            rows.order_by(*_instruction_order("by__name"), "at", in_byte_order("outcome")),
            *statement_columns(DecisionRecord._fields, query_id="narrative__pair__query__query_id"),
        ):
            yield DecisionRecord._make(row)


def _candidate_order(who: str) -> list[Any]:
    """Return the order of records about candidates: document, narrative version, person, time."""
    return [
        in_byte_order("candidate__query__query_id"),
        in_byte_order("candidate__document__doc_id"),
        in_byte_order("narrative__pair__pair_id"),
        in_byte_order("narrative__side"),
        "narrative__version",
        in_byte_order(who),
        "at",
    ]


def _instruction_order(who: str) -> list[Any]:
    """Return the order of records about instructions."""
    return [
        in_byte_order("narrative__pair__pair_id"),
        in_byte_order("narrative__side"),
        "narrative__version",
        in_byte_order(who),
    ]
