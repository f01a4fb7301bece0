"""Intake of instruction pairs: narratives with their versions."""

from __future__ import annotations

import json
from functools import partial
from typing import ClassVar

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.pairs import condition_lines
from annotate.pairs.intake.steps import (
    MAX_NAME,
    WITHDRAWN_BY,
    refuse_other_query,
    reopen_assignments,
    update_titles,
)
from annotate.pairs.models import Narrative
from base import bulk
from formats.records import PairRecord, writer_of

# Versions in the project that the file says are withdrawn, and that are not.
_WITHDRAWN = """
    FROM stage_narratives s CROSS JOIN annotate_instructionpair p
    CROSS JOIN annotate_narrative o
    WHERE s.withdrawn_at IS NOT NULL AND p.project_id = %(project)s AND p.pair_id = s.pair_id
    AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
    AND o.withdrawn_at IS NULL
"""

MAX_CATEGORY = 60
MAX_MODEL = 120
MAX_NOTE = 500
MAX_CORE = 255
MAX_SOURCE_FIELDS = 20_000
MAX_DOMAIN = 120

# Narratives of the file that already exist: `s` is the staged row, `o` the existing one.
_KNOWN = """
    FROM stage_narratives s
    CROSS JOIN annotate_instructionpair p
    CROSS JOIN annotate_narrative o
    WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id
    AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
"""

# Whether the file has such a narrative with the same text and different conditions.
_OTHER_CONDITIONS = """
    o.text = s.text AND (
        (SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = o.id)
        <> (SELECT COUNT(*) FROM stage_conditions x WHERE x.pair_id = s.pair_id
            AND x.side = s.side AND x.version = s.version)
        OR EXISTS (
            SELECT 1 FROM stage_conditions x WHERE x.pair_id = s.pair_id
            AND x.side = s.side AND x.version = s.version AND NOT EXISTS (
                SELECT 1 FROM annotate_condition c WHERE c.narrative_id = o.id
                AND c.number = x.number AND c.name = x.name AND c.text = x.text
            )
        )
    )
"""


