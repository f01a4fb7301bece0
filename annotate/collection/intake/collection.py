"""Intake of what pairs and qrels do not have: queries, candidates, and what is taken out, by people
and by machines' filters.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.db.models import Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate.collection.intake.arrivals import (
    Intake,
    NamedQuery,
    StagedLine,
    StagedRecords,
    placed_rows,
)
from annotate.collection.intake.qrels import NO_GRADE
from annotate.collection.models import Candidate, Query
from annotate.collection.removal import MAX_REASON
from annotate.pairs.intake.steps import (
    MAX_NAME,
    refuse_other_query,
    refuse_unknown_pairs,
    update_titles,
)
from base.stages import StagedRow
from formats.records import CollectionRecord, FilterRecord

# The beginning of the reason for taking out what a machine's filter discards.
DISCARDED = "Discarded by {}: "


class _Target(NamedTuple):
    """What a line can be about, as stages name it.

    It has its table, the column of a machine's decision on it, and how its row `t` is found from
    the query `q` of a line `s`.
    """

    what: str
    table: str
    column: str
    joined: str


_TARGETS = (
    _Target("query", "annotate_query", "query_id", "JOIN annotate_query t ON t.id = q.id"),
    _Target(
        "instruction",
        "annotate_instructionpair",
        "pair_id",
        "JOIN annotate_instructionpair t ON t.query_id = q.id AND t.pair_id = s.pair_id",
    ),
    _Target(
        "candidate",
        "annotate_candidate",
        "candidate_id",
        "JOIN annotate_document d ON d.project_id = q.project_id AND d.doc_id = s.doc_id "
        "JOIN annotate_candidate t ON t.query_id = q.id AND t.document_id = d.id",
    ),
)


class _TargetedRecords(StagedRecords):
    """Records about queries, instructions and candidates, which may take them out."""

    stage: ClassVar[str]

    def find(self, target: _Target) -> None:
        """Find the row that each line about this kind of target is about."""
        self.intake.run(
            f"""
            UPDATE {self.stage} SET target = x.target FROM (
                SELECT s.n, t.id AS target FROM {self.stage} s
                JOIN annotate_query q ON q.project_id = %(project)s AND q.query_id = s.query_id
                {target.joined} WHERE s.what = '{target.what}'
            ) x WHERE x.n = {self.stage}.n
            """  # noqa: S608 (our own statements)
        )

    def take_out(self, target: _Target, which: str, *, at: str, reason: str) -> None:
        """Take out the rows `t` of those lines `s` that meet a condition, by whom they name."""
        self.intake.row_counts("taken_out").new += self.intake.run(
            f"""
            UPDATE {target.table} AS t SET removed_at = {at}, removed_reason = {reason},
                removed_by_id = (
                    SELECT m.id FROM annotate_membership m
                    WHERE m.project_id = %(project)s AND m.name = s.who
                )
            FROM {self.stage} s
            WHERE s.target = t.id AND s.what = '{target.what}' AND {which}
            """  # noqa: S608
        )


class StagedRecord(StagedLine):
    """What a line says of a query, an instruction or a candidate."""

    what = models.TextField()
    query_id = models.TextField()
    pair_id = models.TextField()
    doc_id = models.TextField()
    relevance = models.BigIntegerField(null=True)
    title = models.TextField()
    description = models.TextField()
    reason = models.TextField()
    at = models.DateTimeField(null=True)
    who = models.TextField(null=True)
    machine = models.BigIntegerField()
    # Looked up when it is written: the row, and whether it is new (2) or changed (1).
    target = models.BigIntegerField(db_default=0)
    state = models.IntegerField(db_default=0)
    retitled = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        db_table = "stage_collection"


class Collection(_TargetedRecords):
    """Queries, instructions and candidates. What is taken out already keeps its reason."""

    # After the decisions of machines' filters.
    order = 75
    records: ClassVar = (CollectionRecord,)
    stage: ClassVar = "stage_collection"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.rows = self.create_stage(StagedRecord)

    def take(self, record: CollectionRecord, place: int) -> None:
        self.taken += 1
        if len(record.reason) > MAX_REASON:
            self.intake.refuse(f"the reason is longer than {MAX_REASON} characters", place)
        elif len(record.by or "") > MAX_NAME:
            self.intake.refuse(f"a name has at most {MAX_NAME} characters", place)
        else:
            ids = (record.query_id, record.pair_id or "", record.doc_id or "")
            self.rows.add(
                *(place, record.type, *ids, record.relevance),
                *(record.title, record.description, record.reason, record.at),
                *(record.by, int(record.machine)),
                weight=len(record.description) + len(record.reason),
            )

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedRecord.objects.values_list("query_id", "n")]

    def doc_ids(self) -> list[QuerySet[Any]]:
        return [StagedRecord.objects.filter(what="candidate").values_list("doc_id")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedRecord.objects.annotate(grade=Coalesce("relevance", NO_GRADE)),
            ["what", "query_id", "pair_id", "doc_id"],
            ["reason", "title", "description", "grade"],
            lambda first, what, query_id, pair_id, doc_id: (
                f"{what} {doc_id or pair_id or query_id} is different on {first}"
            ),
        )

    def write(self) -> None:
        refuse_other_query(self.intake, StagedRecord.objects.all())
        for target in _TARGETS:
            self.find(target)
        of_pair = Query.objects.filter(
            pairs__project=self.intake.project, pairs__pair_id=OuterRef("pair_id")
        )
        refuse_unknown_pairs(
            self.intake,
            StagedRecord.objects.filter(~Exists(of_pair), what="instruction"),
        )
        self.intake.add_raters((StagedRecord.objects.all(), "who", "machine"))
        if self.intake.report.refused:
            return
        self._write_queries()
        self._write_candidates()
        for target in _TARGETS:
            self._take_out(target)
        self.new = StagedRecord.objects.filter(state=2).count()
        self.changed = StagedRecord.objects.filter(state=1).count()

    def _write_queries(self) -> None:
        update_titles(self.intake, StagedRecord)
        queries = StagedRecord.objects.filter(what="query")
        fresh = NamedQuery.objects.filter(fresh=1)
        queries.filter(query_id__in=fresh.values("query_id")).update(state=2)
        queries.filter(retitled=1).update(state=1)

    def _write_candidates(self) -> None:
        """Write the candidates that the project lacks, and relevances that differ."""
        candidates = StagedRecord.objects.filter(what="candidate")
        made = candidates.filter(target=0).update(state=2)
        self.intake.insert_candidates(
            f"SELECT q.id AS query, d.id AS document, s.relevance {placed_rows(self.stage)} "
            "AND s.what = 'candidate' AND s.target = 0"
        )
        self.find(_TARGETS[-1])
        same = Candidate.with_removed.filter(
            pk=OuterRef("target"), prior_relevance=OuterRef("relevance")
        )
        StagedRecord.objects.filter(~Exists(same), state=0, relevance__isnull=False).update(state=1)
        changed = self.intake.run(
            """
            UPDATE annotate_candidate SET prior_relevance = s.relevance FROM stage_collection s
            WHERE s.what = 'candidate' AND s.state = 1 AND s.target = annotate_candidate.id
            """
        )
        rows = self.intake.row_counts("candidates")
        rows.changed += changed
        rows.unchanged += candidates.count() - made - changed

    def _take_out(self, target: _Target) -> None:
        """Take out what the lines say, and mark these lines as changes."""
        still_in = "t.removed_at IS NULL"
        if target.what == "instruction":
            # A decision on its reviews removes an instruction without a reason.
            still_in = f"({still_in} OR t.removed_reason = '')"
        which = f"s.reason <> '' AND {still_in}"
        self.intake.run(
            f"""
            UPDATE stage_collection SET state = 1 WHERE state = 0 AND n IN (
                SELECT s.n FROM stage_collection s JOIN {target.table} t
                ON s.target = t.id AND s.what = '{target.what}' AND {which}
            )
            """  # noqa: S608 (our own statements)
        )
        self.take_out(target, which, at="COALESCE(s.at, %(now)s)", reason="s.reason")


class StagedFilterDecision(StagedLine):
    """A decision of a machine's filter."""

    what = models.TextField()
    query_id = models.TextField()
    who = models.TextField()
    decision = models.TextField()
    reason = models.TextField()
    doc_id = models.TextField()
    pair_id = models.TextField()
    back = models.BigIntegerField()
    target = models.BigIntegerField(db_default=0)
    known = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        db_table = "stage_filter"


