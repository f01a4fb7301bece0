"""The queue of label checks: at most two people per item, then a third if they differ.

In InfoSearch a gold document is relevant to the original and to the instructed query, and not to
the reversed one; so it is checked once in each mode, with the narrative of that mode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Concat
from django.urls import reverse

from annotate.collection.answers import AnswerKind
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Statement
from annotate.overview.contributions import Contribution, Todo
from annotate.overview.notices import Notice
from annotate.pairs.models import Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from audit.checks.models import Check, Sample, SampleItem
from base.requests import read_once

# Items to settle: two have answered without an outcome, and no third person has settled.
IS_OPEN = Q(outcome__isnull=True, unjudgeable=False)
TO_SETTLE = Q(answered=2) & IS_OPEN
# The modes in the paper's words, by the sides of the narratives. Each is a separate sample.
MODES: Mapping[str, str] = {
    Narrative.Side.ORIGINAL: "Original",
    Narrative.Side.ALTERED: "Instructed",
    Narrative.Side.REVERSED: "Reversed",
}
CHUNK = 5_000
# Checks that ask for grades, or for two questions that decide them. A number of conditions met is a
# grade if the project says so.
IS_GRADED = ~Q(sample__asks=Sample.Asks.COUNT) | Q(
    sample__project__condition_rule=Project.ConditionRule.COUNT_MET
)
CHECKS = AnswerKind(
    singular="check of a label",
    plural="checks of labels",
    current=Check.objects.current,
    narrative="item__narrative",
    candidate="item__candidate",
    graded=lambda: Check.objects.current().filter(
        item__in=SampleItem.objects.filter(IS_GRADED).values("pk")
    ),
)
# The filters of a sample's labels, for leads.
LABEL_FILTERS = {
    "all": Q(),
    "wrong": Q(outcome__isnull=False) & ~Q(outcome=F("claimed")),
    "to-settle": TO_SETTLE & Q(taken_out=False),
    # Not before both have answered: a lead may be the second.
    "unsure": Q(answered=2, unsure__gt=0) | Q(unjudgeable=True),
    "unchecked": Q(answered__lt=2, taken_out=False),
    "taken-out": IS_OPEN & Q(taken_out=True),
}


def with_checks(items: QuerySet[SampleItem]) -> QuerySet[Any, Any]:
    """Annotate items with their current checks.

    `first`, `second` and `third`: the relevance given in each place, null without an answer or if
    they could not judge. `answered`: how many of the first two have answered; `unsure`: how many of
    them could not judge. `outcome`: the relevance that the first two agree on or the third settles,
    else null. If two questions are asked, the two agree if they answer both alike. `unjudgeable`:
    whether the third could not judge it either. Two who could not judge do not agree: a third
    settles. `taken_out`: whether its instruction or its document was, so that nobody checks it any
    more. `in_force`: whether it was not, and the narrative is still current.
    """
    checks = Check.objects.current().filter(item=OuterRef("pk"))

    def place(number: int) -> Subquery:
        return Subquery(checks.filter(place=number).values("relevance")[:1])

    def answers(number: int) -> Subquery:
        rows = checks.filter(place=number).annotate(
            both=Concat("on_topic", Value(" "), "meets_constraint")
        )
        return Subquery(rows.values("both")[:1])

    def count(**which: Any) -> Coalesce:
        rows = checks.filter(place__lt=Check.SETTLES, **which).order_by().values("item")
        return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)

    return items.annotate(
        first=place(1),
        second=place(2),
        first_answers=answers(1),
        second_answers=answers(2),
        third=place(Check.SETTLES),
        answered=count(),
        unsure=count(cannot_judge=True),
        unjudgeable=Exists(checks.filter(place=Check.SETTLES, cannot_judge=True)),
        stratify=F("sample__stratify"),
        taken_out=~Q(
            narrative__pair__removed_at__isnull=True,
            narrative__pair__query__removed_at__isnull=True,
            candidate__removed_at__isnull=True,
        ),
    ).annotate(
        in_force=Q(taken_out=False, narrative__is_current=True),
        outcome=Case(
            When(third__isnull=False, then=F("third")),
            When(first=F("second"), first_answers=F("second_answers"), then=F("first")),
            default=None,
        ),
    )


def blind_labels() -> QuerySet[Any, Any]:
    """Return the labels whose checkers do not see the claim, with their checks."""
    return with_checks(SampleItem.objects.filter(sample__shows_claim=False))


def to_check(member: Membership, sample: Sample | None = None) -> QuerySet[SampleItem]:
    """Return the items that `member` could still check: fewer than two checks, none theirs."""
    return _to_check([member], sample)


def to_settle(member: Membership, sample: Sample | None = None) -> QuerySet[Any, Any]:
    """Return the unsettled items on which two others differ or that they could not judge."""
    return _to_settle([member], sample)


def open_documents(member: Membership, documents: Collection[int]) -> set[int]:
    """Return those of these documents (keys) of which `member` could still check a label: until
    then a checker does not see their ids.
    """
    open_labels = to_check(member).filter(candidate__document__in=documents)
    return set(open_labels.values_list("candidate__document", flat=True))


class Waiting(NamedTuple):
    """How many items wait for a member, and the first of them."""

    number: int
    first: int | None


def waiting_to_check(members: Sequence[Membership]) -> dict[int, Waiting]:
    """Return the items that each of these members of different projects could still check; none
    while a project is paused or archived. Read once in a request.
    """
    working = [member for member in members if member.project.gives_out_tasks]
    return read_once(
        (waiting_to_check, *sorted(member.pk for member in members)),
        lambda: _waiting_by_member(_to_check, working, members),
    )


def _to_check(members: Sequence[Membership], sample: Sample | None) -> QuerySet[SampleItem]:
    checks = Check.objects.current().filter(item=OuterRef("pk"))
    both = Exists(checks.filter(place=1)) & Exists(checks.filter(place=2))
    return _checkable_items(members, sample).filter(
        ~both,
        ~Exists(checks.filter(checker__in=members)),
        ~Q(answered_or_led(members), sample__kind__in=Sample.SECOND_LOOKS),
    )


def _to_settle(members: Sequence[Membership], sample: Sample | None) -> QuerySet[Any, Any]:
    checks = Check.objects.current().filter(item=OuterRef("pk"))
    # Leads settle what others differ on, also where they have judged.
    others = [member for member in members if not member.leads]
    return (
        with_checks(_checkable_items(members, sample))
        .filter(TO_SETTLE, ~Q(answered(others), sample__kind__in=Sample.SECOND_LOOKS))
        .exclude(Exists(checks.filter(checker__in=members)))
    )


def answered(members: Sequence[Membership]) -> Q:
    """Return whether one of `members` judged or flagged the item's document under its narrative, or
    checked it in another sample.
    """
    unit = {"narrative": OuterRef("narrative"), "candidate": OuterRef("candidate")}
    judged = Statement.objects.filter(**unit, annotator__in=members)
    checked = Check.objects.filter(
        item__narrative=OuterRef("narrative"),
        item__candidate=OuterRef("candidate"),
        checker__in=members,
    ).exclude(item=OuterRef("pk"))
    return Q(Exists(judged)) | Q(Exists(checked))


def answered_or_led(members: Sequence[Membership]) -> Q:
    """Return whether one of `members` has answered the item elsewhere, or leads or led its project
    and could look up what the machine answered.
    """
    keys = [member.pk for member in members]
    leads = Membership.objects.filter(project=OuterRef("sample__project"), pk__in=keys).who_led()
    return answered(members) | Q(Exists(leads))


def _waiting_by_member(
    queue: Callable[[Sequence[Membership], Sample | None], QuerySet[Any, Any]],
    asked: Sequence[Membership],
    members: Sequence[Membership],
) -> dict[int, Waiting]:
    """Return what waits in a queue for the members who are asked, and nothing for the others."""
    sampled = _newest_samples(members)
    asked = [member for member in asked if member.project_id in sampled]
    waiting: dict[int, Waiting] = {}
    if asked:
        items = SampleItem.objects.filter(pk__in=queue(asked, None).values("pk"))
        rows = items.values_list("sample__project").annotate(n=Count("pk"), first=Min("pk"))
        waiting = {project: Waiting(number, first) for project, number, first in rows}
    return {member.pk: waiting.get(member.project_id, Waiting(0, None)) for member in members}


def _newest_samples(members: Sequence[Membership]) -> dict[int, datetime]:
    """Return the time of the newest sample of each project of these members in which labels are
    checked. Read once in a request.
    """
    projects = sorted({member.project_id for member in members})
    samples = Sample.objects.filter(project__in=projects).order_by().values_list("project")
    return read_once(
        (_newest_samples, *projects), lambda: dict(samples.annotate(at=Max("created_at")))
    )


def filter_labels(sample: Sample, showing: str) -> QuerySet[Any, Any]:
    """Return the labels of a sample with their checks: all, or some of them (LABEL_FILTERS)."""
    items = with_checks(SampleItem.objects.filter(sample=sample)).filter(LABEL_FILTERS[showing])
    return items.select_related("narrative__pair", "candidate__document")


def hide_open_checks(labels: Sequence[Any]) -> Sequence[Any]:
    """Hide from leads, who check too, what could influence them: the two answers to a label until
    both are given; its claims, their reason, and a stratum that is named after them, until it is
    checked. `labels` come from `with_checks`.
    """
    for label in labels:
        if label.answered < 2:
            label.first = label.second = None
        if label.outcome is None:
            label.claimed = label.claimed_topic = label.claimed_constraint = None
            label.reason = ""
            if label.stratify == Sample.Stratify.LABEL:
                label.stratum = ""
    return labels


def next_to_check(member: Membership, left: QuerySet[SampleItem], after: int | None) -> int | None:
    """Return the item of `left` that `member` checks after `after`; None if none is left or the
    project is paused or archived.
    """
    if not member.project.gives_out_tasks:
        return None
    return next_item(left, after)


def next_item(items: QuerySet[SampleItem], after: int | None) -> int | None:
    """Return the item after `after`, then from the start again; None if none is left."""
    keys = items.order_by("pk").values_list("pk", flat=True)
    onward = keys.filter(pk__gt=after).first() if after is not None else None
    if onward is not None:
        return onward
    rest = keys.exclude(pk=after) if after is not None else keys
    return rest.first()


def _checkable_items(members: Sequence[Membership], sample: Sample | None) -> QuerySet[SampleItem]:
    # Removed pairs and candidates that were taken out are not checked.
    items = SampleItem.objects.filter(in_pools(), narrative__pair__removed_at__isnull=True)
    if sample is not None:
        return items.filter(sample=sample)
    return items.filter(sample__project__in=[one.project_id for one in members])


class SampleRow(NamedTuple):
    """A sample as one member sees it, and how many of its labels that member can check or settle.

    How it was drawn and how many labels are checked is only for leads.
    """

    sample: Sample
    name: Annotated[str, "A neutral name if you are blind to the claims."]
    kind: Annotated[Sample.Kind | None, "Null if you are blind to the claims."]
    drawn: Sample | None
    items: int
    checked: Annotated[int | None, "For leads; else null."]
    mine: int
    to_check: int
    to_settle: int


def sample_rows(member: Membership, samples: Sequence[Sample]) -> list[SampleRow]:
    """Return the samples with their progress: five queries, whatever their number."""
    items = SampleItem.objects.filter(sample__in=samples)
    done = with_checks(items).filter(Q(outcome__isnull=False) | Q(unjudgeable=True))
    mine = items.filter(Exists(Check.objects.current().filter(item=OuterRef("pk"), checker=member)))
    labels: dict[str, QuerySet[SampleItem]] = {
        "items": items,
        "checked": done,
        "mine": mine,
        "to_check": to_check(member).filter(sample__in=samples),
        "to_settle": to_settle(member).filter(sample__in=samples),
    }
    counts = {
        name: dict(rows.order_by().values_list("sample").annotate(n=Count("pk")))
        for name, rows in labels.items()
    }
    rows = []
    for sample in samples:
        numbers: dict[str, Any] = {name: of.get(sample.pk, 0) for name, of in counts.items()}
        if not member.leads:
            numbers["checked"] = None
        rows.append(
            SampleRow(
                sample=sample,
                name=sample.name_for(member),
                kind=Sample.Kind(sample.kind) if member.leads or sample.shows_claim else None,
                drawn=sample if member.leads else None,
                **numbers,
            )
        )
    return rows


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return notices of labels that each member could check, dated by the newest sample; each
    leads to the first of them.
    """
    waiting, drawn = waiting_to_check(members), _newest_samples(members)
    return {
        member.pk: [
            Notice(
                member.project,
                "to-check",
                "Labels to check",
                waiting[member.pk].number,
                max(member.joined_at, drawn[member.project_id]),
                reverse("audit:check", args=[first]),
            )
        ]
        for member in members
        if (first := waiting[member.pk].first) is not None
    }


