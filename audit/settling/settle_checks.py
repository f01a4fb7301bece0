"""Settling many checked labels at once by one rule, as `settle_many` does with documents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Subquery

from annotate.projects.models import Membership
from audit.checks import actions as checking
from audit.checks.models import Check, Sample, SampleItem
from audit.settling.disagreement_queries import build_source
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.settle_many import (
    Outcome,
    Preview,
    Rule,
    RuleChoice,
    apply_rule,
    check_choice,
    require_unchanged,
    sample_outcomes,
    summarize,
)
from base.errors import Refused


def preview_checks(by: Membership, filters: QueueFilter, choice: RuleChoice) -> Preview:
    """Preview settling all checked labels that match `filters`: one query, and two for those shown.

    A label that somebody could not judge is left open.
    """
    outcomes = list(_compute_outcomes(by, filters, choice).values())
    return summarize(by, outcomes, sample_outcomes(outcomes))


def settle_checks(
    *,
    filters: QueueFilter,
    choice: RuleChoice,
    reason: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> int:
    """Settle what the preview with this token showed, and return the number of labels.

    Each is settled as by hand: a grade adopts the answer of the checker who gave it. Stale: as in
    `settle_many.settle_many`. Refused: no reason, nothing to settle.
    """
    if not reason.strip():
        raise Refused("Give a reason.")
    with transaction.atomic():
        outcomes = _compute_outcomes(by, filters, choice)
        require_unchanged(list(outcomes.values()), token)
        settled = {
            key: outcome for key, outcome in outcomes.items() if outcome.relevance is not None
        }
        if not settled:
            raise Refused("There is nothing to settle.")
        items = SampleItem.objects.select_related(
            "sample", "narrative__pair", "candidate__document"
        ).in_bulk(settled)
        checks: dict[tuple[int, int | None], Check] = {
            (check.item_id, check.relevance): check
            for check in Check.objects.current().filter(item__in=settled, place__in=(1, 2))
        }
        for key, outcome in sorted(settled.items()):
            answer = _answer(outcome, checks.get((key, outcome.relevance)))
            checking.settle(item=items[key], words=reason, by=by, now=now, **answer)
    return len(settled)


def _answer(outcome: Outcome, adopted: Check | None) -> dict[str, Any]:
    """Return the answer that settles a label: that of the checker who gave the grade, if any."""
    if adopted is not None and adopted.verdicts:
        return {"verdicts": adopted.answers()}
    if adopted is not None and (questions := adopted.questions()):
        return {"questions": questions}
    return {"relevance": outcome.relevance}


def _compute_outcomes(
    by: Membership, filters: QueueFilter, choice: RuleChoice
) -> dict[int, Outcome]:
    """Return the outcome for each wanted label, by the key of its item."""
    reader = Reader(by)
    check_choice(choice, reader)
    if choice.rule is Rule.PERSON:
        raise Refused("Checked labels are not settled as one person says. Choose another rule.")
    filters = filters.replaced(kind=Kind.CHECK, settled=False, waiting=False)
    second = Check.objects.current().filter(item=OuterRef("item_id"), place=2)
    rows = (
        build_source(Kind.CHECK, reader, filters)
        .rows.annotate(second_key=Subquery(second.values("pk")[:1]), claimed=F("item__claimed"))
        .order_by("item_id")
        .values_list(
            *("item_id", "item__narrative_id", "item__candidate_id", "claimed"),
            *("item__sample__asks", "relevance", "second", "pk", "second_key"),
        )
    )
    outcomes = {}
    for item, narrative, candidate, claimed, asks, first, other, key, second_key in rows:
        # Of equal grades with different answers, a rule could not say which to adopt.
        rankable = None not in (first, other) and first != other
        counts = tuple((grade, 1) for grade in sorted((first, other))) if rankable else ()
        relevance = apply_rule(choice, counts, None, claimed) if counts else None
        if (
            choice.rule is Rule.GRADE
            and asks != Sample.Asks.GRADE
            and relevance not in (first, other)
        ):
            relevance = None
        outcomes[item] = Outcome(narrative, candidate, relevance, counts, key + second_key)
    return outcomes
