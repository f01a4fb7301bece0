"""How far a project is: counted from the rows at every look, never stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F

from annotate.actions.pool import (
    in_scope,
    judged_narrative,
    judgments_in_force,
    pairs_with_pool,
)
from annotate.consensus import State, consensus
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Flag,
    InstructionPair,
    Judgment,
    Membership,
    Project,
    Query,
)


@dataclass(frozen=True)
class Share:
    """A part of a whole, as a progress bar draws it."""

    done: int
    total: int

    @property
    def left(self) -> int:
        """What is still to do."""
        return max(self.total - self.done, 0)


@dataclass
class PairProgress:
    """How far one pair is."""

    pair: InstructionPair
    # Documents to judge, and the judgments there are under the narrative in force.
    documents: int
    judged: Share
    seats: dict[str, list[Assignment]] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectProgress:
    """How far a project is, task by task."""

    queries: int
    pairs: int
    documents: int
    rewritten: Share
    judged: Share
    flagged: int


def project_progress(project: Project) -> ProjectProgress:
    """Count a project's work in a fixed number of queries."""
    alive = project.pairs.alive()
    pairs = alive.count()
    waiting = project.pairs.to_rewrite().count()
    per_pair = pairs_with_pool(project).values_list("query_id").annotate(n=Count("pk"))
    sizes = dict(_pool_sizes(project, [query for query, _ in per_pair]))
    wanted = sum(sizes.get(query, 0) * n for query, n in per_pair) * project.overlap_judge
    return ProjectProgress(
        queries=project.queries.count(),
        pairs=pairs,
        documents=project.documents.count(),
        rewritten=Share(pairs - waiting, pairs),
        judged=Share(judgments_in_force(project).count(), wanted),
        flagged=Flag.objects.current()
        .filter(annotator__project=project)
        .exclude(kind=Flag.Kind.LATER)
        .count(),
    )


def query_progress(project: Project, queries: Sequence[Query]) -> dict[int, list[PairProgress]]:
    """How far the pairs of these queries are, by query key: four queries, however many there
    are.
    """
    ids = [query.pk for query in queries]
    sizes = dict(_pool_sizes(project, ids))
    pairs = list(project.pairs.with_narratives().filter(query__in=ids).order_by("query", "pk"))
    judged = dict(
        judgments_in_force(project)
        .filter(narrative__pair__in=pairs)
        .values_list("narrative__pair_id")
        .annotate(n=Count("pk"))
    )
    seats: dict[int, dict[str, list[Assignment]]] = defaultdict(lambda: defaultdict(list))
    taken = Assignment.objects.filter(pair__in=pairs).select_related("member")
    for seat in taken.order_by("task", "seat"):
        seats[seat.pair_id][seat.task].append(seat)
    found: dict[int, list[PairProgress]] = defaultdict(list)
    for pair in pairs:
        documents = sizes.get(pair.query_id, 0)
        share = Share(judged.get(pair.pk, 0), documents * project.overlap_judge)
        found[pair.query_id].append(PairProgress(pair, documents, share, dict(seats[pair.pk])))
    return dict(found)


@dataclass(frozen=True)
class Standing:
    """One candidate of a pair: what it was, what people say now."""

    candidate: Candidate
    judgments: list[Judgment]
    flags: list[Flag]
    adjudication: Adjudication | None
    state: State
    relevance: int | None
    was_relevant: bool
    is_relevant: bool | None

    @property
    def dropped(self) -> bool:
        """Relevant before, not any more."""
        return self.was_relevant and self.is_relevant is False

    @property
    def grew(self) -> bool:
        """Relevant now, though it was not before: a narrower narrative cannot do that."""
        return self.is_relevant is True and not self.was_relevant


