"""The page of an instruction's attributes: claimed, verified, and negated by its reverse."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.judgments import access
from annotate.judgments.attributes import attributes_of, current_conditions, set_negated
from annotate.pairs.models import Narrative
from annotate.pairs.pool import in_pool_of
from base.page_request import PageRequest, refusal_as_message
from base.pagination import page_by_key, parse_key


@require_http_methods(["GET", "POST"])
def attributes(request: PageRequest, pk: int) -> HttpResponse:
    """Show documents with the attributes they satisfy and violate.

    A POST sets which attributes the reversed query negates.
    """
    member, pair = access.pair_for_lead(request.user, pk)
    if request.method == "POST":
        numbers = [parse_key(word) for word in request.POST.getlist("negated")]
        with refusal_as_message(request):
            set_negated(pair=pair, numbers=[number or 0 for number in numbers], by=member)
            messages.success(request, "Saved.")
        return redirect("annotate:attributes", pair.pk)
    conditions = current_conditions(pair)
    pool = pair.query.candidates.filter(in_pool_of(pair.pk)).select_related("document")
    page = page_by_key(pool, request.GET)
    return render(
        request,
        "judgments/attributes.html",
        {
            "project": pair.project,
            "member": member,
            "section": "queries",
            "pair": pair,
            "query": pair.query,
            "conditions": conditions,
            "negated_known": any(condition.negated is not None for condition in conditions),
            "reversed": pair.current(Narrative.Side.REVERSED),
            "siblings": list(pair.query.pairs.alive().exclude(pk=pair.pk).order_by("pk")[:50]),
            "rows": attributes_of(pair.project, conditions, page.rows),
            "previous_url": page.previous,
            "next_url": page.next,
        },
    )
