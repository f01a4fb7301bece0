"""Find and count the pairs on which somebody can take a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotate.collection.models import Candidate
from annotate.judgments.completion_queries import submitted_reviews
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.named_people import pairs_open_to
from annotate.pairs.pool import (
    OF_EACH,
    WHOLE_POOL,
    PoolRules,
    common_rules,
    in_scope,
    workable_pairs,
)
from annotate.projects.models import Membership, Project
from base.current_request import read_once
from base.prepared_queries import Built, Prepared, prepared

Task = Assignment.Task


def open_pairs(
    *, task: str, by: Membership, held: bool = False, unrestricted: bool = False
) -> QuerySet[InstructionPair]:
    """Return the pairs on which `by` could take an assignment of `task` now.

    Pairs on which others have assignments come first. `held`: return the workable pairs on which
    `by` holds one instead. `unrestricted`: ignore a lead's limits on who takes a query's tasks and
    on how many tasks one person takes.
    """
    project = by.project
    pairs = workable_pairs(project, task)
    if task == Task.REVIEW:
        # Nobody reviews a narrative of their own.
        pairs = pairs.exclude(
            Exists(Narrative.objects.filter(pk=OuterRef("altered_id"), author__in=[by.pk]))
        )
    # Read once. Looked up pair by pair, each of several members would be looked for in each pair.
    mine = Assignment.objects.filter(task=task, member__in=[by.pk]).values("pair")
    if held:
        return pairs.filter(pk__in=mine)
    if not unrestricted:
        pairs = pairs.filter(pairs_open_to(task, by.pk))
        if is_quota_reached(by):
            pairs = pairs.none()
    assignments = _count_subquery(Assignment.objects.filter(pair=OuterRef("pk"), task=task), "pair")
    overlap = (
        F(f"project__overlap_{task}")
        if project.judge_scope == OF_EACH
        else Value(project.overlap(task))
    )
    free: QuerySet[Any] = (
        pairs.exclude(pk__in=mine)
        .annotate(taken=assignments, overlap=overlap)
        .filter(taken__lt=F("overlap"))
        .order_by(Case(When(taken=0, then=1), default=0), "pk")
    )
    if task == Task.REVIEW:
        return _needing_review(free, by)
    if task == Task.JUDGE:
        wanting = _unanswered_documents(by).filter(
            others__lt=OuterRef("overlap") - OuterRef("taken")
        )
        free = free.annotate(under=_judged_narrative_column(project)).filter(Exists(wanting))
    return free


def is_quota_reached(by: Membership) -> bool:
    """Return whether `by` holds as many tasks as a lead allows them."""
    return bool(_with_quota_reached([by]))


def _with_quota_reached(members: Sequence[Membership]) -> set[int]:
    """Return the keys of the members who hold as many tasks as a lead allows them."""
    most = {one.pk: one.most_tasks for one in members if one.most_tasks is not None}
    if not most:
        return set()
    rows = Assignment.objects.filter(member__in=most, pair__removed_at__isnull=True).order_by()
    taken = dict(rows.values_list("member").annotate(n=Count("pk")))
    return {member for member, limit in most.items() if taken.get(member, 0) >= limit}


def count_open(*, task: str, by: Membership) -> int:
    """Return the number of pairs on which `by` could take an assignment of `task` now."""
    return len(open_work(task=task, by=by))


class OpenWork(NamedTuple):
    """The keys of an open pair's query and, for judging, of its current narrative."""

    query: int
    narrative: int | None


def open_work(*, task: str, by: Membership) -> list[OpenWork]:
    """Return the open work of `task` for `by`, in the order in which it is handed out."""
    return open_work_of(task=task, members=[by])[by.pk]


def open_work_of(*, task: str, members: Sequence[Membership]) -> dict[int, list[OpenWork]]:
    """Return the open work of `task` for members of different projects, by key: one query, once in
    a request.
    """
    return read_once(
        (open_work_of, task, *sorted(member.pk for member in members)),
        lambda: _read_open_work(task, members),
    )


def _read_open_work(task: str, members: Sequence[Membership]) -> dict[int, list[OpenWork]]:
    found: dict[int, list[OpenWork]] = {member.pk: [] for member in members}
    by_project = {member.project_id: member.pk for member in members}
    for project, query, narrative in _run_for_members(_open, task, members):
        found[by_project[project]].append(OpenWork(query, narrative))
    return found


def is_any_open(*, task: str, by: Membership) -> bool:
    """Return whether `by` could take an assignment of `task` now."""
    return bool(_run_for_members(_first_open, task, [by]))


def _run_for_members(
    query: Prepared, task: str, members: Sequence[Membership], **more: int
) -> list[tuple[Any, ...]]:
    """Run a query for the members who may take the task: wanted, not paused, below their quota."""
    asked = [
        member
        for member in members
        if member.project.overlap(task) and member.project.paused_at is None
    ]
    if full := _with_quota_reached(asked):
        asked = [member for member in asked if member.pk not in full]
    if not asked:
        return []
    projects = [member.project for member in asked]
    rules = common_rules(projects)
    overlaps = {project.overlap(task) for project in projects}
    if len(overlaps) > 1:
        rules = PoolRules(OF_EACH, 0)
    return query.rows(
        task,
        rules.scope,
        project=[project.pk for project in projects],
        member=[member.pk for member in asked],
        relevant_from=rules.relevant_from,
        overlap=overlaps.pop(),
        **more,
    )


