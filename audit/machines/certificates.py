"""Certificates: what checks of drawn labels say about all labels that they were drawn from.

A certificate is about one sample of labels that a machine claims: how many of them are wrong at
most, and the share of relevant ones if people had judged all. It holds for the labels as they were
when the sample was drawn, so for one model, prompt and collection. docs/llm.md has the method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from annotate.projects.models import Membership
from audit.checks.figures import (
    CheckedLabel,
    ErrorRates,
    error_rates,
    format_upper_bound,
    labels_of,
)
from audit.checks.models import Check, Sample
from audit.machines.blind_answers import samples_of, who_led
from base.texts import amount

if TYPE_CHECKING:
    from agreement.prediction_powered import Estimate
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified

SAW_CLAIMS = "the checkers saw the claimed labels"
OF_EACH_INSTRUCTION = (
    "a fixed number of labels was drawn of each instruction, so they do not stand for the others"
)


class Certified(NamedTuple):
    """How many of the labels are wrong at most, and the share of relevant ones."""

    # Relevant and should not be, or the reverse.
    wrong: Proportion | Stratified
    by_machine: Annotated[float, "Relevant by the machine's labels."]
    by_people: Annotated[Estimate, "Relevant by the checked labels alone."]
    combined: Annotated[Estimate, "Relevant by both."]


class Certificate(NamedTuple):
    """What the checks of one sample say about the labels that it was drawn from."""

    sample: Annotated[int, "The sample's key."]
    name: str
    of_all_machines: Annotated[bool, "Whether the labels are the claims that count, of all."]
    relevant_only: Annotated[bool, "Whether only labels claimed relevant were drawn from."]
    labels: Annotated[int, "The labels that it was drawn from."]
    drawn: int
    checked: int
    unjudgeable: Annotated[int, "Labels that nobody could judge; they count as not drawn."]
    taken_out: Annotated[
        int,
        "Labels not checked before their instruction or document was taken out; they count as not "
        "drawn.",
    ]
    by_leads: Annotated[int, "Labels that a lead checked, who could look up what was claimed."]
    note: Annotated[str, "Why there is no certificate; empty if there is one."]
    certified: Certified | None

    @property
    def sentence(self) -> str:
        """The certificate as a card states it."""
        relevant = " claimed relevant" if self.relevant_only else ""
        whose = "that count, of all machines," if self.of_all_machines else "of this machine"
        drawn, labels = amount(self.drawn, "label"), amount(self.labels, "label")
        head = (
            f"“{self.name}”: people checked {self.checked:,} of {drawn} drawn from "
            f"{labels}{relevant} {whose}"
        )
        if self.certified is None:
            return f"{head}. There is no certificate: {self.note}."
        wrong, by_machine, by_people, combined = self.certified
        bound = (
            wrong.note
            if wrong.at_most is None
            else f"at most {format_upper_bound(wrong.at_most)}% at 95%"
        )
        return (
            f"{head}. Relevant or not is wrong in {bound}. Relevant are {100 * by_machine:.1f}% by "
            f"the machine alone; by people alone {_in_words(by_people)}; "
            f"by both {_in_words(combined)}."
        )


def _in_words(share: Estimate) -> str:
    """Return a share with its interval; why there is none, if so."""
    if share.value is None:
        return share.note
    remarks = [share.note] if share.note else []
    if share.interval is not None:
        low, high = (f"{100 * bound:.1f}" for bound in share.interval)
        remarks.insert(0, f"95% interval {low} to {high}%")
    return f"{100 * share.value:.1f}%" + (f" ({'; '.join(remarks)})" if remarks else "")


def certificates_of(machine: Membership) -> list[Certificate]:
    """Return the certificate of each sample, which are never counted together: two queries each."""
    leads = who_led(machine)
    return [_certificate(sample, leads) for sample in samples_of(machine).select_related("project")]


def _certificate(sample: Sample, leads: Sequence[int]) -> Certificate:
    labels = labels_of(sample)
    of_leads = Check.objects.current().filter(item__sample=sample, checker__in=leads)
    note = _why_none(sample, labels)
    rates = error_rates(sample, labels)
    return Certificate(
        sample=sample.pk,
        name=sample.name,
        of_all_machines=sample.source == Sample.Source.CLAIMS,
        relevant_only=sample.relevant_only,
        labels=rates.overall.frame,
        drawn=rates.overall.items,
        checked=rates.overall.checked,
        unjudgeable=rates.overall.unjudgeable,
        taken_out=sum(label.is_lost for label in labels),
        by_leads=of_leads.values("item").distinct().count(),
        note=note,
        certified=None if note else _certify(sample, labels, rates),
    )


def _why_none(sample: Sample, labels: Sequence[CheckedLabel]) -> str:
    """Return why a sample certifies nothing, or ""."""
    if sample.shows_claim:
        return SAW_CLAIMS
    if sample.per == Sample.Per.INSTRUCTION:
        return OF_EACH_INSTRUCTION
    # What people have not settled are the difficult labels, so the others are no random sample.
    left = sum(not label.closed and not label.taken_out for label in labels)
    return (
        f"{left:,} of {len(labels):,} drawn labels are not checked or settled yet" if left else ""
    )


def _certify(sample: Sample, labels: Sequence[CheckedLabel], rates: ErrorRates) -> Certified:
    """Bound the wrong labels, and estimate the share of relevant ones."""
    from agreement.prediction_powered import LabelStratum, share_of_relevant

    relevant_from = sample.project.relevant_from
    checked: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for label in labels:
        if label.outcome is not None:
            relevant = (label.claimed >= relevant_from, label.outcome >= relevant_from)
            checked[label.stratum].append(relevant)
    shares = share_of_relevant(
        [
            LabelStratum(
                size=sum(grades.values()),
                relevant=sum(n for grade, n in grades.items() if int(grade) >= relevant_from),
                judged=checked[stratum],
            )
            for stratum, grades in sorted(sample.frame_grades.items())
        ]
    )
    assert shares.machine is not None
    return Certified(
        wrong=rates.weighted.status if rates.weighted else rates.overall.status,
        by_machine=shares.machine,
        by_people=shares.people,
        combined=shares.combined,
    )
