"""Select the rows of an export: which pairs and judgments count, how many, and their order.

All rows are in byte order of their ids, which is the same on every database. They are streamed: a
batch of queries or pairs at a time through a cursor, so memory does not grow with the pools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, starmap
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate, Query
from annotate.collection.shown_documents import is_shown_to_judges
from annotate.judgments.consensus import Outcome, State, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import DrawnPair, InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Project
from audit.reviews.models import Decision, Review
from base.bulk import byte_order, in_byte_order
from base.snapshot import once_in_snapshot
from exporters.exports.selection.ordered_rows import (
    BATCH,
    batches,
    stream_rows,
    stream_sql,
)
from formats.records import Qrel

# The value of `Pair.claimed` for a pair whose claimed labels are in the claimed qrels.
CLAIMED = "yes"
# Why a pair without an altered narrative is left out.
NOT_WRITTEN = "not written"


class Version(NamedTuple):
    """The current version of a narrative on its side."""

    pk: int
    version: int


class Pair(NamedTuple):
    """An instruction pair with its current narrative versions, by side.

    `left_out` is the reason why it is not in the changed qrels ("removed", "sent back", "not
    written", "claimed only", "not judged"), and empty for a pair that is. A pair without any
    judgment would have only the zeros that it was loaded with, and would lower every score.

    `claims_on`: how many labels machines claim under its current narratives, by side; sides without
    claims are omitted. `claimed_on`: for every side, CLAIMED if the claims are in the claimed
    qrels, else the reason ("removed", "sent back", "not accepted", "not claimed"). If a pair is
    left out, the claims on all its sides are.
    """

    pk: int
    pair_id: str
    query: Query
    category: str
    origin: str
    versions: dict[str, Version]
    left_out: str
    claims_on: dict[str, int]
    claimed_on: dict[str, str]

    @property
    def claims(self) -> int:
        """Return how many labels machines claim under the current altered narrative."""
        return self.claims_on.get(Narrative.Side.ALTERED, 0)

    @property
    def claimed(self) -> str:
        """Return CLAIMED if the claims under the altered narrative are written, else the reason."""
        return self.claimed_on[Narrative.Side.ALTERED]


class PooledDocument(NamedTuple):
    """The state of one candidate under one narrative.

    `grades` are people's grades under the current version, sorted. `in_scope`: whether the project
    puts the candidate before its judges.
    """

    doc_id: str
    candidate: int
    document: int
    prior: int | None
    in_scope: bool
    grades: tuple[int, ...]
    outcome: Outcome[int]

    def relevance_on(self, side: str) -> int | None:
        """Return its grade in the qrels of a side, or None if it has no line.

        Under altered narratives a document that is not put before judges keeps its earlier
        relevance; under the others it has no line.
        """
        relevance, state = self.outcome
        if relevance is not None or state is State.DISPUTED:
            return relevance
        return None if side != Narrative.Side.ALTERED or self.in_scope else self.prior


class _PoolRow(NamedTuple):
    """One judgment of a document in the pool of a narrative, or the document without any.

    `made_for`: the only pair whose pool has the document, if it was written for one.
    """

    narrative: int
    candidate: int
    doc_id: str
    document: int
    prior: int | None
    grade: int | None
    settled: int | None
    made_for: int | None


@once_in_snapshot
def queries(project: Project) -> list[Query]:
    """Return the project's queries in byte order of query_id, except those taken out."""
    return [query for query in queries_with_removed(project) if query.removed_at is None]


@once_in_snapshot
def queries_with_removed(project: Project) -> list[Query]:
    """Return all of the project's queries in byte order of query_id, for a record of answers."""
    return list(Query.objects.filter(project=project).order_by(in_byte_order("query_id")))


@once_in_snapshot
def pairs(project: Project) -> list[Pair]:
    """Return the project's instruction pairs in byte order of pair_id."""
    of_queries = {query.pk: query for query in queries_with_removed(project)}
    in_force: dict[int, dict[str, Version]] = {}
    sent_back: set[int] = set()
    narratives = Narrative.objects.filter(pair__project=project).current()
    for pair, side, pk, version, sent_back_at in stream_rows(
        narratives, "pair", "side", "pk", "version", "sent_back_at"
    ):
        in_force.setdefault(pair, {})[side] = Version(pk, version)
        if side == Narrative.Side.ALTERED and sent_back_at is not None:
            sent_back.add(pair)
    judged = judged_pairs(project, Narrative.Side.ALTERED)
    claims = _count_claims(project)
    acceptance = _acceptance(project)
    rows = InstructionPair.objects.filter(project=project).order_by(in_byte_order("pair_id"))
    pairs_of_project = []
    for pk, pair_id, query, category, origin, removed_at in stream_rows(
        rows, "pk", "pair_id", "query", "category", "origin", "removed_at"
    ):
        versions = in_force.get(pk, {})
        left_out = ""
        if removed_at is not None:
            left_out = "removed"
        elif Narrative.Side.ALTERED not in versions:
            left_out = NOT_WRITTEN
        elif pk in sent_back:
            left_out = "sent back"
        claims_on = claims.get(pk, {})
        unwritten = left_out == NOT_WRITTEN
        claim_state = ("" if unwritten else left_out) or acceptance(pk) or CLAIMED
        claimed_on = {
            side: claim_state if side in claims_on else "not claimed"
            for side in Narrative.Side.values
        }
        if not left_out and pk not in judged:
            claimed = claimed_on[Narrative.Side.ALTERED] == CLAIMED
            left_out = "claimed only" if claimed else "not judged"
        pairs_of_project.append(
            Pair(
                *(pk, pair_id, of_queries[query], category, origin, versions),
                left_out=left_out,
                claims_on=claims_on,
                claimed_on=claimed_on,
            )
        )
    return pairs_of_project


@once_in_snapshot
def judged_pairs(project: Project, side: str) -> set[int]:
    """Return the pairs that people have judged or settled under the current narrative of a side."""
    of_side = Narrative.objects.filter(pair__project=project, side=side)
    # One row of each narrative is enough to read.
    under = {"narrative": OuterRef("pk")}
    judgments = Judgment.objects.current().of_people().filter(in_pools(), **under)
    settled = Adjudication.objects.current().filter(in_pools(), **under)
    rows = of_side.current().filter(Exists(judgments) | Exists(settled))
    return set(rows.values_list("pair_id", flat=True))


def _count_claims(project: Project) -> dict[int, dict[str, int]]:
    """Count the labels that machines claim under each pair's current narratives, by side."""
    in_force = Narrative.objects.filter(pair__project=project).current()
    rows = Judgment.objects.current().filter(
        in_pools(), annotator__is_machine=True, narrative__in=in_force
    )
    of_narrative = rows.order_by().values("narrative__pair", "narrative__side")
    # Several machines may claim one label.
    labels = of_narrative.annotate(n=Count("candidate", distinct=True))
    counts: dict[int, dict[str, int]] = {}
    for pair, side, n in stream_rows(labels, "narrative__pair", "narrative__side", "n"):
        counts.setdefault(pair, {})[side] = n
    return counts


def _acceptance(project: Project) -> Callable[[int], str]:
    """Return a function from a pair to the reason why its altered narrative is not accepted, or "".

    If nothing has been reviewed or decided yet, no narrative needs to be accepted; while a review
    draw is current, only drawn pairs and pairs with a decision do.
    """
    of_project = {"narrative__pair__project": project}
    if not (
        Review.objects.submitted().of_people().filter(**of_project).exists()
        or Decision.objects.filter(**of_project).exists()
    ):
        return lambda pair: ""
    altered = Narrative.objects.filter(pair__project=project, side=Narrative.Side.ALTERED)
    standing = Decision.objects.current().filter(narrative__in=altered.current())
    outcomes = dict(stream_rows(standing, "narrative__pair", "outcome"))
    if project.review_draws.current().exists():
        taken = DrawnPair.objects.filter(draw__project=project, draw__ended_at__isnull=True)
        drawn = set(taken.values_list("pair_id", flat=True))
        return lambda pair: _DECIDED[outcomes.get(pair)] if pair in outcomes.keys() | drawn else ""
    return lambda pair: _DECIDED[outcomes.get(pair)]


_DECIDED = {
    Decision.Outcome.ACCEPTED: "",
    Decision.Outcome.REVISE: "sent back",
    Decision.Outcome.REMOVED: "removed",
    None: "not accepted",
}


def count_pairs(of: Iterable[Pair]) -> int:
    """Return how many of these pairs belong to a query that was not taken out."""
    return sum(pair.query.removed_at is None for pair in of)


def prior_qrels(of: Sequence[Query]) -> Iterator[Qrel]:
    """Yield the relevance with which every candidate was loaded, by query_id and doc_id."""
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            query__in=[query.pk for query in batch], prior_relevance__isnull=False
        ).order_by(in_byte_order("query__query_id"), in_byte_order("document__doc_id"))
        yield from starmap(
            Qrel, stream_rows(rows, "query__query_id", "document__doc_id", "prior_relevance")
        )


