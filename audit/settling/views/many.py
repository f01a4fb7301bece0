"""Settling many documents at once: the rule, the preview, the decisions, their withdrawal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from annotate.judgments.work_left import open_assignments
from annotate.pairs.models import Assignment
from annotate.projects import access as annotate_access
from annotate.projects.project_page import project_page
from audit.settling import access, batches, settle_checks, settle_many
from audit.settling.forms import QueueFilterForm, RuleForm, SettleManyForm
from audit.settling.queue_filters import DisagreementKey, Kind, State
from audit.settling.views.addresses import disagreement_url, filter_in, list_url
from base.page_request import PageRequest, refusal_as_message, refusal_in
from base.pagination import page_by_key


@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def settling_many(request: PageRequest, slug: str) -> HttpResponse:
    """Choose a rule (`?rule=`, else the majority), preview its result, and settle exactly that.

    htmx gets the preview alone, when the rule on the page changes.
    """
    member = annotate_access.lead(request.user, slug)
    asked = filter_in(request.GET)
    filtered = QueueFilterForm(member, request.GET)
    # An invalid filter does not count as no filter: that would settle everything.
    sound = filtered.is_valid()
    filters = filtered.queue_filter()
    rule_form = RuleForm(member, {"rule": settle_many.Rule.MAJORITY, **request.GET.dict()})
    of_checks = filters.kind is Kind.CHECK
    form = SettleManyForm(request.POST or None, of_checks=of_checks)
    if request.method == "POST" and sound and rule_form.is_valid() and form.is_valid():
        cleaned = form.cleaned_data
        with refusal_in(form):
            if of_checks:
                settled = settle_checks.settle_checks(
                    filters=filters, choice=rule_form.choice(), by=member, **cleaned
                )
                labels = "label is" if settled == 1 else "labels are"
                messages.success(request, f"{settled:,} checked {labels} settled.")
                return redirect(list_url(slug, {**asked, "state": State.SETTLED}))
            batch = settle_many.settle_many(
                filters=filters, choice=rule_form.choice(), by=member, **cleaned
            )
            return redirect("audit:batch", slug, batch)
    count = settle_checks.preview_checks if of_checks else settle_many.preview
    preview = None
    if sound and rule_form.is_valid():
        with refusal_in(rule_form, "rule"):
            preview = count(member, filters, rule_form.choice())
    return project_page(
        request,
        "settling/settling_many.html#preview" if request.htmx else "settling/settling_many.html",
        member,
        "disagreements",
        grades=list(member.project.grades.order_by("value")),
        how=rule_form,
        wrong=[str(error) for errors in filtered.errors.values() for error in errors],
        form=form,
        of_checks=of_checks,
        preview=preview,
        rows=[_row(outcome) for outcome in preview.shown] if preview else [],
        asked=asked,
        n_only=len(filters.only),
        list_url=list_url(slug, asked),
        here=request.get_full_path(),
        assigned=bool(open_assignments(member, Assignment.Task.JUDGE)),
        status=422 if form.errors else 200,
    )


@require_GET
def batch(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """List the decisions that were made together."""
    member = annotate_access.lead(request.user, slug)
    of_it = access.batch_decisions(member, batch)
    first = of_it.select_related("by", "withdrawn_by").earliest("pk")
    visible = access.visible_decisions(member, batch)
    listed = visible.select_related("narrative__pair__query", "candidate__document")
    page = page_by_key(listed.defer("narrative__text"), request.GET)
    standing = Q(withdrawn_at__isnull=True)
    return project_page(
        request,
        "settling/batch.html",
        member,
        "disagreements",
        grades=list(member.project.grades.order_by("value")),
        first=first,
        totals=of_it.aggregate(all=Count("pk"), standing=Count("pk", filter=standing)),
        settled=list(
            visible.order_by("relevance").values_list("relevance").annotate(n=Count("pk"))
        ),
        rows=[
            {
                "decision": decision,
                "url": disagreement_url(
                    DisagreementKey(Kind.JUDGMENT, decision.narrative_id, decision.candidate_id, 0),
                    {"state": State.SETTLED},
                ),
            }
            for decision in page.rows
        ],
        withdraw_url=reverse("audit:batch_withdrawal", args=[slug, batch]),
        page=page,
    )


@require_POST
def batch_withdrawal(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """Withdraw the decisions of a batch that are still current."""
    member = annotate_access.lead(request.user, slug)
    access.batch_decisions(member, batch)
    with refusal_as_message(request):
        back = batches.withdraw_batch(batch=batch, by=member)
        messages.success(
            request,
            (
                f"{back:,} decision is withdrawn; people differ there again."
                if back == 1
                else f"{back:,} decisions are withdrawn; people differ there again."
            ),
        )
    return redirect("audit:batch", slug, batch)


def _row(shown: settle_many.ShownOutcome) -> dict[str, Any]:
    disagreement_key = DisagreementKey(Kind.JUDGMENT, shown.narrative.pk, shown.candidate.pk, 0)
    return {"shown": shown, "url": disagreement_url(disagreement_key)}
