"""A second look: people who are still blind to some labels of a machine check them.

The labels are those on which people and the machine differ most, or on which the machine is least
sure. They are chosen, not drawn: no figure counts them as a random sample.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django import forms
from django.db import transaction
from django.db.models import F

from annotate.judgments.models import Statement
from annotate.projects.models import Membership, Project
from audit.checks.claims import Claim, ClaimSelection, build_frame
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.samples import MAX_ITEMS, MAX_NAME, choose_second_look
from audit.machines.blind_answers import Chosen, blind_items
from audit.model_runs.models import Call
from base.errors import Refused
from base.texts import amount

# A label: a narrative and a candidate, by their keys.
Label = tuple[int, int]
# How doubtful a label is, by two numbers: the larger, the more doubtful.
Doubt = tuple[float, float]
# As many people check a label before it counts.
_PEOPLE = Check.SETTLES - 1
_AT_ONCE = 5_000


@dataclass(frozen=True, kw_only=True)
class SecondLook:
    """The labels that a second look of one kind can take, and how many are left out."""

    api_fields = ("kind", "documents", "in_samples", "without_people", "why_none")

    kind: Sample.Kind
    # The most doubtful first.
    claims: list[Claim]
    in_samples: Annotated[int, "Left out: people check or have checked them in a sample."]
    without_people: Annotated[
        int, "Left out: fewer than two people are left who have neither answered nor led."
    ]
    why_none: Annotated[str, "Why no label is doubtful; empty if some are."]

    @property
    def documents(self) -> int:
        """How many documents can be looked at."""
        return len(self.claims)

    @property
    def extent(self) -> str:
        """How many documents there are, or why there is none."""
        return self.why_none or amount(self.documents, "document")

    def pick(self, size: int) -> list[Claim]:
        """Return the `size` most doubtful claims; if the machine is unsure, in turn of each grade.

        They stay in the order of doubt: in turn, the order would tell checkers the grades.
        """
        if self.kind == Sample.Kind.DIFFERING:
            return self.claims[:size]
        before: Counter[int] = Counter()
        turns = {}
        for claim in self.claims:
            turns[claim.name] = before[claim.relevance]
            before[claim.relevance] += 1
        picked = set(sorted(turns, key=turns.__getitem__)[:size])
        return [claim for claim in self.claims if claim.name in picked]


class RadioSelect(forms.RadioSelect):
    """Radio buttons, of which some cannot be chosen; drawn as any others, by this name."""

    closed: Collection[str] = ()

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return a radio button, disabled if it is closed."""
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        option["attrs"]["disabled"] = value in self.closed
        return option


