"""Revealing who gave which answer in a disagreement."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotate.projects.models import Membership
from audit.reviews import access as reviews_access
from audit.settling import access
from audit.settling.queue_filters import Kind
from audit.settling.reveals import reveal_names
from audit.settling.views.addresses import (
    disagreement_of_form,
    disagreement_url,
    filter_in,
    list_url,
    revealed_disagreement,
)
from base.errors import Refused
from base.page_request import PageRequest


@require_POST
def reveal_judges(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Reveal to the lead who judged a document, and record that."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    return _reveal(
        request,
        disagreement.member,
        narrative=disagreement.narrative,
        candidate=disagreement.candidate,
    )


@require_POST
def reveal_auditors(request: PageRequest, narrative: int) -> HttpResponse:
    """Reveal to the lead who reviewed an instruction, and record that."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    return _reveal(request, member, narrative=version)


@require_POST
def reveal_checkers(request: PageRequest, pk: int) -> HttpResponse:
    """Reveal to the lead who checked a label, and record that."""
    disagreement, item = access.check_disagreement(request.user, pk)
    return _reveal(request, disagreement.member, narrative=disagreement.narrative, item=item)


def _reveal(request: PageRequest, member: Membership, **about: Any) -> HttpResponse:
    """Record the reveal, and redirect to the page that the form was on."""
    try:
        revealed = reveal_names(by=member, **about)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(list_url(member.project.slug, filter_in(request.GET)))
    messages.info(request, _("You now see the names. It is recorded that you looked."))
    disagreement_key = revealed_disagreement(revealed)
    if disagreement_key.kind is Kind.JUDGMENT:
        # The form may have been on the page of one condition of the document.
        disagreement_key = disagreement_of_form(
            request, disagreement_key.narrative, disagreement_key.candidate
        )
    return redirect(disagreement_url(disagreement_key, filter_in(request.GET)))