@dataclass(frozen=True)
class Outcome:
    """What re-judging a pair has shown so far."""

    standings: list[Standing]

    def count(self, state: State) -> int:
        """How many candidates are in a state."""
        return sum(standing.state is state for standing in self.standings)

    @property
    def kept(self) -> int:
        """Relevant before and now."""
        return sum(s.was_relevant and s.is_relevant is True for s in self.standings)

    @property
    def dropped(self) -> int:
        """Relevant before, not any more."""
        return sum(standing.dropped for standing in self.standings)

    @property
    def grew(self) -> int:
        """Relevant now and not before: the relevant set must only shrink."""
        return sum(standing.grew for standing in self.standings)

    @property
    def disputed(self) -> int:
        """No consensus yet."""
        return self.count(State.DISPUTED)

    @property
    def unjudged(self) -> int:
        """Nobody has said anything yet."""
        return self.count(State.UNJUDGED)


def outcome(pair: InstructionPair) -> Outcome:
    """Return where every candidate to be judged for a pair stands; texts are not read."""
    project = pair.project
    narrative = judged_narrative(pair)
    candidates = list(
        in_scope(project, Candidate.objects.filter(query=pair.query_id))
        .select_related("document")
        .order_by("document__doc_id")
    )
    judgments: dict[int, list[Judgment]] = defaultdict(list)
    flags: dict[int, list[Flag]] = defaultdict(list)
    settled: dict[int, Adjudication] = {}
    if narrative is not None:
        for judgment in (
            Judgment.objects.current()
            .filter(narrative=narrative)
            .select_related("annotator")
            .order_by("annotator__name")
        ):
            judgments[judgment.candidate_id].append(judgment)
        for flag in Flag.objects.current().filter(narrative=narrative).select_related("annotator"):
            flags[flag.candidate_id].append(flag)
        for adjudication in (
            Adjudication.objects.current().filter(narrative=narrative).select_related("by")
        ):
            settled[adjudication.candidate_id] = adjudication
    return Outcome(
        [
            _standing(
                project,
                candidate,
                judgments[candidate.pk],
                flags[candidate.pk],
                settled.get(candidate.pk),
            )
            for candidate in candidates
        ]
    )


def _standing(
    project: Project,
    candidate: Candidate,
    judgments: list[Judgment],
    flags: list[Flag],
    adjudication: Adjudication | None,
) -> Standing:
    grades = [judgment.relevance for judgment in judgments if not judgment.annotator.is_machine]
    found = consensus(grades, project.consensus, adjudication.relevance if adjudication else None)
    before = candidate.prior_relevance
    return Standing(
        candidate=candidate,
        judgments=judgments,
        flags=flags,
        adjudication=adjudication,
        state=found.state,
        relevance=found.relevance,
        was_relevant=before is not None and before >= project.relevant_from,
        is_relevant=None if found.relevance is None else found.relevance >= project.relevant_from,
    )


@dataclass(frozen=True)
class MySeat:
    """A seat of mine, and how far I am in it."""

    seat: Assignment
    judged: Share | None


def my_seats(member: Membership) -> list[MySeat]:
    """The member's seats with work left in them, begun ones first."""
    seats = list(
        member.assignments.open()
        .select_related("pair__query", "pair__project")
        .filter(pair__removed_at__isnull=True)
        .order_by(F("touched_at").desc(nulls_last=True), "pk")
    )
    judging = [seat for seat in seats if seat.task == Assignment.Task.JUDGE]
    sizes = dict(_pool_sizes(member.project, [seat.pair.query_id for seat in judging]))
    said = dict(
        judgments_in_force(member.project)
        .filter(annotator=member, narrative__pair__in=[seat.pair_id for seat in judging])
        .values_list("narrative__pair_id")
        .annotate(n=Count("pk"))
    )
    return [
        MySeat(
            seat,
            Share(said.get(seat.pair_id, 0), sizes.get(seat.pair.query_id, 0))
            if seat.task == Assignment.Task.JUDGE
            else None,
        )
        for seat in seats
    ]


def _pool_sizes(project: Project, queries: Iterable[int]) -> Iterable[tuple[int, int]]:
    """How many documents are to be judged for each query (by key)."""
    candidates = Candidate.objects.filter(query__in=list(queries))
    return in_scope(project, candidates).values_list("query_id").annotate(n=Count("pk"))
