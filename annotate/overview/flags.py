"""The flags that annotators put on documents instead of a grade, and the words with them."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from annotate.judgments.blindness import blind_pairs
from annotate.judgments.in_force import flags_in_force
from annotate.judgments.models import Flag, Judgment, RejudgeRequest
from annotate.projects.models import Membership
from base.pagination import Page, page_by_key
from base.requests import LARGEST_KEY

SIZE = 50


class FlagFilterForm(forms.Form):
    """The filter of the flags; every field is optional."""

    kind = forms.ChoiceField(
        label="Kind", choices=[("", "All"), *Flag.Kind.choices], required=False
    )
    person = forms.IntegerField(
        label="The key of a member",
        min_value=1,
        max_value=LARGEST_KEY,
        required=False,
    )


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
    """Return the flags of people on the documents to judge now that the reader may see.

    An annotator sees their own. A lead who also judges a pair sees the others' flags on a document
    only after judging it.
    """
    flags = flags_in_force(reader.project)
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


def find_flags(reader: Membership, *, kind: str = "", person: int | None = None) -> QuerySet[Flag]:
    """Return the visible flags of a kind and of a person, each with `waits`."""
    flags = visible_flags(reader)
    if kind:
        flags = flags.filter(flag=kind)
    if person is not None:
        flags = flags.filter(annotator=person)
    waits = RejudgeRequest.objects.not_withdrawn().filter(statement=OuterRef("pk"))
    asked: QuerySet[Flag] = flags.annotate(waits=Exists(waits))
    return asked.select_related("annotator", "candidate__document", "narrative__pair__query").defer(
        "narrative__text", "narrative__pair__query__description"
    )


def list_flags(reader: Membership, asked: QueryDict, *, of: Membership | None = None) -> FlagPage:
    """Return the flags that match the filter in an address: five queries.

    `of` selects one person's flags. Invalid values are ignored.
    """
    form = FlagFilterForm(asked)
    form.full_clean()
    kind, person = form.cleaned_data.get("kind"), form.cleaned_data.get("person")
    flags = find_flags(reader, person=person if of is None else of.pk)
    counted = dict(flags.order_by().values_list("flag").annotate(n=Count("pk")))
    return FlagPage(
        {kind.value: counted.get(kind.value, 0) for kind in Flag.Kind},
        page_by_key(flags.filter(flag=kind) if kind else flags, asked, SIZE),
    )
