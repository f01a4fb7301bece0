"""Rows -> records: which judgments count, and in which order everything is written.

Everything comes in byte order of its ids, which is the same on every database, and streams: a
batch of queries or pairs at a time through a cursor, so that memory does not grow with the pools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby, starmap
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, F, QuerySet

from annotate.collection.models import Candidate, Query
from annotate.collection.unseen_rows import Unseen, seen_condition
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import DrawnPair, InstructionPair, Narrative
from annotate.pairs.pool import WHOLE_POOL, in_pool_of
from annotate.projects.models import Membership, Project
from audit.reviews.models import Decision, Review
from exporters.exports.ordered_rows import BATCH, CHUNK, batches, byte_order, bytewise, marks, walk
from formats.records import Qrel

# What a pair says whose claimed labels have a place in the claimed qrels.
CLAIMED = "yes"
# What a pair without an altered narrative is left out for.
NOT_WRITTEN = "not written"


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
    """Return the project's queries in byte order of query_id, but those that were taken out."""
    return _rows(Query.objects.filter(project=project, removed_at__isnull=True))


def _rows(found: QuerySet[Query]) -> list[QueryRow]:
    rows = found.order_by(bytewise("query_id"))
    return [QueryRow(*row) for row in walk(rows, "pk", "query_id", "title", "description")]


def pairs_of(queries: Iterable[QueryRow], pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of these queries: those of a query that was taken out are not counted."""
    present = {query.pk for query in queries}
    return [pair for pair in pairs if pair.query.pk in present]


def pairs(project: Project) -> list[Pair]:
    """Return the project's instruction pairs in byte order of pair_id."""
    of_queries = {query.pk: query for query in _rows(Query.objects.filter(project=project))}
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
    said = Judgment.objects.current().of_people().filter(in_pools(), **under)
    settled = Adjudication.objects.current().filter(in_pools(), **under)
    return {
        pair
        for rows in (said, settled)
        for (pair,) in walk(rows.order_by().distinct(), "narrative__pair")
    }


def _claims(project: Project) -> dict[int, dict[str, int]]:
    """Count the labels that machines claim under each pair's narratives in force, by side."""
    in_force = Narrative.objects.filter(pair__project=project).current()
    rows = Judgment.objects.current().filter(
        in_pools(), annotator__is_machine=True, narrative__in=in_force
    )
    of_narrative = rows.order_by().values("narrative__pair", "narrative__side")
    found: dict[int, dict[str, int]] = {}
    for pair, side, n in walk(
        of_narrative.annotate(n=Count("pk")), "narrative__pair", "narrative__side", "n"
    ):
        found.setdefault(pair, {})[side] = n
    return found


def _acceptance(project: Project) -> Callable[[int], str]:
    """Return what says of a pair why its altered narrative in force is not accepted, or "".

    Where nobody has reviewed or decided anything yet, none needs to be; while a draw is in force,
    only what it took.
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
    if project.review_draws.current().exists():
        taken = DrawnPair.objects.filter(draw__project=project, draw__ended_at__isnull=True)
        drawn = {pair for (pair,) in walk(taken, "pair")}
        return lambda pair: _DECIDED[outcomes.get(pair)] if pair in outcomes.keys() | drawn else ""
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
            in_pool_of(F("query__pairs")),
            query__pairs__in=[pair.pk for pair in batch],
            prior_relevance__isnull=False,
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
        query__project=project,
        query__removed_at__isnull=True,
        prior_relevance__gte=project.relevant_from,
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
    every = project.judge_scope in WHOLE_POOL
    existing = project.judge_scope == Project.Scope.EXISTING
    relevant_from = project.relevant_from
    rows = iter(pool)
    row = next(rows, None)
    while row is not None:
        _, candidate, doc_id, document, prior, grade, settled, made_for = row
        grades = () if grade is None else (grade,)
        row = next(rows, None)
        if row is not None and row[1] == candidate:
            more = [grade]
            while row is not None and row[1] == candidate:
                more.append(row[5])
                row = next(rows, None)
            grades = tuple(sorted(more))
        if made_for is not None:
            # Written for this instruction: what it was before does not stand under it.
            prior = None
        in_scope = every or (prior is not None and prior >= relevant_from)
        in_scope = in_scope and not (existing and made_for is not None)
        yield PooledDocument(
            doc_id, document, prior, in_scope, grades, _agreed(grades, rule, settled)
        )


# The same few grades come again and again.
_agreed = lru_cache(maxsize=10_000)(consensus)


def _said_of_pools(narratives: Sequence[int], machines: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield (narrative, candidate, doc_id, document, prior, grade, settled, the only pair or None),
    one row a judgment.

    A candidate nobody has judged has one row without a grade. In SQL, because a join of a
    narrative's judgments with its own query's candidates cannot be said through the models, and
    to ask for each pool by itself would take longer than to walk it.
    """
    of_people = f"j.annotator_id NOT IN ({marks(machines)})" if machines else "1 = 1"
    statement = f"""
        SELECT n.id, c.id, d.doc_id, d.id, c.prior_relevance, j.relevance, a.relevance,
            c.made_for_id
        FROM annotate_narrative n
        JOIN annotate_instructionpair p ON p.id = n.pair_id
        JOIN annotate_candidate c ON c.query_id = p.query_id
            AND (c.made_for_id IS NULL OR c.made_for_id = p.id)
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_judgment j ON j.narrative_id = n.id AND j.candidate_id = c.id
            AND j.superseded_at IS NULL AND j.text_replaced_at IS NULL AND {of_people}
        LEFT JOIN annotate_adjudication a ON a.narrative_id = n.id AND a.candidate_id = c.id
            AND a.withdrawn_at IS NULL AND a.text_replaced_at IS NULL
        WHERE n.id IN ({marks(narratives)}) AND c.removed_at IS NULL
            AND {seen_condition(Unseen.Kind.CANDIDATE, "c.id")}
        ORDER BY p.pair_id COLLATE "{byte_order()}", d.doc_id COLLATE "{byte_order()}"
    """  # noqa: S608 (nothing but marks and a constant is put in)
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, [*machines, *narratives])
        while rows := cursor.fetchmany(CHUNK):
            yield from rows


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


def pool_sizes(project: Project) -> dict[int, int]:
    """Return how many candidates each query has, by its key; queries without any, and those that
    were taken out, are left out.
    """
    of_project = Candidate.objects.filter(query__project=project, query__removed_at__isnull=True)
    rows = of_project.order_by().values("query")
    return dict(walk(rows.annotate(size=Count("pk")), "query", "size"))