class Filters(_TargetedRecords):
    """Decisions of machines on queries, instructions and documents of this project."""

    order = 70
    records: ClassVar = (FilterRecord,)
    stage: ClassVar = "stage_filter"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.decisions = self.create_stage(StagedFilterDecision)

    def take(self, record: FilterRecord, place: int) -> None:
        self.taken += 1
        if not 0 < len(record.machine) <= MAX_NAME:
            self.intake.refuse(f"a machine's name has 1 to {MAX_NAME} characters", place)
            return
        most = MAX_REASON - len(DISCARDED.format(record.machine))
        if len(record.reason) > most:
            self.intake.refuse(f"the reason is longer than {most} characters", place)
            return
        ids = (record.doc_id or "", record.pair_id or "")
        back = int(record.brought_back)
        what = "instruction" if record.pair_id else "candidate" if record.doc_id else "query"
        self.decisions.add(place, what, *record[:4], *ids, back, weight=len(record.reason))

    def check(self) -> None:
        self.refuse_contradictions(
            StagedFilterDecision.objects.all(),
            ["query_id", "doc_id", "pair_id", "who"],
            ["decision", "reason", "back"],
            lambda first, query_id, doc_id, pair_id, machine: (
                f"{machine} decided otherwise on this of query {query_id} on {first}"
            ),
        )

    def write(self) -> None:
        for target in _TARGETS:
            self.find(target)
        self.intake.refuse_rows(
            StagedFilterDecision.objects.filter(target=0).values_list(
                "n", "place", "query_id", "doc_id", "pair_id"
            ),
            _unknown,
        )
        self.intake.add_raters((StagedFilterDecision.objects.all(), "who", Value(1)))
        for target in _TARGETS:
            self._refuse_other(target)
        if self.intake.report.refused:
            return
        for target in _TARGETS:
            self._write(target)
        self.new = StagedFilterDecision.objects.filter(known=0).count()
        counts = self.intake.row_counts("filter_decisions")
        counts.new += self.new
        counts.unchanged += StagedFilterDecision.objects.filter(known=1).count()

    def _refuse_other(self, target: _Target) -> None:
        """Refuse a decision that differs from an earlier one of the machine; mark known ones."""
        here = f"""
            FROM stage_filter s
            JOIN annotate_membership m ON m.project_id = %(project)s AND m.name = s.who
            JOIN annotate_filterdecision o
                ON o.machine_id = m.id AND o.{target.column} = s.target
            WHERE s.what = '{target.what}'
            """
        self.intake.refuse_rows(
            f"""
            SELECT s.n, s.place, s.who, s.query_id {here}
            AND (CASE WHEN o.discards THEN 'discard' ELSE 'keep' END) <> s.decision
            """,
            lambda machine, query_id: (
                f"{machine} decided otherwise on this of query {query_id} before: bring it back, "
                "or take it out, on its page"
            ),
        )
        self.intake.run(f"UPDATE stage_filter SET known = 1 WHERE n IN (SELECT s.n {here})")  # noqa: S608

    def _write(self, target: _Target) -> None:
        """Insert the new decisions about one kind of object, and take out what they discard."""
        self.intake.run(
            f"""
            INSERT INTO annotate_filterdecision
                (project_id, machine_id, {target.column}, discards, reason, at)
            SELECT %(project)s, m.id, s.target, s.decision = 'discard', s.reason, %(now)s
            FROM stage_filter s
            JOIN annotate_membership m ON m.project_id = %(project)s AND m.name = s.who
            WHERE s.what = '{target.what}' AND s.known = 0 ORDER BY s.n
            """  # noqa: S608 (our own statements)
        )
        self.take_out(
            target,
            "s.known = 0 AND s.decision = 'discard' AND s.back = 0 AND t.removed_at IS NULL",
            at="%(now)s",
            reason="'Discarded by ' || s.who || ': ' || s.reason",
        )


def _unknown(query_id: str, doc_id: str, pair_id: str) -> str:
    if doc_id:
        return f"query {query_id} has no document {doc_id} in its pool"
    if pair_id:
        return f"query {query_id} has no instruction pair {pair_id}"
    return f"there is no query {query_id} here"
