"""Progress of a project as its pages show it.

`annotate.judgments.completion` defines when work is done.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.urls import reverse

from annotate.collection.models import Candidate, Query
from annotate.collection.shown_documents import is_shown_to_judges
from annotate.judgments import cached_counts, completion, open_pairs
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import JudgingProgress, PairProgress
from annotate.judgments.consensus import State, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Flag, Judgment
from annotate.judgments.pair_rules import Change, change
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership, Project
from base.providers import Provider


@dataclass(frozen=True)
class TaskProgress:
    """Progress of one task of a project, in assignments."""

    task: Assignment.Task
    name: str
    done: int
    total: int
    free: Annotated[int, "Assignments that you could take."]


@dataclass
class QueryProgress:
    """Progress of one query: answers for everybody, outcomes for leads alone."""

    api_fields = ("kept", "dropped", "others", "disputed")

    query: Query
    # By key: a query may have thousands.
    pairs: list[int] = field(default_factory=list)
    documents: int = 0
    wanted: int = 0
    # Judgments and final flags together: two counts would reveal which one somebody gave.
    answered: int = 0
    kept: int = 0
    dropped: int = 0
    others: Annotated[
        int, "Judged documents that were not relevant before: neither kept nor dropped."
    ] = 0
    disputed: int = 0
    # Whether a narrative has yet to be rewritten.
    needs_narrative: bool = False
    # Whether a narrative was sent back, and has no newer version.
    is_sent_back: bool = False

    @property
    def url(self) -> str:
        """The address of the query's page."""
        return reverse("annotate:query", args=[self.query.project.slug, self.query.pk])


# How many of a member's unfinished tasks are named.
MOST_NAMED = 3


@dataclass(frozen=True)
class PersonProgress:
    """Progress of one member."""

    member: Membership
    # Answers under the current narratives; of a machine, its judgments.
    answered: int
    # How many instructions they have reviewed, and how many labels they have checked.
    reviewed: int
    checked: int
    # When they last answered in this project; judgments from files were not given here.
    last_at: datetime | None
    imported: bool
    where: str


def task_progress(
    member: Membership, judging: JudgingProgress, held: Container[str] = ()
) -> list[TaskProgress]:
    """Return the progress of each task that anybody is asked to do in the member's project.

    `free` counts the assignments that this member could take; none of the tasks that they have
    `held`. `judging` is the progress of judging.
    """
    project = member.project
    far: dict[Assignment.Task, Callable[[], JudgingProgress]] = {
        Assignment.Task.REWRITE: lambda: completion.rewriting_progress(project),
        Assignment.Task.JUDGE: lambda: judging,
        Assignment.Task.REVIEW: lambda: completion.review_progress(project),
    }
    rows = []
    for task in Assignment.Task:
        if project.overlap(task):
            how_far = far[task]()
            free = 0 if task in held else open_pairs.count_open(task=task, by=member)
            rows.append(TaskProgress(task, str(task.label), how_far.done, how_far.total, free))
    return rows


