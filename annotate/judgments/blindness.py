"""Blindness: nobody sees others' answers before giving their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.db.models import Exists, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments import completion
from annotate.judgments.models import Judgment
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import workable_pairs
from annotate.projects.models import Membership

Task = Assignment.Task

# A member with an unfinished assignment of these tasks sees no agreement, export or release.
BLIND_TASKS = frozenset({Task.JUDGE, Task.REVIEW})


def must_answer_first(member: Membership) -> bool:
    """Return whether `member` still has to answer something that others may have answered.

    Until they have, figures and files on the whole project are hidden from them, because these
    would reveal others' answers.
    """
    held = completion.open_assignments(member, *BLIND_TASKS)
    return any(
        workable_pairs(task, member.project)
        .filter(pk__in=[assignment.pair_id for assignment in held if assignment.task == task])
        .exists()
        for task in {assignment.task for assignment in held}
    )


def hides_figures(*, task: str, by: Membership) -> bool:
    """Return whether an assignment of `task` hides agreement, exports and releases from `by`."""
    return by.leads and task in BLIND_TASKS


def blind_pairs(reader: Membership) -> set[int]:
    """Return the pairs (by key) that the reader still judges; others' answers there are hidden."""
    return {assignment.pair_id for assignment in completion.open_assignments(reader, Task.JUDGE)}


def may_see(reader: Membership, pair: InstructionPair) -> bool:
    """Return whether the reader may see the judges' results on this pair: at most ten queries."""
    if reader.leads:
        return pair.pk not in blind_pairs(reader)
    if not pair.assignments.filter(task=Task.REWRITE, member=reader).exists():
        return False
    far = completion.judging_by_pair(pair.project, [pair.query_id]).get(pair.pk)
    held = pair.assignments.filter(task=Task.JUDGE).keeping_their_places()
    left = completion.left_in(pair.project, held)
    return (
        far is not None
        and far.done >= pair.project.overlap_judge
        and not any(work.is_open for work in left.values())
    )


def must_judge_first(who: Membership, narrative: Narrative, candidate: Candidate) -> bool:
    """Return whether `who` has an open judge assignment and has yet to judge this candidate."""
    held = list(who.assignments.filter(pair=narrative.pair_id, task=Task.JUDGE))
    judged = Judgment.objects.current().filter(
        narrative=narrative, candidate=candidate, annotator=who
    )
    if not held or judged.exists():
        return False
    return any(left.is_open for left in completion.left_in(who.project, held).values())


def exclude_unjudged(
    rows: QuerySet[Any, Any], to_judge: Sequence[int], pair: str, mine: QuerySet[Any, Any]
) -> QuerySet[Any, Any]:
    """Leave out rows of the pairs `to_judge` that the reader has not answered yet.

    `pair` is the rows' column of the pair; `mine` are the reader's own answers to the same.
    """
    if not to_judge:
        return rows
    return rows.filter(~Q(**{f"{pair}__in": to_judge}) | Exists(mine))


def must_review_first(
    who: Membership, narrative: Narrative, own_reviews: QuerySet[Any, Any]
) -> bool:
    """Return whether `who` has a review assignment of this version and has not submitted a review.

    `own_reviews`: the reviews of this version that they submitted. The author of a version cannot
    review it, whatever assignment they hold.
    """
    if narrative.is_by(who):
        return False
    assigned = Assignment.objects.filter(pair=narrative.pair_id, task=Task.REVIEW, member=who)
    return assigned.exists() and not own_reviews.exists()


def may_see_reviews(
    reader: Membership,
    narrative: Narrative,
    *,
    submitted: Collection[int | None],
    must_review: Callable[[], bool],
    decided_against: bool,
) -> bool:
    """Return whether the reader may see the auditors' reviews of the current version.

    Members who `submitted` a review of it may. A lead may, unless they `must_review` it first. Its
    author may, once it was decided against.
    """
    if reader.pk in submitted:
        return True
    if reader.leads:
        return not must_review()
    return narrative.is_by(reader) and decided_against
