"""What the pages of reviews show beside the reviews themselves."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Candidate, InstructionPair, Judgment, Narrative
from audit.criteria import Rubric
from audit.models import Decision

# Documents of a pool that lie beside an instruction under review: so many that are claimed to be
# relevant, and so many others.
AT_HAND = 4


def levels_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Return how the levels of a rubric are drawn, best first, and the key that gives each.

    Keys: value, name, sentence, rejects, key, icon (star, check, cross), tone (good, care, wrong).
    """
    drawn = []
    for place, level in enumerate(rubric.levels):
        icon, tone = ("star", "good") if place == 0 else ("check", "care")
        if level.rejects:
            icon, tone = "cross", "wrong"
        drawn.append({**level._asdict(), "key": str(place + 1), "icon": icon, "tone": tone})
    return drawn


def at_hand(pair: InstructionPair, narrative: Narrative) -> list[Candidate]:
    """Return a few documents of the pool to look at, without their texts: two queries.

    Half of them came as relevant, by a machine under this narrative or from the start, as far as
    there are any. They stand in the order of their ids, which does not tell which those are.
    """
    threshold = pair.project.relevant_from
    pool = pair.query.candidates.select_related("document")
    claims = Judgment.objects.current().filter(
        candidate=OuterRef("pk"), narrative=narrative, annotator__is_machine=True
    )
    claimed = Exists(claims.filter(relevance__gte=threshold))
    relevant = claimed | (~Exists(claims) & Q(prior_relevance__gte=threshold))

    def some(found: QuerySet[Candidate], most: int) -> list[Candidate]:
        return list(found.order_by("pk")[:most])

    first = some(pool.filter(relevant), AT_HAND)
    found = [
        *first,
        *some(pool.exclude(pk__in=[one.pk for one in first]).exclude(relevant), AT_HAND),
    ]
    return sorted(found, key=lambda one: one.document.doc_id)


def previous_decision(narrative: Narrative) -> Decision | None:
    """Return what was decided on an older version, if anything was."""
    return Decision.objects.current().select_related("by").filter(narrative=narrative).first()
