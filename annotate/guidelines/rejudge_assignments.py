"""Assignments of judges with rejudge requests: reopened, and ended when all are answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db.models import QuerySet

from annotate.judging.judging_session import read_judging_session
from annotate.judging.lookup import others_unsettled_sql
from annotate.judgments import assignments
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership, Project
from base.bulk import datetime_parameter, run
from base.errors import Refused

Task = Assignment.Task


def lock_assignment(pair: InstructionPair, author: Membership, now: datetime) -> Assignment:
    """Lock and return the author's judge assignment on the pair; assign it if they have none."""
    held = assignments_of(pair, [author.pk]).select_for_update().first()
    if held is not None:
        return held
    try:
        return assignments.take(
            pair=pair,
            task=Task.JUDGE,
            by=author,
            become_blind=True,
            unrestricted=True,
            now=now,
        )
    except Refused as refused:
        raise Refused(
            "Whoever gave this answer has no task here, and none is free: the document "
            "cannot be shown to them again."
        ) from refused


def assignments_of(pair: InstructionPair, members: Iterable[int]) -> QuerySet[Assignment]:
    """Return the judge assignments of these members on a pair."""
    return pair.assignments.filter(task=Task.JUDGE, member__in=members)


def lock_assignments(project: Project) -> None:
    """Lock the judge assignments of a project, so that no answer is saved during a count."""
    held = Assignment.objects.filter(task=Task.JUDGE, pair__project=project).order_by("pk")
    list(held.select_for_update(of=("self",)).values_list("pk", flat=True))


def end_finished(project: Project, concerned: Iterable[tuple[int, int]], now: datetime) -> None:
    """End the assignments of `concerned` (keys of narrative and judge) that have no work left.

    One SQL statement for each judge or, in projects with repeats, for each assignment.
    """
    in_force = set(judged_narratives(project).values_list("pk", flat=True))
    narratives_of: dict[int, list[int]] = {}
    for narrative, member in concerned:
        if narrative in in_force:
            narratives_of.setdefault(member, []).append(narrative)
    if project.repeat_percent:
        _end_with_repeats(narratives_of, now)
        return
    # The key 0 excludes no document.
    left = others_unsettled_sql(project) % {
        "query": "p.query_id",
        "pair": "p.id",
        "candidate": "0",
        "narrative": "v.id",
        "member": "s.member_id",
        "relevant_from": "%(relevant_from)s",
    }
    for member, narratives in narratives_of.items():
        run(
            f"""
            UPDATE annotate_assignment SET done_at = %(now)s WHERE id IN (
                SELECT s.id FROM annotate_assignment s
                JOIN annotate_instructionpair p ON p.id = s.pair_id
                JOIN annotate_narrative v ON v.pair_id = p.id
                WHERE s.task = 'judge' AND s.member_id = %(member)s
                AND s.done_at IS NULL AND s.touched_at IS NOT NULL
                AND v.id IN ({", ".join(map(str, narratives))}) AND NOT {left}
            )
            """,  # noqa: S608 (keys, and what `pool` writes)
            {
                "now": datetime_parameter(now),
                "member": member,
                "relevant_from": project.relevant_from,
            },
        )


def _end_with_repeats(narratives_of: Mapping[int, list[int]], now: datetime) -> None:
    """End the assignments that have no work left, repeats included."""
    narratives = Narrative.objects.select_related("pair__project", "pair__query").in_bulk(
        {key for several in narratives_of.values() for key in several}
    )
    for judge in Membership.objects.select_related("project").filter(pk__in=narratives_of):
        for key in narratives_of[judge.pk]:
            narrative = narratives[key]
            if read_judging_session(narrative=narrative, by=judge).done:
                assignments_of(narrative.pair, [judge.pk]).filter(
                    done_at__isnull=True, touched_at__isnull=False
                ).update(done_at=now)
