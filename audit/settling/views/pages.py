"""The page of a disagreement of any kind: show it, settle it, withdraw the decision, reveal names.

The address names the kind (`audit.settling.urls`); `kind_pages` says what the page of each shows.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotate.projects.project_page import project_page
from audit.settling import access
from audit.settling.disagreements import Disagreement
from audit.settling.forms import QueueFilterForm
from audit.settling.queue import is_open, next_disagreement, position_of
from audit.settling.queue_filters import Kind
from audit.settling.views.addresses import (
    disagreement_of_form,
    disagreement_url,
    filter_in,
    list_url,
    parse_position,
)
from audit.settling.views.frame import frame_context
from audit.settling.views.kind_pages import PAGES
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message, refusal_in


@require_http_methods(["GET", "POST"])
def disagreement(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Show everybody's answers, or settle the disagreement and go to the next one."""
    found = access.disagreement(request.user, kind, **keys)
    page = PAGES[kind](found)
    form = page.form(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            messages.success(request, page.message(found.settle(form.cleaned_data)))
            return _redirect_to_next(request, found)
    if address := page.other_page_url():
        return redirect(address)
    frame = frame_context(request, found)
    context = {**frame, **page.context(request, frame), "form": form}
    open_now = context["differs"] and not context["decision"]
    context["adoptable"] = open_now and page.can_settle(context)
    status = 422 if form.errors else 200
    return project_page(
        request, page.template, found.member, "disagreements", status=status, **context
    )


@require_POST
def withdrawal(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Withdraw the decision, and show the disagreement again."""
    found = access.disagreement(request.user, kind, **keys)
    with refusal_as_message(request):
        found.withdraw()
        messages.success(request, "The decision is withdrawn; people differ here again.")
    return redirect(disagreement_url(found.key, filter_in(request.GET)))


@require_POST
def names(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Reveal to the lead who gave which answer, record that, and show the disagreement again."""
    found = access.disagreement(request.user, kind, **keys)
    asked = filter_in(request.GET)
    try:
        found.reveal()
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(list_url(found.member.project.slug, asked))
    messages.info(request, "You now see the names. It is recorded that you looked.")
    key = found.key
    if kind is Kind.JUDGMENT:
        # The form may have been on the page of one condition of the document.
        key = disagreement_of_form(request, key.narrative, key.candidate)
    return redirect(disagreement_url(key, asked))


def _redirect_to_next(request: PageRequest, settled: Disagreement) -> HttpResponse:
    """Redirect after settling: to the next disagreement of the filter, else to the list."""
    member, asked = settled.member, filter_in(request.GET)
    # The next one that the page offered, if it is still open: searching for the next one again
    # means reading all answers.
    offered = parse_position(request.POST.get("next", ""))
    if offered is not None and is_open(member, offered.disagreement_key):
        return redirect(disagreement_url(offered.disagreement_key, asked))
    filters = QueueFilterForm(member, asked).queue_filter()
    onward = next_disagreement(member, filters, position_of(member, filters, settled.key))
    if onward is not None and onward.disagreement_key != settled.key:
        return redirect(disagreement_url(onward.disagreement_key, asked))
    return redirect(list_url(member.project.slug, asked))
