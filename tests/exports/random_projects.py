"""Random projects with every kind of row that the files of a move carry."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from annotate.collection.core_queries import set_core_queries
from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.models import (
    Adjudication,
    Candidate,
    Condition,
    Document,
    Flag,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Project,
    Query,
    Verdict,
)
from annotate.pools.removal import DOCUMENTS
from audit.models import Decision, Rating, Review
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.rubrics import choose_rubric, save_rubric
from tests import factories
from tests.collection.arriving import jsonl, load

FIRST = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
QUERY_IDS = ("301", "302", "10", "9", "é1", "A-b")
DOC_IDS = ("FT-9", "FT-10", "a", "B", "é", "Z", "10", "9")
SIDES = ("original", "altered", "reversed")


class RandomProject:
    """A project drawn by a seed. `texts` are the documents of the collection, as `docs-jsonl`."""

    def __init__(self, seed: int, slug: str = "tides") -> None:
        self.random = Random(seed)
        self.minutes = 0
        self.project = factories.project(
            slug,
            judge_scope=self.random.choice(["relevant", "pool", "existing"]),
            consensus=self.random.choice(["unanimous", "majority"]),
            overlap_judge=self.random.randint(1, 3),
            relevant_from=self.random.choice([1, 1, 2]),
        )
        self.carla = factories.lead(self.project)
        self.people = [factories.member(self.project, name) for name in ("ada", "ben", "émil")]
        self.machines = [
            factories.machine(self.project, name)
            for name in ("model", "another model")[: self.random.randint(0, 2)]
        ]
        self.reviews = self.chance(0.6)
        self.rubric = self._make_rubric()
        self.texts = self._load_documents()
        for query_id in self.random.sample(QUERY_IDS, self.random.randint(1, 4)):
            self._add_query(query_id)
        set_core_queries(Query.objects.filter(project=self.project))
        if self.chance(0.3):
            self._load_run()
        self._answer()
        if self.chance(0.4):
            self._add_newer_texts()
            self._add_newer_versions()
            self._answer()
        self._take_out()
        self._filter()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def next_time(self) -> datetime:
        self.minutes += 1
        return FIRST + timedelta(minutes=self.minutes)

    def next_uuid(self) -> UUID:
        return UUID(int=self.random.getrandbits(128), version=4)

    def _make_rubric(self) -> str:
        if self.chance(0.7):
            return FOLLOWTABLE.name
        for name in ("ours-1", "ours-2"):
            content = FOLLOWTABLE._replace(name=name, title=f"Our rubric {name}")
            save_rubric(project=self.project, content=content, by=None)
        chosen = self.random.choice(["ours-1", "ours-2"])
        choose_rubric(project=self.project, name=chosen, by=None)
        return chosen

    def _load_documents(self) -> str:
        chosen = self.random.sample(DOC_IDS, self.random.randint(3, len(DOC_IDS)))
        lines = jsonl(
            *(
                {"doc_id": one, "title": f"Title of {one}", "text": f"Text of {one}."}
                for one in chosen
            )
        )
        assert load(self.project, "docs-jsonl", lines).problems == []
        return lines

    def _add_query(self, query_id: str) -> None:
        query = factories.query(self.project, query_id, self.random.choice(["", "tidal power"]))
        query.description = self.random.choice(["", "Where is tidal power used?"])
        query.save()
        for document in Document.objects.filter(project=self.project):
            if self.chance(0.7):
                prior = self.random.choice([None, -1, 0, 1, 1, 2])
                origin = "run" if prior is None else "prior"
                Candidate.objects.create(
                    query=query, document=document, prior_relevance=prior, origin=origin
                )
        pairs = self.random.choice([0, 1, 1, 2])
        if pairs and self.chance(0.2):
            Query.objects.filter(pk=query.pk).update(domain="engineering")
        for n in range(pairs):
            self._add_pair(query, query_id if n == 0 and self.chance(0.5) else f"{query_id}_{n}")

    def _add_pair(self, query: Query, pair_id: str) -> None:
        by_model = self.chance(0.3)
        pair = InstructionPair.objects.create(
            project=self.project,
            query=query,
            pair_id=pair_id,
            category=self.random.choice(["", "S1", "C2"]),
            origin="llm" if by_model else "human",
            model="some-model" if by_model else "",
            source_fields='{"level":"hard"}' if self.chance(0.2) else "",
            restates=query.pairs.first() if self.chance(0.2) else None,
        )
        for side, versions in zip(
            SIDES,
            (self.random.randint(1, 2), self.random.randint(0, 2), self.random.randint(0, 1)),
            strict=True,
        ):
            for version in range(1, versions + 1):
                self._add_narrative(pair, side, version)
        for n in range(self.random.choice([0, 0, 0, 2])):
            document = factories.document(self.project, f"made-{pair_id}-{n}", text=None)
            Candidate.objects.create(query=query, document=document, origin="listed", made_for=pair)

    def _add_narrative(self, pair: InstructionPair, side: str, version: int) -> None:
        by_pair = side != "original"
        narrative = Narrative.objects.create(
            pair=pair,
            side=side,
            version=version,
            text=f"Only plants {side}, number {version}.",
            note=self.random.choice(["", "Shorter."]),
            author=None if by_pair and pair.model else self.random.choice([None, *self.people]),
            created_at=self.next_time(),
            origin=pair.origin if by_pair else "human",
            model=pair.model if by_pair else "",
        )
        if self.chance(0.3):
            for number, text in enumerate(("At sea.", "In use."), 1):
                Condition.objects.create(narrative=narrative, number=number, text=text)

    def _load_run(self) -> None:
        """Load a run of some queries over all documents; its first two join the pools."""
        existing = self.project.documents.exclude(candidates__made_for__isnull=False)
        lines = [
            f"{query.query_id} Q0 {document.doc_id} {rank} {10 - rank} bm25\n"
            for query in Query.objects.filter(project=self.project)
            for rank, document in enumerate(existing.order_by("pk"), 1)
        ]
        report = load(self.project, "trec-run", "".join(lines), "bm25.run", pool=2)
        assert report.problems == [], report.problems

    def _answer(self) -> None:
        """Judge, flag, settle, review and decide here and there."""
        for narrative in Narrative.objects.filter(pair__project=self.project).order_by("pk"):
            pool = Candidate.objects.filter(query=narrative.pair.query).order_by("pk")
            for candidate in pool:
                if candidate.made_for_id in (None, narrative.pair_id) and self.chance(0.6):
                    self._answer_on(narrative, candidate)
            if narrative.side == "altered" and self.reviews:
                self._review(narrative)

    def _answer_on(self, narrative: Narrative, candidate: Candidate) -> None:
        newest = candidate.document.text_version
        for rater in [*self.people, *self.machines]:
            chance = 0.4 if not rater.is_machine else 0.3
            if self.chance(chance):
                self._judge(narrative, candidate, rater)
            elif not rater.is_machine and self.chance(0.1):
                self._flag(narrative, candidate, rater)
        if self.chance(0.15):
            current = Adjudication.objects.current().filter(
                narrative=narrative, candidate=candidate
            )
            if not current.exists():
                withdrawn = self.chance(0.3)
                made = self.next_time()
                Adjudication.objects.create(
                    narrative=narrative,
                    candidate=candidate,
                    relevance=self.random.randint(0, 2),
                    reason="It says so.",
                    cause="error",
                    by=self.carla,
                    at=made,
                    text_version=newest,
                    withdrawn_at=self.next_time() if withdrawn else None,
                    withdrawn_by=self.carla if withdrawn else None,
                )

    def _judge(self, narrative: Narrative, candidate: Candidate, rater: Membership) -> None:
        of_rater = Judgment.objects.filter(
            narrative=narrative, candidate=candidate, annotator=rater
        )
        Judgment.objects.filter(
            pk__in=of_rater.filter(ended_at=None, text_replaced_at=None).values("pk")
        ).update(ended_at=self.next_time())
        Flag.objects.current().filter(
            narrative=narrative, candidate=candidate, annotator=rater
        ).update(ended_at=self.next_time())
        again = self.chance(0.2)
        for superseded in [True, False] if again else [False]:
            at = self.next_time()
            made = factories.judgment(
                narrative,
                candidate,
                rater,
                self.random.randint(0, 2),
                at=at,
                uuid=self.next_uuid(),
                note=self.random.choice(["", "At sea."]),
                active_ms=self.random.choice([None, 900]),
                pressed=self.random.choice(["", "key", "click"]),
                evidence=[{"start": 0, "end": 4}]
                if candidate.document.text_version and self.chance(0.2)
                else [],
                clauses=[{"start": 0, "end": 4}] if self.chance(0.2) else [],
                ended_at=self.next_time() if superseded else None,
            )
            for condition in narrative.conditions.order_by("number"):
                if self.chance(0.7):
                    answer = self.random.choice(["met", "not_met", "cant_tell"])
                    Verdict.objects.create(statement=made, condition=condition, answer=answer)

    def _flag(self, narrative: Narrative, candidate: Candidate, rater: Membership) -> None:
        mine = {"narrative": narrative, "candidate": candidate, "annotator": rater}
        if (
            Judgment.objects.current().filter(**mine).exists()
            or Flag.objects.filter(**mine).exists()
        ):
            return
        Flag.objects.create(
            **mine,
            uuid=self.next_uuid(),
            flag=self.random.choice(["later", "cannot_judge", "problem"]),
            note=self.random.choice(["", "In Dutch."]),
            at=self.next_time(),
            ended_at=self.next_time() if self.chance(0.3) else None,
            text_version=candidate.document.text_version,
        )

    def _review(self, narrative: Narrative) -> None:
        for auditor in self.people[:2]:
            mine = Review.objects.filter(narrative=narrative, auditor=auditor)
            if self.chance(0.7) or mine.exists():
                continue
            review = Review.objects.create(
                narrative=narrative,
                auditor=auditor,
                rubric=self.rubric,
                started_at=self.next_time(),
                submitted_at=self.next_time(),
            )
            for criterion in FOLLOWTABLE.criteria:
                level = self.random.choice(FOLLOWTABLE.levels)
                Rating.objects.create(
                    review=review,
                    criterion=criterion.key,
                    level=level.value,
                    place=FOLLOWTABLE.place(level),
                    rejects=level.rejects,
                )
        # Nobody decides on an older version.
        is_current = narrative == factories.altered(narrative.pair)
        decided = Decision.objects.current().filter(narrative=narrative)
        if self.chance(0.25) and is_current and not decided.exists():
            self._decide(narrative)

    def _decide(self, narrative: Narrative) -> None:
        outcome = self.random.choice(["accepted", "revise", "removed"])
        withdrawn = self.chance(0.25)
        at = self.next_time()
        Decision.objects.create(
            narrative=narrative,
            outcome=outcome,
            reason="" if outcome == "accepted" else "Too vague.",
            by=self.carla,
            at=at,
            withdrawn_at=self.next_time() if withdrawn else None,
            withdrawn_by=self.carla if withdrawn else None,
        )
        pair = narrative.pair
        if withdrawn:
            return
        if outcome == "revise":
            narrative.sent_back_at, narrative.sent_back_by = at, self.carla
            narrative.save()
        elif outcome == "removed":
            pair.removed_at, pair.removed_by = at, self.carla
            pair.save()

    def _add_newer_texts(self) -> None:
        for document in Document.objects.filter(project=self.project, text_version=1):
            if self.chance(0.5):
                text = f"Another text of {document.doc_id}."
                new = jsonl({"doc_id": document.doc_id, "text": text})
                assert load(self.project, "docs-jsonl", new).problems == []

    def _add_newer_versions(self) -> None:
        """Rewrite some instructions, as a file does, also ones that were removed."""
        for pair in InstructionPair.objects.filter(project=self.project).order_by("pk"):
            written = pair.narratives.filter(side="altered").count()
            if written and self.chance(0.4):
                self._add_narrative(pair, "altered", written + 1)

    def _take_out(self) -> None:
        """Take out queries, instructions and candidates, each with a reason."""
        for removable, rows in (
            (DOCUMENTS, Candidate.objects.filter(query__project=self.project)),
            (INSTRUCTIONS, InstructionPair.objects.filter(project=self.project)),
            (QUERIES, Query.objects.filter(project=self.project)),
        ):
            for row in rows.order_by("pk"):
                if self.chance(0.15):
                    removable.remove(
                        project=self.project,
                        keys=[row.pk],
                        reason=self.random.choice(["Duplicates", "Off topic.", "A pilot."]),
                        by=self.random.choice([None, self.carla]),
                        now=self.next_time(),
                    )

    def _filter(self) -> None:
        """Let a machine's filter keep and discard, and bring some of it back."""
        if self.chance(0.7):
            return
        lines: list[dict[str, str]] = []
        for query in Query.objects.filter(project=self.project):
            of_query = {"query_id": query.query_id}
            candidates = Candidate.with_removed.filter(query=query)
            lines += [
                of_query,
                *({**of_query, "pair_id": pair.pair_id} for pair in query.pairs.all()),
                *({**of_query, "doc_id": one.document.doc_id} for one in candidates),
            ]
        lines = self.random.sample(lines, len(lines) // 4)
        for line in lines:
            line |= {"machine": "filter", "reason": "Too short."}
            line["decision"] = self.random.choice(["keep", "discard"])
            report = load(self.project, "filter-jsonl", json.dumps(line) + "\n")
            assert report.problems == [], report.problems
        back = {"removed_at": None, "removed_by": None, "removed_reason": ""}
        for rows in (
            Query.objects.filter(project=self.project),
            InstructionPair.objects.filter(project=self.project, query__removed_at=None),
            Candidate.with_removed.filter(query__project=self.project),
        ):
            for row in rows.filter(removed_reason__startswith="Discarded by"):
                if self.chance(0.4):
                    type(row)._base_manager.filter(pk=row.pk).update(**back)


def new_project_like(project: Project, slug: str) -> Project:
    """Create an empty project with the same name, grades and rules."""
    return factories.project(
        slug,
        judge_scope=project.judge_scope,
        consensus=project.consensus,
        overlap_judge=project.overlap_judge,
        relevant_from=project.relevant_from,
    )
