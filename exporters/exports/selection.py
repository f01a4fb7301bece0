"""Rows -> records: which judgments count, and in which order everything is written.

Everything comes in byte order of its ids, which is the same on every database, and streams: a
batch of queries or pairs at a time through a cursor, so that memory does not grow with the pools.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby, starmap
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from django.db.models import Case, Count, F, Q, QuerySet, TextField, When
from django.db.models.functions import Cast, Coalesce, Collate

from annotate.collection.models import Candidate, Document, DocumentText, Query, Run
from annotate.collection.unseen import Unseen, seen
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.models import Adjudication, Flag, Judgment, Verdict
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects.models import Membership, Project
from audit.reviews import rubrics
from audit.reviews.models import Decision, Rating, Review, ReviewedText, Rubric
from formats.records import (
    AdjudicationRecord,
    ConditionRecord,
    DecisionRecord,
    Doc,
    Evidence,
    FlagRecord,
    JudgmentRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    RatingRecord,
    ReviewRecord,
    RubricRecord,
    TextRead,
    Topic,
    VerdictRecord,
)

# Queries or pairs whose rows one cursor walks; well under SQLite's limit of variables.
BATCH = 200
# Rows fetched at once.
CHUNK = 5_000
# Texts fetched at once: they may be long.
TEXTS = 100
# Judgments whose verdicts are fetched at once.
VERDICTS = 500

# What a pair says whose claimed labels have a place in the claimed qrels.
CLAIMED = "yes"
# What a pair without an altered narrative is left out for.
NOT_WRITTEN = "not written"

T = TypeVar("T")


class QueryRow(NamedTuple):
    """A query of the project."""

    pk: int
    query_id: str
    title: str
    description: str


class Version(NamedTuple):
    """The version of a narrative that is in force on its side."""

    pk: int
    version: int


class Pair(NamedTuple):
    """An instruction pair with the versions in force, by side.

    `left_out` says in a word why it has no place in the changed qrels ("removed", "sent back",
    "not written", "claimed only", "not judged"); it is empty for a pair that has one. Without a
    judgment a pair would stand there with the zeros it came with alone, and pull every score down.

    `claims_on`: how many labels machines claim under its narratives in force, by side; sides
    without any are not there. `claimed_on` says of every side whether they have a place in the
    claimed qrels (CLAIMED), or why not ("removed", "sent back", "not accepted", "not claimed"). An
    instruction that is left out takes the claims on its other sides with it.
    """

    pk: int
    pair_id: str
    query: QueryRow
    category: str
    origin: str
    versions: dict[str, Version]
    left_out: str
    claims_on: dict[str, int]
    claimed_on: dict[str, str]

    @property
    def claims(self) -> int:
        """How many labels machines claim under the altered narrative in force."""
        return self.claims_on.get(Narrative.Side.ALTERED, 0)

    @property
    def claimed(self) -> str:
        """Whether the claims under the altered narrative have a place, or why not."""
        return self.claimed_on[Narrative.Side.ALTERED]


class PooledDocument(NamedTuple):
    """Where one candidate stands under one narrative.

    `grades` are those of people under the version in force, sorted. `in_scope` says whether the
    project puts the candidate before its judges.
    """

    doc_id: str
    document: int
    prior: int | None
    in_scope: bool
    grades: tuple[int, ...]
    outcome: Outcome


def queries(project: Project) -> list[QueryRow]:
    """Return the project's queries in byte order of query_id."""
    rows = Query.objects.filter(project=project).order_by(bytewise("query_id"))
    return [QueryRow(*row) for row in walk(rows, "pk", "query_id", "title", "description")]


