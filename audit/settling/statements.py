"""The judgments, flags and rejudge requests of one document, for its pages and the API."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Prefetch, QuerySet

from annotate.judgments.models import Flag, Judgment, RejudgeRequest, Verdict
from audit.settling.access import Disagreement
from audit.settling.names import Naming


class Judges(NamedTuple):
    """The current judgments of a document under a narrative version. `people` is in display order;
    `names` holds their displayed names by the key of the membership.
    """

    people: list[Judgment]
    names: dict[int, str]
    machines: list[Judgment]


def judges_of(disagreement: Disagreement, named: Naming) -> Judges:
    """Return a document's current judgments with their verdicts and conditions."""
    current = (
        Judgment.objects.current()
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .select_related("annotator")
        .prefetch_related(Prefetch("verdicts", Verdict.objects.select_related("condition")))
        .order_by("annotator__name")
    )
    people = {one.annotator_id: one for one in current if not one.annotator.is_machine}
    names = named.displayed({member: one.annotator.name for member, one in people.items()})
    machines = [one for one in current if one.annotator.is_machine]
    return Judges([people[member] for member in names], names, machines)


def flags_on(disagreement: Disagreement) -> QuerySet[Flag]:
    """Return the current flags, in an order that reveals no names: people who only flagged have no
    pseudonym.
    """
    return (
        Flag.objects.current()
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .select_related("annotator")
        .order_by("uuid")
    )


def rejudge_requests_on(disagreement: Disagreement) -> QuerySet[RejudgeRequest]:
    """Return the document's rejudge requests that are not withdrawn, the oldest first."""
    return (
        RejudgeRequest.objects.not_withdrawn()
        .filter(
            judgment__narrative=disagreement.narrative, judgment__candidate=disagreement.candidate
        )
        .select_related("judgment", "by")
        .order_by("at", "pk")
    )
