"""How far settling a disagreement would move a measure: kept for the queue of disagreements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from annotate.projects.models import Project
from exporters.evaluations.documents import SIDES, candidates_under
from exporters.evaluations.models import Evaluation, SettlingEffect

# Effects are whole numbers of this part of a measure.
PARTS = 1_000_000


def write(evaluation: Evaluation, rows: Iterable[Mapping[str, Any]]) -> None:
    """Keep the figure of each document, in place of those that an earlier attempt kept."""
    figures = {(row["side"], row["topic"], row["document"]): row["figure"] for row in rows}
    SettlingEffect.objects.filter(evaluation=evaluation).delete()
    made = []
    for side in SIDES:
        of_side = {(topic, doc): f for (its, topic, doc), f in figures.items() if its == side}
        places = candidates_under(evaluation.project, of_side, SIDES[side])
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


def newest(project: Project) -> QuerySet[SettlingEffect]:
    """The effects that the newest evaluation of a project kept."""
    evaluation = Evaluation.objects.computed().filter(project=project).values("pk")[:1]
    return SettlingEffect.objects.filter(evaluation=evaluation)
