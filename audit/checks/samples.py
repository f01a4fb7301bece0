"""Draw samples of claimed labels, and pick suspects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db import transaction
from django.utils import timezone

from annotate.collection.models import Run
from annotate.pairs.models import Narrative
from annotate.projects import access as assignments
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.checks.claims import (
    LABELS,
    SEPARATOR,
    Claim,
    ClaimSelection,
    Frame,
    build_frame,
    narrative_name,
    refuse_if_blind,
    stratum_of,
    why_unfit,
)
from audit.checks.models import Sample, SampleItem
from audit.checks.queue import MODES
from audit.checks.suspects import find_suspects
from base.errors import Refused, refuse_invalid_names, refuse_longer
from base.sampling import CannotDraw, DrawPlan, draw, place

NO_TEXTS = (
    "None of these documents has a text, so nobody could check them. Load their texts, or let the "
    "project show the ids of documents without a text."
)


# Limits a sample to what people can check and one page can count.
MAX_ITEMS = 20_000
MAX_NAME = Sample._meta.get_field("name").max_length or 0
_AT_ONCE = 1_000


@dataclass(frozen=True)
class Plan(DrawPlan[Claim]):
    """What a sample would take of the claims; `refused` says why it cannot be drawn, if so."""

    api_fields = ("strata", "without_text", "refused")

    without_text: Annotated[int, "Labels left out because their documents have no text."] = 0


def plan(
    frame: Frame, *, stratify: str, per: str, size: int, seed: int, fewer: bool = False
) -> Plan:
    """Return what a sample of these claims would take; a seed gives the same result anywhere."""
    if frame.without_text and not frame.claims:
        return Plan({}, refused=NO_TEXTS, without_text=frame.without_text)
    by_label = stratify == Sample.Stratify.LABEL
    sizes: dict[str, int] = (
        {} if by_label else {stratum_of(narrative, stratify): 0 for narrative in frame.narratives}
    )
    of_instruction = per == Sample.Per.INSTRUCTION
    # `size` claims are drawn from each group. Groups without a claim are kept, to be refused.
    groups: dict[str, dict[str, Claim]] = (
        {narrative_name(narrative): {} for narrative in frame.narratives}
        if of_instruction
        else {stratum: {} for stratum in sizes}
    )
    for claim in frame.claims:
        stratum = claim.stratum(stratify)
        sizes[stratum] = sizes.get(stratum, 0) + 1
        group = narrative_name(claim.narrative) if of_instruction else stratum
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
        return Plan(sizes, refused=sentence, without_text=frame.without_text)
    chosen = [groups[group][name] for group, names in drawn.items() for name in names]
    if by_label:
        # People check in this order, which must not reveal the claims.
        chosen.sort(key=lambda claim: (narrative_name(claim.narrative), place(seed, claim.name)))
    claims = [(claim, claim.stratum(stratify)) for claim in chosen]
    taken = dict.fromkeys(sizes, 0)
    for _claim, stratum in claims:
        taken[stratum] += 1
    return Plan(sizes, taken, units=claims, without_text=frame.without_text)


def count_grades(
    claims: Iterable[Claim], stratify: str, strata: Iterable[str] = ()
) -> dict[str, dict[str, int]]:
    """Return how many claims there are of each grade, by stratum; of `strata` also without any."""
    counts: dict[str, Counter[str]] = {stratum: Counter() for stratum in strata}
    for claim in claims:
        counts.setdefault(claim.stratum(stratify), Counter())[str(claim.relevance)] += 1
    return {stratum: dict(sorted(counts[stratum].items())) for stratum in sorted(counts)}


def draw_sample(
    *,
    name: str,
    selection: ClaimSelection,
    stratify: str,
    per: str,
    size: int,
    seed: int,
    by: Membership,
    fewer: bool = False,
    shows_claim: bool = False,
    shows_reason: bool = False,
    now: datetime | None = None,
) -> Sample:
    """Draw a random sample of claims and return it; `Sample` documents the choices.

    Refused, with nothing drawn: not a lead, no name or one that is taken, an invalid choice, a
    sample larger than its frame, an empty stratum, more than MAX_ITEMS labels.
    """
    name = _validate_choices(name, selection, stratify, by)
    if per not in Sample.Per.values:
        raise Refused("Choose whether the number is per stratum or per instruction.")
    with transaction.atomic():
        _refuse_taken_name(name, by)
        frame = build_frame(by.project, selection)
        drawn = plan(
            frame,
            stratify=stratify,
            per=per,
            size=size,
            seed=seed,
            fewer=fewer,
        )
        if drawn.refused:
            raise Refused(drawn.refused)
        sample = Sample(
            kind=Sample.Kind.RANDOM,
            stratify=stratify,
            per=per,
            size=size,
            seed=seed,
            fewer=fewer,
            frame_grades=count_grades(frame.claims, stratify, drawn.sizes),
            shows_claim=shows_claim,
            shows_reason=shows_reason,
        )
        drawn_claims = [(claim, stratum, None) for claim, stratum in drawn.units]
        return _insert_sample(sample, name, selection, drawn_claims, by, now)


def pick_suspects(
    *,
    name: str,
    selection: ClaimSelection,
    runs: Collection[Run],
    depth: int,
    at_least: int,
    by: Membership,
    below: float | None = None,
    stratify: str = Sample.Stratify.NONE,
    shows_claim: bool = False,
    now: datetime | None = None,
) -> Sample:
    """Make a sample of the documents claimed relevant that at least `at_least` runs do not rank up
    to `depth`, or score lower than `below`.

    Refused, with nothing made: as `draw_sample`; no run, a run of another project, a depth or
    number below 1, a number larger than that of runs, runs for other queries, no suspects.
    """
    name = _validate_choices(name, selection, stratify, by)
    if not runs:
        raise Refused("Choose at least one run.")
    with transaction.atomic():
        _refuse_taken_name(name, by)
        result = find_suspects(
            by.project, selection, runs=runs, depth=depth, at_least=at_least, below=below
        )
        if not result.gold:
            raise Refused(
                f"No document that is claimed relevant has a query that is in {at_least} of "
                "these runs. Choose runs for the queries of this project."
            )
        if not result.suspects:
            raise Refused("The runs find all of them, so there are no suspects.")
        sample = Sample(
            kind=Sample.Kind.SUSPECTS,
            stratify=stratify,
            depth=depth,
            at_least=at_least,
            below=below,
            frame_grades=count_grades((suspect.claim for suspect in result.suspects), stratify),
            shows_claim=shows_claim,
        )
        picked = [
            (suspect.claim, suspect.claim.stratum(stratify), suspect.missed)
            for suspect in result.suspects
        ]
        selection = selection._replace(relevant_only=True)
        made = _insert_sample(sample, name, selection, picked, by, now)
        made.runs.set(runs)
    return made


def choose_second_look(
    *,
    name: str,
    kind: str,
    machine: Membership,
    claims: Sequence[Claim],
    of: Sequence[Claim],
    size: int,
    by: Membership,
    now: datetime | None = None,
) -> Sample:
    """Make a sample of claims of a machine that were chosen, at most `size` of `of`, which only
    people who are still blind to them check, in this order.

    Refused, with nothing made: as `draw_sample`.
    """
    selection = ClaimSelection(Sample.Source.MACHINE, machine)
    name = _validate_choices(name, selection, Sample.Stratify.NONE, by)
    with transaction.atomic():
        _refuse_taken_name(name, by)
        sample = Sample(kind=kind, size=size, frame_grades=count_grades(of, Sample.Stratify.NONE))
        return _insert_sample(
            sample, name, selection, [(claim, "", None) for claim in claims], by, now
        )


def selections_in_modes(
    project: Project, selection: ClaimSelection, modes: Sequence[str]
) -> dict[str, ClaimSelection]:
    """Return the request for claims of each mode, or one for all modes, by "", if `modes` is empty.

    In the original mode the qrels are the source if machines claim nothing there.
    """
    if not modes:
        return {"": selection}
    selections = {mode: selection._replace(side=mode) for mode in modes}
    original = selections.get(Narrative.Side.ORIGINAL)
    of_machines = selection.source in (Sample.Source.MACHINE, Sample.Source.CLAIMS)
    if original is not None and of_machines and not build_frame(project, original).claims:
        prior = original._replace(source=Sample.Source.PRIOR, rater=None)
        selections[Narrative.Side.ORIGINAL] = prior
    return selections


def make_in_modes(
    make: Callable[..., Sample],
    *,
    name: str,
    project: Project,
    selections: Mapping[str, ClaimSelection],
) -> list[Sample]:
    """Make a sample of each of `selections_in_modes` that has claims; all or none.

    Refused: as by `make` (`draw_sample` or `pick_suspects`), and if no mode has any claims.
    """
    if "" in selections:
        return [make(name=name, selection=selections[""])]
    with transaction.atomic():
        made = [
            make(name=f"{name} ({MODES[mode].lower()})", selection=selection)
            for mode, selection in selections.items()
            if build_frame(project, selection).claims
        ]
    if not made:
        raise Refused("Nothing is claimed in these modes.")
    return made


def _validate_choices(name: str, selection: ClaimSelection, stratify: str, by: Membership) -> str:
    """Return the normalized name, or refuse the choices."""
    if not by.leads:
        raise Refused("Only leads of this project choose what is checked.")
    assignments.refuse_if_archived(by.project)
    name = " ".join(name.split())
    if not name:
        raise Refused("Give the sample a name.")
    too_long = "The name has %(length)s characters; at most %(most)s are kept."
    refuse_longer(name, MAX_NAME, too_long)
    refuse_invalid_names(name)
    if selection.source not in Sample.Source.values:
        raise Refused("Choose whose labels are checked.")
    if (selection.source == Sample.Source.MACHINE) != (selection.rater is not None):
        raise Refused("Choose the machine whose judgments are checked.")
    rater = selection.rater
    if rater is not None and (rater.project_id != by.project_id or not rater.is_machine):
        raise Refused("Choose a machine of this project.")
    refuse_if_blind(selection, by)
    if selection.asks not in Sample.Asks.values:
        raise Refused("Choose what checkers are asked.")
    if stratify not in Sample.Stratify.values:
        raise Refused("Choose what the strata are.")
    if unfit := why_unfit(by.project, selection, stratify):
        raise Refused(unfit)
    if selection.side and selection.side not in Narrative.Side.values:
        raise Refused("Choose the mode in which labels are checked.")
    if selection.source == Sample.Source.PRIOR and selection.side not in (
        "",
        Narrative.Side.ORIGINAL,
    ):
        raise Refused("Earlier qrels have claims only in the original mode. Choose another source.")
    return name


def _refuse_taken_name(name: str, by: Membership) -> None:
    # If two leads act at once, the second waits for this lock and then sees the first one's sample.
    Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
    if Sample.objects.filter(project=by.project_id, name=name).exists():
        raise Refused(f"A sample called “{name}” already exists. Give this one another name.")


def _insert_sample(
    sample: Sample,
    name: str,
    selection: ClaimSelection,
    items: Sequence[tuple[Claim, str, int | None]],
    by: Membership,
    now: datetime | None,
) -> Sample:
    if len(items) > MAX_ITEMS:
        raise Refused(f"These are {len(items):,} labels; a sample has at most {MAX_ITEMS:,}.")
    sample.project, sample.name = by.project, name
    sample.source, sample.rater, sample.relevant_only, sample.asks, sample.side = selection
    sample.created_by, sample.created_at = by, now or timezone.now()
    sample.save()
    SampleItem.objects.bulk_create(
        (
            SampleItem(
                sample=sample,
                narrative_id=claim.narrative.pk,
                candidate_id=claim.candidate,
                claimed=claim.relevance,
                claimed_topic=claim.topic if sample.asks == Sample.Asks.QUESTIONS else None,
                claimed_constraint=(
                    claim.constraint if sample.asks == Sample.Asks.QUESTIONS else None
                ),
                reason=claim.reason,
                stratum=stratum,
                missed=missed,
            )
            for claim, stratum, missed in items
        ),
        batch_size=_AT_ONCE,
    )
    record(project=by.project, what="sample.made", about=sample, by=by, now=now)
    return sample
