"""How far a machine may be trusted: its grades beside those that people gave blind to them.

Figures describe the documents they were computed on. Only those of drawn labels say anything about
other labels: those of the samples' frames.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, NamedTuple

from django.db.models import Count

from annotate.judgments.consensus import consensus
from annotate.projects.models import Membership
from audit.checks.models import RESAMPLES, SEED, SampleItem
from audit.machines.blind_answers import Chosen, Item, Reason, blind_items, drawn_samples
from audit.machines.certificates import Certificate, certificates_of
from audit.machines.origin import Circularity, circularity_of
from audit.reports.report_parts import COEFFICIENTS, coefficients, ratings_of
from audit.reports.unit_counts import Patterns

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion

KEYS = ("percent", "cohen", "cohen_quadratic", "alpha_ordinal", "gwet_ac1")
# From this number of documents on, a person's intervals come from the linearised variance: for all
# people, resampling would take a second, and give the same.
MANY = 100
# The people with most documents are compared each, at most this many.
MOST_PEOPLE = 12
# Stand for the machine and for whoever it is compared with, in patterns of answers.
_MACHINE, _OTHER = 0, 1


class Measured(NamedTuple):
    """A coefficient of agreement with the key and the title it has in agreement reports."""

    key: str
    title: str
    figure: Coefficient


class PersonCompared(NamedTuple):
    """A person and the machine, and both measured by what the other people agree on."""

    name: str
    documents: Annotated[int, "Documents that both answered."]
    with_machine: list[Measured]
    compared: Annotated[int, "Documents on which the other people agree."]
    with_others: Annotated[list[Measured], "The person and the other people."]
    machine_with_others: Annotated[
        list[Measured], "The machine and the same people, on the same documents."
    ]

    @property
    def rows(self) -> list[tuple[str, list[Coefficient]]]:
        """The title of each coefficient, and the three of them."""
        several = zip(self.with_machine, self.with_others, self.machine_with_others, strict=True)
        return [(three[0].title, [one.figure for one in three]) for three in several]


class GradeRow(NamedTuple):
    """The documents to which people gave one grade, by the machine's grade."""

    people: Annotated[int | None, "null: people differ."]
    counts: Annotated[dict[int, int], "By the machine's grade."]


@dataclass(frozen=True)
class Shares:
    """How the machine meets what people agree on, in all documents, a category or a query.

    A share is computed when it is read, because its exact interval takes most of the time.
    """

    api_fields = ("key", "documents", "same", "found", "confirmed")

    key: str
    # The documents on which people agree.
    agreed: list[Item]
    relevant_from: int

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.agreed)

    @cached_property
    def same(self) -> Proportion:
        """The machine gives the grade that people agree on."""
        return _share(people == grade for people, grade in self._grades())

    @cached_property
    def found(self) -> Proportion:
        """Relevant to people: the machine finds it relevant too."""
        least = self.relevant_from
        return _share(grade >= least for people, grade in self._grades() if people >= least)

    @cached_property
    def confirmed(self) -> Proportion:
        """Relevant to the machine: people confirm it."""
        least = self.relevant_from
        return _share(people >= least for people, grade in self._grades() if grade >= least)

    def _grades(self) -> Iterator[tuple[int, int]]:
        """Yield people's grade and the machine's of each document."""
        for item in self.agreed:
            assert item.agreed is not None
            yield item.agreed, item.grade


class SampledStratum(NamedTuple):
    """A stratum of a sample of this machine's labels: how many of its labels were drawn."""

    sample: Annotated[int, "The sample's key."]
    name: str
    stratum: str
    drawn: int
    frame: Annotated[int, "The labels that it was drawn from."]


class OtherMachine(NamedTuple):
    """Another machine, on the documents that both judged and people answered blind."""

    machine: Annotated[int, "The machine's key."]
    name: str
    shared: Annotated[int, "These documents."]
    differing: Annotated[int, "Of these, documents to which they give different grades."]
    compared: Annotated[int, "Of these, documents on which people agree."]
    kappa: Annotated[Measured, "This machine and what people agree on, on these documents."]
    other_kappa: Annotated[Measured, "The other machine and the same."]


class Trust(NamedTuple):
    """The figures of a machine on the documents that people answered blind, chosen in one way."""

    chosen: Chosen
    documents: int
    answers: int
    people: Annotated[int, "People with a blind answer."]
    left_out: Annotated[dict[Reason, int], f"Answers by the reason: {', '.join(Reason.values)}."]
    strata: Annotated[list[SampledStratum], "Of the samples; empty unless `chosen` is drawn."]
    certificates: Annotated[
        list[Certificate], "Of each sample of its labels; empty unless `chosen` is drawn."
    ]
    circularity: Circularity
    agreed: Annotated[int, "Documents on which people agree."]
    with_agreed: Annotated[list[Measured], "The machine and what people agree on."]
    among_people: Annotated[
        list[Measured], "People with each other, on documents that two or more of them answered."
    ]
    each: Annotated[list[PersonCompared], f"The {MOST_PEOPLE} people with most documents."]
    scale: list[int]
    grades: list[GradeRow]
    whole: Shares
    categories: Annotated[list[Shares], "Empty if there is only one."]
    queries: list[Shares]
    beside: list[OtherMachine]


