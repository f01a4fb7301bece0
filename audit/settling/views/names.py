"""Looking up who answered what in a disagreement."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotate.pairs.models import Condition
from annotate.projects.models import Membership
from audit.reviews import access as reviews_access
from audit.settling import access
from audit.settling.queue import DisagreementKey, Kind
from audit.settling.reveals import reveal_names
from audit.settling.views.queue import asked_in, list_url, url_of
from base.errors import Refused
from base.page_request import PageRequest


@require_POST
def reveal_judges(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show the lead who judged a document; that they looked is kept."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    return _reveal(
        request,
        disagreement.member,
        narrative=disagreement.narrative,
        candidate=disagreement.candidate,
    )


@require_POST
def reveal_auditors(request: PageRequest, narrative: int) -> HttpResponse:
    """Show the lead who reviewed an instruction; that they looked is kept."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    return _reveal(request, member, narrative=version)


@require_POST
def reveal_checkers(request: PageRequest, pk: int) -> HttpResponse:
    """Show the lead who checked a label; that they looked is kept."""
    disagreement, item = access.check_disagreement(request.user, pk)
    return _reveal(request, disagreement.member, narrative=disagreement.narrative, item=item)


def _reveal(request: PageRequest, member: Membership, **about: Any) -> HttpResponse:
    """Keep it, and go back to the page it was asked on."""
    try:
        revealed = reveal_names(by=member, **about)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(list_url(member.project.slug, asked_in(request.GET)))
    messages.info(request, _("The names are shown to you. That you looked is kept."))
    candidate = revealed.candidate_id or 0
    if revealed.item_id is not None:
        disagreement_key = DisagreementKey(
            Kind.CHECK, revealed.narrative_id, candidate, revealed.item_id
        )
    elif not candidate:
        disagreement_key = DisagreementKey(Kind.REVIEW, revealed.narrative_id, 0, 0)
    else:
        disagreement_key = DisagreementKey(Kind.JUDGMENT, revealed.narrative_id, candidate, 0)
        of = Condition.objects.filter(narrative=revealed.narrative_id)
        asked = request.POST.get("condition", "")
        # Of a document's judgments, or of one condition of it.
        if asked.isdecimal() and len(asked) < 19 and (found := of.filter(pk=asked).first()):
            disagreement_key = DisagreementKey(
                Kind.VERDICT, revealed.narrative_id, candidate, found.pk
            )
    return redirect(url_of(disagreement_key, asked_in(request.GET)))
