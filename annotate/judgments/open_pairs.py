"""Find and count the pairs on which somebody can take a task."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import Case, Count, Exists, F, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotate.collection.models import Candidate
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.completion import submitted_reviews
from annotate.judgments.models import Statement
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.named_people import pairs_open_to
from annotate.pairs.pool import in_pool_of, pairs_with_narrative, workable_pairs
from annotate.projects.models import Membership
from base.requests import read_once

Task = Assignment.Task


def open_pairs(
    *, task: str, by: Membership, held: bool = False, unrestricted: bool = False
) -> QuerySet[InstructionPair]:
    """Return the pairs on which `by` could take an assignment of `task` now.

    Pairs on which others have assignments come first. `held`: return the workable pairs on which
    `by` holds one instead. `unrestricted`: ignore a lead's limits on who takes a query's tasks and
    on how many tasks one person takes.
    """
    if held:
        return _pairs_for(task, [by]).filter(pk__in=_held_pairs(task, [by]))
    if not unrestricted and with_quota_reached([by]):
        return InstructionPair.objects.none()
    return _in_order(_open_to(task, [by], unrestricted=unrestricted))


def _in_order(pairs: QuerySet[Any]) -> QuerySet[Any]:
    """Sort open pairs as they are handed out: urgent ones, then those that others hold."""
    return pairs.order_by("-query__is_urgent", Case(When(taken=0, then=1), default=0), "pk")


def _pairs_for(task: str, members: Sequence[Membership]) -> QuerySet[InstructionPair]:
    """Return the workable pairs without those on which these members may not work."""
    pairs = workable_pairs(task, *(member.project for member in members))
    if task == Task.REVIEW:
        own = Narrative.objects.written_by(*members).filter(pk=OuterRef("altered_id"))
        return pairs.filter(~Exists(own))
    return pairs


def _held_pairs(task: str, members: Sequence[Membership]) -> QuerySet[Any, Any]:
    # Read once. Looked up pair by pair, each of several members would be looked for in each pair.
    return Assignment.objects.filter(task=task, member__in=members).values("pair")


def _open_to(
    task: str, members: Sequence[Membership], *, unrestricted: bool = False
) -> QuerySet[Any, Any]:
    """Return `open_pairs` for one person's memberships of different projects, in all of these, in
    no order.
    """
    if task == Task.JUDGE:
        # That there are documents to judge is part of what is asked below.
        pairs = pairs_with_narrative(*(member.project for member in members))
    else:
        pairs = _pairs_for(task, members)
    if not unrestricted:
        pairs = pairs.filter(pairs_open_to(task, members))
    kept = Assignment.objects.keeping_their_places().filter(pair=OuterRef("pk"), task=task)
    assignments = _count_subquery(kept, "pair")
    free: QuerySet[Any, Any] = pairs.exclude(pk__in=_held_pairs(task, members)).annotate(
        taken=assignments, overlap=F(f"project__overlap_{task}")
    )
    if task == Task.REVIEW:
        return _needing_review(free, members)
    free = free.filter(taken__lt=F("overlap"))
    if task == Task.JUDGE:
        wanting = _unanswered_documents(members).filter(
            others__lt=OuterRef("overlap") - OuterRef("taken")
        )
        free = free.filter(Exists(wanting))
    return free


def with_quota_reached(members: Sequence[Membership]) -> set[int]:
    """Return the keys of the members who hold as many tasks as a lead allows them."""
    most = {member.pk: member.most_tasks for member in members if member.most_tasks is not None}
    if not most:
        return set()
    rows = Assignment.objects.filter(member__in=most, pair__removed_at__isnull=True).order_by()
    taken = dict(rows.values_list("member").annotate(n=Count("pk")))
    return {member for member, limit in most.items() if taken.get(member, 0) >= limit}


def count_open(*, task: str, by: Membership) -> int:
    """Return the number of pairs on which `by` could take an assignment of `task` now."""
    asked = _who_may_take(task, [by])
    return _open_to(task, asked).count() if asked else 0


class OpenWork(NamedTuple):
    """The keys of an open pair's query and, for judging, of its current narrative."""

    query: int
    narrative: int | None = None


def open_work_of(*, task: str, members: Sequence[Membership]) -> dict[int, list[OpenWork]]:
    """Return the open work of `task` for members of different projects, by key: one query, once in
    a request. Judging is in the order in which it is handed out.
    """
    return read_once(
        (open_work_of, task, *sorted(member.pk for member in members)),
        lambda: _read_open_work(task, members),
    )


