"""Intake of topics: queries with their titles and their narratives."""

from __future__ import annotations

from typing import ClassVar

from annotate.collection.intake.arrivals import Intake, StagedRecords
from annotate.pairs.intake.pairs import Pairs
from annotate.pairs.intake.steps import (
    refuse_other_query,
    reopen_assignments,
    update_titles,
)
from annotate.pairs.models import Narrative
from annotate.projects.kinds import kind_of
from base import bulk
from formats.records import Topic

# A title with this many words may be a narrative, as in the topics of TREC RAG 2025.
LONG_TITLE = 15
# How many ids a note names.
_NAMED = 5


class Topics(StagedRecords):
    """Topics: each is a query and, with the same id, a pair with its original narrative."""

    order = 20
    records: ClassVar = (Topic,)
    defines_queries = True

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.topics = self.create_stage(
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
        self._narrative_from_title = kind_of(intake.project.kind).narrative_from_title
        self._long_titles = 0
        self._without_words: list[str] = []

    def take(self, record: Topic, place: int) -> None:
        query_id, title, description, narrative = record
        self.taken += 1
        if not narrative and len(title.split()) >= LONG_TITLE:
            self._long_titles += 1
            narrative = title if self._narrative_from_title else None
        if not (title or description or narrative):
            self._without_words.append(query_id)
        self.topics.add(
            place,
            query_id,
            title,
            description,
            narrative or None,
            weight=len(title) + len(description) + len(narrative or ""),
        )

    def query_ids(self) -> list[str]:
        return ["SELECT query_id, n FROM stage_topics"]

    def check(self) -> None:
        self.refuse_contradictions(
            self.topics,
            ["query_id"],
            "s.title <> f.title OR s.description <> f.description "
            "OR COALESCE(s.narrative, '') <> COALESCE(f.narrative, '')",
            lambda first, query_id: f"topic {query_id} was already on {first}, with other words",
        )
        self._note_words()

    def _note_words(self) -> None:
        """Add notes on topics without a word, and on titles that may be narratives."""
        notes = self.intake.report.notes
        if count := len(self._without_words):
            names = ", ".join(self._without_words[:_NAMED]) + (" …" if count > _NAMED else "")
            topics = "1 topic has" if count == 1 else f"{count:,} topics have"
            notes.append(f"{topics} no title, description or narrative: {names}")
        if count := self._long_titles:
            topics = "1 topic has" if count == 1 else f"{count:,} topics have"
            used = (
                "the title is also loaded as the narrative"
                if self._narrative_from_title
                else "if the title is the narrative, give it as “narrative” in the file"
            )
            notes.append(
                f"{topics} no narrative, and a title of {LONG_TITLE} words or more: {used}"
            )

    def write(self) -> None:
        intake = self.intake
        refuse_other_query(intake, "stage_topics", "query_id")
        update_titles(intake, "stage_topics")
        self._find_pairs()
        pairs = intake.row_counts("pairs")
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
        """Mark topics that become pairs (`own`), and those that already are pairs (`paired`).

        Every topic with a narrative is a pair. A topic without one is a pair only if its query has
        no other pair and the file contains none: FollowTable's queries have instructions instead.
        """
        brought = "AND 1 = 0" if self.intake.has_records(Pairs) else ""
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
                "1 topic has no narrative: its original one is empty"
                if without == 1
                else f"{without:,} topics have no narrative: their original ones are empty"
            )

    def _write_narratives(self) -> None:
        intake = self.intake
        intake.run(
            """
            UPDATE stage_topics SET rewritten = 1 WHERE n IN (
                SELECT s.n FROM stage_topics s
                CROSS JOIN annotate_instructionpair p
                CROSS JOIN annotate_narrative o
                WHERE s.own = 1 AND s.paired = 1 AND s.narrative IS NOT NULL
                AND p.project_id = %(project)s AND p.pair_id = s.query_id
                AND o.pair_id = p.id AND o.side = 'original' AND o.is_current
                AND o.text <> s.narrative
            )
            """
        )
        intake.replaced_narratives.update(
            row[0]
            for row in bulk.select(
                """
                SELECT o.id FROM stage_topics s
                JOIN annotate_instructionpair p
                    ON p.project_id = %(project)s AND p.pair_id = s.query_id
                JOIN annotate_narrative o ON o.pair_id = p.id
                WHERE s.rewritten = 1 AND o.side = 'original' AND o.is_current
                """,
                intake.params,
            )
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
        Narrative.objects.filter(pair__project=intake.project).choose_current()
        rewritten = self._marked("rewritten = 1")
        narratives = intake.row_counts("narratives")
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