def pairs(project: Project) -> list[Pair]:
    """Return the project's instruction pairs in byte order of pair_id."""
    of_queries = {query.pk: query for query in queries(project)}
    in_force: dict[int, dict[str, Version]] = {}
    written_at: dict[int, datetime] = {}
    narratives = Narrative.objects.filter(pair__project=project).current()
    for pair, side, pk, version, at in walk(
        narratives, "pair", "side", "pk", "version", "created_at"
    ):
        in_force.setdefault(pair, {})[side] = Version(pk, version)
        if side == Narrative.Side.ALTERED:
            written_at[pair] = at
    judged = _judged(project)
    claims = _claims(project)
    acceptance = _acceptance(project)
    rows = InstructionPair.objects.filter(project=project).order_by(bytewise("pair_id"))
    found = []
    for pk, pair_id, query, category, origin, removed_at, sent_back_at in walk(
        rows, "pk", "pair_id", "query", "category", "origin", "removed_at", "sent_back_at"
    ):
        left_out = _left_out(removed_at, sent_back_at, written_at.get(pk))
        claims_on = claims.get(pk, {})
        # Where there is no altered narrative, no instruction waits to be accepted.
        stands = CLAIMED if left_out == NOT_WRITTEN else left_out or acceptance(pk) or CLAIMED
        claimed_on = {
            side: stands if side in claims_on else "not claimed" for side in Narrative.Side.values
        }
        if not left_out and pk not in judged:
            claimed = claimed_on[Narrative.Side.ALTERED] == CLAIMED
            left_out = "claimed only" if claimed else "not judged"
        found.append(
            Pair(
                *(pk, pair_id, of_queries[query], category, origin, in_force.get(pk, {})),
                left_out=left_out,
                claims_on=claims_on,
                claimed_on=claimed_on,
            )
        )
    return found


def _judged(project: Project) -> set[int]:
    """The pairs on which people have said something under the altered narrative in force."""
    altered = Narrative.objects.filter(pair__project=project, side=Narrative.Side.ALTERED)
    under = {"narrative__in": altered.current()}
    said = Judgment.objects.current().of_people().filter(**under)
    settled = Adjudication.objects.current().filter(**under)
    return {
        pair
        for rows in (said, settled)
        for (pair,) in walk(rows.order_by().distinct(), "narrative__pair")
    }


def _claims(project: Project) -> dict[int, dict[str, int]]:
    """Count the labels that machines claim under each pair's narratives in force, by side."""
    in_force = Narrative.objects.filter(pair__project=project).current()
    rows = Judgment.objects.current().filter(annotator__is_machine=True, narrative__in=in_force)
    of_narrative = rows.order_by().values("narrative__pair", "narrative__side")
    found: dict[int, dict[str, int]] = {}
    for pair, side, n in walk(
        of_narrative.annotate(n=Count("pk")), "narrative__pair", "narrative__side", "n"
    ):
        found.setdefault(pair, {})[side] = n
    return found


def _acceptance(project: Project) -> Callable[[int], str]:
    """Return what says of a pair why its altered narrative in force is not accepted, or "".

    Where nobody has reviewed or decided anything yet, none needs to be.
    """
    of_project = {"narrative__pair__project": project}
    if not (
        Review.objects.submitted().of_people().filter(**of_project).exists()
        or Decision.objects.filter(**of_project).exists()
    ):
        return lambda pair: ""
    altered = Narrative.objects.filter(pair__project=project, side=Narrative.Side.ALTERED)
    standing = Decision.objects.current().filter(narrative__in=altered.current())
    outcomes = dict(walk(standing, "narrative__pair", "outcome"))
    return lambda pair: _DECIDED[outcomes.get(pair)]


_DECIDED = {
    Decision.Outcome.ACCEPTED: "",
    Decision.Outcome.REVISE: "sent back",
    Decision.Outcome.REMOVED: "removed",
    None: "not accepted",
}


def _left_out(
    removed_at: datetime | None, sent_back_at: datetime | None, written_at: datetime | None
) -> str:
    """Why a pair has no place in any qrels under its altered narrative, or ""."""
    if removed_at is not None:
        return "removed"
    if written_at is None:
        return NOT_WRITTEN
    if sent_back_at is not None and sent_back_at > written_at:
        return "sent back"
    return ""


def prior_qrels(of: Sequence[QueryRow]) -> Iterator[Qrel]:
    """Yield the relevance every candidate came with, as it stood, by query_id and doc_id."""
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            query__in=[query.pk for query in batch], prior_relevance__isnull=False
        ).order_by(bytewise("query__query_id"), bytewise("document__doc_id"))
        yield from starmap(
            Qrel, walk(rows, "query__query_id", "document__doc_id", "prior_relevance")
        )