def query_progress(
    reader: Membership,
    queries: Sequence[Query],
    far: Mapping[int, PairProgress] | None = None,
) -> list[QueryProgress]:
    """Return the progress of these queries: nine database queries, however many there are.

    `far` is the judging progress of each pair, if it is known already. Outcomes are counted for
    leads, except on pairs that they still judge themselves.
    """
    project = reader.project
    blind = blind_pairs(reader)
    rows = {query.pk: QueryProgress(query) for query in queries}
    # Of a query that is taken out, the pairs that are out with it.
    is_in = Q(removed_at=None) | Q(removed_at=F("query__removed_at"))
    of_queries: Any = project.pairs.with_narratives().filter(is_in, query__in=rows).order_by("pk")
    if far is None:
        far = completion.judging_by_pair(project, rows)
    seen: dict[int, QueryProgress] = {}
    columns = ("pk", "query_id", "altered_id", "sent_back_at")
    for pair, query, altered, sent_back_at in of_queries.values_list(*columns):
        row = rows[query]
        row.pairs.append(pair)
        row.needs_narrative |= altered is None
        row.is_sent_back |= sent_back_at is not None
        if pair not in blind:
            seen[pair] = row
        if (pair_progress := far.get(pair)) is not None:
            row.documents += pair_progress.documents
            row.wanted += pair_progress.wanted
            row.answered += pair_progress.answered
    if not reader.leads:
        return list(rows.values())
    states = [state for state in cached_counts.states_in_force([project]) if state.pair in seen]
    counts = counts_of(states)
    for state in states:
        row = seen[state.pair]
        counted = counts.get(state.narrative)
        for pattern in counted.patterns if counted else ():
            if not (pattern.grades and pattern.documents.is_shown(project)):
                continue
            documents = len(pattern.candidates)
            relevance = pattern.outcome(project.consensus).relevance
            if relevance is None:
                row.disputed += documents
                continue
            became = change(pattern.documents.prior, relevance, project.relevant_from)
            row.kept += documents * (became is Change.KEPT)
            row.dropped += documents * (became is Change.DROPPED)
            row.others += documents * (became in {Change.GREW, Change.STAYED})
    return list(rows.values())


class Audited(NamedTuple):
    """How many instructions a member has reviewed, and how many labels they have checked."""

    reviews: int
    checks: int
    last_at: datetime


audits_by_member: Provider[[Project], dict[int, Audited]] = Provider(
    "How much has each member reviewed and checked?"
)


def people_progress(project: Project) -> list[PersonProgress]:
    """Return the progress of everybody who has not left the project."""
    answers = completion.answers_by_pair(project)
    answered: Counter[int] = Counter()
    for (_pair, person), count in answers.items():
        answered[person] += count
    answered |= Counter(_judged_by_machines(project))
    came = _how_judgments_came(project)
    begun = Assignment.objects.filter(
        pair__project=project, pair__removed_at=None, touched_at__isnull=False
    )
    # There may be as many as answers to a pair are wanted, times the pairs.
    held = list(begun.only("task", "pair", "member").order_by("pk"))
    left = completion.left_in(project, held)
    unfinished: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in held:
        if left[assignment.pk].is_open:
            unfinished[assignment.member_id].append(assignment)
    named = {row.pair_id for rows in unfinished.values() for row in rows[:MOST_NAMED]}
    pairs = dict(project.pairs.filter(pk__in=named).values_list("pk", "pair_id"))
    last = _last_answers(project, {person: at for person, (at, _) in came.items() if at})
    audits = audits_by_member(project)
    people = []
    for member in project.memberships.active().order_by("is_machine", "name"):
        audited = audits.get(member.pk)
        times = (None if member.is_machine else last.get(member.pk), audited and audited.last_at)
        people.append(
            PersonProgress(
                member,
                answered[member.pk],
                reviewed=audited.reviews if audited else 0,
                checked=audited.checks if audited else 0,
                last_at=max(filter(None, times), default=None),
                imported=came[member.pk][1],
                where=", ".join(
                    f"{assignment.get_task_display()} {pairs[assignment.pair_id]}"
                    for assignment in unfinished[member.pk][:MOST_NAMED]
                )
                + (" …" if len(unfinished[member.pk]) > MOST_NAMED else ""),
            )
        )
    return people


def _judged_by_machines(project: Project) -> dict[int, int]:
    """Return how many judgments of documents in the pools each machine has under the current
    narratives: one query.
    """
    judgments = Judgment.objects.current().filter(
        in_pools(),
        annotator__project=project,
        annotator__is_machine=True,
        narrative__in=judged_narratives(project),
    )
    return dict(judgments.order_by().values_list("annotator_id").annotate(n=Count("pk")))


