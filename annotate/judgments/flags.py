"""The flags that annotators put on documents instead of a grade, and the words with them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from annotate.judgments.blindness import blind_pairs
from annotate.judgments.models import Flag, Judgment, RejudgeRequest
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership
from base.pagination import Page, page_by_key

SIZE = 50
# Whether a lead has asked whoever flagged a document to look again.
WAITS = Exists(RejudgeRequest.objects.not_withdrawn().filter(statement=OuterRef("pk")))


@dataclass(frozen=True)
class FlagPage:
    """Current flags: counted by kind, and one page of them listed."""

    # By kind, in the order of the kinds, including kinds without flags.
    counts: dict[str, int]
    page: Page[Flag]

    @property
    def total(self) -> int:
        """The number of flags of all kinds."""
        return sum(self.counts.values())


def visible_flags(reader: Membership) -> QuerySet[Flag]:
    """Return the current flags of people that the reader may see, under the current narratives.

    An annotator sees their own. A lead who also judges a pair sees the others' flags on a document
    only after judging it.
    """
    flags = Flag.objects.current().filter(narrative__in=judged_narratives(reader.project))
    if not reader.leads:
        return flags.filter(annotator=reader)
    # By key, so that PostgreSQL knows that they are few of all flags and reads no others.
    people = list(reader.project.memberships.people().values_list("pk", flat=True))
    flags = flags.filter(annotator__in=people)
    judged = Judgment.objects.current().filter(
        narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id"), annotator=reader
    )
    return flags.filter(
        Q(annotator=reader) | ~Q(narrative__pair__in=blind_pairs(reader)) | Exists(judged)
    )


def list_flags(reader: Membership, asked: QueryDict, *, of: Membership | None = None) -> FlagPage:
    """Return the flags selected by `?kind=` and `?person=` (a member's key): five queries.

    `of` selects one person's flags. Invalid query parameters are ignored.
    """
    flags = visible_flags(reader)
    person = asked.get("person", "")
    if of is not None:
        flags = flags.filter(annotator=of)
    elif person.isdecimal() and len(person) < 19:
        flags = flags.filter(annotator=int(person))
    counted = dict(flags.order_by().values_list("flag").annotate(n=Count("pk")))
    kind = asked.get("kind", "")
    if kind in Flag.Kind.values:
        flags = flags.filter(flag=kind)
    rows = flags.annotate(waits=WAITS).select_related(
        "annotator", "candidate__document", "narrative__pair__query"
    )
    return FlagPage(
        {kind.value: counted.get(kind.value, 0) for kind in Flag.Kind},
        page_by_key(
            rows.defer("narrative__text", "narrative__pair__query__description"), asked, SIZE
        ),
    )