def prior_qrels_of_pairs(of: Sequence[Pair]) -> Iterator[Qrel]:
    """Yield the same relevance under the id of each pair, by pair_id and doc_id.

    The query of several pairs is written once for each of them, as in the changed qrels.
    """
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            query__pairs__in=[pair.pk for pair in batch], prior_relevance__isnull=False
        ).order_by(bytewise("query__pairs__pair_id"), bytewise("document__doc_id"))
        yield from starmap(
            Qrel, walk(rows, "query__pairs__pair_id", "document__doc_id", "prior_relevance")
        )


def with_prior(of: Sequence[Pair]) -> set[int]:
    """Return the keys of those pairs that have a document with an earlier relevance."""
    found: set[int] = set()
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            query__in={pair.query.pk for pair in batch}, prior_relevance__isnull=False
        )
        known = {query for (query,) in walk(rows.order_by().distinct(), "query")}
        found |= {pair.pk for pair in batch if pair.query.pk in known}
    return found


def prior_relevant(project: Project) -> int:
    """Return how many candidates came as relevant."""
    return Candidate.objects.filter(
        query__project=project, prior_relevance__gte=project.relevant_from
    ).count()


def standings(
    project: Project, of: Sequence[Pair], side: str
) -> Iterator[tuple[Pair, Iterator[PooledDocument]]]:
    """Yield each pair with its pool, in (pair_id, doc_id) order; a pool is walked before the next.

    Every pair must have a narrative on `side`. Only current judgments of people under the version
    in force count; a settling decision under it wins over them. A pair without a pool is left out.
    """
    machines = list(
        Membership.objects.filter(project=project, is_machine=True).values_list("pk", flat=True)
    )
    for batch in batches(of, BATCH):
        under = {pair.versions[side].pk: pair for pair in batch}
        for narrative, pool in groupby(_said_of_pools(list(under), machines), key=itemgetter(0)):
            yield under[narrative], _pooled_documents(project, pool)


def _pooled_documents(
    project: Project, pool: Iterable[tuple[Any, ...]]
) -> Iterator[PooledDocument]:
    """Put together what people said of each candidate: rows of one candidate come in a row."""
    rule = project.consensus
    every = project.judge_scope == Project.Scope.POOL
    relevant_from = project.relevant_from
    rows = iter(pool)
    row = next(rows, None)
    while row is not None:
        _, candidate, doc_id, document, prior, grade, settled = row
        grades = () if grade is None else (grade,)
        row = next(rows, None)
        if row is not None and row[1] == candidate:
            more = [grade]
            while row is not None and row[1] == candidate:
                more.append(row[5])
                row = next(rows, None)
            grades = tuple(sorted(more))
        in_scope = every or (prior is not None and prior >= relevant_from)
        yield PooledDocument(
            doc_id, document, prior, in_scope, grades, _agreed(grades, rule, settled)
        )


# The same few grades come again and again.
_agreed = lru_cache(maxsize=10_000)(consensus)