class SecondLookForm(forms.Form):
    """Which labels of a machine people look at a second time, and how many."""

    kind = forms.ChoiceField(
        label="Which documents",
        choices=[(kind.value, kind.label) for kind in Sample.SECOND_LOOKS],
        widget=RadioSelect,
    )
    size = forms.IntegerField(
        label="How many, at most",
        initial=20,
        min_value=1,
        max_value=MAX_ITEMS,
        help_text="Those in most doubt come first.",
    )
    name = forms.CharField(
        label="Name of the sample",
        max_length=MAX_NAME,
        help_text="Only leads see it.",
        error_messages={"required": "Give the sample a name."},
    )

    def __init__(self, looks: Sequence[SecondLook], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        assert isinstance(kind.widget, RadioSelect)
        kind.choices = [(look.kind.value, f"{look.kind.label}: {look.extent}") for look in looks]
        kind.widget.closed = {look.kind.value for look in looks if not look.claims}
        kind.initial = next((look.kind.value for look in looks if look.claims), None)


def take_second_look(
    *,
    machine: Membership,
    kind: str,
    size: int,
    name: str,
    by: Membership,
    now: datetime | None = None,
) -> Sample:
    """Make a sample of at most `size` labels of a machine, and return it.

    Refused, with nothing made: as `draw_sample`, an unknown kind, and no such label.
    """
    with transaction.atomic():
        # A second lead waits, and does not choose the same labels.
        Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        look = next((look for look in second_looks(machine) if look.kind == kind), None)
        if look is None:
            raise Refused("Choose which documents are looked at.")
        if not look.claims:
            why = look.why_none or "all of them are in samples, or too few people are left"
            raise Refused(f"There is nothing to look at: {why}.")
        return choose_second_look(
            name=name,
            kind=kind,
            machine=machine,
            claims=look.pick(size),
            of=look.claims,
            size=size,
            by=by,
            now=now,
        )


def second_looks(machine: Membership) -> list[SecondLook]:
    """Return what a second look of each kind can take: a few queries, however many labels."""
    frame = build_frame(machine.project, ClaimSelection(Sample.Source.MACHINE, machine))
    claims = {(claim.narrative.pk, claim.candidate): claim for claim in frame.claims}
    distances, unsteadiness = _distances(machine), _unsteadiness(machine)
    by_kind: dict[Sample.Kind, dict[Label, Doubt]] = {
        Sample.Kind.DIFFERING: {
            label: (distances.get(claim.judgment, 0.0), 0.0) for label, claim in claims.items()
        },
        Sample.Kind.UNSURE: {label: unsteadiness.get(label, (0.0, 0.0)) for label in claims},
    }
    why_none = {
        Sample.Kind.DIFFERING: "no person who was blind to it differs from it",
        Sample.Kind.UNSURE: "its answers are always the same"
        if unsteadiness
        else "it answered each document once",
    }
    items = SampleItem.objects.filter(sample__project=machine.project_id)
    in_samples: set[Any] = set(items.values_list("narrative", "candidate"))
    looks = []
    for kind, doubts in by_kind.items():
        doubtful = [label for label in claims if any(doubts[label])]
        unsampled = [label for label in doubtful if label not in in_samples]
        people_left = _people_left(machine, unsampled)
        labels = [label for label in unsampled if people_left[label] >= _PEOPLE]
        labels.sort(key=lambda label: ([-doubt for doubt in doubts[label]], claims[label].name))
        looks.append(
            SecondLook(
                kind=kind,
                claims=[claims[label] for label in labels],
                in_samples=len(doubtful) - len(unsampled),
                without_people=len(unsampled) - len(labels),
                why_none="" if doubtful else why_none[kind],
            )
        )
    return looks


def _distances(machine: Membership) -> dict[int | None, float]:
    """Return by the machine's judgment the mean distance of people's blind grades from its grade.

    Checks of drawn labels are left out: where these differ, somebody settles.
    """
    items, _left_out = blind_items(machine, Chosen.OTHERWISE)
    return {
        item.judgment: sum(abs(grade - item.grade) for grade in item.people.values())
        / len(item.people)
        for item in items
    }


def _unsteadiness(machine: Membership) -> dict[Label, Doubt]:
    """Return for each label with several answers, in the newest run, the share of those other than
    the first, then the spread of the grades.
    """
    rows = (
        Call.objects.filter(
            run__project=machine.project_id,
            run__machine=machine.name,
            run__samples__gt=1,
            text_version=F("candidate__document__text_version"),
            value__grade__isnull=False,
        )
        .whole_answers()
        .order_by("run", "sample")
        .values_list("run", "narrative", "candidate", F("value__grade"))
    )
    answers: dict[tuple[int, Label], list[int]] = defaultdict(list)
    for run, narrative, candidate, grade in rows.iterator(_AT_ONCE):
        answers[run, (narrative, candidate)].append(grade)
    unsteadiness: dict[Label, Doubt] = {}
    for (_run, label), grades in answers.items():
        if len(grades) > 1:
            others = sum(grade != grades[0] for grade in grades)
            unsteadiness[label] = (others / len(grades), max(grades) - min(grades))
    return unsteadiness


def _people_left(machine: Membership, labels: Collection[Label]) -> dict[Label, int]:
    """Return how many people who never led have not answered each of these labels."""
    people = Membership.objects.who_can_sign_in().filter(project=machine.project_id)
    keys = set(people.exclude(pk__in=people.who_led()).values_list("pk", flat=True))
    statements = Statement.objects.filter(
        narrative__in={narrative for narrative, _candidate in labels}, annotator__in=keys
    )
    answered: dict[Label, set[int]] = defaultdict(set)
    rows = statements.values_list("narrative", "candidate", "annotator")
    for narrative, candidate, person in rows.iterator(_AT_ONCE):
        answered[narrative, candidate].add(person)
    return {label: len(keys) - len(answered[label]) for label in labels}