def _how_judgments_came(project: Project) -> dict[int, tuple[datetime | None, bool]]:
    """Return for each member when they last judged on a page, and if files brought judgments.

    The last judgment on a page may have been superseded; those from files are current ones. One
    query, which looks up two judgments of each member.
    """
    of_member = Judgment.objects.filter(annotator=OuterRef("pk")).order_by()
    on_pages = of_member.filter(source=Judgment.Source.PAGE).order_by("-at").values("at")[:1]
    from_files = of_member.current().filter(source=Judgment.Source.FILE)
    return {
        person: (at, loaded)
        for person, at, loaded in project.memberships.annotate(
            last=Subquery(on_pages), loaded=Exists(from_files)
        ).values_list("pk", "last", "loaded")
    }


def _last_answers(project: Project, judged: Mapping[int, datetime]) -> dict[int, datetime]:
    """Return when each person last answered in this project, superseded answers included.

    `judged` is when they last judged. Judgments from files were not given here.
    """
    of_member = Flag.objects.filter(annotator=OuterRef("pk")).exclude(flag=Flag.Kind.LATER)
    flagged = Subquery(of_member.order_by("-at").values("at")[:1])
    last = dict(judged)
    for person, at in project.memberships.people().annotate(at=flagged).values_list("pk", "at"):
        if at is not None:
            last[person] = max(at, last.get(person, at))
    return last


@dataclass(frozen=True)
class Statements:
    """One candidate under one current narrative: people's answers and their outcome."""

    candidate: Candidate
    narrative: Narrative | None
    judgments: list[Judgment]
    flags: list[Flag]
    # kept, dropped, grew, stayed, disputed, settled, unjudged; or, for what is not put before
    # judges, outside (was not relevant) or not_judged (was generated). None while others' answers
    # are hidden.
    outcome: str | None
    # Whether people's names are hidden, because they disagree and nobody has settled it. The
    # answers are then in the order of the grades.
    names_hidden: bool = False
    # The settled grade, if the outcome is `settled`.
    settled_as: int | None = None

    def name_of(self, annotator: Membership) -> str | None:
        """Return the name to show beside an answer; None while it is hidden."""
        return None if self.names_hidden and not annotator.is_machine else annotator.name