def _said_of_pools(narratives: Sequence[int], machines: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield (narrative, candidate, doc_id, document, prior, grade, settled), one row a judgment.

    A candidate nobody has judged has one row without a grade. In SQL, because a join of a
    narrative's judgments with its own query's candidates cannot be said through the models, and
    to ask for each pool by itself would take longer than to walk it.
    """
    of_people = f"j.annotator_id NOT IN ({marks(machines)})" if machines else "1 = 1"
    statement = f"""
        SELECT n.id, c.id, d.doc_id, d.id, c.prior_relevance, j.relevance, a.relevance
        FROM annotate_narrative n
        JOIN annotate_instructionpair p ON p.id = n.pair_id
        JOIN annotate_candidate c ON c.query_id = p.query_id
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_judgment j ON j.narrative_id = n.id AND j.candidate_id = c.id
            AND j.superseded_at IS NULL AND j.text_replaced_at IS NULL AND {of_people}
        LEFT JOIN annotate_adjudication a ON a.narrative_id = n.id AND a.candidate_id = c.id
            AND a.withdrawn_at IS NULL AND a.text_replaced_at IS NULL
        WHERE n.id IN ({marks(narratives)}) AND {seen(Unseen.Kind.CANDIDATE, "c.id")}
        ORDER BY p.pair_id COLLATE "{byte_order()}", d.doc_id COLLATE "{byte_order()}"
    """  # noqa: S608 (nothing but marks and a constant is put in)
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, [*machines, *narratives])
        while rows := cursor.fetchmany(CHUNK):
            yield from rows


def original_topics(of: Sequence[QueryRow], pairs: Iterable[Pair]) -> Iterator[Topic]:
    """Yield one topic for each query, with the original narrative in force of its first pair."""
    first: dict[int, int] = {}
    for pair in pairs:
        if Narrative.Side.ORIGINAL in pair.versions:
            first.setdefault(pair.query.pk, pair.versions[Narrative.Side.ORIGINAL].pk)
    for batch in batches(of, TEXTS):
        texts = _texts([first[query.pk] for query in batch if query.pk in first])
        for query in batch:
            narrative = texts[first[query.pk]] if query.pk in first else None
            yield Topic(query.query_id, query.title, query.description, narrative)


def pair_topics(of: Sequence[Pair], side: str) -> Iterator[Topic]:
    """Yield one topic for each pair, under the pair's id, with the narrative in force on `side`.

    A pair without a narrative on that side has a topic without one.
    """
    for batch in batches(of, TEXTS):
        texts = _texts([pair.versions[side].pk for pair in batch if side in pair.versions])
        for pair in batch:
            narrative = texts[pair.versions[side].pk] if side in pair.versions else None
            yield Topic(pair.pair_id, pair.query.title, pair.query.description, narrative)


def differing_originals(of: Iterable[Pair]) -> list[str]:
    """Return the ids of queries whose pairs do not agree on the original narrative."""
    first: dict[str, int] = {}
    differing: set[str] = set()
    side = Narrative.Side.ORIGINAL
    for batch in batches((pair for pair in of if side in pair.versions), TEXTS):
        texts = _texts([pair.versions[side].pk for pair in batch])
        for pair in batch:
            text = hash(texts[pair.versions[side].pk])
            if first.setdefault(pair.query.query_id, text) != text:
                differing.add(pair.query.query_id)
    return sorted(differing)


def documents(project: Project, wanted: set[int]) -> Iterator[Doc]:
    """Yield the documents with these keys in byte order of doc_id, with the text where known; of
    those that have had several, every version, which then has its number.
    """
    if not wanted:
        return
    rows = Document.objects.filter(project=project).order_by(bytewise("doc_id"))
    found = (
        row
        for row in walk(rows, "pk", "doc_id", "title", "markup", "text_version")
        if row[0] in wanted
    )
    for batch in batches(found, TEXTS):
        texts: dict[int, list[tuple[int, str, str]]] = {}
        versions = DocumentText.objects.filter(
            document__in=[row[0] for row in batch], version__lte=F("document__text_version")
        )
        for pk, version, of_text, text in walk(
            versions.order_by("version"), "document", "version", "markup", "text"
        ):
            texts.setdefault(pk, []).append((version, of_text, text))
        for pk, doc_id, title, markup, newest in batch:
            if newest is None:
                yield Doc(doc_id, title, None, markup)
            for version, of_text, text in texts.get(pk, ()):
                yield Doc(doc_id, title, text, of_text, version if newest > 1 else None)


def documents_with_newer_texts(project: Project) -> dict[str, int]:
    """Return the newest text version of each document that has had several, by doc_id in byte
    order.
    """
    rows = Document.objects.filter(project=project, text_version__gt=1)
    return dict(walk(rows.order_by(bytewise("doc_id")), "doc_id", "text_version"))


def with_newer_texts(project: Project) -> set[int]:
    """Return the keys of the documents that have had several texts."""
    rows = Document.objects.filter(project=project, text_version__gt=1)
    return {pk for (pk,) in walk(rows.order_by(), "pk")}


# The text version that was read, of documents that have had several; else there is only one.
_TEXT = Case(
    When(candidate__document__text_version__gt=1, then=Coalesce("text_version", 1)),
    default=None,
)


def runs(project: Project) -> list[Run]:
    """Return the project's runs in byte order of their names."""
    return list(Run.objects.filter(project=project).order_by(bytewise("name")))


def pair_records(project: Project) -> Iterator[PairRecord]:
    """Yield every pair with every version of its narratives, in byte order of pair_id."""
    rows = InstructionPair.objects.filter(project=project).order_by(bytewise("pair_id"))
    of_pair = walk(
        rows,
        "pk",
        "pair_id",
        "query__query_id",
        "query__title",
        "query__description",
        "category",
        "origin",
        "model",
    )
    for batch in batches(of_pair, TEXTS):
        narratives: dict[int, list[NarrativeRecord]] = {}
        versions = Narrative.objects.filter(pair__in=[row[0] for row in batch])
        conditions: dict[int, list[ConditionRecord]] = {}
        for narrative, name, text in walk(
            Condition.objects.filter(narrative__in=versions).order_by("number"),
            *("narrative", "name", "text"),
        ):
            conditions.setdefault(narrative, []).append(ConditionRecord(name, text))
        for pair, pk, *fields in walk(
            versions,
            *("pair", "pk", "origin", "model"),
            *("side", "version", "text", "author__name", "created_at", "note"),
        ):
            origin, model, *fields = fields
            record = NarrativeRecord._make([*fields, tuple(conditions.get(pk, ())), origin, model])
            narratives.setdefault(pair, []).append(record)
        for pk, *fields in batch:
            in_order = sorted(narratives.get(pk, []), key=lambda n: (_SIDES[n.side], n.version))
            yield PairRecord._make([*fields, tuple(in_order)])


_SIDES = {side: place for place, side in enumerate(Narrative.Side.values)}

# Which narrative version something was said under, and of which document.
_UNDER = ("narrative__side", "narrative__pair__pair_id", "narrative__version")
_OF = ("candidate__query__query_id", "candidate__document__doc_id")


def judgments(of: Sequence[QueryRow]) -> Iterator[JudgmentRecord]:
    """Yield every judgment ever made, of people and machines, also those that no longer stand."""
    for batch in batches(of, BATCH):
        among = [query.pk for query in batch]
        rows = Judgment.objects.filter(candidate__query__in=among)
        # As text: an empty list of evidence need not be parsed, nor a UUID made and unmade.
        with_text = rows.annotate(
            spans=Cast("evidence", TextField()),
            said_of=Cast("clauses", TextField()),
            hexadecimal=Cast("uuid", TextField()),
            text=_TEXT,
        )
        walked = walk(
            with_text.order_by(*_said_order("annotator__name"), "uuid"),
            "pk",
            *_OF,
            "annotator__name",
            "relevance",
            *_UNDER,
            "at",
            "note",
            "hexadecimal",
            "annotator__is_machine",
            "spans",
            "active_ms",
            "superseded_at",
            "withdrawn_at",
            "said_of",
            "pressed",
            "made_at",
            "text",
        )
        for row, verdicts in _with_verdicts(walked, among):
            _, *said, uuid, machine, spans, active, over, back, clauses, pressed, made, text = row
            yield JudgmentRecord._make(
                (
                    *said,
                    _dashed(uuid),
                    machine,
                    _evidence(spans),
                    active,
                    over,
                    back,
                    _evidence(clauses),
                    verdicts,
                    pressed,
                    made,
                    text,
                )
            )


def _with_verdicts(
    rows: Iterable[tuple[Any, ...]], of: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], tuple[VerdictRecord, ...]]]:
    """Yield each judgment, its key first, with its verdicts. Most collections have none at all."""
    if not Verdict.objects.filter(judgment__candidate__query__in=of).exists():
        yield from ((row, ()) for row in rows)
        return
    for chunk in batches(rows, VERDICTS):
        verdicts: dict[int, list[VerdictRecord]] = {}
        given = Verdict.objects.filter(judgment__in=[row[0] for row in chunk])
        for judgment, number, answer in walk(
            given.order_by("condition__number"), "judgment", "condition__number", "answer"
        ):
            verdicts.setdefault(judgment, []).append(VerdictRecord(number, answer))
        yield from ((row, tuple(verdicts.get(row[0], ()))) for row in chunk)


