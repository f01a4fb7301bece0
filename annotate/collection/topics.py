"""Choose topics, by a random draw among those that meet conditions, or by hand.

Topics that are not chosen are taken out with a reason (`annotate.collection.removal`). What
machines' filters discard is taken out as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from annotate.collection.models import FilterDecision, Query
from annotate.collection.removal import QUERIES, ChangeCounts
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.errors import Refused, Stale, state_token


class Conditions(NamedTuple):
    """Conditions that a topic must meet to be drawn."""

    # Whether it needs an original narrative with text.
    narrative: bool = True
    # Limits of the number of documents that came as relevant; None: no limit.
    least: int | None = None
    most: int | None = None

    def words(self) -> str:
        """Return the conditions in words, or "" if there are none."""
        parts = ["with a narrative"] if self.narrative else []
        if self.least is not None and self.most is not None:
            parts.append(f"with {self.least} to {self.most} relevant documents")
        elif self.least is not None:
            parts.append(f"with at least {self.least} relevant documents")
        elif self.most is not None:
            parts.append(f"with at most {self.most} relevant documents")
        return ", ".join(parts)


@dataclass(frozen=True)
class Topic:
    """A query that is not taken out, with the values that conditions check."""

    pk: int
    query_id: str
    title: str
    relevant: Annotated[int, "Documents that were loaded as relevant."]
    has_narrative: bool

    api_fields = ("query_id", "title", "relevant", "has_narrative")

    def meets(self, conditions: Conditions) -> bool:
        """Return whether the topic meets the conditions."""
        return (
            (self.has_narrative or not conditions.narrative)
            and (conditions.least is None or self.relevant >= conditions.least)
            and (conditions.most is None or self.relevant <= conditions.most)
        )


def topics_of(project: Project) -> list[Topic]:
    """Return the queries of a project that are not taken out, in loading order: one SQL query."""
    narratives = Narrative.objects.filter(pair__query=OuterRef("pk")).exclude(text="")
    before = Q(
        candidates__prior_relevance__gte=project.relevant_from,
        candidates__removed_at__isnull=True,
    )
    rows = (
        Query.objects.filter(project=project, removed_at__isnull=True)
        .annotate(relevant=Count("candidates", filter=before), has_narrative=Exists(narratives))
        .order_by("pk")
        .values_list("pk", F("query_id"), "title", "relevant", "has_narrative")
    )
    return [Topic(*row) for row in rows]


def draw(found: Sequence[Topic], conditions: Conditions, number: int, seed: int) -> list[Topic]:
    """Draw `number` of the topics that meet the conditions, reproducibly in any database.

    Refused: a number below 1, or more than the topics that meet the conditions; limits of relevant
    documents that no topic can meet.
    """
    least, most = conditions.least, conditions.most
    if least is not None and most is not None and least > most:
        raise Refused(f"No topic has at least {least} and at most {most} relevant documents.")
    eligible = [topic for topic in found if topic.meets(conditions)]
    if not 1 <= number <= len(eligible):
        raise Refused(
            f"{len(eligible)} {'topic meets' if len(eligible) == 1 else 'topics meet'} the "
            f"conditions, so {number} cannot be drawn. Ask for 1 to {len(eligible)}, or loosen the "
            "conditions."
        )
    by_chance = sorted(
        eligible, key=lambda topic: sha256(f"{seed}:{topic.query_id}".encode()).digest()
    )
    drawn = {topic.pk for topic in by_chance[:number]}
    return [topic for topic in eligible if topic.pk in drawn]


def draw_token(available: Sequence[Topic], drawn: Sequence[Topic]) -> str:
    """Return a token of a draw, which differs once other topics are there or would be drawn."""
    return state_token([topic.pk for topic in available], [topic.pk for topic in drawn])


def draw_topics(
    *,
    project: Project,
    conditions: Conditions,
    number: int,
    seed: int,
    by: Membership | None,
    token: str = "",
    now: datetime | None = None,
) -> ChangeCounts:
    """Draw topics and take the others out. Refused: as `draw` and `choose_topics`.

    Stale: `token` is that of another draw (`draw_token`).
    """
    with transaction.atomic():
        available = topics_of(project)
        chosen = draw(available, conditions, number, seed)
        if token and token != draw_token(available, chosen):
            raise Stale("The topics have changed since this draw was shown. Look at it again.")
        words = conditions.words()
        reason = f"Not chosen: {number} of {len(available)} topics were drawn with seed {seed}"
        return choose_topics(
            project=project,
            queries=[topic.pk for topic in chosen],
            reason=f"{reason}{', ' if words else ''}{words}.",
            by=by,
            now=now,
        )


def choose_topics(
    *,
    project: Project,
    queries: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> ChangeCounts:
    """Keep these queries of a project and take the others out with a reason.

    Refused: no query, a query that is taken out or not of this project, and as `remove_queries`.
    """
    with transaction.atomic():
        rows = Query.objects.filter(project=project, removed_at__isnull=True)
        there = list(rows.order_by("pk").values_list("pk", flat=True))
        wanted = set(queries)
        if not wanted:
            raise Refused("Choose one or more topics first.")
        if not wanted <= set(there):
            raise Refused("One of these topics is taken out or not in this project.")
        others = [pk for pk in there if pk not in wanted]
        if not others:
            return ChangeCounts(0, 0)
        return QUERIES.remove(project=project, keys=others, reason=reason, by=by, now=now)


About = Literal["queries", "instructions", "documents"]


class FilterCount(NamedTuple):
    """One machine's decisions on queries, instructions or documents."""

    machine: str
    about: About
    kept: int
    discarded: int
    brought_back: Annotated[int, "Of the discarded ones: brought back by a lead."]


def filter_counts(project: Project) -> list[FilterCount]:
    """Count the decisions by machine and what they are about: one query."""
    kinds: dict[About, str] = {"queries": "query", "instructions": "pair", "documents": "candidate"}
    counts = {}
    for about, thing in kinds.items():
        on_it = Q(**{f"{thing}__isnull": False})
        counts[f"{about}_kept"] = Count("pk", filter=on_it & Q(discards=False))
        counts[f"{about}_discarded"] = Count("pk", filter=on_it & Q(discards=True))
        back = on_it & Q(discards=True, **{f"{thing}__removed_at__isnull": True})
        counts[f"{about}_back"] = Count("pk", filter=back)
    rows: Iterable[Any] = (
        FilterDecision.objects.filter(project=project)
        .order_by()
        .values("machine__name")
        .annotate(**counts)
    )
    decisions = [
        FilterCount(
            row["machine__name"],
            about,
            row[f"{about}_kept"],
            row[f"{about}_discarded"],
            row[f"{about}_back"],
        )
        for row in rows
        for about in kinds
    ]
    decisions.sort(key=lambda count: count.machine.encode())
    return [count for count in decisions if count.kept or count.discarded]
