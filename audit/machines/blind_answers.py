"""People's answers to what a machine answered, given without having been able to see its answer.

A person's answer counts if nothing that this installation showed them could have told them what any
machine answered: it came before the first machine's, or it was given here by somebody who never led
the project and to whom nobody showed the claim. Every other answer is left out with its reason.

There are two kinds, which are never counted together: checks of labels that were drawn at random,
which stand for all labels that they were drawn from, and judgments, which stand for themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    CharField,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    Value,
    When,
)

from annotate.judgments.consensus import consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Judgment, Statement
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import IS_OPEN, blind_labels
from audit.reports.unit_counts import could_see, joined_answers, read_pattern

_AT_ONCE = 5_000


class Chosen(TextChoices):
    """How the documents that people answered were chosen."""

    DRAWN = "drawn", "Judged because drawn"
    OTHERWISE = "otherwise", "Chosen otherwise"


class Reason(TextChoices):
    """Why it is not certain that a person answered without having seen a machine's answer."""

    OPEN = "open", "to labels that people still check"
    FILE = "file", "loaded from a file after a machine had answered"
    LEAD = "lead", "by somebody who leads or may have led, and could look up a machine's answer"
    TOLD = "told", "given after a decision of a lead, or a request to look again"
    SHOWN = "shown", "to labels whose claim was shown"
    CHECKED = "checked", "by somebody who had checked the same label before"


class Item(NamedTuple):
    """A document under a narrative that the machine and at least one person answered."""

    # The machine's judgment, by key, and its grade.
    judgment: int
    grade: int
    query: str
    category: str
    # Grades by the keys of the members: of all machines, and of people.
    machines: dict[int, int]
    people: dict[int, int]
    # What people agree on by the project's rule, without decisions of leads; None if they differ.
    agreed: int | None


def samples_of(machine: Membership) -> QuerySet[Sample]:
    """Return the random samples of labels that this machine claims, or all machines together."""
    of_machine = Q(source=Sample.Source.MACHINE, rater=machine) | Q(source=Sample.Source.CLAIMS)
    return (
        Sample.objects.filter(of_machine, project=machine.project_id, kind=Sample.Kind.RANDOM)
        # How many conditions are met is neither a grade nor a relevance.
        .exclude(asks=Sample.Asks.COUNT)
        .order_by("pk")
    )


def drawn_samples(machine: Membership) -> QuerySet[Sample]:
    """Return the samples whose checks are grades: two questions tell only relevance."""
    return samples_of(machine).filter(asks=Sample.Asks.GRADE)


def first_chosen(machine: Membership) -> Chosen:
    """Return which documents to show first: drawn ones, if any were drawn."""
    return Chosen.DRAWN if samples_of(machine).exists() else Chosen.OTHERWISE


def blind_items(machine: Membership, chosen: str) -> tuple[list[Item], dict[Reason, int]]:
    """Return the documents with blind answers, drawn or chosen otherwise, in the order of the
    machine's judgments, and how many answers are left out for each reason.

    Three queries. Of one person's checks of a label in several samples, the first counts.
    """
    rows = _checks(machine) if chosen == Chosen.DRAWN else _judgments(machine)
    left_out: Counter[str] = Counter()
    items = []
    for unit, answers in groupby(rows, itemgetter(slice(4))):
        judgment, query, category, listed = unit
        people: dict[int, int] = {}
        for *_unit, person, grade, reason in answers:
            if reason:
                left_out[reason] += 1
            else:
                people.setdefault(person, grade)
        if people:
            machines = dict(read_pattern(listed))
            agreed = consensus(list(people.values()), machine.project.consensus).relevance
            items.append(
                Item(judgment, machines[machine.pk], query, category, machines, people, agreed)
            )
    return items, {reason: left_out[reason] for reason in Reason if left_out[reason]}


