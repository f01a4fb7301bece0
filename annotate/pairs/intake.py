"""Topics and instruction pairs: queries with their titles, narratives with their versions."""

from __future__ import annotations

import json
from typing import ClassVar

from annotate.collection.intake.arrivals import Arrivals, Intake
from annotate.pairs import condition_lines
from annotate.projects.models import Membership, Project
from base import bulk
from formats.records import PairRecord, Topic, writer_of

MAX_CATEGORY = 60
MAX_MODEL = 120
MAX_NOTE = 500
MAX_NAME = Membership._meta.get_field("name").max_length or 0

# The version in force of one side of a pair: `%s` is the narrative's alias.
_NEWEST = """
    {0}.version = (
        SELECT MAX(v.version) FROM annotate_narrative v
        WHERE v.pair_id = {0}.pair_id AND v.side = {0}.side
    )
"""


def retitle(intake: Intake, stage: str) -> None:
    """Give queries the titles and descriptions of a stage; a text that a file lacks erases nothing.

    Marks the rows of the stage whose query was known and is called otherwise now, in `retitled`.
    """
    differs = """
        (s.title <> '' AND q.title <> s.title
        OR s.description <> '' AND q.description <> s.description)
        """
    intake.run(
        f"""
        UPDATE {stage} SET retitled = 1 WHERE n IN (
            SELECT s.n FROM {stage} s
            CROSS JOIN annotate_query q
            CROSS JOIN stage_query_ids g
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND g.query_id = s.query_id AND g.fresh = 0 AND {differs}
        )
        """  # noqa: S608 (our own stages)
    )
    intake.run(
        f"""
        UPDATE annotate_query SET
            title = CASE WHEN s.title <> '' THEN s.title ELSE annotate_query.title END,
            description = CASE WHEN s.description <> '' THEN s.description
                ELSE annotate_query.description END
        FROM {stage} s JOIN annotate_query q
            ON q.project_id = %(project)s AND q.query_id = s.query_id
        WHERE annotate_query.id = q.id AND {differs}
        """  # noqa: S608
    )
    intake.rows("queries").changed += intake.number(
        f"SELECT COUNT(DISTINCT query_id) FROM {stage} WHERE retitled = 1"  # noqa: S608
    )


def refuse_other_query(intake: Intake, stage: str, pair_id: str = "pair_id") -> None:
    """Refuse rows whose pair belongs to another query."""
    intake.refuse_found(
        f"""
        SELECT s.n, s.place, p.pair_id, q.query_id, s.query_id AS said FROM {stage} s
        CROSS JOIN annotate_instructionpair p
        CROSS JOIN annotate_query q
        WHERE p.project_id = %(project)s AND p.pair_id = s.{pair_id} AND q.id = p.query_id
        AND q.query_id <> s.query_id
        """,  # noqa: S608
        lambda pair, query, said: (
            f"instruction pair {pair} belongs to query {query} in this project, not to {said}"
        ),
    )


def reopen_assignments(intake: Intake, pairs: str, *tasks: str) -> None:
    """Let there be work again in the assignments of these tasks, for what they worked on has
    changed.

    `pairs` is a query for keys of pairs.
    """
    named = ", ".join(f"'{task}'" for task in tasks)
    intake.run(
        f"""
        UPDATE annotate_assignment SET done_at = NULL
        WHERE done_at IS NOT NULL AND task IN ({named}) AND pair_id IN ({pairs})
        """  # noqa: S608
    )


def reopen_judging(intake: Intake, newest: int) -> None:
    """Let there be work again for judges whose pool has grown."""
    candidates = intake.rows("candidates")
    if not candidates.new and not candidates.changed:
        return
    # Which of the old ones have changed is not kept: any of their queries may be among these.
    grown = "c.id > %(newest)s" if not candidates.changed else "1 = 1"
    in_scope = (
        f"c.prior_relevance >= {int(intake.project.relevant_from)}"
        if intake.project.judge_scope == Project.Scope.RELEVANT
        else "1 = 1"
    )
    intake.params["newest"] = newest
    reopen_assignments(
        intake,
        f"""
        SELECT p.id FROM annotate_instructionpair p WHERE p.project_id = %(project)s AND EXISTS (
            SELECT 1 FROM annotate_candidate c JOIN annotate_query q ON q.id = c.query_id
            JOIN stage_query_ids g ON g.query_id = q.query_id
            WHERE c.query_id = p.query_id AND {grown} AND {in_scope}
        )
        """,  # noqa: S608 (our own conditions)
        "judge",
    )


