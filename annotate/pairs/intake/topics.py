"""Intake of topics: queries with their titles and their narratives."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate.collection.intake.arrivals import Intake, NamedQuery, StagedLine, StagedRecords
from annotate.pairs.intake.pairs import Pairs
from annotate.pairs.intake.steps import (
    refuse_other_query,
    reopen_assignments,
    update_titles,
)
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.kinds import kind_of
from base.stages import StagedRow
from formats.records import Topic

# A title with this many words may be a narrative, as in the topics of TREC RAG 2025.
LONG_TITLE = 15
# How many ids a note names.
_NAMED = 5


class StagedTopic(StagedLine):
    """A topic."""

    query_id = models.TextField()
    title = models.TextField()
    description = models.TextField()
    narrative = models.TextField(null=True)
    # Whether it becomes a pair, and whether it is one already.
    own = models.IntegerField(db_default=0)
    paired = models.IntegerField(db_default=0)
    retitled = models.IntegerField(db_default=0)
    rewritten = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        db_table = "stage_topics"


class Topics(StagedRecords):
    """Topics: each is a query and, with the same id, a pair with its original narrative."""

    order = 20
    records: ClassVar = (Topic,)
    defines_queries = True

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.topics = self.create_stage(StagedTopic)
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

    def query_ids(self) -> list[QuerySet[Any]]:
        return [StagedTopic.objects.values_list("query_id", "n")]

    def check(self) -> None:
        self.refuse_contradictions(
            StagedTopic.objects.annotate(words=Coalesce("narrative", Value(""))),
            ["query_id"],
            ["title", "description", "words"],
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
        refuse_other_query(intake, StagedTopic.objects.all(), "query_id")
        update_titles(intake, StagedTopic)
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
        pairs.unchanged += StagedTopic.objects.filter(own=1).count() - made
        self._write_narratives()
        fresh = NamedQuery.objects.filter(fresh=1)
        new = Q(query_id__in=fresh.values("query_id")) | Q(own=1, paired=0)
        self.new = StagedTopic.objects.filter(new).count()
        changed = Q(retitled=1) | Q(rewritten=1)
        self.changed = StagedTopic.objects.filter(changed).exclude(new).count()

    def _find_pairs(self) -> None:
        """Mark topics that become pairs (`own`), and those that already are pairs (`paired`).

        Every topic with a narrative is a pair. A topic without one is a pair only if its query has
        no other pair and the file contains none: FollowTable's queries have instructions instead.
        """
        pairs = InstructionPair.objects.filter(project=self.intake.project)
        StagedTopic.objects.filter(Exists(pairs.filter(pair_id=OuterRef("query_id")))).update(
            paired=1
        )
        own = Q(narrative__isnull=False) | Q(paired=1)
        if not self.intake.has_records(Pairs):
            of_query = InstructionPair.objects.filter(
                query__project=self.intake.project, query__query_id=OuterRef("query_id")
            )
            own |= ~Q(Exists(of_query))
        StagedTopic.objects.filter(own).update(own=1)
        if without := StagedTopic.objects.filter(own=1, narrative=None).count():
            self.intake.report.notes.append(
                "1 topic has no narrative: its original one is empty"
                if without == 1
                else f"{without:,} topics have no narrative: their original ones are empty"
            )

    def _write_narratives(self) -> None:
        intake = self.intake
        originals = Narrative.objects.filter(
            pair__project=intake.project, side=Narrative.Side.ORIGINAL, is_current=True
        )
        other = originals.filter(pair__pair_id=OuterRef("query_id")).exclude(
            text=OuterRef("narrative")
        )
        StagedTopic.objects.filter(Exists(other), own=1, paired=1, narrative__isnull=False).update(
            rewritten=1
        )
        rewritten = StagedTopic.objects.filter(rewritten=1)
        replaced = originals.filter(pair__pair_id__in=rewritten.values("query_id"))
        intake.replaced_narratives.update(replaced.values_list("pk", flat=True))
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
        changed = rewritten.count()
        narratives = intake.row_counts("narratives")
        narratives.new += written - changed
        narratives.changed += changed
        narratives.unchanged += StagedTopic.objects.filter(own=1).count() - written
        if changed:
            reopen_assignments(
                intake,
                InstructionPair.objects.filter(
                    project=intake.project, pair_id__in=rewritten.values("query_id")
                ),
                "judge",
            )
