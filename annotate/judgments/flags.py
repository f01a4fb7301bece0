"""What annotators flagged instead of judging, and with which words."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from annotate.judgments.blindness import blind_pairs
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership
from base.pagination import Page, page_by_key

SIZE = 50


@dataclass(frozen=True)
class Flagged:
    """Flags that stand, newest counted, a part of them listed."""

    # By kind, in the order of the kinds; those with none as well.
    counts: dict[str, int]
    page: Page[Flag]

    @property
    def total(self) -> int:
        """Flags of every kind."""
        return sum(self.counts.values())


def standing(reader: Membership) -> QuerySet[Flag]:
    """The flags of people that the reader may know of, under the narratives in force.

    An annotator knows their own. A lead who sits as a judge knows of a document that someone
    flagged once they have judged it: blind means blind.
    """
    flags = Flag.objects.current().filter(
        narrative__in=judged_narratives(reader.project), annotator__is_machine=False
    )
    if not reader.leads:
        return flags.filter(annotator=reader)
    said = Judgment.objects.current().filter(
        narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id"), annotator=reader
    )
    return flags.filter(
        Q(annotator=reader) | ~Q(narrative__pair__in=blind_pairs(reader)) | Exists(said)
    )


def flagged(reader: Membership, asked: QueryDict, *, of: Membership | None = None) -> Flagged:
    """Return what `?kind=` and `?person=` (the key of a member) ask for: four queries.

    `of` keeps one person's alone. What makes no sense in the address is as if it were not there.
    """
    flags = standing(reader)
    person = asked.get("person", "")
    if of is not None:
        flags = flags.filter(annotator=of)
    elif person.isdecimal() and len(person) < 19:
        flags = flags.filter(annotator=int(person))
    counted = dict(flags.order_by().values_list("kind").annotate(n=Count("pk")))
    kind = asked.get("kind", "")
    if kind in Flag.Kind.values:
        flags = flags.filter(kind=kind)
    rows = flags.select_related("annotator", "candidate__document", "narrative__pair__query").defer(
        "narrative__text", "narrative__pair__query__description"
    )
    return Flagged(
        {kind.value: counted.get(kind.value, 0) for kind in Flag.Kind},
        page_by_key(rows, asked, SIZE),
    )