def prior_qrels_of_pairs(of: Sequence[Pair]) -> Iterator[Qrel]:
    """Yield the same relevance under the id of each pair, by pair_id and doc_id.

    A query with several pairs is written once for each of them, as in the changed qrels.
    """
    for pair_id, doc_id, prior in candidates_of_pairs(of):
        if prior is not None:
            yield Qrel(pair_id, doc_id, prior)


def candidates_of_pairs(of: Sequence[Pair]) -> Iterator[tuple[str, str, int | None]]:
    """Yield pair_id, doc_id and earlier relevance of each pair's candidates, in this order."""
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            in_pool_of(F("query__pairs")), query__pairs__in=[pair.pk for pair in batch]
        ).order_by(in_byte_order("query__pairs__pair_id"), in_byte_order("document__doc_id"))
        yield from stream_rows(rows, "query__pairs__pair_id", "document__doc_id", "prior_relevance")


def prior_relevant(project: Project) -> int:
    """Return how many candidates were loaded as relevant."""
    return Candidate.objects.filter(
        query__project=project,
        query__removed_at__isnull=True,
        prior_relevance__gte=project.relevant_from,
    ).count()


def pooled_documents(
    project: Project, of: Sequence[Pair], side: str
) -> Iterator[tuple[Pair, Iterator[PooledDocument]]]:
    """Yield each pair with its pool, in (pair_id, doc_id) order; read each pool before the next.

    Every pair must have a narrative on `side`. Only current judgments of people under the current
    version count; a settling decision under it wins over them. A pair without a pool is left out.
    """
    for batch in batches(of, BATCH):
        under = {pair.versions[side].pk: pair for pair in batch}
        for narrative, pool in groupby(_pool_rows(list(under)), key=attrgetter("narrative")):
            yield under[narrative], _pooled_documents(project, pool)


