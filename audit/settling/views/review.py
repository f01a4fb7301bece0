"""The page of a disagreement on the review of an instruction."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from audit.reviews import access as reviews_access
from audit.reviews import actions
from audit.reviews.forms import DecisionForm
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts, passes_of, verdict_of
from audit.reviews.views.reviews import decide
from audit.settling.queue import DisagreementKey, Kind
from audit.settling.views.frame import (
    context_of_frame,
    redirect_back,
    redirect_onward,
    withdrawal_url,
)
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def review_disagreement(request: PageRequest, narrative: int) -> HttpResponse:
    """Show auditors' reviews side by side where they straddle poor, and decide; then the next."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative, 0, 0)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and decide(request, member, version, form):
        return redirect_onward(request, member, disagreement_key)
    frame = context_of_frame(request, member, version, disagreement_key)
    passes = passes_of([version])[version.pk]
    machines = passes_of([version], machines=True)[version.pk]
    names = frame["naming"].of({one.review.auditor_id: one.review.auditor.name for one in passes})
    passes.sort(key=lambda one: list(names).index(one.review.auditor_id))
    return render(
        request,
        "settling/review_disagreement.html",
        {
            **frame,
            "passes": passes,
            "names": names,
            "contrasts": contrasts(passes),
            "machines": machines,
            "machine_contrasts": contrasts(machines),
            "verdict": verdict_of(passes, member.project.overlap_review),
            "decision": Decision.objects.current()
            .select_related("by")
            .filter(narrative=version)
            .first(),
            "withdraw_url": withdrawal_url(disagreement_key),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def review_withdrawal(request: PageRequest, narrative: int) -> HttpResponse:
    """Take the decision on an instruction back and show what auditors differ on again."""
    member, version = reviews_access.review_disagreement(request.user, narrative)
    disagreement_key = DisagreementKey(Kind.REVIEW, narrative, 0, 0)
    try:
        actions.withdraw_decision(decision=reviews_access.decision(version), by=member)
    except Refused as refused:
        return redirect_back(request, disagreement_key, str(refused))
    return redirect_back(request, disagreement_key)