def _dashed(uuid: str) -> str:
    """A UUID as it is written; SQLite keeps its digits only."""
    if len(uuid) == 32:
        return f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
    return uuid


def _evidence(spans: str) -> tuple[Evidence, ...]:
    if spans == "[]":
        return ()
    return tuple(Evidence(span["start"], span["end"]) for span in json.loads(spans))


def flags(of: Sequence[QueryRow]) -> Iterator[FlagRecord]:
    """Yield every flag ever put, also those cleared since."""
    for batch in batches(of, BATCH):
        rows = Flag.objects.filter(candidate__query__in=[query.pk for query in batch])
        for *said, uuid, made_at, machine, text in walk(
            rows.annotate(text=_TEXT).order_by(
                *_said_order("annotator__name"), bytewise("kind"), "uuid"
            ),
            *_OF,
            "annotator__name",
            "kind",
            *_UNDER,
            "at",
            "words",
            "cleared_at",
            "uuid",
            "made_at",
            "annotator__is_machine",
            "text",
        ):
            yield FlagRecord._make((*said, str(uuid), made_at, machine, text))


def adjudications(of: Sequence[QueryRow]) -> Iterator[AdjudicationRecord]:
    """Yield every settling decision ever taken, also those withdrawn since."""
    for batch in batches(of, BATCH):
        rows = Adjudication.objects.filter(candidate__query__in=[query.pk for query in batch])
        for row in walk(
            rows.annotate(text=_TEXT).order_by(*_said_order("by__name"), "relevance"),
            *_OF,
            "by__name",
            "relevance",
            *_UNDER,
            "at",
            "reason",
            "cause",
            "withdrawn_by__name",
            "withdrawn_at",
            "text",
        ):
            yield AdjudicationRecord._make(row)


