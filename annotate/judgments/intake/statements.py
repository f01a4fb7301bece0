"""Intake of statements about documents: judgments, flags, adjudications, claims.

All four find their rows in the same way: the pair, the version of its narrative, the candidate, the
member. Statements that the project already has are recognized by UUID. A record without one gets
one derived from its content, so that loading the same file again changes nothing, even if people
have judged in between.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from django.db.models import Case, F, Min, Q, QuerySet, When, Window
from django.db.models.functions import Coalesce, FirstValue

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.collection.marking import Span
from annotate.judgments.evidence import ANY_LENGTH, merge_spans
from annotate.judgments.intake import find_rows, writing
from annotate.judgments.intake.statement_kinds import (
    ADJUDICATION,
    CONTENT,
    FLAG,
    JUDGMENT,
    KEY,
    NAMESPACE,
    RenamedClaim,
    StagedStatement,
    StagedVerdict,
    StatementKind,
)
from annotate.judgments.models import Adjudication, Flag, Statement
from annotate.pairs.intake.steps import MAX_NAME
from base import bulk
from formats.records import AdjudicationRecord, Claim, Evidence, FlagRecord, JudgmentRecord


class Statements(StagedRecords):
    """Intake of judgments, flags and adjudications; claims are judgments by a machine."""

    order = 60
    records: ClassVar = (JudgmentRecord, Claim, FlagRecord, AdjudicationRecord)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.statements = self.create_stage(StagedStatement)
        self.verdicts = self.create_stage(StagedVerdict)
        self.renamed = self.create_stage(RenamedClaim)

    # --- staging ----------------------------------------------------------------------------------

    def take(
        self, record: JudgmentRecord | Claim | FlagRecord | AdjudicationRecord, place: int
    ) -> None:
        self.taken += 1
        if isinstance(record, Claim):
            record = JudgmentRecord(
                query_id="",
                doc_id=record.doc_id,
                annotator=record.rater,
                relevance=record.relevance,
                side="altered",
                pair_id=record.pair_id,
                note=record.reason,
                machine=True,
            )
        rater = record.by if isinstance(record, AdjudicationRecord) else record.annotator
        if not 0 < len(rater) <= MAX_NAME:
            self.intake.refuse(f"a name has 1 to {MAX_NAME} characters", place)
        elif isinstance(record, JudgmentRecord):
            self._take_judgment(record, place)
        elif isinstance(record, FlagRecord):
            self._add(
                place,
                record,
                FLAG,
                rater,
                words=record.words,
                kind=record.kind,
                uuid=record.uuid,
                ended_at=record.cleared_at,
                made_at=record.made_at,
            )
        else:
            self._take_adjudication(record, place)

    def _take_judgment(self, record: JudgmentRecord, place: int) -> None:
        ended_at = record.superseded_at or record.withdrawn_at
        if record.relevance == self.intake.options.no_grade:
            self._add(
                place,
                record,
                FLAG,
                record.annotator,
                relevance=record.relevance,
                words=record.note or f"no grade in the file ({record.relevance})",
                kind=Flag.Kind.CANNOT_JUDGE,
                ended_at=ended_at,
                made_at=record.made_at,
                ungraded=1,
            )
            return
        try:
            evidence, clauses = _spans(record.evidence), _spans(record.clauses)
        except ValueError as error:
            self.intake.refuse(str(error), place)
            return
        self._add(
            place,
            record,
            JUDGMENT,
            record.annotator,
            evidence=evidence,
            clauses=clauses,
            relevance=record.relevance,
            words=record.note,
            uuid=record.uuid or self._uuid(record),
            verdicts=_verdicts(record),
            **{name: getattr(record, name) for name in Statement.HOW},
            made_at=record.made_at,
            ended_at=ended_at,
            withdrawn_at=record.withdrawn_at,
        )
        for verdict in record.verdicts:
            self.verdicts.add(place, self.statements.count, verdict.condition, verdict.answer)

    def _take_adjudication(self, record: AdjudicationRecord, place: int) -> None:
        if not record.reason.strip():
            self.intake.refuse("an adjudication needs a reason", place)
        elif record.cause not in Adjudication.Cause.values:
            causes = ", ".join(Adjudication.Cause.values)
            self.intake.refuse(f"the cause is “{record.cause}”, not one of {causes}", place)
        elif (record.withdrawn_by is None) != (record.withdrawn_at is None):
            self.intake.refuse("a withdrawn adjudication must say by whom and when", place)
        else:
            self._add(
                place,
                record,
                ADJUDICATION,
                record.by,
                relevance=record.relevance,
                words=record.reason,
                kind=record.cause,
                ended_at=record.withdrawn_at,
                withdrawn_by=record.withdrawn_by,
            )

    def _add(
        self,
        place: int,
        record: JudgmentRecord | FlagRecord | AdjudicationRecord,
        statement: StatementKind,
        rater: str,
        *,
        evidence: Sequence[Span] = (),
        clauses: Sequence[Span] = (),
        **values: Any,
    ) -> None:
        """Stage a statement; `values` are named as in `CONTENT`."""
        if isinstance(record, AdjudicationRecord):
            machine, graded = False, False
        else:
            machine, graded = record.machine, record.uuid is not None and "ungraded" not in values
        content = [values.get(name, empty) for name, empty in CONTENT.items()]
        self.statements.add(
            place,
            statement.what,
            record.query_id or None,
            record.pair_id,
            record.side,
            record.version,
            record.doc_id,
            record.text_version,
            record.at,
            rater,
            int(machine),
            int(graded),
            _json(evidence),
            _json(clauses),
            evidence[-1].end if evidence else 0,
            clauses[-1].end if clauses else 0,
            *content,
            weight=len(values["words"]) + 32 * (len(evidence) + len(clauses)),
        )

    def _uuid(self, record: JudgmentRecord) -> uuid.UUID:
        """Return the UUID for a record without one, derived from the project and its content."""
        content = (
            self.intake.project.pk,
            record.query_id,
            record.pair_id,
            record.side,
            record.version,
            record.doc_id,
            record.annotator,
            record.relevance,
            record.at and record.at.isoformat(),
            record.note,
            # Last, and only if present, so that existing UUIDs of other records do not change.
            *([_verdicts(record)] if record.verdicts else []),
            *([f"text {record.text_version}"] if record.text_version is not None else []),
        )
        parts = ("" if part is None else str(part) for part in content)
        return uuid.uuid5(NAMESPACE, "\x1f".join(parts))

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedStatement.objects.filter(query_id__isnull=False).values_list("query_id", "n")]

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedStatement.objects.values_list("doc_id")]

    # --- comparing lines --------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse lines that contradict each other, drop repeated ones, and note lines without a
        grade.
        """
        _refuse_other_relevance(self.intake)
        _refuse_other_content(self.intake)
        if not self.intake.report.refused:
            _drop_repeated(self.intake)
        _note_ungraded(self.intake)

    # --- writing ----------------------------------------------------------------------------------

    def write(self) -> None:
        """Find the rows of each statement, refuse those that do not fit, and write the others."""
        intake = self.intake
        if self.verdicts.count:
            bulk.index("stage_verdicts", "statement")
        steps: tuple[Callable[[Intake], None], ...] = (
            find_rows.refuse_unknown_grades,
            find_rows.find_members,
            find_rows.find_pairs,
            find_rows.find_candidates,
            find_rows.refuse_other_instructions,
            find_rows.find_texts,
            partial(find_rows.find_narratives, renamed=self.renamed),
            find_rows.refuse_spans_outside,
            find_rows.refuse_unknown_conditions,
        )
        for step in steps:
            step(intake)
            if intake.report.refused:
                return
        writing.write_statements(intake, with_verdicts=bool(self.verdicts.count))
        writing.write_adjudications(intake)
        self.new = StagedStatement.objects.filter(state=2).count()
        self.changed = StagedStatement.objects.filter(state=1).count()


