"""Plan which claims of a project a sample takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from audit.checks.claims import LABELS, SEPARATOR, Claim, Frame
from audit.checks.models import Sample
from base.sampling import CannotDraw, DrawPlan, draw, place

NO_TEXTS = (
    "None of these documents has a text, so nobody could check them. Load their texts, or let the "
    "project show the ids of documents without a text."
)


@dataclass(frozen=True)
class Plan(DrawPlan):
    """What a sample would take: claims, each with its stratum."""

    claims: list[tuple[Claim, str]] = field(default_factory=list)


def plan(
    frame: Frame, *, stratify: str, per: str, size: int, seed: int, fewer: bool = False
) -> Plan:
    """Return what a sample of these claims would take; a seed gives the same result anywhere."""
    if frame.without_text and not frame.claims:
        return Plan({}, refused=NO_TEXTS)
    by_label = stratify == Sample.Stratify.LABEL
    sizes: dict[str, int] = (
        {} if by_label else {narrative.stratum(stratify): 0 for narrative in frame.narratives}
    )
    of_instruction = per == Sample.Per.INSTRUCTION
    # `size` claims are drawn from each group. Groups without a claim are kept, to be refused.
    groups: dict[str, dict[str, Claim]] = (
        {narrative.name: {} for narrative in frame.narratives}
        if of_instruction
        else {stratum: {} for stratum in sizes}
    )
    for claim in frame.claims:
        stratum = claim.stratum(stratify)
        sizes[stratum] = sizes.get(stratum, 0) + 1
        group = claim.narrative.name if of_instruction else stratum
        name = claim.name_in_any_mode if frame.side else claim.name
        groups.setdefault(group, {})[name] = claim
    sizes = dict(sorted(sizes.items()))
    # Errors name an instruction by its pair id; only originals could differ in the side.
    names_in_errors = {
        name: name.partition(SEPARATOR)[0] if of_instruction else name for name in groups
    }
    try:
        drawn = draw(
            dict(sorted(groups.items())),
            size=size,
            seed=seed,
            fewer=fewer,
            # Equal numbers of each label from an instruction.
            parts={
                name: LABELS.index(claim.label)
                for of in groups.values()
                for name, claim in of.items()
            }
            if of_instruction and by_label
            else None,
            why_empty=frame.why_empty if of_instruction else {},
        )
    except CannotDraw as refused:
        sentence = str(refused)
        for name, words in names_in_errors.items():
            sentence = sentence.replace(f"“{name}”", f"“{words or 'no category'}”")
        return Plan(sizes, refused=sentence)
    chosen = [groups[group][name] for group, names in drawn.items() for name in names]
    if by_label:
        # People check in this order, which must not reveal the claims.
        chosen.sort(key=lambda claim: (claim.narrative.name, place(seed, claim.name)))
    claims = [(claim, claim.stratum(stratify)) for claim in chosen]
    taken = dict.fromkeys(sizes, 0)
    for _claim, stratum in claims:
        taken[stratum] += 1
    return Plan(sizes, taken, claims=claims)


def sizes_of(claims: Iterable[Claim], stratify: str) -> dict[str, int]:
    """Return how many claims there are in each stratum."""
    sizes: dict[str, int] = defaultdict(int)
    for claim in claims:
        sizes[claim.stratum(stratify)] += 1
    return dict(sorted(sizes.items()))
