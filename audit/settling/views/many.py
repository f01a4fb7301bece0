"""Settling many documents at once: the rule, what would come of it, doing it, taking it back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, OuterRef, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.judgments.blindness import exclude_unjudged
from annotate.judgments.models import Adjudication, Judgment
from annotate.judgments.work_left import open_assignments
from annotate.pairs.models import Assignment
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.settling import batches, settle_many
from audit.settling.forms import HowForm, ManyForm, WantedForm
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.views.addresses import asked_in, list_url, url_of, with_asked
from base.errors import Refused
from base.page_request import PageRequest
from base.pagination import key

PAGE_SIZE = 50


@require_http_methods(["GET", "POST"])
def settling_many(request: PageRequest, slug: str) -> HttpResponse:
    """Choose a rule (`?rule=`), see what it would come to, and settle just that."""
    member = annotate_access.lead(request.user, slug)
    asked = asked_in(request.GET)
    filtered = WantedForm(member, request.GET)
    # A filter that makes no sense is not taken for none: all there is would be settled.
    sound = filtered.is_valid()
    wanted = filtered.wanted()
    chosen = "rule" in request.GET
    how = HowForm(
        member, request.GET if chosen else None, initial={"rule": settle_many.Rule.MAJORITY}
    )
    form = ManyForm(request.POST or None)
    if request.method == "POST" and sound and how.is_valid() and form.is_valid():
        given = form.cleaned_data
        try:
            batch = settle_many.settle_many(wanted=wanted, how=how.how(), by=member, **given)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("audit:batch", slug, batch)
    ready = sound and chosen and how.is_valid()
    found = settle_many.preview(member, wanted, how.how()) if ready else None
    return render(
        request,
        "settling/settling_many.html",
        {
            "project": member.project,
            "member": member,
            "section": "disagreements",
            "grades": list(member.project.grades.order_by("value")),
            "how": how,
            "wrong": [str(error) for errors in filtered.errors.values() for error in errors],
            "form": form,
            "found": found,
            "rows": [_row(one) for one in found.shown] if found else [],
            "asked": asked,
            "list_url": list_url(slug, asked),
            "here": request.get_full_path(),
            "assigned": bool(open_assignments(member, Assignment.Task.JUDGE)),
        },
        status=422 if form.errors else 200,
    )


@require_GET
def batch(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """What was settled together, document by document."""
    member = annotate_access.lead(request.user, slug)
    of_it = _of_batch(member, batch)
    first = of_it.select_related("by", "withdrawn_by").earliest("pk")
    after = request.GET.get("after", "")
    # Who still judges there reads no decision before.
    mine = Judgment.objects.current().filter(
        narrative=OuterRef("narrative_id"), candidate=OuterRef("candidate_id"), annotator=member
    )
    told = exclude_unjudged(of_it, Reader(member).to_judge, "narrative__pair", mine)
    page = told.select_related("narrative__pair__query", "candidate__document").order_by("pk")
    if (last := key(after)) is not None:
        page = page.filter(pk__gt=last)
    rows = list(page.defer("narrative__text")[: PAGE_SIZE + 1])
    here = reverse("audit:batch", args=[slug, batch])
    standing = Q(withdrawn_at__isnull=True)
    return render(
        request,
        "settling/batch.html",
        {
            "project": member.project,
            "member": member,
            "section": "disagreements",
            "grades": list(member.project.grades.order_by("value")),
            "first": first,
            "totals": of_it.aggregate(all=Count("pk"), standing=Count("pk", filter=standing)),
            "settled": list(
                told.order_by("relevance").values_list("relevance").annotate(n=Count("pk"))
            ),
            "rows": [
                {
                    "decision": one,
                    "url": url_of(
                        DisagreementKey(Kind.JUDGMENT, one.narrative_id, one.candidate_id, 0),
                        {"state": "settled"},
                    ),
                }
                for one in rows[:PAGE_SIZE]
            ],
            "withdraw_url": reverse("audit:batch_withdrawal", args=[slug, batch]),
            "first_url": here if after else "",
            "next_url": with_asked(here, {"after": str(rows[PAGE_SIZE - 1].pk)})
            if len(rows) > PAGE_SIZE
            else "",
            "words": "",
        },
    )


@require_POST
def batch_withdrawal(request: PageRequest, slug: str, batch: UUID) -> HttpResponse:
    """Take back all that was settled together and still stands."""
    member = annotate_access.lead(request.user, slug)
    _of_batch(member, batch)
    try:
        back = batches.withdraw_batch(batch=batch, by=member)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(
            request,
            ngettext(
                "%(count)s decision is withdrawn; people differ there again.",
                "%(count)s decisions are withdrawn; people differ there again.",
                back,
            )
            % {"count": f"{back:,}"},
        )
    return redirect("audit:batch", slug, batch)


def _of_batch(member: Membership, batch: UUID) -> Any:
    """The decisions of a batch of the lead's project, or Http404."""
    found = Adjudication.objects.filter(batch=batch, by__project=member.project_id)
    if not found.exists():
        raise Http404("There is nothing of the kind in this project.")
    return found


def _row(shown: settle_many.ShownOutcome) -> dict[str, Any]:
    disagreement_key = DisagreementKey(Kind.JUDGMENT, shown.narrative.pk, shown.candidate.pk, 0)
    return {"shown": shown, "url": url_of(disagreement_key)}