def contribution(members: Sequence[Membership]) -> dict[int, Contribution]:
    """Return how many labels each member could check or settle, and the way to the next one; leads
    settle in the queue of disagreements instead. Two queries.
    """
    to_check = waiting_to_check(members)
    others = [member for member in members if not member.leads]
    to_settle = _waiting_by_member(_to_settle, others, others)
    return {
        member.pk: _contribution(member, to_check[member.pk], to_settle.get(member.pk))
        for member in members
    }


def _contribution(member: Membership, to_check: Waiting, to_settle: Waiting | None) -> Contribution:
    waiting = (
        ("Labels to check", "audit:check", to_check),
        ("Checked labels to settle", "audit:settlement", to_settle),
    )
    todo = tuple(
        Todo(text, left.number, reverse(route, args=[left.first]))
        for text, route, left in waiting
        if left is not None and left.first is not None
    )
    return Contribution(todo, details=lambda: _count_sampled(member) if member.leads else {})


def _count_sampled(member: Membership) -> dict[str, Any]:
    """Return how many labels are sampled and how many of them two people checked, in total and by
    the side of their narratives; empty if the kind of project has no such step. One query.
    """
    if not any(step.startswith("check") for step in kind_of(member.project.kind).steps):
        return {}
    checks = Check.objects.current().filter(item=OuterRef("pk"))
    both = Exists(checks.filter(place=1)) & Exists(checks.filter(place=2))
    rows: list[tuple[str, int, int]] = list(
        SampleItem.objects.filter(
            in_pools(),
            sample__project=member.project_id,
            narrative__pair__removed_at__isnull=True,
        )
        .order_by()
        .values_list("narrative__side")
        .annotate(sampled=Count("pk"), checked=Count("pk", filter=Q(both)))
    )
    return {
        "sampled": sum(sampled for _side, sampled, _checked in rows),
        "checked": sum(checked for *_, checked in rows),
        "checked_in": {side: (checked, sampled) for side, sampled, checked in rows},
    }


