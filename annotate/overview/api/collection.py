"""The collection: queries with their pools, pairs with their narratives, documents."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection import access as collection_access
from annotate.collection import core_queries
from annotate.collection.document_rendering import read_pane
from annotate.collection.models import Candidate, Query
from annotate.judgments.blindness import blind_pairs, may_see, must_answer_first
from annotate.judgments.document_names import names_for, neutral_order
from annotate.judgments.open_pairs import count_free_assignments
from annotate.judgments.repeats import unmask
from annotate.overview import pool_lists, query_lists
from annotate.overview.api.collection_shapes import (
    AskedCandidates,
    AskedPairs,
    AskedQueries,
    CandidateSerializer,
    DocumentSerializer,
    FullPairSerializer,
    FullQuerySerializer,
    OutcomeSerializer,
    PairSerializer,
    QuerySerializer,
)
from annotate.overview.my_assignments import pair_assignments
from annotate.overview.progress import Statements, query_progress, statements_of
from annotate.pairs import access as pairs_access
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.rewriting.api.narratives import FullNarrativeSerializer
from annotate.rewriting.kept_and_dropped import outcome
from base.api.paging import page_response, requested_part
from base.api.resource import Resource, reads


class Queries(Resource, tag="Collection"):
    """The queries of a project."""

    @reads(QuerySerializer, parameters=AskedQueries, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the queries with the progress of each; without `?state=`, those not taken out."""
        member = access.member(self.person, slug)
        asked = {"search": "", "core": "", "state": "", **self.parameters()}
        queries = query_lists.find_queries(member.project, **asked)
        if state := asked["state"]:
            keys = query_lists.in_order(member.project, queries, state=state, sort="")
            queries = queries.filter(pk__in=keys)
        return self.page(queries, prepare=lambda rows: _queries(member, rows))


class OneQuery(Resource, tag="Collection"):
    """One query."""

    @reads(FullQuerySerializer)
    def get(self, request: Request, slug: str, query: int) -> dict[str, Any]:
        """Read a query and its pairs."""
        member = access.member(self.person, slug)
        shown = collection_access.query(member, query)
        return {
            **_queries(member, [shown])[0],
            "pairs": shown.pairs.with_narratives().select_related("query").order_by("pk"),
            "siblings": core_queries.listed_siblings(shown),
            "pool": shown.candidates.count(),
        }


class Candidates(Resource, tag="Collection"):
    """The pool of a query."""

    @reads(CandidateSerializer, parameters=AskedCandidates, paged=True)
    def get(self, request: Request, slug: str, query: int) -> Response:
        """List the documents of a pool, with the answers that you may see.

        They are in the order of the page: for leads as loaded, for others by neutral numbers,
        because the order of a file may reveal what is relevant. Only leads can search, or ask for
        a state: 403.
        """
        member = access.member(self.person, slug)
        shown = collection_access.query(member, query)
        pairs = set(shown.pairs.values_list("pk", flat=True))
        # A reader who still judges is blind to earlier grades, leads included.
        prior = member.project.show_prior or (
            member.leads and blind_pairs(member).isdisjoint(pairs)
        )
        asked = {"search": "", "state": "", **self.parameters()}
        if any(asked.values()) and not (
            member.leads and (prior or asked["state"] not in pool_lists.PRIOR_STATES)
        ):
            raise PermissionDenied("Which documents these are would tell you an earlier answer.")
        pool = shown.candidates.select_related("document")
        if member.leads:
            pool = pool_lists.find_candidates(member, pool, **asked)
            return self.page(pool, prepare=lambda rows: _candidates(member, rows, prior=prior))
        keys = neutral_order(shown, member.project)
        part, following = requested_part(request, [str(key) for key in keys])
        by_key = pool.in_bulk(keys[part])
        # A candidate may be taken out while it is listed.
        rows = [by_key[key] for key in keys[part] if key in by_key]
        return page_response(request, self.shape(_candidates(member, rows, prior=prior)), following)