@prepared("project", "member", "relevant_from", "overlap")
def _open(
    task: str, scope: str, project: int, member: int, relevant_from: int, overlap: int
) -> Built:
    found = _open_in(task, scope, project, member, relevant_from, overlap)
    if task != Task.JUDGE:
        found = found.annotate(under=Value(None, output_field=IntegerField()))
    return found.values_list("project_id", "query_id", "under")


@prepared("project", "member", "relevant_from", "overlap")
def _first_open(
    task: str, scope: str, project: int, member: int, relevant_from: int, overlap: int
) -> Built:
    found = _open_in(task, scope, project, member, relevant_from, overlap)
    return found.order_by().values_list("pk")[:1]


def _open_in(
    task: str, scope: str, project: int, member: int, relevant_from: int, overlap: int
) -> QuerySet[Any, Any]:
    """Return `open_pairs` for members known by key only, and projects known by their rules only."""
    rules = PoolRules(scope, relevant_from).stub(project)
    for one in Task.values:
        setattr(rules, f"overlap_{one}", overlap)
    return open_pairs(task=task, by=Membership(pk=member, project=rules))


def count_free_assignments(pair: InstructionPair, task: str, by: Membership) -> int:
    """Return how many assignments of `task` on this pair `by` could take."""
    counts = _run_for_members(_count_taken, task, [by], pair=pair.pk)
    return max(by.project.overlap(task) - sum(counts[0]), 0) if counts else 0


@prepared("project", "member", "relevant_from", "overlap", "pair")
def _count_taken(
    task: str, scope: str, project: int, member: int, relevant_from: int, overlap: int, pair: int
) -> Built:
    """Return, for an open pair, how many people hold the task and how many answered without it."""
    found = _open_in(task, scope, project, member, relevant_from, overlap).filter(pk=pair)
    if task == Task.JUDGE:
        by = Membership(pk=member, project=PoolRules(scope, relevant_from).stub(project))
        fewest = _unanswered_documents(by).order_by("others").values("others")[:1]
        found = found.annotate(others=Subquery(fewest))
    elif task == Task.REWRITE:
        found = found.annotate(others=Value(0))
    return found.values_list("taken", "others")


def _needing_review(pairs: QuerySet[Any], by: Membership) -> QuerySet[Any]:
    """Keep the pairs that need another review and that this person has not reviewed.

    A review by somebody without an assignment (from a file) counts as one assignment.
    """
    there = submitted_reviews().filter(narrative=OuterRef("altered_id"))
    assigned = Assignment.objects.filter(
        task=Task.REVIEW, pair=OuterRef("of_pair"), member=OuterRef("of_member")
    )
    wanted: QuerySet[Any] = (
        pairs.exclude(
            altered_id__in=submitted_reviews().filter(of_member__in=[by.pk]).values("narrative")
        )
        .annotate(others=_count_subquery(there.filter(~Exists(assigned)), "of_pair"))
        .filter(taken__lt=F("overlap") - F("others"))
    )
    return wanted


def _unanswered_documents(by: Membership) -> QuerySet[Any]:
    """Return the documents of a pair's pool that `by` has not answered.

    The pair is the outer query, with its `under`. Each document has `others`: how many people
    without an assignment on the pair have answered it, as authors of loaded answers have none.
    People with an assignment are counted by the assignment.
    """
    here = {"narrative": OuterRef(OuterRef("under")), "candidate": OuterRef("pk")}
    judgments = Judgment.objects.current().of_people().filter(**here)
    flags = Flag.objects.current().filter(**here, annotator__is_machine=False)
    flags = flags.exclude(kind=Flag.Kind.LATER)
    assigned = Assignment.objects.filter(
        task=Task.JUDGE, pair=OuterRef("narrative__pair_id"), member=OuterRef("annotator_id")
    )
    judged_too = Judgment.objects.current().filter(
        narrative=OuterRef("narrative_id"),
        candidate=OuterRef("candidate_id"),
        annotator=OuterRef("annotator_id"),
    )
    # The project limits what PostgreSQL reads if it hashes the candidates.
    candidates = Candidate.objects.filter(
        query=OuterRef("query_id"), query__project__in=[by.project.pk]
    )
    pool = in_scope(by.project, candidates, OuterRef("pk"))
    mine = {"annotator__in": [by.pk]}
    return pool.filter(~Exists(judgments.filter(**mine)), ~Exists(flags.filter(**mine))).annotate(
        others=_count_subquery(judgments.filter(~Exists(assigned)), "candidate")
        + _count_subquery(flags.filter(~Exists(assigned), ~Exists(judged_too)), "candidate")
    )


def _judged_narrative_column(project: Project) -> F | Coalesce | Case:
    """Return the column of the narrative a pair is judged under now, from `with_narratives`."""
    either = Coalesce("altered_id", "original_id")
    if project.judge_scope in WHOLE_POOL:
        return either
    if project.judge_scope == OF_EACH:
        return Case(When(project__judge_scope__in=WHOLE_POOL, then=either), default=F("altered_id"))
    return F("altered_id")


def _count_subquery(rows: QuerySet[Any], by: str) -> Coalesce:
    """Count the rows of a query that its filter narrows to one value of the column `by`."""
    return Coalesce(
        Subquery(rows.order_by().values(by).annotate(n=Count("pk")).values("n")), Value(0)
    )