def _read_open_work(task: str, members: Sequence[Membership]) -> dict[int, list[OpenWork]]:
    work: dict[int, list[OpenWork]] = {member.pk: [] for member in members}
    by_project = {member.project_id: member.pk for member in members}
    if asked := _who_may_take(task, members):
        pairs, columns = _open_to(task, asked), ["project_id", "query_id"]
        if task == Task.JUDGE:
            pairs, columns = _in_order(pairs), [*columns, "under"]
        for project, query, *under in pairs.values_list(*columns):
            work[by_project[project]].append(OpenWork(query, *under))
    return work


def is_any_open(*, task: str, by: Membership, pair: InstructionPair | None = None) -> bool:
    """Return whether `by` could take an assignment of `task` now, on this pair or on any."""
    asked = _who_may_take(task, [by])
    on_pair = {} if pair is None else {"pk": pair.pk}
    return bool(asked) and _open_to(task, asked).filter(**on_pair).exists()


def open_among(*, task: str, by: Membership, pairs: Collection[int]) -> set[int]:
    """Return those of these pairs (keys) on which `by` could take an assignment of `task` now: one
    query at most.
    """
    asked = _who_may_take(task, [by]) if pairs else []
    if not asked:
        return set()
    rows = _open_to(task, asked).filter(pk__in=pairs)
    return set(rows.values_list("pk", flat=True))


def _who_may_take(task: str, members: Sequence[Membership]) -> list[Membership]:
    """Return the members who may take the task: wanted, given out now, below their quota."""
    asked = [
        member
        for member in members
        if member.project.overlap(task) and member.project.gives_out_tasks
    ]
    full = with_quota_reached(asked)
    return [member for member in asked if member.pk not in full]


def count_free_assignments(pair: InstructionPair, task: str, by: Membership) -> int:
    """Return how many assignments of `task` on this pair `by` could take."""
    asked = _who_may_take(task, [by])
    if not asked:
        return 0
    # How many people hold the task, and how many answered without it.
    open_pair = _open_to(task, asked).filter(pk=pair.pk)
    if task == Task.JUDGE:
        fewest = _unanswered_documents(asked).order_by("others").values("others")[:1]
        open_pair = open_pair.annotate(others=Subquery(fewest))
    elif task == Task.REWRITE:
        open_pair = open_pair.annotate(others=Value(0))
    counts = open_pair.values_list("taken", "others").first()
    return 0 if counts is None else max(by.project.overlap(task) - sum(counts), 0)


def _needing_review(pairs: QuerySet[Any], members: Sequence[Membership]) -> QuerySet[Any]:
    """Keep the pairs that need another review and that this person has not reviewed.

    A review by somebody without an assignment (from a file) counts as one assignment.
    """
    there = submitted_reviews().filter(narrative=OuterRef("altered_id"))
    assigned = Assignment.objects.keeping_their_places().filter(
        task=Task.REVIEW, pair=OuterRef("of_pair"), member=OuterRef("of_member")
    )
    wanted: QuerySet[Any] = (
        pairs.exclude(
            altered_id__in=submitted_reviews()
            .filter(of_member__in=[member.pk for member in members])
            .values("narrative")
        )
        .annotate(others=_count_subquery(there.filter(~Exists(assigned)), "of_pair"))
        .filter(taken__lt=F("overlap") - F("others"))
    )
    return wanted


def _unanswered_documents(members: Sequence[Membership]) -> QuerySet[Any]:
    """Return the documents of a pair's pool that none of these members of different projects has
    answered.

    The pair is the outer query, with its `under`. Each document has `others`: how many people
    without an assignment on the pair have answered it, as authors of loaded answers have none.
    People with an assignment are counted by the assignment.
    """
    here = {"narrative": OuterRef(OuterRef("under")), "candidate": OuterRef("pk")}
    answers = Statement.objects.current().final().filter(**here)
    assigned = Assignment.objects.keeping_their_places().filter(
        task=Task.JUDGE, pair=OuterRef("narrative__pair_id"), member=OuterRef("annotator_id")
    )
    projects = [member.project for member in members]
    # The projects limit what PostgreSQL reads if it hashes the candidates.
    pool = Candidate.objects.filter(
        shown_to_judges(*projects),
        in_pool_of(OuterRef("pk")),
        query=OuterRef("query_id"),
        query__project__in=projects,
    )
    return pool.filter(~Exists(answers.filter(annotator__in=members))).annotate(
        others=_count_subquery(answers.of_people().filter(~Exists(assigned)), "candidate")
    )


def _count_subquery(rows: QuerySet[Any], by: str) -> Coalesce:
    """Count the rows of a query that its filter narrows to one value of the column `by`."""
    return Coalesce(
        Subquery(rows.order_by().values(by).annotate(n=Count("pk")).values("n")), Value(0)
    )