class Topics(Arrivals):
    """Topics: each a query and, under the query's own id, a pair with its original narrative."""

    order = 20
    records: ClassVar = (Topic,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.topics = self.stage(
            "stage_topics",
            query_id="text",
            title="text",
            description="text",
            narrative="text",
            own="integer 0",
            paired="integer 0",
            retitled="integer 0",
            rewritten="integer 0",
        )

    def take(self, record: Topic, place: int) -> None:
        query_id, title, description, narrative = record
        self.taken += 1
        self.topics.add(
            place,
            query_id,
            title,
            description,
            narrative or None,
            weight=len(title) + len(description) + len(narrative or ""),
        )

    def query_ids(self) -> list[str]:
        return ["SELECT query_id FROM stage_topics"]

    def check(self) -> None:
        self.repeats(
            self.topics,
            ["query_id"],
            "s.title <> f.title OR s.description <> f.description "
            "OR COALESCE(s.narrative, '') <> COALESCE(f.narrative, '')",
            lambda first, query_id: f"topic {query_id} was already on {first}, with other words",
        )

    def write(self) -> None:
        intake = self.intake
        refuse_other_query(intake, "stage_topics", "query_id")
        retitle(intake, "stage_topics")
        self._find_pairs()
        pairs = intake.rows("pairs")
        made = intake.run(
            """
            INSERT INTO annotate_instructionpair
                (project_id, query_id, pair_id, category, origin, model)
            SELECT %(project)s, q.id, s.query_id, '', 'human', '' FROM stage_topics s
            CROSS JOIN annotate_query q
            WHERE s.own = 1 AND s.paired = 0
            AND q.project_id = %(project)s AND q.query_id = s.query_id
            ORDER BY s.n
            """
        )
        pairs.new += made
        pairs.unchanged += self._marked("own = 1") - made
        self._write_narratives()
        self.new = self._marked("fresh = 1 OR own = 1 AND paired = 0")
        self.changed = self._marked(
            "NOT (fresh = 1 OR own = 1 AND paired = 0) AND (retitled = 1 OR rewritten = 1)"
        )

    def _find_pairs(self) -> None:
        """Mark the topics that are a pair of their own, and those of them that are one already.

        Every topic with a narrative is; one without, only where its query has no pair otherwise
        and the file brings none: the queries of FollowTable are there for their instructions.
        """
        brought = "AND 1 = 0" if self.intake.brings(Pairs) else ""
        self.intake.run(
            """
            UPDATE stage_topics SET paired = 1 WHERE EXISTS (
                SELECT 1 FROM annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = stage_topics.query_id
            )
            """
        )
        self.intake.run(
            f"""
            UPDATE stage_topics SET own = 1 WHERE n IN (
                SELECT s.n FROM stage_topics s
                WHERE s.narrative IS NOT NULL OR s.paired = 1 OR (
                    NOT EXISTS (
                        SELECT 1 FROM annotate_instructionpair p
                        JOIN annotate_query q ON q.id = p.query_id
                        WHERE q.project_id = %(project)s AND q.query_id = s.query_id
                    ) {brought}
                )
            )
            """  # noqa: S608
        )
        if without := self._marked("own = 1 AND narrative IS NULL"):
            self.intake.report.notes.append(
                "1 topic has no narrative"
                if without == 1
                else f"{without:,} topics have no narrative"
            )

    def _write_narratives(self) -> None:
        intake = self.intake
        intake.run(
            f"""
            UPDATE stage_topics SET rewritten = 1 WHERE n IN (
                SELECT s.n FROM stage_topics s
                CROSS JOIN annotate_instructionpair p
                CROSS JOIN annotate_narrative o
                WHERE s.own = 1 AND s.paired = 1 AND s.narrative IS NOT NULL
                AND p.project_id = %(project)s AND p.pair_id = s.query_id
                AND o.pair_id = p.id AND o.side = 'original' AND {_NEWEST.format("o")}
                AND o.text <> s.narrative
            )
            """  # noqa: S608
        )
        written = intake.run(
            """
            INSERT INTO annotate_narrative (pair_id, side, version, text, note, created_at)
            SELECT p.id, 'original', 1 + COALESCE(
                (SELECT MAX(o.version) FROM annotate_narrative o
                WHERE o.pair_id = p.id AND o.side = 'original'), 0
            ), COALESCE(s.narrative, ''), '', %(now)s
            FROM stage_topics s CROSS JOIN annotate_instructionpair p
            WHERE s.own = 1 AND p.project_id = %(project)s AND p.pair_id = s.query_id
            AND (s.rewritten = 1 OR NOT EXISTS (
                SELECT 1 FROM annotate_narrative o WHERE o.pair_id = p.id AND o.side = 'original'
            ))
            ORDER BY s.n
            """
        )
        rewritten = self._marked("rewritten = 1")
        narratives = intake.rows("narratives")
        narratives.new += written - rewritten
        narratives.changed += rewritten
        narratives.unchanged += self._marked("own = 1") - written
        if rewritten:
            reopen_assignments(
                intake,
                """
                SELECT p.id FROM annotate_instructionpair p JOIN stage_topics s
                ON s.query_id = p.pair_id WHERE p.project_id = %(project)s AND s.rewritten = 1
                """,
                "judge",
            )

    def _marked(self, condition: str) -> int:
        return bulk.number(
            "SELECT COUNT(*) FROM stage_topics s "  # noqa: S608
            f"JOIN stage_query_ids g ON g.query_id = s.query_id WHERE {condition}"
        )


class Pairs(Arrivals):
    """Instruction pairs with all versions of their narratives."""

    order = 30
    records: ClassVar = (PairRecord,)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.pairs = self.stage(
            "stage_pairs",
            pair_id="text",
            query_id="text",
            title="text",
            description="text",
            category="text",
            origin="text",
            model="text",
            known="integer 0",
            retitled="integer 0",
            changed="integer 0",
        )
        self.narratives = self.stage(
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
            # Whether the version itself says who wrote it; else it is as its pair says.
            said="integer",
            # All of them, to be compared with those of another line.
            conditions="text",
        )
        self.conditions = self.stage(
            "stage_conditions",
            pair_id="text",
            side="text",
            version="integer",
            number="integer",
            name="text",
            text="text",
        )

    def take(self, record: PairRecord, place: int) -> None:
        self.taken += 1
        if fault := _fault(record):
            self.intake.refuse(fault, place)
            return
        self.pairs.add(place, *record[:7], weight=len(record.title) + len(record.description))
        for one in record.narratives:
            self.narratives.add(
                place,
                record.pair_id,
                one.side,
                one.version,
                one.text,
                one.author,
                one.at,
                one.note,
                *writer_of(record, one),
                int(bool(one.origin)),
                json.dumps(one.conditions) if one.conditions else "",
                weight=len(one.text),
            )
            for number, condition in enumerate(one.conditions, 1):
                self.conditions.add(
                    place, record.pair_id, one.side, one.version, number, *condition
                )

    def query_ids(self) -> list[str]:
        return ["SELECT query_id FROM stage_pairs"]

    def check(self) -> None:
        self.repeats(
            self.pairs,
            ["pair_id"],
            "s.query_id <> f.query_id OR s.title <> f.title OR s.description <> f.description "
            "OR s.category <> f.category OR s.origin <> f.origin OR s.model <> f.model",
            lambda first, pair_id: (
                f"instruction pair {pair_id} was already on {first}, described otherwise"
            ),
        )
        self.repeats(
            self.narratives,
            ["pair_id", "side", "version"],
            "s.text <> f.text OR s.conditions <> f.conditions OR s.origin <> f.origin "
            "OR s.model <> f.model",
            lambda first, pair_id, side, version: (
                f"version {version} of the {side} narrative of {pair_id} has other words, "
                f"conditions or another writer on {first}"
            ),
        )
        # Conditions said twice belong to narratives said twice: they say the same.
        self.repeats(
            self.conditions,
            ["pair_id", "side", "version", "number"],
            "s.text <> f.text OR s.name <> f.name",
            lambda first, pair_id, side, version, number: (
                f"condition {number} of the {side} narrative of {pair_id}, version {version}, has "
                f"other words on {first}"
            ),
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.query_id FROM stage_pairs s JOIN (
                SELECT query_id FROM stage_pairs GROUP BY query_id
                HAVING COUNT(DISTINCT NULLIF(title, '')) > 1
                OR COUNT(DISTINCT NULLIF(description, '')) > 1
            ) x ON x.query_id = s.query_id
            """,
            lambda query_id: f"query {query_id} has another title or description on another line",
        )

    def write(self) -> None:
        if self.conditions.count:
            bulk.index("stage_conditions", "pair_id, side, version, number")
        refuse_other_query(self.intake, "stage_pairs")
        self._refuse_overwriting()
        if self.intake.report.refused:
            return
        retitle(self.intake, "stage_pairs")
        self._write_pairs()
        self.intake.add_raters(
            "SELECT n, place, author AS name, 0 AS machine FROM stage_narratives "
            "WHERE author IS NOT NULL"
        )
        self._write_narratives()
        self._write_conditions()
        self._write_missing_originals()
        self.new = bulk.number("SELECT COUNT(*) FROM stage_pairs WHERE known = 0")
        self.changed = bulk.number(
            "SELECT COUNT(*) FROM stage_pairs WHERE known = 1 AND (changed = 1 OR retitled = 1)"
        )

    def _refuse_overwriting(self) -> None:
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.pair_id, s.side, s.version, (
                SELECT MAX(v.version) FROM annotate_narrative v
                WHERE v.pair_id = o.pair_id AND v.side = o.side
            ) AS newest
            FROM stage_narratives s
            CROSS JOIN annotate_instructionpair p
            CROSS JOIN annotate_narrative o
            WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id
            AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
            AND o.text <> s.text
            """,
            lambda pair, side, version, newest: (
                f"version {version} of the {side} narrative of {pair} is already here with other "
                f"words, and no version is overwritten: give these as version {newest + 1}"
            ),
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.pair_id, s.side, s.version, (
                SELECT MAX(v.version) FROM annotate_narrative v
                WHERE v.pair_id = o.pair_id AND v.side = o.side
            ) AS newest
            FROM stage_narratives s
            CROSS JOIN annotate_instructionpair p
            CROSS JOIN annotate_narrative o
            WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id
            AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
            AND o.text = s.text AND (
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
            """,
            lambda pair, side, version, newest: (
                f"version {version} of the {side} narrative of {pair} is already here with other "
                f"conditions, and no version is overwritten: give these as version {newest + 1}"
            ),
        )

        self.intake.refuse_found(
            f"""
            SELECT s.n, s.place, s.pair_id, s.side, s.version, o.origin, o.model
            {_KNOWN} AND s.said = 1 AND (o.origin <> s.origin OR o.model <> s.model)
            """,
            lambda pair, side, version, origin, model: (
                f"version {version} of the {side} narrative of {pair} is already here, written by "
                f"{_named(origin, model)}: who wrote a version is never changed"
            ),
        )
        other = bulk.number(
            f"""
            SELECT COUNT(*) {_KNOWN} AND s.said = 0 AND s.side <> 'original' AND s.author IS NULL
            AND o.author_id IS NULL AND (o.origin <> s.origin OR o.model <> s.model)
            """,
            self.intake.params,
        )
        if other:
            versions = "version is" if other == 1 else "versions are"
            self.intake.report.notes.append(
                f"{other:,} {versions} here already, written by another model: what is here keeps "
                "who wrote it"
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
            OR p.origin <> s.origin OR p.model <> s.model AND (s.model <> '' OR s.origin <> 'llm'))
            """
        run(
            f"""
            UPDATE stage_pairs SET changed = 1 WHERE known = 1 AND n IN (
                SELECT s.n FROM stage_pairs s CROSS JOIN annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id AND {differs}
            )
            """  # noqa: S608
        )
        pairs = self.intake.rows("pairs")
        changed = run(
            """
            UPDATE annotate_instructionpair SET
                category = CASE WHEN s.category <> '' THEN s.category
                    ELSE annotate_instructionpair.category END,
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
                (project_id, query_id, pair_id, category, origin, model)
            SELECT %(project)s, q.id, s.pair_id, s.category, s.origin, s.model
            FROM stage_pairs s CROSS JOIN annotate_query q
            WHERE s.known = 0 AND q.project_id = %(project)s AND q.query_id = s.query_id
            ORDER BY s.n
            """
        )
        pairs.new += made
        pairs.changed += changed
        pairs.unchanged += bulk.number("SELECT COUNT(*) FROM stage_pairs") - made - changed

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
        written = run(
            f"""
            INSERT INTO annotate_narrative
                (pair_id, side, version, text, note, author_id, created_at, origin, model)
            SELECT p.id, s.side, s.version, s.text, s.note, (
                SELECT m.id FROM annotate_membership m
                WHERE m.project_id = %(project)s AND m.name = s.author
            ), COALESCE(s.at, %(now)s), s.origin, s.model
            {fresh} ORDER BY s.n
            """  # noqa: S608
        )
        narratives = self.intake.rows("narratives")
        narratives.new += written
        narratives.unchanged += bulk.number("SELECT COUNT(*) FROM stage_narratives") - written

    def _write_conditions(self) -> None:
        """Give narratives that came just now their conditions; those that were here have theirs."""
        if not self.conditions.count:
            return
        written = self.intake.run(
            """
            INSERT INTO annotate_condition (narrative_id, number, name, text)
            SELECT o.id, x.number, x.name, x.text
            FROM stage_conditions x
            CROSS JOIN annotate_instructionpair p
            CROSS JOIN annotate_narrative o
            WHERE p.project_id = %(project)s AND p.pair_id = x.pair_id
            AND o.pair_id = p.id AND o.side = x.side AND o.version = x.version
            AND NOT EXISTS (
                SELECT 1 FROM annotate_condition c
                WHERE c.narrative_id = o.id AND c.number = x.number
            )
            ORDER BY x.n
            """
        )
        conditions = self.intake.rows("conditions")
        conditions.new += written
        conditions.unchanged += bulk.number("SELECT COUNT(*) FROM stage_conditions") - written

    def _write_missing_originals(self) -> None:
        """Give each pair without an original narrative the topic's own, or an empty one."""
        self.intake.rows("narratives").new += self.intake.run(
            f"""
            INSERT INTO annotate_narrative (pair_id, side, version, text, note, created_at)
            SELECT p.id, 'original', 1, COALESCE((
                SELECT o.text FROM annotate_narrative o
                JOIN annotate_instructionpair t ON t.id = o.pair_id
                WHERE t.project_id = %(project)s AND t.pair_id = s.query_id
                AND t.query_id = p.query_id AND o.side = 'original' AND {_NEWEST.format("o")}
            ), ''), '', %(now)s
            FROM stage_pairs s CROSS JOIN annotate_instructionpair p
            WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id AND NOT EXISTS (
                SELECT 1 FROM annotate_narrative o WHERE o.pair_id = p.id AND o.side = 'original'
            )
            ORDER BY s.n
            """  # noqa: S608
        )


# Narratives of the file that are here already: `s` in its stage, `o` its row.
_KNOWN = """
    FROM stage_narratives s
    CROSS JOIN annotate_instructionpair p
    CROSS JOIN annotate_narrative o
    WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id
    AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
"""


def _named(origin: str, model: str) -> str:
    return "people" if origin == "human" else model or "a language model"


def _fault(record: PairRecord) -> str | None:
    """Say in a sentence why this pair cannot be kept, if it cannot."""
    for value, most, what in (
        (record.category, MAX_CATEGORY, "category"),
        (record.model, MAX_MODEL, "model"),
    ):
        if len(value) > most:
            return f"the {what} is longer than {most} characters"
    for one in record.narratives:
        if one.side != "original" and not one.text.strip():
            return f"version {one.version} of the {one.side} narrative has no words"
        if len(one.model) > MAX_MODEL:
            return f"the model of a narrative is longer than {MAX_MODEL} characters"
        if len(one.note) > MAX_NOTE:
            return f"the note of a narrative is longer than {MAX_NOTE} characters"
        if len(one.conditions) > condition_lines.MOST:
            return (
                f"version {one.version} of the {one.side} narrative has "
                f"{len(one.conditions):,} conditions; at most {condition_lines.MOST} are kept"
            )
        for number, condition in enumerate(one.conditions, 1):
            if not condition.text.strip():
                return f"condition {number} of the {one.side} narrative has no words"
            if len(condition.text) > condition_lines.MAX_TEXT:
                return (
                    f"condition {number} of the {one.side} narrative is longer than "
                    f"{condition_lines.MAX_TEXT:,} characters"
                )
            if len(condition.name) > condition_lines.MAX_NAME:
                return (
                    f"the name of condition {number} of the {one.side} narrative is longer than "
                    f"{condition_lines.MAX_NAME} characters"
                )
        if one.author is not None and not 0 < len(one.author) <= MAX_NAME:
            return f"an author's name has 1 to {MAX_NAME} characters"
    return None
