"""Fetch the evaluations that a person may see, or raise 404 or 403."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.judgments.blindness import must_answer_first
from annotate.projects import access
from annotate.projects.access import Person
from annotate.projects.models import Membership
from base.requests import row_or_404
from exporters.evaluations.models import Evaluation
from exporters.exports.access import BLIND_FIGURES


def evaluation(user: Person, slug: str, pk: int) -> tuple[Membership, Evaluation]:
    """Return an evaluation of a project the person leads, or raise Http404 or PermissionDenied."""
    member = access.lead(user, slug)
    return member, row_or_404(
        Evaluation.objects.select_related("project", "by", "release").filter(
            project=member.project_id
        ),
        pk,
        "There is no such evaluation in this project.",
    )


def computed_evaluation(user: Person, slug: str, pk: int) -> Evaluation:
    """Like `evaluation`, for reading results: also raise PermissionDenied for a lead who is still
    blind.
    """
    member, row = evaluation(user, slug, pk)
    if must_answer_first(member):
        raise PermissionDenied(BLIND_FIGURES)
    return row