def trust_of(machine: Membership, chosen: Chosen) -> Trust:
    """Compute the figures of a machine: a fixed number of queries, and two for each sample."""
    items, left_out = blind_items(machine, chosen)
    scale = _scale(machine, items)
    names = dict(machine.project.memberships.values_list("pk", "name"))
    agreed = [item for item in items if item.agreed is not None]
    by_person: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        for person in item.people:
            by_person[person].append(item)
    most = sorted(by_person, key=lambda person: (-len(by_person[person]), names[person]))
    relevant_from = machine.project.relevant_from
    categories = _parts(agreed, "category", relevant_from)
    return Trust(
        chosen=chosen,
        documents=len(items),
        answers=sum(len(item.people) for item in items),
        people=len(by_person),
        left_out=left_out,
        strata=list(_strata(machine)) if chosen == Chosen.DRAWN else [],
        certificates=certificates_of(machine) if chosen == Chosen.DRAWN else [],
        circularity=circularity_of(machine),
        agreed=len(agreed),
        with_agreed=_measure(_with_agreed(agreed), scale),
        among_people=_measure(
            Counter(tuple(sorted(item.people.items())) for item in items if len(item.people) > 1),
            scale,
        ),
        each=[
            _compare(names[person], person, by_person[person], machine, scale)
            for person in most[:MOST_PEOPLE]
        ],
        scale=scale,
        grades=_grade_rows(items, scale),
        whole=Shares("", agreed, relevant_from),
        categories=categories if len(categories) > 1 else [],
        queries=_parts(agreed, "query", relevant_from),
        beside=_machines_beside(machine.pk, items, names, scale),
    )


def _scale(machine: Membership, items: Sequence[Item]) -> list[int]:
    values = {item.grade for item in items}.union(*(item.people.values() for item in items))
    return sorted(values.union(machine.project.grades.values_list("value", flat=True)))


def _measure(
    patterns: Patterns, scale: Sequence[int], keys: Sequence[str] = KEYS, *, quickly: bool = False
) -> list[Measured]:
    """Return coefficients of the answers; `quickly`: without resampling from MANY documents on.

    For more than two raters, the variance of a mean over pairs is linearised, as in reports.
    """
    raters = sorted({rater for pattern in patterns for rater, _grade in pattern})
    ratings = ratings_of(patterns, raters, scale)
    measured = []
    for key in keys:
        if key == "cohen_quadratic" and len(scale) < 3:
            continue
        is_mean = key.startswith("cohen") and len(raters) > 2
        interval = "analytic" if is_mean or (quickly and patterns.total() >= MANY) else "auto"
        figure = coefficients()[key](ratings, interval=interval, seed=SEED, resamples=RESAMPLES)
        measured.append(Measured(key, COEFFICIENTS[key], figure))
    return measured


def _with_agreed(items: Iterable[Item]) -> Patterns:
    return Counter(
        ((_MACHINE, item.grade), (_OTHER, item.agreed)) for item in items if item.agreed is not None
    )


def _compare(
    name: str, person: int, items: list[Item], machine: Membership, scale: Sequence[int]
) -> PersonCompared:
    """Compare a person with the machine, and both with what the other people agree on."""
    rule = machine.project.consensus
    with_machine: Patterns = Counter()
    with_others: Patterns = Counter()
    machine_with_others: Patterns = Counter()
    for item in items:
        with_machine[(_MACHINE, item.grade), (_OTHER, item.people[person])] += 1
        others = [grade for member, grade in item.people.items() if member != person]
        agreed = consensus(others, rule).relevance
        if agreed is not None:
            with_others[(_MACHINE, item.people[person]), (_OTHER, agreed)] += 1
            machine_with_others[(_MACHINE, item.grade), (_OTHER, agreed)] += 1
    return PersonCompared(
        name,
        len(items),
        _measure(with_machine, scale, quickly=True),
        with_others.total(),
        _measure(with_others, scale, quickly=True),
        _measure(machine_with_others, scale, quickly=True),
    )


def _grade_rows(items: Iterable[Item], scale: Sequence[int]) -> list[GradeRow]:
    """Cross what people agree on with the machine's grade; the last row: people differ."""
    counts = Counter((item.agreed, item.grade) for item in items)
    rows: list[int | None] = [*scale]
    if any(agreed is None for agreed, _grade in counts):
        rows.append(None)
    return [GradeRow(row, {grade: counts[row, grade] for grade in scale}) for row in rows]


def _parts(agreed: Iterable[Item], by: str, relevant_from: int) -> list[Shares]:
    """Return the shares of each query or category, in the order of their keys."""
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in agreed:
        parts[getattr(item, by)].append(item)
    return [Shares(key, parts[key], relevant_from) for key in sorted(parts)]


def _share(answers: Iterable[bool]) -> Proportion:
    from agreement.proportion import proportion

    listed = list(answers)
    return proportion(sum(listed), len(listed))


def _strata(machine: Membership) -> Iterator[SampledStratum]:
    """Yield each stratum of the samples, with how many of its labels were drawn: two queries."""
    samples = {sample.pk: sample for sample in drawn_samples(machine)}
    rows = SampleItem.objects.filter(sample__in=samples).values_list("sample", "stratum")
    for key, stratum, drawn in rows.annotate(n=Count("pk")).order_by("sample", "stratum"):
        sample = samples[key]
        yield SampledStratum(key, sample.name, stratum, drawn, sample.frame.get(stratum, 0))


def _machines_beside(
    machine: int, items: Sequence[Item], names: Mapping[int, str], scale: Sequence[int]
) -> list[OtherMachine]:
    """Compare with each other machine, in the order of their names."""
    others = {other for item in items for other in item.machines} - {machine}
    beside = []
    for other in sorted(others, key=names.__getitem__):
        shared = [item for item in items if other in item.machines]
        by_other = [item._replace(grade=item.machines[other]) for item in shared]
        [kappa], [other_kappa] = (
            _measure(_with_agreed(judged), scale, ("cohen",)) for judged in (shared, by_other)
        )
        differing = sum(item.grade != item.machines[other] for item in shared)
        agreed = sum(item.agreed is not None for item in shared)
        beside.append(
            OtherMachine(other, names[other], len(shared), differing, agreed, kappa, other_kappa)
        )
    return beside