# --- modes ----------------------------------------------------------------------------------------


class ModeProgress(NamedTuple):
    """Progress on the labels of one mode: overall, by one member, and left for that member."""

    mode: str
    labels: int = 0
    checked: int = 0
    mine: int = 0
    to_check: int = 0
    # The first label that the member could check.
    next: int | None = None


def checks_in_modes(project: Project) -> bool:
    """Return whether the kind of project checks labels in modes."""
    return any(step.startswith("check_") for step in kind_of(project.kind).steps)


def has_modes(project: Project) -> bool:
    """Return whether labels can be checked in several modes: the kind has modes, or some
    instruction is reversed.
    """
    reversed_ones = Narrative.objects.filter(pair__project=project, side=Narrative.Side.REVERSED)
    return checks_in_modes(project) or reversed_ones.exists()


def progress_by_mode(member: Membership) -> list[ModeProgress]:
    """Return the passes of the member's project in the order of the modes; an empty list if its
    kind has no modes. Three queries.

    A label belongs to the mode of its narrative, also in a sample of all modes.
    """
    if not checks_in_modes(member.project):
        return []
    items = SampleItem.objects.filter(
        in_pools(), sample__project=member.project, narrative__pair__removed_at__isnull=True
    )
    done = Q(outcome__isnull=False) | Q(unjudgeable=True)
    mine = Exists(Check.objects.current().filter(item=OuterRef("pk"), checker=member))
    counted = _by_mode(
        with_checks(items).annotate(mine=mine),
        labels=Count("pk"),
        checked=Count("pk", filter=done),
        mine_all=Count("pk", filter=Q(mine=True)),
    )
    waiting = waiting_by_mode(member)
    return [
        ModeProgress(mode, *counted.get(mode, (0, 0, 0)), *waiting.get(mode, (0, None)))
        for mode in MODES
    ]


