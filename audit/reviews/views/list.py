"""The list of instructions: filters, deciding on several, and the file of rejected ones."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotate.collection.removal import parse_keys
from annotate.judgments import open_pairs
from annotate.judgments.work_left import open_assignments
from annotate.pairs.models import Assignment
from annotate.projects import access as annotate_access
from annotate.projects.kinds import kind_of
from annotate.projects.project_page import project_page
from audit.reviews import access, decisions, rejected, rubrics
from audit.reviews.actions import MAX_WORDS
from audit.reviews.draws import current_draw
from audit.reviews.forms import ReviewFilterForm
from audit.reviews.models import Decision
from audit.reviews.review_page import review_rows
from audit.reviews.review_search import DRAWN, STATES, ReviewFilter, filter_reviews
from base.page_request import PageRequest, refusal_as_message
from base.pagination import page_by_key


@require_GET
def reviews(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's altered narratives with the progress of their reviews."""
    member = annotate_access.member(request.user, slug)
    state = request.GET.get("state", "")
    if not member.leads or state not in STATES:
        state = ""
    rubric = rubrics.current_rubric(member.project_id)
    form = ReviewFilterForm(member, rubric, request.GET)
    filters = form.filters(state)
    narratives = filter_reviews(member, filters)
    page = page_by_key(narratives, request.GET)
    rows = review_rows(member, page.rows)
    standing = current_draw(member.project) if member.leads else None
    return project_page(
        request,
        "reviews/reviews.html",
        member,
        "reviews",
        rows=rows,
        any_waits=member.leads and any(row.waits for row in rows),
        max_reason=MAX_WORDS,
        can_take=open_pairs.is_any_open(task=Assignment.Task.REVIEW, by=member)
        or bool(open_assignments(member, Assignment.Task.REVIEW)),
        page=page,
        state=state,
        states={key: name for key, name in STATES.items() if key != DRAWN or standing},
        standing=standing,
        form=form,
        filtered=filters != ReviewFilter(state=state),
        rubric=rubric,
        by_majority=kind_of(member.project.kind).rejects_by_majority,
        for_generator=(rejected.rejected(member.project, by=member).count() if member.leads else 0),
        words=_count_in_words(narratives.count()),
    )


@require_POST
def decide_ticked(request: PageRequest, slug: str) -> HttpResponse:
    """Accept the ticked instructions, or send them back with one reason: all or none."""
    member = annotate_access.lead(request.user, slug)
    outcome, reason = request.POST.get("outcome", ""), request.POST.get("reason", "")
    with refusal_as_message(request):
        narratives = access.ticked_narratives(
            member, parse_keys(request.POST.getlist("narratives"))
        )
        made = decisions.decide_many(
            narratives=narratives, outcome=outcome, reason=reason, by=member
        )
        number = "1 instruction is" if len(made) == 1 else f"{len(made)} instructions are"
        done = "accepted" if outcome == Decision.Outcome.ACCEPTED else "sent back"
        messages.success(request, f"{number} {done}. Withdraw a decision on its history page.")
    query = request.GET.urlencode()
    return redirect(reverse("audit:reviews", args=[slug]) + (f"?{query}" if query else ""))


@require_GET
def rejected_file(request: PageRequest, slug: str) -> StreamingHttpResponse:
    """Download sent-back instructions as JSON lines, for the language model that wrote them."""
    member = annotate_access.lead(request.user, slug)
    instructions = rejected.rejected(member.project, by=member)
    response = StreamingHttpResponse(
        rejected.lines(instructions), content_type="application/jsonl; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="rejected-{slug}.jsonl"'
    return response


def _count_in_words(count: int) -> str:
    sentence = "%(shown)s instruction" if count == 1 else "%(shown)s instructions"
    return sentence % {"shown": f"{count:,}"}
