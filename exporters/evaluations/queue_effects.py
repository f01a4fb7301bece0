"""Store how far settling each disagreement would move a measure, for the disagreement queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.evaluations.models import Evaluation, SettlingEffect

# How many ids one query names.
IDS_PER_QUERY = 500

# Sides as results call them, and as narratives do.
SIDES = {"changed": Narrative.Side.ALTERED, "reversed": Narrative.Side.REVERSED}

TopicDocument = tuple[str, str]


# Effects are stored as whole numbers of millionths.
PARTS = 1_000_000


def find_candidates(
    project: Project, places: Collection[TopicDocument], side: str = Narrative.Side.ALTERED
) -> dict[TopicDocument, tuple[int, int]]:
    """Return the keys of narrative and candidate for each pair and document that still exists.

    The narrative is the current one of the pair on `side`.
    """
    pairs_and_documents = list(dict.fromkeys(places))
    candidates: dict[TopicDocument, tuple[int, int]] = {}
    for start in range(0, len(pairs_and_documents), IDS_PER_QUERY):
        part = set(pairs_and_documents[start : start + IDS_PER_QUERY])
        of_query: dict[int, list[tuple[str, int]]] = {}
        narratives = Narrative.objects.filter(
            pair__project=project, pair__pair_id__in={topic for topic, _ in part}, side=side
        ).current()
        for pair_id, query, narrative in narratives.values_list(
            "pair__pair_id", "pair__query_id", "pk"
        ):
            of_query.setdefault(query, []).append((pair_id, narrative))
        rows = Candidate.objects.filter(
            query__in=list(of_query), document__doc_id__in={document for _, document in part}
        )
        for candidate, query, doc_id in rows.values_list("pk", "query_id", "document__doc_id"):
            for pair_id, narrative in of_query[query]:
                if (pair_id, doc_id) in part:
                    candidates[pair_id, doc_id] = narrative, candidate
    return candidates


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