def waiting_by_mode(member: Membership) -> dict[str, tuple[int, int]]:
    """Return by mode how many labels the member could check, and the first of them."""
    counts = _by_mode(to_check(member), waiting=Count("pk"), first=Min("pk"))
    return {mode: (waiting, first) for mode, (waiting, first) in counts.items()}


def _by_mode(items: QuerySet[Any, Any], **counts: Any) -> dict[str, tuple[Any, ...]]:
    rows = items.order_by().values("narrative__side").annotate(**counts)
    return {row["narrative__side"]: tuple(row[name] for name in counts) for row in rows}


# --- outcomes, for exports and for the rules of a kind --------------------------------------------


class CheckOutcome(NamedTuple):
    """The outcome of one label's checks; without an outcome, whether its check is over."""

    outcome: int | None
    over: bool


def newest_outcomes(
    rows: Iterator[tuple[int, int, int | None, bool]],
) -> dict[tuple[int, int], CheckOutcome]:
    """Return the outcome of each label, by narrative and candidate, over all samples.

    `rows` are in the order in which the samples were made. The newest sample with an outcome wins;
    without any outcome, the label is open while one of its samples is open.
    """
    outcomes: dict[tuple[int, int], CheckOutcome] = {}
    for narrative, candidate, outcome, unjudgeable in rows:
        earlier = outcomes.get((narrative, candidate), CheckOutcome(None, True))
        if outcome is not None:
            outcomes[narrative, candidate] = CheckOutcome(outcome, True)
        elif earlier.outcome is None:
            outcomes[narrative, candidate] = CheckOutcome(None, earlier.over and unjudgeable)
    return outcomes


def checked_items(**which: Any) -> QuerySet[Any, Any]:
    """Return the labels of samples whose checks give grades, with the answers to each."""
    return with_checks(SampleItem.objects.filter(IS_GRADED, **which))


def checked_labels(narratives: QuerySet[Narrative]) -> dict[tuple[int, int], int]:
    """Return the checked grade by narrative and candidate: one query."""
    rows: Iterator[Any] = (
        checked_items(narrative__in=narratives.values("pk"))
        .filter(in_pools())
        .order_by("sample__created_at", "sample__name")
        .values_list("narrative", "candidate", "outcome", "unjudgeable")
        .iterator(CHUNK)
    )
    return {
        place: outcome.outcome
        for place, outcome in newest_outcomes(rows).items()
        if outcome.outcome is not None
    }