def statements_of(
    reader: Membership,
    candidates: Sequence[Candidate],
    pairs: Sequence[InstructionPair] | None = None,
) -> list[Statements]:
    """Return the answers to these candidates under each current narrative, or only under those of
    `pairs`: six queries, or seven with `pairs`.

    Annotators see their own answers and no outcome. So do leads on pairs that they judge
    themselves, until they have judged the candidate: blind means blind. Other leads find a document
    that was written for one instruction under that instruction only.
    """
    project = reader.project
    queries = {candidate.query_id for candidate in candidates}
    narratives: dict[int, list[Narrative]] = defaultdict(list)
    asked_under = judged_narratives(project).filter(pair__query__in=queries)
    if pairs is not None:
        asked_under = asked_under.filter(pair__in=pairs)
    for narrative in asked_under.select_related("pair").order_by("pair__pk"):
        narratives[narrative.pair.query_id].append(narrative)
    ids = [candidate.pk for candidate in candidates]
    judgments: dict[tuple[int, int], list[Judgment]] = defaultdict(list)
    flags: dict[tuple[int, int], list[Flag]] = defaultdict(list)
    mine = {} if reader.leads else {"annotator": reader}
    # Annotators see nobody else's answers on any pair.
    blind = blind_pairs(reader) if reader.leads else set()
    under = {
        "candidate__in": ids,
        "narrative__in": [narrative.pk for several in narratives.values() for narrative in several],
    }
    for judgment in (
        Judgment.objects.current()
        .filter(**under, **mine)
        .select_related("annotator")
        .order_by("annotator__is_machine", "annotator__name")
    ):
        judgments[judgment.narrative_id, judgment.candidate_id].append(judgment)
    for flag in Flag.objects.current().filter(**under, **mine).select_related("annotator"):
        flags[flag.narrative_id, flag.candidate_id].append(flag)
    settled = (
        Adjudication.objects.current().filter(**under).values_by_question() if reader.leads else {}
    )
    judged_by_reader = {
        query
        for query, several in narratives.items()
        if any(narrative.pair_id in blind for narrative in several)
    }
    if pairs is not None:
        of_queries = InstructionPair.objects.filter(pk__in=blind, query__in=queries)
        judged_by_reader |= set(of_queries.values_list("query_id", flat=True))
    statements: list[Statements] = []
    for candidate in candidates:
        under_which: list[Narrative | None] = [*narratives[candidate.query_id]] or [None]
        for asked in under_which:
            # Readers who judge this query must not learn that the document is in no other pool.
            sees_pools = reader.leads and candidate.query_id not in judged_by_reader
            elsewhere = asked and candidate.made_for_id not in (None, asked.pair_id)
            if elsewhere and sees_pools:
                continue
            key = (0 if asked is None else asked.pk, candidate.pk)
            judged_here, flagged = judgments[key], flags[key]
            judged = any(judgment.annotator_id == reader.pk for judgment in judged_here)
            if reader.leads and (asked is None or asked.pair.pk not in blind or judged):
                outcome = _outcome(project, candidate, judged_here, settled.get(key))
            else:
                outcome = None
                judged_here = [
                    judgment for judgment in judged_here if judgment.annotator_id == reader.pk
                ]
                flagged = [flag for flag in flagged if flag.annotator_id == reader.pk]
            hidden = project.hide_names and outcome == State.DISPUTED.value
            if hidden:
                judged_here = sorted(
                    judged_here,
                    key=lambda judgment: (judgment.annotator.is_machine, judgment.relevance),
                )
                flagged = sorted(flagged, key=lambda flag: (flag.flag, flag.note))
            settled_as = settled.get(key) if outcome == State.SETTLED.value else None
            statements.append(
                Statements(candidate, asked, judged_here, flagged, outcome, hidden, settled_as)
            )
    return statements


@dataclass(frozen=True)
class Matrix:
    """Documents by instructions: a column for each current narrative, a row for each document."""

    narratives: list[Narrative]
    # A cell is None where a document is not judged under a narrative.
    rows: list[tuple[Candidate, list[Statements | None]]]


def matrix_of(statements: Sequence[Statements]) -> Matrix:
    """Arrange statements by document and narrative: no query."""
    narratives = {
        statement.narrative.pk: statement.narrative
        for statement in statements
        if statement.narrative is not None
    }
    rows: dict[int, dict[int, Statements]] = defaultdict(dict)
    candidates: dict[int, Candidate] = {}
    for statement in statements:
        candidates[statement.candidate.pk] = statement.candidate
        if statement.narrative is not None:
            rows[statement.candidate.pk][statement.narrative.pk] = statement
    return Matrix(
        list(narratives.values()),
        [
            (candidate, [rows[key].get(narrative) for narrative in narratives])
            for key, candidate in candidates.items()
        ],
    )


def _outcome(
    project: Project, candidate: Candidate, judgments: list[Judgment], settled: int | None
) -> str:
    """Return the outcome of a candidate, as a word of templates/rewriting/_outcome.html."""
    grades = [judgment.relevance for judgment in judgments if not judgment.annotator.is_machine]
    agreed = consensus(grades, project.consensus, settled)
    before = candidate.prior_relevance
    generated = candidate.made_for_id is not None
    if not is_shown_to_judges(project, prior=before, generated=generated):
        return "outside" if project.judge_scope == Project.Scope.RELEVANT else "not_judged"
    if agreed.relevance is None or agreed.state is State.SETTLED:
        return agreed.state.value
    return change(before, agreed.relevance, project.relevant_from).value