def _spans(spans: Sequence[Evidence]) -> list[Span]:
    """Return spans as they are stored; raise ValueError, with a message, for invalid spans.

    The length of the text is checked only on writing.
    """
    return merge_spans((Span(*span) for span in spans), ANY_LENGTH)


def _json(spans: Sequence[Span]) -> str:
    return json.dumps([span._asdict() for span in spans]) if spans else "[]"


def _verdicts(record: JudgmentRecord) -> str:
    return " ".join(f"{verdict.condition}:{verdict.answer}" for verdict in record.verdicts)


# --- lines that contradict each other -------------------------------------------------------------


def _first(name: str, key: Sequence[Any]) -> Window:
    """Return a field's value on the first line with the same key."""
    return Window(FirstValue(name), partition_by=list(key), order_by="n")


def _refuse_other_relevance(intake: Intake) -> None:
    """Refuse a second, different relevance by one rater for one document, unless times differ.

    A line is compared with the first one, if only one of the two has a time, and with the first
    one of the same time.
    """
    rows = StagedStatement.objects.filter(
        Q(what=JUDGMENT.what) | Q(ungraded=1), ended_at=None
    ).annotate(
        **{f"first_{name}": _first(name, KEY) for name in ("place", "relevance", "at")},
        **{f"then_{name}": _first(name, [*KEY, F("at")]) for name in ("place", "relevance")},
    )
    differs_from_first = ~Q(relevance=F("first_relevance")) & (Q(at=None) | Q(first_at=None))
    intake.refuse_repeats(
        rows.annotate(
            earlier=Case(When(differs_from_first, then="first_place"), default="then_place")
        )
        .filter(differs_from_first | ~Q(relevance=F("then_relevance")))
        .values_list("n", "place", "earlier", "doc_id", "query_id", "rater"),
        lambda earlier, doc_id, query_id, rater: (
            f"{rater} has given document {doc_id}"
            f"{f' of query {query_id}' if query_id else ''} another relevance on "
            f"{earlier}"
        ),
    )


