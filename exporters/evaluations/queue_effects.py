"""Store how far settling each disagreement would move a measure, for the disagreement queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from annotate.projects.models import Project
from exporters.evaluations.documents import SIDES, find_candidates
from exporters.evaluations.models import Evaluation, SettlingEffect

# Effects are stored as whole numbers of millionths.
PARTS = 1_000_000


def save_effects(evaluation: Evaluation, rows: Iterable[Mapping[str, Any]]) -> None:
    """Save the figure of each document, replacing those of an earlier attempt."""
    figures = {(row["side"], row["topic"], row["document"]): row["figure"] for row in rows}
    SettlingEffect.objects.filter(evaluation=evaluation).delete()
    made = []
    for side in SIDES:
        of_side = {(topic, doc): f for (its, topic, doc), f in figures.items() if its == side}
        places = find_candidates(evaluation.project, of_side, SIDES[side])
        made += [
            SettlingEffect(
                evaluation=evaluation,
                narrative_id=narrative,
                candidate_id=candidate,
                effect=round(of_side[place] * PARTS),
            )
            for place, (narrative, candidate) in places.items()
        ]
    SettlingEffect.objects.bulk_create(made, batch_size=1_000)


def newest_effects(project: Project) -> QuerySet[SettlingEffect]:
    """Return the effects that the newest evaluation of a project saved."""
    evaluation = Evaluation.objects.computed().filter(project=project).values("pk")[:1]
    return SettlingEffect.objects.filter(evaluation=evaluation)