class Pairs(StagedRecords):
    """Instruction pairs with all versions of their narratives."""

    order = 30
    records: ClassVar = (PairRecord,)
    defines_queries = True

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.pairs = self.create_stage(
            "stage_pairs",
            pair_id="text",
            query_id="text",
            title="text",
            description="text",
            category="text",
            origin="text",
            model="text",
            domain="text",
            restates="text",
            core="text",
            source_fields="text",
            known="integer 0",
            retitled="integer 0",
            changed="integer 0",
        )
        self.narratives = self.create_stage(
            "stage_narratives",
            pair_id="text",
            side="text",
            version="integer",
            text="text",
            author="text",
            at="moment",
            note="text",
            origin="text",
            model="text",
            # Whether the version itself names its writer; if not, the pair does.
            names_writer="integer",
            withdrawn_by="text",
            withdrawn_at="moment",
            # All conditions as JSON, for comparison with those of another line.
            conditions="text",
        )
        self.conditions = self.create_stage(
            "stage_conditions",
            pair_id="text",
            side="text",
            version="integer",
            number="integer",
            name="text",
            text="text",
            negated="integer",
        )

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

    def query_ids(self) -> list[str]:
        return ["SELECT query_id, n FROM stage_pairs"]

    def check(self) -> None:
        self.refuse_contradictions(
            self.pairs,
            ["pair_id"],
            "s.query_id <> f.query_id OR s.title <> f.title OR s.description <> f.description "
            "OR s.category <> f.category OR s.origin <> f.origin OR s.model <> f.model "
            "OR s.domain <> f.domain OR s.restates <> f.restates",
            lambda first, pair_id: (
                f"instruction pair {pair_id} was already on {first}, described differently"
            ),
        )
        self.refuse_contradictions(
            self.narratives,
            ["pair_id", "side", "version"],
            "s.text <> f.text OR s.conditions <> f.conditions OR s.origin <> f.origin "
            "OR s.model <> f.model",
            lambda first, pair_id, side, version: (
                f"version {version} of the {side} narrative of {pair_id} has other words, "
                f"conditions or another writer on {first}"
            ),
        )
        # Repeated conditions belong to repeated narratives, so they are the same.
        self.refuse_contradictions(
            self.conditions,
            ["pair_id", "side", "version", "number"],
            "s.text <> f.text OR s.name <> f.name",
            lambda first, pair_id, side, version, number: (
                f"condition {number} of the {side} narrative of {pair_id}, version {version}, has "
                f"other words on {first}"
            ),
        )
        for columns, what in (
            (("title", "description"), "title or description"),
            (("core",), "core query"),
        ):
            several = " OR ".join(f"COUNT(DISTINCT NULLIF({column}, '')) > 1" for column in columns)
            self.intake.refuse_rows(
                f"""
                SELECT s.n, s.place, s.query_id FROM stage_pairs s JOIN (
                    SELECT query_id FROM stage_pairs GROUP BY query_id HAVING {several}
                ) x ON x.query_id = s.query_id
                """,  # noqa: S608 (our own columns)
                partial(_different_description, what),
            )
        self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.query_id FROM stage_pairs s JOIN (
                SELECT query_id FROM stage_pairs WHERE domain <> '' GROUP BY query_id
                HAVING COUNT(DISTINCT domain) > 1
            ) x ON x.query_id = s.query_id WHERE s.domain <> ''
            """,
            lambda query_id: f"query {query_id} belongs to another domain on another line",
        )

    def write(self) -> None:
        if self.conditions.count:
            bulk.index("stage_conditions", "pair_id, side, version, number")
        refuse_other_query(self.intake, "stage_pairs")
        refuse_overwriting(self.intake)
        refuse_unknown_restated(self.intake)
        if self.intake.report.refused:
            return
        update_titles(self.intake, "stage_pairs")
        self._write_pairs()
        self._write_restated()
        self.intake.add_raters(
            "SELECT n, place, author AS name, 0 AS machine FROM stage_narratives "
            "WHERE author IS NOT NULL UNION ALL "
            "SELECT n, place, withdrawn_by, 0 FROM stage_narratives "
            "WHERE withdrawn_by IS NOT NULL"
        )
        self._write_narratives()
        self._write_conditions()
        self._write_missing_originals()
        self.new = bulk.number("SELECT COUNT(*) FROM stage_pairs WHERE known = 0")
        self.changed = bulk.number(
            "SELECT COUNT(*) FROM stage_pairs WHERE known = 1 AND (changed = 1 OR retitled = 1)"
        )

    def _write_pairs(self) -> None:
        run = self.intake.run
        run(
            """
            UPDATE stage_pairs SET known = 1 WHERE EXISTS (
                SELECT 1 FROM annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = stage_pairs.pair_id
            )
            """
        )
        differs = """
            (s.category <> '' AND p.category <> s.category
            OR s.source_fields <> '' AND p.source_fields <> s.source_fields
            OR p.origin <> s.origin OR p.model <> s.model AND (s.model <> '' OR s.origin <> 'llm')
            OR s.domain <> '' AND EXISTS (
                SELECT 1 FROM annotate_query q WHERE q.id = p.query_id AND q.domain <> s.domain
            )
            OR s.core <> '' AND EXISTS (
                SELECT 1 FROM annotate_query q
                WHERE q.id = p.query_id AND (q.core <> s.core OR NOT q.core_given)
            )
            OR s.restates <> '' AND NOT EXISTS (
                SELECT 1 FROM annotate_instructionpair r
                WHERE r.id = p.restates_id AND r.pair_id = s.restates
            ))
            """
        run(
            f"""
            UPDATE stage_pairs SET changed = 1 WHERE known = 1 AND n IN (
                SELECT s.n FROM stage_pairs s CROSS JOIN annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id AND {differs}
            )
            """  # noqa: S608
        )
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
            WHERE s.known = 0 AND q.project_id = %(project)s AND q.query_id = s.query_id
            ORDER BY s.n
            """
        )
        pairs.new += made
        pairs.changed += changed
        pairs.unchanged += bulk.number("SELECT COUNT(*) FROM stage_pairs") - made - changed

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
        run = self.intake.run
        fresh = """
            FROM stage_narratives s CROSS JOIN annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id AND NOT EXISTS (
                SELECT 1 FROM annotate_narrative o
                WHERE o.pair_id = p.id AND o.side = s.side AND o.version = s.version
            )
            """
        run(
            "UPDATE stage_pairs SET changed = 1 "  # noqa: S608
            f"WHERE known = 1 AND pair_id IN (SELECT s.pair_id {fresh})"
        )
        reopen_assignments(
            self.intake,
            f"SELECT p.id {fresh} AND s.side = 'altered'",
            "judge",
            "review",
        )
        self._find_replaced(fresh)
        written = run(
            f"""
            INSERT INTO annotate_narrative
                (pair_id, side, version, text, note, author_id, created_at, origin, model,
                withdrawn_at, withdrawn_by_id)
            SELECT p.id, s.side, s.version, s.text, s.note, (
                SELECT m.id FROM annotate_membership m
                WHERE m.project_id = %(project)s AND m.name = s.author
            ), COALESCE(s.at, %(now)s), s.origin, s.model, s.withdrawn_at, {WITHDRAWN_BY}
            {fresh} ORDER BY s.n
            """  # noqa: S608
        )
        withdrawn = self._withdraw_narratives()
        Narrative.objects.filter(pair__project=self.intake.project).choose_current()
        narratives = self.intake.row_counts("narratives")
        narratives.new += written
        narratives.changed += withdrawn
        narratives.unchanged += (
            bulk.number("SELECT COUNT(*) FROM stage_narratives") - written - withdrawn
        )

    def _find_replaced(self, fresh: str) -> None:
        """Find the current narratives that get a newer version, or that the file withdraws.

        `fresh`: the clauses that select the new versions of the file.
        """
        newer_version = f"""
            SELECT s.n {fresh} AND p.id = c.pair_id AND s.side = c.side
            AND s.version > c.version AND s.withdrawn_at IS NULL
        """
        for replacing in (newer_version, f"SELECT s.n {_WITHDRAWN} AND o.id = c.id"):
            rows = bulk.select(
                f"""
                SELECT c.id FROM annotate_narrative c
                JOIN annotate_instructionpair i ON i.id = c.pair_id
                WHERE i.project_id = %(project)s AND c.is_current AND EXISTS ({replacing})
                """,  # noqa: S608 (our own conditions)
                self.intake.params,
            )
            self.intake.replaced_narratives.update(row[0] for row in rows)

    def _withdraw_narratives(self) -> int:
        """Withdraw the versions that the file says are withdrawn; return their number."""
        run = self.intake.run
        pairs = f"SELECT p.pair_id {_WITHDRAWN}"
        run(f"UPDATE stage_pairs SET changed = 1 WHERE known = 1 AND pair_id IN ({pairs})")  # noqa: S608
        return run(
            f"""
            UPDATE annotate_narrative SET is_current = FALSE, withdrawn_at = x.withdrawn_at,
                withdrawn_by_id = x.by_id
            FROM (
                SELECT o.id, s.withdrawn_at, {WITHDRAWN_BY} AS by_id {_WITHDRAWN}
            ) x WHERE annotate_narrative.id = x.id
            """  # noqa: S608
        )

    def _write_conditions(self) -> None:
        """Write the conditions of new narratives; existing narratives already have theirs."""
        if not self.conditions.count:
            return
        run = self.intake.run
        of_narratives = """
            FROM stage_conditions x
            CROSS JOIN annotate_instructionpair p
            CROSS JOIN annotate_narrative o {further}
            WHERE p.project_id = %(project)s AND p.pair_id = x.pair_id
            AND o.pair_id = p.id AND o.side = x.side AND o.version = x.version
            """
        written = run(
            f"""
            INSERT INTO annotate_condition (narrative_id, number, name, text, negated)
            SELECT o.id, x.number, x.name, x.text,
                CASE WHEN x.negated IS NULL THEN NULL ELSE x.negated = 1 END
            {of_narratives.format(further="")} AND NOT EXISTS (
                SELECT 1 FROM annotate_condition c
                WHERE c.narrative_id = o.id AND c.number = x.number
            )
            ORDER BY x.n
            """  # noqa: S608 (our own conditions)
        )
        # Only where it is not known yet: people's answers are kept.
        answered = f"""
            {of_narratives.format(further="CROSS JOIN annotate_condition c")}
            AND c.narrative_id = o.id AND c.number = x.number
            AND c.negated IS NULL AND x.negated IS NOT NULL
            """
        run(
            f"UPDATE stage_pairs SET changed = 1 WHERE pair_id IN (SELECT x.pair_id {answered})"  # noqa: S608
        )
        changed = run(
            f"""
            UPDATE annotate_condition SET negated = (y.negated = 1)
            FROM (SELECT c.id, x.negated {answered}) y WHERE annotate_condition.id = y.id
            """  # noqa: S608
        )
        conditions = self.intake.row_counts("conditions")
        conditions.new += written
        conditions.changed += changed
        total = bulk.number("SELECT COUNT(*) FROM stage_conditions")
        conditions.unchanged += total - written - changed

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
    for what, differs in (("words", "o.text <> s.text"), ("conditions", _OTHER_CONDITIONS)):
        intake.refuse_rows(
            f"""
            SELECT s.n, s.place, s.pair_id, s.side, s.version, (
                SELECT MAX(v.version) FROM annotate_narrative v
                WHERE v.pair_id = o.pair_id AND v.side = o.side
            ) AS newest
            {_KNOWN} AND {differs}
            """,  # noqa: S608 (our own conditions)
            partial(_overwriting_message, what),
        )
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.pair_id, s.side, s.version, o.origin, o.model
        {_KNOWN} AND s.names_writer = 1 AND (o.origin <> s.origin OR o.model <> s.model)
        """,
        lambda pair, side, version, origin, model: (
            f"version {version} of the {side} narrative of {pair} already exists, written by "
            f"{_writer_name(origin, model)}: the writer of a version is never changed"
        ),
    )
    other = bulk.number(
        f"""
        SELECT COUNT(*) {_KNOWN} AND s.names_writer = 0 AND s.side <> 'original'
        AND s.author IS NULL AND o.author_id IS NULL
        AND (o.origin <> s.origin OR o.model <> s.model)
        """,
        intake.params,
    )
    if other:
        versions = "version already exists" if other == 1 else "versions already exist"
        intake.report.notes.append(
            f"{other:,} {versions}, written by another model: the recorded writer stays"
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