def _refuse_other_content(intake: Intake) -> None:
    """Refuse a UUID that another line of the file uses for other content."""
    content = ("grade", "doc_id", "what", "rater", "verdicts", "kind")
    rows = StagedStatement.objects.filter(given=1).annotate(
        grade=Coalesce("relevance", 0),
        **{f"first_{name}": _first(name, ["uuid"]) for name in ("place", *content)},
    )
    same = {name: F(f"first_{name}") for name in content}
    intake.refuse_repeats(
        rows.exclude(**same).values_list("n", "place", "first_place", "what", "uuid"),
        lambda first, what, key: (
            f"the UUID {uuid.UUID(str(key))} is that of another {what} on {first}"
        ),
    )


def _drop_repeated(intake: Intake) -> None:
    """Keep only the first of several equal statements."""
    content = map(F, ("what", "uuid", "relevance", "kind", "words", "at", "ended_at"))
    equal: list[Any] = [*content, *KEY]
    first = Window(Min("n"), partition_by=equal)
    repeats = StagedStatement.objects.annotate(first=first).filter(n__gt=F("first"))
    StagedStatement.objects.filter(n__in=repeats.values("n")).delete()


def _note_ungraded(intake: Intake) -> None:
    """Note in the report how many lines have the value that means no grade."""
    if ungraded := StagedStatement.objects.filter(ungraded=1, ended_at=None).count():
        lines, outcome = (
            ("1 line has", "kept as a flag")
            if ungraded == 1
            else (f"{ungraded:,} lines have", "kept as flags")
        )
        intake.report.notes.append(
            f"{lines} the value {intake.options.no_grade}, which means no grade: {outcome}, "
            "“cannot judge”"
        )