class Pairs(Resource, tag="Collection"):
    """The instruction pairs of a project."""

    @reads(PairSerializer, parameters=AskedPairs, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the pairs of a project."""
        member = access.member(self.person, slug)
        asked = self.parameters()
        pairs = member.project.pairs.all() if asked["removed"] else member.project.pairs.alive()
        if "query" in asked:
            pairs = pairs.filter(query=asked["query"])
        if "category" in asked:
            pairs = pairs.filter(category=asked["category"])
        return self.page(pairs.with_narratives().select_related("query"))


class OnePair(Resource, tag="Collection"):
    """One pair."""

    @reads(FullPairSerializer)
    def get(self, request: Request, pair: int) -> Response:
        """Read a pair with its current narratives."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        with_narratives = (
            InstructionPair.objects.with_narratives()
            .select_related("query")
            .get(pk=instruction_pair.pk)
        )
        versions = [instruction_pair.current(side) for side in Narrative.Side.values]
        altered = instruction_pair.current(Narrative.Side.ALTERED)
        came_to = (
            outcome(instruction_pair, altered, member)
            if altered and may_see(member, instruction_pair)
            else None
        )
        narratives = [version for version in versions if version is not None]
        return Response(
            {
                **PairSerializer(with_narratives).data,
                "narratives": FullNarrativeSerializer(narratives, many=True).data,
                "assignments": [
                    {"task": assignment.task, "member": assignment.member.name, "done": done}
                    for assignment, done in pair_assignments(instruction_pair)
                ],
                "free": {
                    task: count_free_assignments(instruction_pair, task, member)
                    for task in Assignment.Task.values
                },
                "outcome": None if came_to is None else OutcomeSerializer(came_to).data,
            }
        )


class OneDocument(Resource, tag="Collection"):
    """A document of a pair's pool."""

    @reads(DocumentSerializer)
    def get(self, request: Request, pair: int, candidate: int) -> dict[str, Any]:
        """Read a document, by its candidate's key or the number that `judging_session` gives it."""
        member, instruction_pair = pairs_access.pair(self.person, pair)
        row = pairs_access.candidate(instruction_pair, unmask(candidate, member.pk).candidate)
        shown = read_pane(row.document)
        return {
            "name": names_for(member, [row])[row.pk],
            "document": shown.document,
            "text": shown.text,
        }


def _queries(member: Membership, rows: list[Query]) -> list[dict[str, Any]]:
    blind = blind_pairs(member)
    return [
        {
            **vars(row),
            "state": query_lists.State.REMOVED
            if row.query.removed_at
            else query_lists.state_by_answers(row.wanted, row.answered),
            "came_to": row
            if member.leads and blind.isdisjoint(pair.pk for pair in row.pairs)
            else None,
        }
        for row in query_progress(member, rows)
    ]


def _candidates(member: Membership, rows: list[Candidate], *, prior: bool) -> list[dict[str, Any]]:
    by_candidate: dict[int, list[Statements]] = {}
    for statements in statements_of(member, rows):
        by_candidate.setdefault(statements.candidate.pk, []).append(statements)
    names = names_for(member, rows)
    shows_made_for = member.leads and not must_answer_first(member)
    return [
        {
            "id": row.pk,
            "name": names[row.pk],
            "document": row.document,
            "prior_relevance": row.prior_relevance if prior else None,
            "made_for": row.made_for_id if shows_made_for else None,
            "under": [_under(statements) for statements in by_candidate.get(row.pk, [])],
        }
        for row in rows
    ]


def _under(statements: Statements) -> dict[str, Any]:
    judgments = [
        {
            "member": statements.name_of(row.annotator),
            "relevance": row.relevance,
            "flag": None,
            "words": row.note,
            "at": row.at,
        }
        for row in statements.judgments
    ]
    flags = [
        {
            "member": statements.name_of(row.annotator),
            "relevance": None,
            "flag": row.flag,
            "words": row.note,
            "at": row.at,
        }
        for row in statements.flags
    ]
    return {
        "pair": statements.narrative.pair_id if statements.narrative else None,
        "narrative": statements.narrative.pk if statements.narrative else None,
        "outcome": statements.outcome,
        "answers": [*judgments, *flags],
    }
