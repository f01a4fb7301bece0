"""Who may see what others said: nobody sees it before they answered themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.db.models import Exists, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments import completion, work_left
from annotate.judgments.models import Judgment
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import workable_pairs
from annotate.projects.models import Membership

Task = Assignment.Task

# Whoever holds one of these with work left sees no agreement, no export and no release.
BLIND_TASKS = frozenset({Task.JUDGE, Task.REVIEW})


def must_answer_first(member: Membership) -> bool:
    """Tell whether `member` sits before something others may have answered, and has yet to.

    Blind means blind: until then no figure and no file over the whole project tells them what the
    others said.
    """
    held = work_left.open_assignments(member, *BLIND_TASKS)
    return any(
        workable_pairs(member.project, task)
        .filter(pk__in=[assignment.pair_id for assignment in held if assignment.task == task])
        .exists()
        for task in {assignment.task for assignment in held}
    )


def hides_figures(*, task: str, by: Membership) -> bool:
    """Tell whether an assignment of `task` hides agreement, exports and releases from a lead."""
    return by.leads and task in BLIND_TASKS


def blind_pairs(reader: Membership) -> set[int]:
    """The pairs (by key) that the reader still judges: what others say there is not for them."""
    return {assignment.pair_id for assignment in work_left.open_assignments(reader, Task.JUDGE)}


def may_see(reader: Membership, pair: InstructionPair) -> bool:
    """Whether the reader may know now what judges came to on this pair: at most ten queries."""
    if reader.leads:
        return pair.pk not in blind_pairs(reader)
    if not pair.assignments.filter(task=Task.REWRITE, member=reader).exists():
        return False
    far = completion.judging_by_pair(pair.project, [pair.query_id]).get(pair.pk)
    held = pair.assignments.filter(task=Task.JUDGE)
    left = work_left.left_in(pair.project, held)
    return (
        far is not None
        and far.done >= pair.project.overlap_judge
        and not any(one.is_open for one in left.values())
    )


def judge_first(who: Membership, narrative: Narrative, candidate: Candidate) -> bool:
    """Tell whether `who` holds a judge assignment of the pair and has yet to judge this
    candidate.
    """
    held = list(who.assignments.filter(pair=narrative.pair_id, task=Task.JUDGE))
    said = Judgment.objects.current().filter(
        narrative=narrative, candidate=candidate, annotator=who
    )
    if not held or said.exists():
        return False
    return any(left.is_open for left in work_left.left_in(who.project, held).values())


def not_before_judging(
    rows: QuerySet[Any, Any], to_judge: Sequence[int], pair: str, mine: QuerySet[Any, Any]
) -> QuerySet[Any, Any]:
    """Leave out rows of the pairs `to_judge` (`pair` is their column) on which the reader has said
    nothing yet; `mine` is what they said of the same.
    """
    if not to_judge:
        return rows
    return rows.filter(~Q(**{f"{pair}__in": to_judge}) | Exists(mine))


def review_first(who: Membership, narrative: Narrative, own_reviews: QuerySet[Any, Any]) -> bool:
    """Tell whether `who` holds a review assignment of this version and has not submitted yet;
    `own_reviews`: those of it that they submitted.

    Who wrote it cannot review it, whatever assignment they hold.
    """
    if narrative.author_id == who.pk:
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
    """Whether the reader may see what auditors said of the version in force.

    `submitted`: members who submitted a review of it. A lead sees it unless they `must_review` it
    themselves first; its author once it was decided against.
    """
    if reader.pk in submitted:
        return True
    if reader.leads:
        return not must_review()
    return narrative.author_id == reader.pk and decided_against