def _pooled_documents(project: Project, pool: Iterable[_PoolRow]) -> Iterator[PooledDocument]:
    """Merge the rows of each candidate, which are consecutive, into one document."""
    rule = project.consensus
    for _, judgments in groupby(pool, key=attrgetter("candidate")):
        rows = list(judgments)
        row = rows[0]
        grades = tuple(sorted(row.grade for row in rows if row.grade is not None))
        # A document written for this instruction has no earlier relevance.
        prior = row.prior if row.made_for is None else None
        in_scope = is_shown_to_judges(project, prior=prior, generated=row.made_for is not None)
        outcome = _cached_consensus(grades, rule, row.settled)
        yield PooledDocument(
            row.doc_id, row.candidate, row.document, prior, in_scope, grades, outcome
        )


# Cached: the same few combinations of grades recur.
_cached_consensus = lru_cache(maxsize=10_000)(consensus)


def _pool_rows(narratives: Sequence[int]) -> Iterator[_PoolRow]:
    """Yield one row per judgment, those of a candidate together.

    A candidate that nobody has judged has one row without a grade. Written in SQL, because the ORM
    cannot join a narrative's judgments with the candidates of its query, and one query per pool
    would take longer than reading it.
    """
    placeholders = ", ".join(["%s"] * len(narratives))
    statement = f"""
        SELECT n.id, c.id, d.doc_id, d.id, c.prior_relevance, j.relevance, a.relevance,
            c.made_for_id
        FROM annotate_narrative n
        JOIN annotate_instructionpair p ON p.id = n.pair_id
        JOIN annotate_candidate c ON c.query_id = p.query_id
            AND (c.made_for_id IS NULL OR c.made_for_id = p.id)
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_statement j ON j.narrative_id = n.id AND j.candidate_id = c.id
            AND NOT j.repeat AND j.relevance IS NOT NULL
            AND j.ended_at IS NULL AND j.text_replaced_at IS NULL
            AND j.annotator_id IN (SELECT id FROM annotate_membership WHERE NOT is_machine)
        LEFT JOIN annotate_adjudication a ON a.narrative_id = n.id AND a.candidate_id = c.id
            AND a.withdrawn_at IS NULL AND a.text_replaced_at IS NULL
        WHERE n.id IN ({placeholders}) AND c.removed_at IS NULL
        ORDER BY p.pair_id COLLATE "{byte_order()}", d.doc_id COLLATE "{byte_order()}"
    """  # noqa: S608 (only placeholders and a constant are inserted)
    return map(_PoolRow._make, stream_sql(statement, narratives))