def reviews(of: Sequence[Pair]) -> Iterator[ReviewRecord]:
    """Yield every submitted review with its ratings in the order of the criteria."""
    keys: dict[tuple[int, str], list[str]] = {}
    for batch in batches(of, BATCH):
        rows = Review.objects.submitted().filter(narrative__pair__in=[pair.pk for pair in batch])
        submitted = walk(
            rows.order_by(*_reviewed_order("auditor__name")),
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
            for review, *answer in walk(answers, "review", "criterion", "level", "words"):
                ratings.setdefault(review, []).append(RatingRecord._make(answer))
            documents: dict[int, list[TextRead]] = {}
            at_hand = ReviewedText.objects.filter(review__in=[row[0] for row in chunk])
            ordered = at_hand.order_by(bytewise("document__doc_id"))
            for review, *read in walk(ordered, "review", "document__doc_id", "text_version"):
                documents.setdefault(review, []).append(TextRead._make(read))
            for pk, project, *fields, machine in chunk:
                said = tuple(ratings.get(pk, [])), machine, tuple(documents.get(pk, []))
                record = ReviewRecord._make([*fields, *said])
                under = project, record.rubric
                if under not in keys:
                    keys[under] = list(rubrics.named(*under).keys)
                yield record._replace(ratings=_in_order(record.ratings, keys[under]))


def _in_order(ratings: Iterable[RatingRecord], keys: list[str]) -> tuple[RatingRecord, ...]:
    return tuple(sorted(ratings, key=lambda rating: keys.index(rating.criterion)))


def rubrics_of(project: Project) -> Iterator[RubricRecord]:
    """Yield the project's own rubrics and those it chose, by name; the one in force last."""
    kept = list(Rubric.objects.filter(project=project))
    chosen = [one for one in kept if one.chosen_at is not None]
    in_force = max(chosen, key=lambda one: (one.chosen_at, one.pk), default=None)
    for one in sorted(kept, key=lambda one: (one == in_force, one.name.encode())):
        yield one.content


def decisions(of: Sequence[Pair]) -> Iterator[DecisionRecord]:
    """Yield every decision on an instruction, also those withdrawn since."""
    for batch in batches(of, BATCH):
        rows = Decision.objects.filter(narrative__pair__in=[pair.pk for pair in batch])
        for row in walk(
            rows.order_by(*_reviewed_order("by__name"), "at", bytewise("outcome")),
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


def written(of: Iterable[Pair], side: str) -> list[Pair]:
    """Return the pairs whose qrels under the narrative on `side` are written.

    Removed pairs never are. A pair that was sent back waits for its next altered narrative.
    """
    if side == Narrative.Side.ALTERED:
        return [pair for pair in of if not pair.left_out]
    return [pair for pair in of if side in pair.versions and pair.left_out != "removed"]


def claimed(of: Iterable[Pair], side: str = Narrative.Side.ALTERED) -> list[Pair]:
    """Return the pairs whose claimed labels under the narrative on `side` are written."""
    return [pair for pair in of if pair.claimed_on[side] == CLAIMED]


class Tally(NamedTuple):
    """Judgments that stand, by what becomes of them in the qrels.

    `people`: of people under the version in force, by side, in pairs whose qrels are written.
    `set_aside`: the same in the other pairs. `stale`: of people under an older version of the
    narrative or of the document's text. `machines`: of machines, by side, never counted among
    people. `settled`: settling decisions that stand.
    """

    people: dict[str, int]
    set_aside: int
    stale: int
    machines: dict[str, int]
    settled: int

    def counts(self) -> dict[str, int]:
        """Return the same by the names that every manifest has for it."""
        counted = sum(self.people.values())
        by_machines = sum(self.machines.values())
        return {
            "judgments_by_people": counted + self.stale + self.set_aside,
            "judgments_counted": counted,
            "judgments_stale": self.stale,
            "judgments_set_aside": self.set_aside,
            "adjudications_standing": self.settled,
            "judgments_by_machines": by_machines,
            **{f"judgments_by_machines_{side}": n for side, n in self.machines.items() if n},
        }


def tally(project: Project, of: Sequence[Pair]) -> Tally:
    """Count the project's standing judgments by what becomes of them."""
    in_force = {version.pk for pair in of for version in pair.versions.values()}
    counting = {
        pair.versions[side].pk: side for side in Narrative.Side.values for pair in written(of, side)
    }
    people = dict.fromkeys(Narrative.Side.values, 0)
    machines = dict.fromkeys(Narrative.Side.values, 0)
    set_aside = stale = 0
    of_newest_text = Q(annotator__is_machine=False, text_replaced_at=None)
    rows = (
        Judgment.objects.standing()
        .filter(narrative__pair__project=project)
        .order_by()
        .values("narrative", "narrative__side")
        .annotate(
            by_people=Count("pk", filter=of_newest_text),
            by_machines=Count("pk", filter=Q(annotator__is_machine=True)),
            of_older_texts=Count(
                "pk", filter=Q(annotator__is_machine=False, text_replaced_at__isnull=False)
            ),
        )
    )
    for narrative, side, by_people, by_machines, of_older_texts in walk(
        rows, "narrative", "narrative__side", "by_people", "by_machines", "of_older_texts"
    ):
        machines[side] += by_machines
        stale += of_older_texts
        if narrative in counting:
            people[counting[narrative]] += by_people
        elif narrative in in_force:
            set_aside += by_people
        else:
            stale += by_people
    settled = Adjudication.objects.current().filter(narrative__pair__project=project).count()
    return Tally(people, set_aside, stale, machines, settled)


def pool_sizes(project: Project) -> dict[int, int]:
    """Return how many candidates each query has, by its key; queries without any left out."""
    rows = Candidate.objects.filter(query__project=project).order_by().values("query")
    return dict(walk(rows.annotate(size=Count("pk")), "query", "size"))


def _said_order(who: str) -> list[Any]:
    """The order of what was said of candidates: by document, then the words it was read under."""
    return [
        bytewise("candidate__query__query_id"),
        bytewise("candidate__document__doc_id"),
        bytewise("narrative__pair__pair_id"),
        bytewise("narrative__side"),
        "narrative__version",
        bytewise(who),
        "at",
    ]


def _reviewed_order(who: str) -> list[Any]:
    """The order of what was said of instructions."""
    return [
        bytewise("narrative__pair__pair_id"),
        bytewise("narrative__side"),
        "narrative__version",
        bytewise(who),
    ]


def bytewise(field: str) -> Collate:
    """Order by the bytes of a text, whatever language the database sorts in."""
    return Collate(field, byte_order())


def byte_order() -> str:
    """The database's name of the order of bytes, for SQL."""
    return "C" if connection.vendor == "postgresql" else "BINARY"


def marks(values: Sequence[object]) -> str:
    """A mark for each value, for a list in SQL."""
    return ", ".join(["%s"] * len(values))


def walk(rows: QuerySet[Any, Any], *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each row through a cursor, CHUNK rows at a time."""
    return rows.values_list(*fields).iterator(CHUNK)


def _texts(narratives: Sequence[int]) -> dict[int, str]:
    rows = Narrative.objects.filter(pk__in=narratives)
    return dict(walk(rows, "pk", "text"))


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, in their order."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
