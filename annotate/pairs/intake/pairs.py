"""Intake of instruction pairs: narratives with their versions."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import NullIf

from annotate.collection.intake.arrivals import Intake, StagedLine, StagedRecords
from annotate.collection.intake.documents import ANALYZE_AFTER
from annotate.pairs import condition_lines
from annotate.pairs.intake.steps import (
    MAX_NAME,
    WITHDRAWN_BY,
    point_to_pairs,
    refuse_other_query,
    reopen_assignments,
    update_titles,
)
from annotate.pairs.models import Condition, InstructionPair, Narrative
from base import bulk
from base.stages import StagedRow, key_of
from formats.records import PairRecord, writer_of

MAX_CATEGORY = 60
MAX_MODEL = 120
MAX_NOTE = 500
MAX_CORE = 255
MAX_SOURCE_FIELDS = 20_000
MAX_DOMAIN = 120


class StagedPair(StagedLine):
    """An instruction pair."""

    pair_id = models.TextField()
    query_id = models.TextField()
    title = models.TextField()
    description = models.TextField()
    category = models.TextField()
    origin = models.TextField()
    model = models.TextField()
    domain = models.TextField()
    restates = models.TextField()
    core = models.TextField()
    source_fields = models.TextField()
    # Its row, if the project has it already.
    instruction = key_of(InstructionPair, "pair")
    retitled = models.IntegerField(db_default=0)
    changed = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        db_table = "stage_pairs"


class StagedNarrative(StagedLine):
    """A version of a narrative."""

    pair_id = models.TextField()
    side = models.TextField()
    version = models.BigIntegerField()
    text = models.TextField()
    author = models.TextField(null=True)
    at = models.DateTimeField(null=True)
    note = models.TextField()
    origin = models.TextField()
    model = models.TextField()
    # Whether the version itself names its writer; if not, the pair does.
    names_writer = models.BigIntegerField()
    withdrawn_by = models.TextField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    # All conditions as JSON, for comparison with those of another line.
    conditions = models.TextField()
    instruction = key_of(InstructionPair, "pair")
    # The same version, if the project has it already.
    known = key_of(Narrative, "known")

    class Meta(StagedRow.Meta):
        db_table = "stage_narratives"


class StagedCondition(StagedLine):
    """A condition of a version of a narrative."""

    pair_id = models.TextField()
    side = models.TextField()
    version = models.BigIntegerField()
    number = models.BigIntegerField()
    name = models.TextField()
    text = models.TextField()
    negated = models.BigIntegerField(null=True)
    narrative = key_of(Narrative, "narrative")

    class Meta(StagedRow.Meta):
        db_table = "stage_conditions"


class Pairs(StagedRecords):
    """Instruction pairs with all versions of their narratives."""

    order = 30
    records: ClassVar = (PairRecord,)
    defines_queries = True

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.pairs = self.create_stage(StagedPair)
        self.narratives = self.create_stage(StagedNarrative)
        self.conditions = self.create_stage(StagedCondition)

    def take(self, record: PairRecord, place: int) -> None:
        self.taken += 1
        if fault := fault_of(record):
            self.intake.refuse(fault, place)
            return
        self.pairs.add(
            place,
            *record[:7],
            record.domain,
            record.restates,
            record.core,
            record.source_fields,
            weight=len(record.title) + len(record.description) + len(record.source_fields),
        )
        for narrative in record.narratives:
            self.narratives.add(
                place,
                record.pair_id,
                narrative.side,
                narrative.version,
                narrative.text,
                narrative.author,
                narrative.at,
                narrative.note,
                *writer_of(record, narrative),
                int(bool(narrative.origin)),
                narrative.withdrawn_by,
                narrative.withdrawn_at,
                json.dumps(narrative.conditions) if narrative.conditions else "",
                weight=len(narrative.text),
            )
            for number, condition in enumerate(narrative.conditions, 1):
                name, text, negated = condition
                self.conditions.add(
                    *(place, record.pair_id, narrative.side, narrative.version, number, name, text),
                    None if negated is None else int(negated),
                )

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedPair.objects.values_list("query_id", "n")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedPair.objects.all(),
            ["pair_id"],
            [
                *("query_id", "title", "description", "category", "origin", "model"),
                *("domain", "restates"),
            ],
            lambda first, pair_id: (
                f"instruction pair {pair_id} was already on {first}, described differently"
            ),
        )
        self.refuse_contradictions(
            StagedNarrative.objects.all(),
            ["pair_id", "side", "version"],
            ["text", "conditions", "origin", "model"],
            lambda first, pair_id, side, version: (
                f"version {version} of the {side} narrative of {pair_id} has other words, "
                f"conditions or another writer on {first}"
            ),
        )
        # Repeated conditions belong to repeated narratives, so they are the same.
        self.refuse_contradictions(
            StagedCondition.objects.all(),
            ["pair_id", "side", "version", "number"],
            ["text", "name"],
            lambda first, pair_id, side, version, number: (
                f"condition {number} of the {side} narrative of {pair_id}, version {version}, has "
                f"other words on {first}"
            ),
        )
        for columns, what in (
            (("title", "description"), "title or description"),
            (("core",), "core query"),
        ):
            self.intake.refuse_rows(
                StagedPair.objects.filter(query_id__in=_queries_with_several(*columns)).values_list(
                    "n", "place", "query_id"
                ),
                partial(_different_description, what),
            )
        self.intake.refuse_rows(
            StagedPair.objects.filter(query_id__in=_queries_with_several("domain"))
            .exclude(domain="")
            .values_list("n", "place", "query_id"),
            lambda query_id: f"query {query_id} belongs to another domain on another line",
        )

    def write(self) -> None:
        # PostgreSQL uses no index that the same transaction creates after updating its table.
        bulk.index("stage_pairs", "pair_id")
        bulk.index("stage_narratives", "pair_id, side")
        if self.conditions.count:
            bulk.index("stage_conditions", "pair_id, side, version, number")
        pairs = InstructionPair.objects.filter(
            project=self.intake.project, pair_id=OuterRef("pair_id")
        )
        StagedPair.objects.update(instruction=Subquery(pairs.values("pk")))
        StagedNarrative.objects.update(known=Subquery(self._named_narratives().values("pk")))
        refuse_other_query(self.intake, StagedPair.objects.all())
        refuse_overwriting(self.intake)
        refuse_unknown_restated(self.intake)
        if self.intake.report.refused:
            return
        update_titles(self.intake, StagedPair)
        self._write_pairs()
        self._write_restated()
        narratives = StagedNarrative.objects.all()
        self.intake.add_raters(
            (narratives, "author", Value(0)), (narratives, "withdrawn_by", Value(0))
        )
        self._write_narratives()
        self._write_conditions()
        self._write_missing_originals()
        self.new = StagedPair.objects.filter(instruction=None).count()
        changed = Q(changed=1) | Q(retitled=1)
        self.changed = StagedPair.objects.filter(changed, instruction__isnull=False).count()

    def _named_narratives(self) -> QuerySet[Narrative]:
        """Return the narrative version that a row of a stage names."""
        return Narrative.objects.filter(
            pair__project=self.intake.project,
            pair__pair_id=OuterRef("pair_id"),
            side=OuterRef("side"),
            version=OuterRef("version"),
        )

    def _write_pairs(self) -> None:
        run = self.intake.run
        other_model = ~Q(instruction__model=F("model")) & (~Q(model="") | ~Q(origin="llm"))
        other_core = ~Q(instruction__query__core=F("core")) | Q(
            instruction__query__core_given=False
        )
        StagedPair.objects.filter(
            ~Q(category="") & ~Q(instruction__category=F("category"))
            | ~Q(source_fields="") & ~Q(instruction__source_fields=F("source_fields"))
            | ~Q(instruction__origin=F("origin"))
            | other_model
            | ~Q(domain="") & ~Q(instruction__query__domain=F("domain"))
            | ~Q(core="") & other_core
            | ~Q(restates="") & ~Q(instruction__restates__pair_id=F("restates")),
            instruction__isnull=False,
        ).update(changed=1)
        pairs = self.intake.row_counts("pairs")
        changed = run(
            """
            UPDATE annotate_instructionpair SET
                category = CASE WHEN s.category <> '' THEN s.category
                    ELSE annotate_instructionpair.category END,
                source_fields = CASE WHEN s.source_fields <> '' THEN s.source_fields
                    ELSE annotate_instructionpair.source_fields END,
                origin = s.origin,
                model = CASE WHEN s.model = '' AND s.origin = 'llm'
                    THEN annotate_instructionpair.model ELSE s.model END
            FROM stage_pairs s WHERE annotate_instructionpair.project_id = %(project)s
            AND annotate_instructionpair.pair_id = s.pair_id AND s.changed = 1
            """
        )
        made = run(
            """
            INSERT INTO annotate_instructionpair
                (project_id, query_id, pair_id, category, origin, model, source_fields)
            SELECT %(project)s, q.id, s.pair_id, s.category, s.origin, s.model, s.source_fields
            FROM stage_pairs s CROSS JOIN annotate_query q
            WHERE s.pair IS NULL AND q.project_id = %(project)s AND q.query_id = s.query_id
            ORDER BY s.n
            """
        )
        if made > ANALYZE_AFTER:
            bulk.analyze("annotate_instructionpair")
        pairs.new += made
        pairs.changed += changed
        pairs.unchanged += StagedPair.objects.count() - made - changed

    def _write_restated(self) -> None:
        """Write the core queries and domains of queries, and the pairs that other pairs restate."""
        self.intake.run(
            """
            UPDATE annotate_query SET core = s.core, core_given = (1 = 1)
            FROM stage_pairs s WHERE annotate_query.project_id = %(project)s
            AND annotate_query.query_id = s.query_id AND s.core <> ''
            """
        )
        self.intake.run(
            """
            UPDATE annotate_query SET domain = s.domain FROM stage_pairs s
            WHERE annotate_query.project_id = %(project)s AND s.domain <> ''
            AND annotate_query.query_id = s.query_id AND annotate_query.domain <> s.domain
            """
        )
        self.intake.run(
            """
            UPDATE annotate_instructionpair SET restates_id = r.id
            FROM stage_pairs s
            JOIN annotate_instructionpair r
                ON r.project_id = %(project)s AND r.pair_id = s.restates
            WHERE annotate_instructionpair.project_id = %(project)s
            AND annotate_instructionpair.pair_id = s.pair_id AND s.restates <> ''
            AND (annotate_instructionpair.restates_id IS NULL
                OR annotate_instructionpair.restates_id <> r.id)
            """
        )

    def _write_narratives(self) -> None:
        intake = self.intake
        point_to_pairs(intake, StagedNarrative.objects.all())
        fresh = StagedNarrative.objects.filter(known=None)
        withdrawn = StagedNarrative.objects.filter(
            known__withdrawn_at=None, known__isnull=False, withdrawn_at__isnull=False
        )
        for changed in (fresh, withdrawn):
            StagedPair.objects.filter(
                instruction__isnull=False, pair_id__in=changed.values("pair_id")
            ).update(changed=1)
        altered = fresh.filter(side=Narrative.Side.ALTERED)
        reopen_assignments(intake, altered.values("instruction"), "judge", "review")
        # Current narratives that get a newer version, or that the file withdraws.
        older = Narrative.objects.filter(
            pair=OuterRef("instruction"),
            side=OuterRef("side"),
            version__lt=OuterRef("version"),
            is_current=True,
        )
        replaced = fresh.filter(withdrawn_at=None).annotate(older=Subquery(older.values("pk")))
        intake.replaced_narratives.update(
            replaced.filter(older__isnull=False).values_list("older", flat=True),
            withdrawn.filter(known__is_current=True).values_list("known", flat=True),
        )
        written = intake.run(
            f"""
            INSERT INTO annotate_narrative
                (pair_id, side, version, text, note, author_id, created_at, origin, model,
                withdrawn_at, withdrawn_by_id)
            SELECT s.pair, s.side, s.version, s.text, s.note, (
                SELECT m.id FROM annotate_membership m
                WHERE m.project_id = %(project)s AND m.name = s.author
            ), COALESCE(s.at, %(now)s), s.origin, s.model, s.withdrawn_at, {WITHDRAWN_BY}
            FROM stage_narratives s WHERE s.known IS NULL ORDER BY s.n
            """  # noqa: S608
        )
        if written > ANALYZE_AFTER:
            bulk.analyze("annotate_narrative")
        withdrawn_now = intake.run(
            f"""
            UPDATE annotate_narrative SET is_current = FALSE, withdrawn_at = s.withdrawn_at,
                withdrawn_by_id = {WITHDRAWN_BY}
            FROM stage_narratives s WHERE annotate_narrative.id = s.known
            AND s.withdrawn_at IS NOT NULL AND annotate_narrative.withdrawn_at IS NULL
            """  # noqa: S608
        )
        Narrative.objects.filter(pair__project=intake.project).choose_current()
        narratives = intake.row_counts("narratives")
        narratives.new += written
        narratives.changed += withdrawn_now
        narratives.unchanged += StagedNarrative.objects.count() - written - withdrawn_now

    def _write_conditions(self) -> None:
        """Write the conditions of new narratives; existing narratives already have theirs."""
        if not self.conditions.count:
            return
        run, staged = self.intake.run, StagedCondition.objects.all()
        staged.update(narrative=Subquery(self._named_narratives().values("pk")))
        written = run(
            """
            INSERT INTO annotate_condition (narrative_id, number, name, text, negated)
            SELECT x.narrative, x.number, x.name, x.text,
                CASE WHEN x.negated IS NULL THEN NULL ELSE x.negated = 1 END
            FROM stage_conditions x WHERE NOT EXISTS (
                SELECT 1 FROM annotate_condition c
                WHERE c.narrative_id = x.narrative AND c.number = x.number
            )
            ORDER BY x.n
            """
        )
        # Only where it is not known yet: people's answers are kept.
        unknown = Condition.objects.filter(
            narrative=OuterRef("narrative"), number=OuterRef("number"), negated=None
        )
        answered = staged.filter(Exists(unknown), negated__isnull=False)
        StagedPair.objects.filter(pair_id__in=answered.values("pair_id")).update(changed=1)
        changed = run(
            """
            UPDATE annotate_condition SET negated = (x.negated = 1) FROM stage_conditions x
            WHERE annotate_condition.narrative_id = x.narrative
            AND annotate_condition.number = x.number
            AND annotate_condition.negated IS NULL AND x.negated IS NOT NULL
            """
        )
        conditions = self.intake.row_counts("conditions")
        conditions.new += written
        conditions.changed += changed
        conditions.unchanged += staged.count() - written - changed

    def _write_missing_originals(self) -> None:
        """Give each pair without an original narrative that of the topic, or an empty one."""
        self.intake.row_counts("narratives").new += self.intake.run(
            """
            INSERT INTO annotate_narrative
                (pair_id, side, version, is_current, text, note, created_at)
            SELECT p.id, 'original', 1, TRUE, COALESCE((
                SELECT o.text FROM annotate_narrative o
                JOIN annotate_instructionpair t ON t.id = o.pair_id
                WHERE t.project_id = %(project)s AND t.pair_id = s.query_id
                AND t.query_id = p.query_id AND o.side = 'original' AND o.is_current
            ), ''), '', %(now)s
            FROM stage_pairs s CROSS JOIN annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id AND NOT EXISTS (
                SELECT 1 FROM annotate_narrative o WHERE o.pair_id = p.id AND o.side = 'original'
            )
            ORDER BY s.n
            """
        )


def _queries_with_several(*fields: str) -> Any:
    """Return the queries whose lines give several values for one of these fields."""
    distinct = {name: Count(NullIf(name, Value("")), distinct=True) for name in fields}
    several = Q(*((f"several_{name}__gt", 1) for name in fields), _connector=Q.OR)
    counted = {f"several_{name}": count for name, count in distinct.items()}
    return (
        StagedPair.objects.values("query_id").annotate(**counted).filter(several).values("query_id")
    )


def _different_description(what: str, query_id: str) -> str:
    return f"query {query_id} has another {what} on another line"


def fault_of(record: PairRecord) -> str | None:
    """Return an error message if this pair cannot be loaded, else None."""
    for value, most, what in (
        (record.category, MAX_CATEGORY, "category"),
        (record.model, MAX_MODEL, "model"),
        (record.core, MAX_CORE, "id of the core query"),
        (record.source_fields, MAX_SOURCE_FIELDS, "stored part of the source's other fields"),
        (record.domain, MAX_DOMAIN, "domain"),
    ):
        if len(value) > most:
            return f"the {what} is longer than {most:,} characters"
    if record.restates == record.pair_id:
        return f"instruction pair {record.pair_id} restates itself"
    for narrative in record.narratives:
        if narrative.side != "original" and not narrative.text.strip():
            return f"version {narrative.version} of the {narrative.side} narrative has no words"
        if (narrative.withdrawn_by is None) != (narrative.withdrawn_at is None):
            return "a withdrawn narrative needs both withdrawn_by and withdrawn_at"
        if len(narrative.withdrawn_by or "") > MAX_NAME:
            return f"a name has at most {MAX_NAME} characters"
        if len(narrative.model) > MAX_MODEL:
            return f"the model of a narrative is longer than {MAX_MODEL} characters"
        if len(narrative.note) > MAX_NOTE:
            return f"the note of a narrative is longer than {MAX_NOTE} characters"
        if len(narrative.conditions) > condition_lines.MAX_LINES:
            return (
                f"version {narrative.version} of the {narrative.side} narrative has "
                f"{len(narrative.conditions):,} conditions; "
                f"at most {condition_lines.MAX_LINES} are allowed"
            )
        for number, condition in enumerate(narrative.conditions, 1):
            if not condition.text.strip():
                return f"condition {number} of the {narrative.side} narrative has no words"
            if len(condition.text) > condition_lines.MAX_TEXT:
                return (
                    f"condition {number} of the {narrative.side} narrative is longer than "
                    f"{condition_lines.MAX_TEXT:,} characters"
                )
            if len(condition.name) > condition_lines.MAX_NAME:
                return (
                    f"the name of condition {number} of the {narrative.side} narrative is "
                    f"longer than {condition_lines.MAX_NAME} characters"
                )
        if narrative.author is not None and not 0 < len(narrative.author) <= MAX_NAME:
            return f"an author's name has 1 to {MAX_NAME} characters"
    return None


def refuse_overwriting(intake: Intake) -> None:
    """Refuse versions that exist with another text, other conditions or another writer."""
    known = StagedNarrative.objects.filter(known__isnull=False)
    newest = Narrative.objects.filter(pair=OuterRef("known__pair"), side=OuterRef("side"))
    same_words = Q(known__text=F("text"))
    for what, overwriting in (
        ("words", known.exclude(same_words)),
        ("conditions", known.filter(same_words, _has_other_conditions())),
    ):
        intake.refuse_rows(
            overwriting.annotate(
                newest=Subquery(newest.order_by("-version").values("version")[:1])
            ).values_list("n", "place", "pair_id", "side", "version", "newest"),
            partial(_overwriting_message, what),
        )
    by_others = known.exclude(known__origin=F("origin"), known__model=F("model"))
    intake.refuse_rows(
        by_others.filter(names_writer=1).values_list(
            *("n", "place", "pair_id", "side", "version", "known__origin", "known__model")
        ),
        lambda pair, side, version, origin, model: (
            f"version {version} of the {side} narrative of {pair} already exists, written by "
            f"{_writer_name(origin, model)}: the writer of a version is never changed"
        ),
    )
    unnamed = by_others.filter(names_writer=0, author=None, known__author=None)
    other = unnamed.exclude(side=Narrative.Side.ORIGINAL).count()
    if other:
        versions = "version already exists" if other == 1 else "versions already exist"
        intake.report.notes.append(
            f"{other:,} {versions}, written by another model: the recorded writer stays"
        )


def _has_other_conditions() -> Q:
    """Return whether a staged narrative has other conditions than the known one."""
    staged = StagedCondition.objects.filter(
        pair_id=OuterRef("pair_id"), side=OuterRef("side"), version=OuterRef("version")
    )
    stored = Condition.objects.filter(narrative=OuterRef("known"))
    same_stored = Condition.objects.filter(
        narrative=OuterRef(OuterRef("known")),
        number=OuterRef("number"),
        name=OuterRef("name"),
        text=OuterRef("text"),
    )
    same_staged = StagedCondition.objects.filter(
        pair_id=OuterRef(OuterRef("pair_id")),
        side=OuterRef(OuterRef("side")),
        version=OuterRef(OuterRef("version")),
        number=OuterRef("number"),
    )
    return Q(Exists(staged.filter(~Exists(same_stored)))) | Q(
        Exists(stored.filter(~Exists(same_staged)))
    )


def refuse_unknown_restated(intake: Intake) -> None:
    """Refuse pairs that restate a pair that their query does not have."""
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.pair_id, s.restates FROM stage_pairs s
        WHERE s.restates <> '' AND NOT EXISTS (
            SELECT 1 FROM stage_pairs f
            WHERE f.pair_id = s.restates AND f.query_id = s.query_id
        ) AND NOT EXISTS (
            SELECT 1 FROM annotate_instructionpair p JOIN annotate_query q ON q.id = p.query_id
            WHERE p.project_id = %(project)s AND p.pair_id = s.restates
            AND q.query_id = s.query_id
        )
        """,
        lambda pair, restated: (
            f"instruction pair {pair} restates {restated}, which is not a pair of its query"
        ),
    )


def _overwriting_message(what: str, pair: str, side: str, version: int, newest: int) -> str:
    return (
        f"version {version} of the {side} narrative of {pair} already exists with other {what}, "
        f"and no version is overwritten: load these as version {newest + 1}"
    )


def _writer_name(origin: str, model: str) -> str:
    return "people" if origin == "human" else model or "a language model"
