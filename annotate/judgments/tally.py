"""What people's judgments of each document come to, walked a document at a time.

Answers are counted in the database, so that a hundred thousand of them come as a few for each
document, through a cursor: memory does not grow with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.judgments.promises import Change, Counts, Promise, Rule
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_scope, pairs_with_pool
from annotate.projects.models import Membership

CHUNK = 5_000
# Documents named for each pair that breaks a rule; the rest is counted.
NAMED = 5


@dataclass(frozen=True)
class Tally:
    """One candidate under one narrative version: how many people gave which grade."""

    narrative: int
    candidate: int
    prior: int | None
    grades: Counter[int]
    settled: int | None

    def outcome(self, rule: str) -> Outcome:
        """What it comes to by a project's rule of consensus."""
        return consensus(sorted(self.grades.elements()), rule, self.settled)


def tallies(narratives: QuerySet[Narrative], reader: Membership) -> Iterator[Tally]:
    """Walk what people said under these narratives, in their order: three queries.

    Candidates that the reader judges and has not judged yet are left out: blind means blind.
    """
    machines = list(reader.project.memberships.filter(is_machine=True).values_list("pk", flat=True))
    said = Judgment.objects.current().filter(in_pools(), narrative__in=narratives.values("pk"))
    if machines:
        said = said.exclude(annotator__in=machines)
    if blind := blind_pairs(reader):
        own = Judgment.objects.current().filter(
            narrative=OuterRef("narrative"), candidate=OuterRef("candidate"), annotator=reader
        )
        said = said.filter(~Q(narrative__pair__in=blind) | Exists(own))
    settled = {
        (narrative, candidate): (pair, prior, relevance)
        for narrative, candidate, pair, prior, relevance in Adjudication.objects.current()
        .filter(in_pools(), narrative__in=narratives.values("pk"))
        .values_list(
            "narrative_id",
            "candidate_id",
            "narrative__pair__pk",
            "candidate__prior_relevance",
            "relevance",
        )
    }
    grouped = (
        said.order_by("narrative_id", "candidate_id")
        .values_list("narrative_id", "candidate_id", "candidate__prior_relevance", "relevance")
        .annotate(n=Count("pk"))
    )
    for (narrative, candidate, prior), rows in groupby(
        grouped.iterator(CHUNK), itemgetter(0, 1, 2)
    ):
        counted: Counter[int] = Counter({relevance: count for *_, relevance, count in rows})
        *_, decided = settled.pop((narrative, candidate), (None,))
        yield Tally(narrative, candidate, prior, counted, decided)
    # What was settled stays so when its judges take their answers back.
    for (narrative, candidate), (pair, prior, decided) in sorted(settled.items()):
        if pair not in blind:
            yield Tally(narrative, candidate, prior, Counter(), decided)


@dataclass
class PairStanding:
    """A pair with its documents by what became of them under the altered narrative in force."""

    pair: InstructionPair
    narrative: int
    counts: Counts = field(default_factory=Counts)
    # The first of the documents that grew, by key.
    grown: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Promises:
    """How the rules stand with every pair on which anybody has said something."""

    pairs: list[PairStanding]
    # Pairs on which nobody has said anything, and pairs that the reader still judges.
    silent: int
    hidden: int
    # Of candidates that grew: what a list shows.
    documents: dict[int, str]

    def by(self, rule: Rule) -> dict[Promise, list[PairStanding]]:
        """The pairs by how a rule stands with them."""
        found: dict[Promise, list[PairStanding]] = {promise: [] for promise in Promise}
        for one in self.pairs:
            found[one.counts.promise(rule)].append(one)
        return found


def promises(reader: Membership) -> Promises:
    """Return how the rules stand in the reader's project: eight queries.

    Every judged document of the pool counts, also one that the project does not put before its
    judges: it may have become relevant as well.
    """
    project = reader.project
    blind = blind_pairs(reader)
    in_force = (
        Narrative.objects.current()
        .filter(side=Narrative.Side.ALTERED, pair__in=pairs_with_pool(project).values("pk"))
        .select_related("pair__query", "pair__project")
        .defer("text", "pair__query__description")
        .order_by("pair")
    )
    every = {one.pk: PairStanding(one.pair, one.pk) for one in in_force}
    found = {key: one for key, one in every.items() if one.pair.pk not in blind}
    judged: Counter[int] = Counter()
    narratives = in_force.exclude(pair__in=blind)
    relevant_from = project.relevant_from
    for tally in tallies(narratives, reader):
        one = found[tally.narrative]
        result = tally.outcome(project.consensus)
        in_it = tally.prior is not None and tally.prior >= relevant_from
        judged[tally.narrative] += in_it or project.judge_scope == project.Scope.POOL
        if result.relevance is None:
            one.counts.disputed += 1
        elif one.counts.add(tally.prior, result.relevance, relevant_from) is Change.GREW:
            one.grown.append(tally.candidate)
    sizes = dict(
        in_scope(project, Candidate.objects.filter(query__project=project))
        .order_by()
        .values_list("query_id")
        .annotate(n=Count("pk"))
    )
    for key, one in found.items():
        one.counts.unjudged = sizes.get(one.pair.query_id, 0) - judged[key]
    spoken = [one for one in found.values() if one.counts.spoken]
    named = {candidate for one in spoken for candidate in one.grown[:NAMED]}
    labels = Candidate.with_removed.filter(pk__in=named).values_list(
        "pk", "document__title", "document__doc_id"
    )
    return Promises(
        spoken,
        len(found) - len(spoken),
        len(every) - len(found),
        {pk: title or doc_id for pk, title, doc_id in labels},
    )
