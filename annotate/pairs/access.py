"""Look up the pairs and related rows that a request may access; anything else is 404 or 403."""

from __future__ import annotations

from annotate.collection.models import Candidate
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.access import Person, lead, user_key
from annotate.projects.models import Membership
from base.requests import first_or_404, row_or_404
from base.users import User

NO_PAIR = "There is no such pair in your projects."


def pair(user: Person, pk: int) -> tuple[Membership, InstructionPair]:
    """Return the user's membership and a pair with its project, or raise Http404.

    Takes two queries.
    """
    instruction_pair = row_or_404(InstructionPair.objects.all(), pk, NO_PAIR)
    members = Membership.objects.active().select_related("project")
    mine = members.filter(user_id=user_key(user), project=instruction_pair.project_id)
    reader = first_or_404(mine, NO_PAIR)
    instruction_pair.project = reader.project
    if isinstance(user, User):
        reader.user = user
    return reader, instruction_pair


def led_pair(user: Person, pk: int) -> tuple[Membership, InstructionPair]:
    """Return a lead's membership and a pair, or raise Http404 or PermissionDenied."""
    reader, instruction_pair = pair(user, pk)
    lead(user, instruction_pair.project.slug)
    return reader, instruction_pair


def candidate(of: InstructionPair, pk: int) -> Candidate:
    """Return a candidate of the pair's pool with its document (not the text), or raise Http404.

    Includes candidates that were taken out of the pool: answers to them are still accepted.
    """
    rows = Candidate.with_removed.select_related("document")
    return row_or_404(
        rows.filter(in_pool_of(of.pk), query=of.query_id),
        pk,
        "There is no such document in this pool.",
    )


def assignment(of: Membership, pk: int) -> Assignment:
    """Return an assignment of the member's project, or raise Http404."""
    return row_or_404(
        Assignment.objects.select_related("pair", "member").filter(member__project=of.project_id),
        pk,
        "There is no such task in this project.",
    )


def narrative(of: InstructionPair, pk: int) -> Narrative:
    """Return a version of one of the pair's narratives, or raise Http404."""
    return row_or_404(
        Narrative.objects.select_related("pair__project", "pair__query").filter(pair=of),
        pk,
        "There is no such narrative of this pair.",
    )
