"""How far a project is: counted from the rows at every look, never stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, Max

from annotate.actions import seats
from annotate.actions.pool import (
    in_scope,
    judgments_in_force,
    narratives_in_force,
    pairs_with_pool,
    repeat_words,
)
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Flag,
    InstructionPair,
    Judgment,
    LookAgain,
    Membership,
    Narrative,
    Project,
    Query,
    Repeat,
)
from annotate.pure.consensus import State, consensus
from annotate.pure.promises import Change, change
from annotate.pure.repeats import chance, number


@dataclass(frozen=True)
class Share:
    """A part of a whole, as a progress bar draws it."""

    done: int
    total: int


@dataclass(frozen=True)
class TaskProgress:
    """How far one task of a project is, in seats."""

    task: str
    name: str
    done: int
    total: int
    # Seats that the reader could take.
    free: int


@dataclass
class QueryProgress:
    """How far one query is: judgments for everybody, what they come to for leads alone."""

    query: Query
    pairs: list[InstructionPair] = field(default_factory=list)
    documents: int = 0
    wanted: int = 0
    judged: int = 0
    kept: int = 0
    dropped: int = 0
    disputed: int = 0


@dataclass(frozen=True)
class PersonProgress:
    """Where one member is."""

    member: Membership
    judged: int
    last_at: datetime | None
    where: str


def judgments_wanted(project: Project) -> Share:
    """The judgments there are under the narratives in force, and how many there shall be."""
    per_query = dict(pairs_with_pool(project).values_list("query_id").annotate(n=Count("pk")))
    sizes = dict(_pool_sizes(project, per_query))
    wanted = sum(sizes.get(query, 0) * pairs for query, pairs in per_query.items())
    return Share(judgments_in_force(project).count(), wanted * project.overlap_judge)


def task_progress(member: Membership) -> list[TaskProgress]:
    """How far each task is that anybody is asked to do in the member's project, and what they could
    take.
    """
    project = member.project
    done = dict(
        Assignment.objects.filter(pair__project=project, done_at__isnull=False)
        .filter(pair__removed_at__isnull=True)
        .values_list("task")
        .annotate(n=Count("pk"))
    )
    alive = project.pairs.alive().count()
    to_do = {
        Assignment.Task.REWRITE: alive,
        Assignment.Task.JUDGE: pairs_with_pool(project).count(),
        Assignment.Task.REVIEW: project.pairs.to_review().count(),
    }
    return [
        TaskProgress(
            task=task.value,
            name=str(task.label),
            # A narrative that came with the files needs no seat to be written.
            done=(
                alive - project.pairs.to_rewrite().count()
                if task == Assignment.Task.REWRITE
                else done.get(task.value, 0)
            ),
            total=to_do[task] * (1 if task == Assignment.Task.REWRITE else project.overlap(task)),
            free=seats.open_pairs(task=task, by=member).count(),
        )
        for task in Assignment.Task
        if project.overlap(task)
    ]


def blind_pairs(reader: Membership) -> set[int]:
    """The pairs (by key) that the reader still judges: what others say there is not for them."""
    held = reader.assignments.open().filter(task=Assignment.Task.JUDGE)
    return set(held.values_list("pair__pk", flat=True))


def query_progress(reader: Membership, queries: Sequence[Query]) -> list[QueryProgress]:
    """How far these queries are: seven queries to the database, however many there are here.

    What judgments come to is counted for leads, where they do not judge themselves any more.
    """
    project = reader.project
    blind = blind_pairs(reader)
    rows = {query.pk: QueryProgress(query) for query in queries}
    sizes = dict(_pool_sizes(project, rows))
    pairs = {
        pair.pk: pair
        for pair in project.pairs.with_narratives().filter(query__in=rows).order_by("pk")
    }
    ready = set(pairs_with_pool(project).filter(query__in=rows).values_list("pk", flat=True))
    for pair in pairs.values():
        row = rows[pair.query_id]
        row.pairs.append(pair)
        if pair.pk in ready:
            row.documents += sizes.get(pair.query_id, 0)
            row.wanted += sizes.get(pair.query_id, 0) * project.overlap_judge
    said = judgments_in_force(project).filter(narrative__pair__in=pairs)
    grades: dict[tuple[int, int], list[int]] = defaultdict(list)
    for pair_id, candidate, relevance in said.values_list(
        "narrative__pair__pk", "candidate", "relevance"
    ):
        rows[pairs[pair_id].query_id].judged += 1
        grades[pair_id, candidate].append(relevance)
    settled = _settled(project, pairs)
    for (pair_id, candidate), given in grades.items():
        if not reader.leads or pair_id in blind:
            continue
        found = consensus(given, project.consensus, settled.get((pair_id, candidate)))
        row = rows[pairs[pair_id].query_id]
        if found.relevance is None:
            row.disputed += 1
        elif found.relevance >= project.relevant_from:
            row.kept += 1
        else:
            row.dropped += 1
    return list(rows.values())


def people_progress(project: Project) -> list[PersonProgress]:
    """Where everyone is who has not left: three queries."""
    said = {
        annotator: (judged, last)
        for annotator, judged, last in Judgment.objects.current()
        .filter(annotator__project=project)
        .values_list("annotator_id")
        .annotate(n=Count("pk"), last=Max("at"))
    }
    at: dict[int, list[str]] = defaultdict(list)
    begun = Assignment.objects.open().filter(pair__project=project, touched_at__isnull=False)
    for seat in begun.select_related("pair").order_by("pk"):
        at[seat.member_id].append(f"{seat.get_task_display()} {seat.pair.pair_id}")
    return [
        PersonProgress(
            member,
            *said.get(member.pk, (0, None)),
            where=", ".join(at[member.pk][:3]) + (" …" if len(at[member.pk]) > 3 else ""),
        )
        for member in project.memberships.active().order_by("is_machine", "name")
    ]


@dataclass(frozen=True)
class Said:
    """One candidate under one narrative in force: what people said, and what it comes to."""

    candidate: Candidate
    narrative: Narrative | None
    judgments: list[Judgment]
    flags: list[Flag]
    # kept, dropped, grew, disputed, settled, unjudged, or outside: not put before judges. None
    # while others' answers are hidden.
    outcome: str | None


def said_of(reader: Membership, candidates: Sequence[Candidate]) -> list[Said]:
    """What was said of these candidates under each narrative in force: six queries.

    Annotators see their own answers and no outcome. So do leads where they sit as judges
    themselves, until they have judged the candidate: blind means blind.
    """
    project = reader.project
    queries = {candidate.query_id for candidate in candidates}
    narratives: dict[int, list[Narrative]] = defaultdict(list)
    for narrative in (
        narratives_in_force(project)
        .filter(pair__query__in=queries)
        .select_related("pair")
        .order_by("pair__pk")
    ):
        narratives[narrative.pair.query_id].append(narrative)
    ids = [candidate.pk for candidate in candidates]
    judgments: dict[tuple[int, int], list[Judgment]] = defaultdict(list)
    flags: dict[tuple[int, int], list[Flag]] = defaultdict(list)
    mine = {} if reader.leads else {"annotator": reader}
    blind = blind_pairs(reader)
    under = {"candidate__in": ids, "narrative__in": narratives_in_force(project)}
    for judgment in (
        Judgment.objects.current()
        .filter(**under, **mine)
        .select_related("annotator")
        .order_by("annotator__is_machine", "annotator__name")
    ):
        judgments[judgment.narrative_id, judgment.candidate_id].append(judgment)
    for flag in Flag.objects.current().filter(**under, **mine).select_related("annotator"):
        flags[flag.narrative_id, flag.candidate_id].append(flag)
    settled = {
        (decision.narrative_id, decision.candidate_id): decision.relevance
        for decision in Adjudication.objects.current().filter(**under)
    }
    found: list[Said] = []
    for candidate in candidates:
        under_which: list[Narrative | None] = [*narratives[candidate.query_id]] or [None]
        for asked in under_which:
            key = (0 if asked is None else asked.pk, candidate.pk)
            given, flagged = judgments[key], flags[key]
            judged = any(judgment.annotator_id == reader.pk for judgment in given)
            if reader.leads and (asked is None or asked.pair.pk not in blind or judged):
                outcome = _outcome(project, candidate, given, settled.get(key))
            else:
                outcome = None
                given = [judgment for judgment in given if judgment.annotator_id == reader.pk]
                flagged = [flag for flag in flagged if flag.annotator_id == reader.pk]
            found.append(Said(candidate, asked, given, flagged, outcome))
    return found


def _outcome(
    project: Project, candidate: Candidate, judgments: list[Judgment], settled: int | None
) -> str:
    """What became of a candidate, in the words of templates/annotate/_outcome.html."""
    grades = [judgment.relevance for judgment in judgments if not judgment.annotator.is_machine]
    found = consensus(grades, project.consensus, settled)
    before = candidate.prior_relevance
    was_relevant = before is not None and before >= project.relevant_from
    if project.judge_scope == Project.Scope.RELEVANT and not was_relevant:
        return "outside"
    if found.relevance is None or found.state is State.SETTLED:
        return found.state.value
    became = change(before, found.relevance, project.relevant_from)
    # Of a document that is put before judges and irrelevant it is said that it is out.
    return "dropped" if became is Change.STAYED else became.value


@dataclass(frozen=True)
class MySeat:
    """A seat of mine, and how far I am in it."""

    seat: Assignment
    done: int
    total: int
    # Documents that a lead asks me to look at again; they are not done.
    again: int = 0


def my_seats(member: Membership) -> list[MySeat]:
    """The member's seats with work left in them: first where they are asked to look again, then
    begun ones. Four queries, and two more where the project has repeats, which count as documents.
    """
    held = list(
        member.assignments.open()
        .select_related("pair__query", "pair__project")
        .filter(pair__removed_at__isnull=True)
        .order_by(F("touched_at").desc(nulls_last=True), "pk")
    )
    judging = [seat for seat in held if seat.task == Assignment.Task.JUDGE]
    sizes = dict(_pool_sizes(member.project, [seat.pair.query_id for seat in judging]))
    said = dict(
        judgments_in_force(member.project)
        .filter(annotator=member, narrative__pair__in=[seat.pair_id for seat in judging])
        .values_list("narrative__pair_id")
        .annotate(n=Count("pk"))
    )
    wishes = LookAgain.objects.open().filter(
        judgment__in=judgments_in_force(member.project).filter(annotator=member)
    )
    again = dict(wishes.values_list("judgment__narrative__pair__pk").annotate(n=Count("pk")))
    repeats = _repeats(member, [seat.pair for seat in judging], sizes)
    seats_of_mine = [
        MySeat(
            seat,
            said.get(seat.pair_id, 0)
            - again.get(seat.pair_id, 0)
            + repeats.get(seat.pair_id, _NO_REPEATS).done,
            sizes.get(seat.pair.query_id, 0) + repeats.get(seat.pair_id, _NO_REPEATS).total,
            again.get(seat.pair_id, 0),
        )
        if seat.task == Assignment.Task.JUDGE
        else MySeat(seat, 0, 1)
        for seat in held
    ]
    # In their order, as sorting keeps it.
    return sorted(seats_of_mine, key=lambda mine: not mine.again)


_NO_REPEATS = Share(0, 0)


def _repeats(
    member: Membership, pairs: Sequence[InstructionPair], sizes: Mapping[int, int]
) -> dict[int, Share]:
    """How many repeats the member has, and has judged, of each pair; `sizes`: of the pools, by
    query. No query where the project has none, else two.
    """
    percent = member.project.repeat_percent
    if not percent:
        return {}
    in_force = narratives_in_force(member.project).filter(pair__in=pairs)
    under = {narrative.pair_id: narrative for narrative in in_force}
    said = {
        pair: (answered, judged)
        for pair, answered, judged in Repeat.objects.current()
        .filter(annotator=member, narrative__in=under.values())
        .values_list("narrative__pair_id")
        .annotate(answered=Count("pk"), judged=Count("relevance"))
    }
    found = {}
    for pair in pairs:
        if (narrative := under.get(pair.pk)) is not None:
            words = repeat_words(pair, narrative.side, narrative.version, member)
            planned = number(sizes.get(pair.query_id, 0), percent, chance(words))
            answered, judged = said.get(pair.pk, (0, 0))
            # What was answered stays, also where fewer are planned by now.
            found[pair.pk] = Share(judged, max(planned, answered))
    return found


def _settled(project: Project, pairs: Iterable[int]) -> dict[tuple[int, int], int]:
    """The settling decisions on these pairs, by pair and candidate."""
    decisions = Adjudication.objects.current().filter(
        narrative__in=narratives_in_force(project).filter(pair__in=pairs)
    )
    return {
        (pair, candidate): relevance
        for pair, candidate, relevance in decisions.values_list(
            "narrative__pair__pk", "candidate", "relevance"
        )
    }


def _pool_sizes(project: Project, queries: Iterable[int]) -> Iterable[tuple[int, int]]:
    """How many documents are to be judged for each query (by key)."""
    candidates = Candidate.objects.filter(query__in=list(queries))
    return in_scope(project, candidates).values_list("query_id").annotate(n=Count("pk"))