def written_pairs(of: Iterable[Pair], side: str) -> list[Pair]:
    """Return the pairs whose qrels under the narrative on `side` are written.

    Removed pairs are never written. On the altered side, neither are the other pairs left out.
    """
    if side == Narrative.Side.ALTERED:
        return [pair for pair in of if not pair.left_out]
    return [pair for pair in of if side in pair.versions and pair.left_out != "removed"]


def claimed(of: Iterable[Pair], side: str = Narrative.Side.ALTERED) -> list[Pair]:
    """Return the pairs whose claimed labels under the narrative on `side` are written."""
    return [pair for pair in of if pair.claimed_on[side] == CLAIMED]


def pool_sizes(project: Project) -> dict[int, int]:
    """Return how many candidates each query has, by its key.

    Queries without candidates, and those taken out, are omitted.
    """
    of_project = Candidate.objects.filter(query__project=project, query__removed_at__isnull=True)
    rows = of_project.order_by().values("query")
    return dict(stream_rows(rows.annotate(size=Count("pk")), "query", "size"))


def standing_decisions(project: Project) -> QuerySet[Adjudication]:
    """Return the settling decisions that nobody has withdrawn, on every version of narratives.

    Those of queries that were taken out are left out.
    """
    return Adjudication.objects.current().filter(
        narrative__pair__project=project, narrative__pair__query__removed_at=None
    )


def tally(project: Project, of: Sequence[Pair]) -> dict[str, int]:
    """Count the project's current judgments under the keys of manifests.

    People's judgments are counted under the current version, in pairs whose qrels are written;
    set aside in pairs that are left out, or of documents taken out of their pool; or stale under an
    older version of the narrative or of the document's text. Machines' are never among them.
    """
    in_force = {version.pk for pair in of for version in pair.versions.values()}
    counting = {
        pair.versions[side].pk for side in Narrative.Side.values for pair in written_pairs(of, side)
    }
    machines = dict.fromkeys(Narrative.Side.values, 0)
    counted = set_aside = stale = 0
    of_newest_text = Q(annotator__is_machine=False, text_replaced_at=None)
    rows = (
        Judgment.objects.not_superseded()
        .filter(narrative__pair__project=project)
        .order_by()
        .values("narrative", "narrative__side")
        .annotate(
            by_people=Count("pk", filter=of_newest_text & in_pools()),
            of_removed=Count("pk", filter=of_newest_text & ~in_pools()),
            by_machines=Count("pk", filter=Q(annotator__is_machine=True)),
            of_older_texts=Count(
                "pk", filter=Q(annotator__is_machine=False, text_replaced_at__isnull=False)
            ),
        )
    )
    for narrative, side, by_people, of_removed, by_machines, of_older_texts in stream_rows(
        rows,
        *("narrative", "narrative__side", "by_people", "of_removed", "by_machines"),
        "of_older_texts",
    ):
        machines[side] += by_machines
        set_aside += of_removed
        stale += of_older_texts
        if narrative in counting:
            counted += by_people
        elif narrative in in_force:
            set_aside += by_people
        else:
            stale += by_people
    standing = standing_decisions(project)
    decided = standing.filter(in_pools()).values_list("narrative", flat=True)
    return {
        "judgments_by_people": counted + stale + set_aside,
        "judgments_counted": counted,
        "judgments_stale": stale,
        "judgments_set_aside": set_aside,
        "adjudications_standing": standing.count(),
        "adjudications_counted": sum(narrative in counting for narrative in decided),
        "judgments_by_machines": sum(machines.values()),
        **{f"judgments_by_machines_{side}": n for side, n in machines.items() if n},
    }
