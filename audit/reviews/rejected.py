"""Rejected instructions as JSON lines, for the generator that rewrites them.

One JSON object each, as in docs/formats.md, without the names of auditors. The rewritten
instructions are loaded as `pairs-jsonl`: new versions of the same pairs, to be reviewed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership, Project
from audit.reviews.models import Decision
from audit.reviews.passes import Pass, owes_no_review, passes_of, rejected_by_auditors
from formats.fields import to_json

_SENT_BACK = Q(sent_back_at__isnull=False)
# Number of narratives read per batch.
BATCH = 200


def rejected(
    project: Project,
    *,
    by: Membership | None = None,
    undecided: bool = False,
    everyone: bool = False,
) -> QuerySet[Narrative]:
    """Return the current narratives that a lead sent back, in the order of their pairs.

    Only those a language model wrote; with `everyone` also those of people. With `undecided` also
    those that auditors reject and no lead has decided on. Narratives of which `by` owes a review
    are left out.
    """
    sent_back = _SENT_BACK
    if undecided:
        decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
        sent_back |= rejected_by_auditors() & ~Q(Exists(decided))
    found = Narrative.objects.in_force([project.pk]).filter(sent_back, side=Narrative.Side.ALTERED)
    if not everyone:
        found = found.filter(origin=InstructionPair.Origin.LLM)
    return (found.filter(owes_no_review(by)) if by is not None else found).order_by("pair_id")


def count_without_rewriters(leads: Sequence[Membership]) -> dict[int, int]:
    """Return how many instructions were sent back in projects that ask nobody to rewrite, by the
    key of each of these leads of different projects: one query at most.
    """
    nobody = {one.project_id: one.pk for one in leads if not one.project.overlap_rewrite}
    if not nobody:
        return {}
    sent_back = Narrative.objects.in_force(nobody).filter(
        _SENT_BACK, owes_no_review(*leads), side=Narrative.Side.ALTERED
    )
    counts = sent_back.order_by().values_list("pair__project")
    return {nobody[project]: n for project, n in counts.annotate(n=Count("pk"))}


def lines(narratives: QuerySet[Narrative]) -> Iterator[str]:
    """Yield each narrative as a line of JSON with its line feed, a batch of rows at a time."""
    after = 0
    while True:
        batch = list(
            narratives.filter(pair_id__gt=after)
            .select_related("pair__query")
            .order_by("pair_id")[:BATCH]
        )
        if not batch:
            return
        after = batch[-1].pair_id
        passes = passes_of(batch)
        current = Decision.objects.current().filter(narrative__in=batch)
        decisions = {decision.narrative_id: decision for decision in current}
        for narrative in batch:
            reviews = passes.get(narrative.pk, [])
            yield to_json(_as_json(narrative, reviews, decisions.get(narrative.pk))) + "\n"


def _as_json(narrative: Narrative, passes: list[Pass], decision: Decision | None) -> dict[str, Any]:
    pair = narrative.pair
    return {
        "type": "rejected",
        "pair_id": pair.pair_id,
        "query_id": pair.query.query_id,
        "query": pair.query.title,
        "description": pair.query.description,
        "category": pair.category,
        "model": narrative.model or None,
        "version": narrative.version,
        "narrative": narrative.text,
        "decision": Decision.Outcome.REVISE if narrative.sent_back_at else None,
        "reason": decision.reason if decision else narrative.sent_back_reason,
        "reviews": len(passes),
        "criteria": _rejecting_criteria(passes),
    }


def _rejecting_criteria(passes: list[Pass]) -> list[dict[str, Any]]:
    """Return the criteria on which some auditor rejects, with the rejecting answers."""
    found: dict[str, dict[str, Any]] = {}
    for one in passes:
        for criterion, level, words, _uuid in one.answers:
            if level is None or not level.rejects:
                continue
            entry = found.setdefault(
                criterion.key,
                {
                    "rubric": one.rubric.name,
                    "criterion": criterion.key,
                    "name": criterion.name,
                    "asks": criterion.asks,
                    "answers": [],
                },
            )
            entry["answers"].append({"level": level.value, "words": words})
    return list(found.values())
