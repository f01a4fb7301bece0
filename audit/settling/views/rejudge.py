"""Sending a disagreement back: a lead asks a judge to look at their answer again."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotate.guidelines import rejudge_requests
from annotate.judgments.models import Judgment
from audit.settling import access
from audit.settling.disagreements import DocumentDisagreement
from audit.settling.queue import is_open
from audit.settling.views.addresses import (
    disagreement_of_form,
    disagreement_url,
    filter_in,
    list_url,
    parse_disagreement,
)
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message
from base.pagination import parse_key


@require_POST
def rejudge_request(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Ask a judge to look at their answer again, and go to the next disagreement."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    asked = filter_in(request.GET)
    here = disagreement_url(disagreement_of_form(request, narrative, candidate), asked)
    if not (judgment := request.POST.get("judgment", "")):
        messages.error(request, "Choose whose answer to send back.")
        return redirect(here)
    try:
        rejudge_requests.ask(
            judgment=disagreement.judgment(parse_key(judgment) or 0),
            words=request.POST.get("words", ""),
            by=disagreement.member,
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(here)
    messages.success(
        request,
        f"{disagreement.candidate.document.doc_id} was sent back and waits for an annotator.",
    )
    offered = parse_disagreement(request.POST.get("next", ""))
    if offered is not None and is_open(disagreement.member, offered):
        return redirect(disagreement_url(offered, asked))
    return redirect(list_url(disagreement.member.project.slug, asked))


@require_POST
def rejudge_request_withdrawal(
    request: PageRequest, narrative: int, candidate: int
) -> HttpResponse:
    """Withdraw a rejudge request, and show the disagreement again."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    with refusal_as_message(request):
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(
                disagreement, request.POST.get("rejudge_request", "")
            ),
            by=disagreement.member,
        )
        messages.success(request, "The request is withdrawn.")
    return redirect(
        disagreement_url(
            disagreement_of_form(request, narrative, candidate), filter_in(request.GET)
        )
    )


def rejudge_context(disagreement: DocumentDisagreement, asked: str) -> dict[str, Any]:
    """Return what a disagreement's page shows of rejudge requests: who was asked, the answers, and
    who can be asked. `asked`: the filter of the list as a query string.
    """
    names = disagreement.names
    requests = disagreement.rejudge_requests().select_related("guideline")
    rejudge_requests = list(requests.defer("guideline__text"))
    answers = {
        judgment.replaces_id: judgment
        for judgment in Judgment.objects.filter(
            replaces__in=[rejudge_request.judgment_id for rejudge_request in rejudge_requests]
        )
    }
    waiting = {
        rejudge_request.judgment_id
        for rejudge_request in rejudge_requests
        if rejudge_request.judgment.is_current
    }
    keys = [disagreement.narrative.pk, disagreement.candidate.pk]
    guidelines = reverse("annotate:guidelines", args=[disagreement.member.project.slug])
    return {
        "rejudge_requests": [
            {
                "rejudge_request": rejudge_request,
                "who": names.get(rejudge_request.judgment.annotator_id, ""),
                "waits": rejudge_request.judgment_id in waiting,
                "answer": answers.get(rejudge_request.judgment_id),
            }
            for rejudge_request in rejudge_requests
        ],
        "askable": [
            {"judgment": judgment, "who": names[judgment.annotator_id]}
            for judgment in disagreement.judgments
            if judgment.pk not in waiting
        ],
        "rejudge_request_url": reverse("audit:rejudge_request", args=keys) + asked,
        "rejudge_request_withdrawal_url": reverse("audit:rejudge_request_withdrawal", args=keys)
        + asked,
        "case_url": f"{guidelines}?edit=1&case={keys[0]}-{keys[1]}",
    }
