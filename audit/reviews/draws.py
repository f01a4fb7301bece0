"""Draw the instructions to review, for projects in which a sample of them is enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.pairs.models import DrawnPair, ReviewDraw
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused, Stale, state_token
from base.sampling import CannotDraw, DrawPlan, draw
from base.texts import amount

# The largest integer that every supported database stores exactly.
MAX_SEED = 2**53 - 1
MAX_SIZE = 100_000
_ONLY_LEADS = "Only leads of this project draw the instructions to review."


class DrawnStratum(NamedTuple):
    """A stratum of a draw."""

    stratum: str
    instructions: Annotated[int, "Number of instructions to draw from."]
    drawn: int


@dataclass(frozen=True)
class CurrentDraw:
    """The current draw, with how many instructions it took of each stratum."""

    draw: ReviewDraw
    strata: list[DrawnStratum]

    @property
    def total(self) -> int:
        """Number of instructions that were drawn from."""
        return sum(stratum.instructions for stratum in self.strata)

    @property
    def taken(self) -> int:
        """Number of instructions that were drawn."""
        return sum(stratum.drawn for stratum in self.strata)


def plan_draw(
    project: Project, *, stratify: str, size: int, seed: int, fewer: bool = False
) -> DrawPlan[int]:
    """Return what a draw would take of the pairs (by key) that can be reviewed: one query.

    The same seed draws the same instructions in any database.
    """
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    labels = {
        ReviewDraw.Stratify.DOMAIN: "query__domain",
        ReviewDraw.Stratify.CATEGORY: "category",
    }
    label = labels.get(ReviewDraw.Stratify(stratify), "")
    rows: Iterable[Any] = project.pairs.reviewable().values_list(
        "pk", "pair_id", *([label] if label else [])
    )
    for pk, pair_id, *stratum in rows:
        groups[stratum[0] if stratum else ""][pair_id] = pk
    sizes = {stratum: len(groups[stratum]) for stratum in sorted(groups)}
    try:
        drawn = draw(
            {stratum: groups[stratum] for stratum in sizes}, size=size, seed=seed, fewer=fewer
        )
    except CannotDraw as refused:
        return DrawPlan(sizes, refused=str(refused).replace("“”", "“none named”"))
    return DrawPlan(
        sizes,
        {stratum: len(names) for stratum, names in drawn.items()},
        units=[
            (groups[stratum][name], stratum) for stratum, names in drawn.items() for name in names
        ],
    )


def plan_token(planned: DrawPlan[int]) -> str:
    """Return a token of a plan, which differs once other instructions would be drawn."""
    return state_token(planned.sizes, planned.units)


def draw_for_review(
    *,
    project: Project,
    stratify: str,
    size: int,
    seed: int,
    by: Membership | None,
    fewer: bool = False,
    token: str = "",
    now: datetime | None = None,
) -> ReviewDraw:
    """Draw the instructions to review. Only these have review tasks and count as unfinished.

    Ends the current draw. Submitted reviews stay, drawn or not. Refused, with nothing changed: not
    a lead, an archived project, an impossible draw. Stale: `token` is that of another plan.
    """
    now = now or timezone.now()
    if stratify not in ReviewDraw.Stratify.values:
        raise Refused("Choose what the strata are.")
    if not 1 <= size <= MAX_SIZE or not 0 <= seed <= MAX_SEED:
        raise Refused(f"Draw 1 to {MAX_SIZE}, with a seed of 0 or more.")
    with transaction.atomic():
        lock_project(project.pk, by, _ONLY_LEADS)
        planned = plan_draw(project, stratify=stratify, size=size, seed=seed, fewer=fewer)
        if planned.refused:
            raise Refused(planned.refused)
        if token and token != plan_token(planned):
            raise Stale("The instructions have changed since you looked at the draw. Look again.")
        project.review_draws.current().update(ended_at=now, ended_by=by)
        made = ReviewDraw.objects.create(
            project=project,
            stratify=stratify,
            size=size,
            seed=seed,
            fewer=fewer,
            frame=planned.sizes,
            drawn_at=now,
            drawn_by=by,
        )
        DrawnPair.objects.bulk_create(
            (DrawnPair(draw=made, pair_id=pair, stratum=label) for pair, label in planned.units),
            batch_size=500,
        )
        about = f"{len(planned.units)} of {amount(planned.total, 'instruction')} · seed {seed}"
        record(project=project, what="review_draw.made", about=about, by=by, now=now)
    return made


def end_draw(*, project: Project, by: Membership | None, now: datetime | None = None) -> bool:
    """End the current draw, so that every instruction is reviewed; return False if there is none.

    Refused: not a lead, an archived project.
    """
    now = now or timezone.now()
    with transaction.atomic():
        lock_project(project.pk, by, _ONLY_LEADS)
        current = current_draw(project)
        if current is None:
            return False
        project.review_draws.current().update(ended_at=now, ended_by=by)
        about = (
            f"{current.taken} of {amount(current.total, 'instruction')} · seed {current.draw.seed}"
        )
        record(project=project, what="review_draw.ended", about=about, by=by, now=now)
    return True


def current_draw(project: Project) -> CurrentDraw | None:
    """Return the current draw, or None: two queries at most."""
    current = project.review_draws.current().select_related("drawn_by").first()
    if current is None:
        return None
    taken: dict[str, int] = defaultdict(int)
    for stratum in DrawnPair.objects.filter(draw=current).values_list("stratum", flat=True):
        taken[stratum] += 1
    strata = [
        DrawnStratum(label, there, taken[label]) for label, there in sorted(current.frame.items())
    ]
    return CurrentDraw(current, strata)