def _judgments(machine: Membership) -> Iterable[Any]:
    """Read people's current judgments of what the machine judged, each with its reason or ""."""
    unit = {"narrative": OuterRef("narrative"), "candidate": OuterRef("candidate")}
    machines = Membership.objects.filter(project=machine.project_id, is_machine=True)
    keys = list(machines.values_list("pk", flat=True))
    claimed = Statement.objects.filter(
        candidate=OuterRef("candidate"),
        # Equal, as a range: SQLite would read all answers of the machine under the narrative.
        narrative__gte=OuterRef("narrative"),
        narrative__lte=OuterRef("narrative"),
        annotator__in=keys,
        at__lte=OuterRef("at"),
    )
    shown = SampleItem.objects.filter(
        **unit,
        sample__shows_claim=True,
        sample__source__in=(Sample.Source.MACHINE, Sample.Source.CLAIMS),
        sample__created_at__lte=OuterRef("at"),
    )
    checked = Check.objects.filter(
        item__narrative=OuterRef("narrative"),
        item__candidate=OuterRef("candidate"),
        checker=OuterRef("annotator"),
        at__lte=OuterRef("at"),
    )
    judgments = (
        Judgment.objects.current()
        .of_people()
        .filter(in_pools(), annotator__project=machine.project_id)
        .annotate(
            reason=_case(
                When(Exists(_unchecked_labels().filter(**unit)), then=Value(Reason.OPEN)),
                When(~Exists(claimed), then=Value("")),
                When(source=Statement.Source.FILE, then=Value(Reason.FILE)),
                When(annotator__in=who_led(machine), then=Value(Reason.LEAD)),
                When(could_see("at"), then=Value(Reason.TOLD)),
                When(Exists(shown), then=Value(Reason.SHOWN)),
                When(Exists(checked), then=Value(Reason.CHECKED)),
            )
        )
    )
    return _with_machine(judgments, machine, "", "annotator")


def _checks(machine: Membership) -> Iterable[Any]:
    """Read the grades of the first two people to check drawn labels, with a reason or ""."""
    checks = Check.objects.current().filter(
        in_pools("item__candidate"),
        item__sample__in=drawn_samples(machine),
        place__lt=Check.SETTLES,
        relevance__isnull=False,
    )
    # In any sample: somebody may check the same label in two.
    shown = Check.objects.filter(
        item__sample__shows_claim=True,
        item__narrative=OuterRef("item__narrative"),
        item__candidate=OuterRef("item__candidate"),
        checker=OuterRef("checker"),
    )
    unchecked = _unchecked_labels().filter(
        narrative=OuterRef("item__narrative"), candidate=OuterRef("item__candidate")
    )
    reason = _case(
        When(checker__in=who_led(machine), then=Value(Reason.LEAD)),
        When(Exists(shown), then=Value(Reason.SHOWN)),
        When(Exists(unchecked), then=Value(Reason.OPEN)),
    )
    return _with_machine(checks.annotate(reason=reason), machine, "item__", "checker")


def _unchecked_labels() -> QuerySet[Any, Any]:
    """Return the labels that fewer than two people have checked, and that a lead may check."""
    return (
        blind_labels()
        .filter(answered__lt=Check.SETTLES - 1)
        .exclude(sample__kind__in=Sample.SECOND_LOOKS)
    )


def settled_only(judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Leave out judgments of labels that people still check or have to settle: leads do, too."""
    still_open = blind_labels().filter(
        IS_OPEN, narrative=OuterRef("narrative"), candidate=OuterRef("candidate")
    )
    return judgments.filter(~Exists(still_open))


def _with_machine(
    answers: QuerySet[Any], machine: Membership, of: str, person: str
) -> Iterable[Any]:
    """Read answers to what the machine judged; `of` leads to the columns of their unit.

    The columns: the machine's judgment, query, category, grades of all machines as text ("40:1"),
    the person, their grade and the reason.
    """
    of_machines = Judgment.objects.current().filter(
        narrative=OuterRef(f"{of}narrative"),
        candidate=OuterRef(f"{of}candidate"),
        annotator__is_machine=True,
    )
    grades = of_machines.order_by().values("narrative")
    rows: QuerySet[Any, Any] = (
        answers.filter(**{f"{of}narrative__in": Narrative.objects.in_force([machine.project_id])})
        .annotate(
            judgment=Subquery(of_machines.filter(annotator=machine).values("pk")[:1]),
            listed=Subquery(
                grades.annotate(of_all=joined_answers("annotator_id", "relevance")).values("of_all")
            ),
        )
        .filter(judgment__isnull=False)
        .order_by("judgment", "pk")
        .values_list(
            *("judgment", f"{of}narrative__pair__query__query_id"),
            *(f"{of}narrative__pair__category", "listed", person, "relevance", "reason"),
        )
    )
    return rows.iterator(_AT_ONCE)


def _case(*reasons: When) -> Case:
    return Case(*reasons, default=Value(""), output_field=CharField())


def who_led(machine: Membership) -> list[int]:
    """Return the members (by key) who lead the project or may have led it."""
    members = Membership.objects.filter(project=machine.project_id)
    return list(members.who_led().values_list("pk", flat=True))
