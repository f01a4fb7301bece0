"""Fetch samples and claimed labels for a request; nothing else looks them up by id."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied

from annotate.judgments.access import unblinded_lead
from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership, Project
from audit.checks.models import Sample, SampleItem
from base.requests import LARGEST_KEY, row_or_404

BLIND = (
    "You still judge or review here. Which labels machines claim differently depends on what "
    "people answered: finish or release your tasks, then come back."
)
BLIND_TO_PEOPLE = (
    "You still judge or review here, and these labels are what people's judgments come to. Finish "
    "or release your tasks, then come back."
)
NO_SAMPLE = "There is no such sample in your projects."
_READ = (
    "sample__project",
    "narrative__pair__query",
    "narrative__pair__project",
    "candidate__document",
)
NO_LABEL = "There is no such label in your projects."


def lead_of_claims(user: Person, slug: str) -> Membership:
    """Return a lead who may know which claims differ, or raise Http404 or PermissionDenied."""
    return unblinded_lead(user, slug, BLIND)


def sample(user: Person, pk: int) -> tuple[Membership, Sample]:
    """Return the person's membership and a sample of that project, or raise Http404."""
    sample = row_or_404(
        Sample.objects.select_related("project", "rater", "created_by"), pk, NO_SAMPLE
    )
    with access.not_found_as(NO_SAMPLE):
        return access.member(user, sample.project.slug), sample


def sample_for_lead(user: Person, pk: int) -> tuple[Membership, Sample]:
    """Return a lead's membership and a sample whose figures they may know, or raise Http404 or
    PermissionDenied.
    """
    member, row = sample(user, pk)
    access.lead(user, member.project.slug)
    if is_blind(member, row):
        raise PermissionDenied(BLIND_TO_PEOPLE)
    return member, row


def is_blind(lead: Membership, sample: Sample) -> bool:
    """Return whether the claims of a sample would tell a lead what people answered."""
    return sample.source == Sample.Source.CONSENSUS and must_answer_first(lead)


def label(pk: int) -> SampleItem:
    """Return a claimed label with its narrative and document (not the text), or raise Http404; the
    caller has yet to check the person's rights.
    """
    return row_or_404(SampleItem.objects.select_related(*_READ), pk, NO_LABEL)


def items_of(project: Project, keys: Sequence[int]) -> list[SampleItem]:
    """Return labels of a project with what `label` reads, in the order of `keys`."""
    items = SampleItem.objects.filter(sample__project=project).select_related(*_READ)
    by_key = items.in_bulk([key for key in keys if key <= LARGEST_KEY])
    return [by_key[key] for key in keys if key in by_key]


def item(user: Person, pk: int) -> tuple[Membership, SampleItem]:
    """Return the person's membership and a claimed label of that project, or raise Http404."""
    item = label(pk)
    with access.not_found_as(NO_LABEL):
        return access.member(user, item.sample.project.slug), item
