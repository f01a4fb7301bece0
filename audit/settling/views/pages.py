"""The work page of a disagreement: show it, settle it, withdraw the decision, reveal names.

The address names the kind (`audit.settling.urls`); `kind_pages` says what is shown of each.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.projects import access as annotate_access
from annotate.projects.project_page import project_page
from audit.settling import access
from audit.settling.disagreements import Disagreement
from audit.settling.forms import SETTLING_FORMS, QueueFilterForm
from audit.settling.journal_entry import save_decision
from audit.settling.queue import is_open, next_disagreement, position_of
from audit.settling.queue_filters import Kind
from audit.settling.settling_session import read_session
from audit.settling.views.addresses import (
    disagreement_of_form,
    disagreement_url,
    filter_in,
    list_url,
    parse_disagreement,
)
from audit.settling.views.frame import session_context
from audit.settling.views.kind_pages import PAGES
from base.errors import Refused
from base.page_request import PageRequest, refusal_as_message, refusal_in

# The most disagreements that are sent at once.
MAX_VIEWS = 20


@require_http_methods(["GET", "POST"])
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def disagreement(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Show everybody's answers, or settle the disagreement and go to the next one."""
    disagreement = access.disagreement(request.user, kind, **keys)
    page = PAGES[kind](disagreement)
    form = SETTLING_FORMS[kind](request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            cleaned = form.cleaned_data | {"uuid": uuid4()}
            made = save_decision(
                disagreement, cleaned, _parse_uuid(request.POST.get("instead_of", ""))
            )
            messages.success(request, page.message(made))
            return _redirect_to_next(request, disagreement)
    if address := page.other_page_url():
        return redirect(address)
    filters = QueueFilterForm(disagreement.member, filter_in(request.GET)).queue_filter()
    session = read_session(disagreement.member, filters, disagreement.key)
    context = session_context(request, disagreement.member, session, disagreement.key) | page.view(
        request, form
    )
    if form.is_bound:
        context["note"] = request.POST.get("reason", "")
        context["error"] = " ".join(
            str(error) for errors in form.errors.values() for error in errors
        )
    return project_page(
        request,
        "settling/settle.html",
        disagreement.member,
        "disagreements",
        status=422 if form.errors else 200,
        view_template=page.template,
        **context,
    )


@require_GET
@gzip_page
@never_cache
def disagreement_views(request: PageRequest, slug: str) -> HttpResponse:
    """Render requested disagreements (`?candidate=judgment-3-17-0`) for the script to keep ready.

    Those that the reader may not see are left out.
    """
    member = annotate_access.lead(request.user, slug)
    views = []
    for text in request.GET.getlist("candidate")[:MAX_VIEWS]:
        key = parse_disagreement(text)
        try:
            disagreement = access.disagreement_of(request.user, key) if key else None
        except (Http404, PermissionDenied):
            continue
        if disagreement is None or disagreement.member.project_id != member.project_id:
            continue
        page = PAGES[disagreement.kind](disagreement)
        frame = {"project": member.project, "member": disagreement.member}
        context = frame | page.view(request, SETTLING_FORMS[disagreement.kind]())
        views.append(render_to_string(page.template, context, request))
    return HttpResponse("".join(views))


@require_POST
def withdrawal(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Withdraw the decision, and show the disagreement again."""
    disagreement = access.disagreement(request.user, kind, **keys)
    with refusal_as_message(request):
        disagreement.withdraw()
        messages.success(request, "The decision is withdrawn; people differ here again.")
    return redirect(disagreement_url(disagreement.key, filter_in(request.GET)))


@require_POST
def names(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Reveal to the lead who gave which answer, record that, and show the disagreement again."""
    disagreement = access.disagreement(request.user, kind, **keys)
    asked = filter_in(request.GET)
    try:
        disagreement.reveal()
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(list_url(disagreement.member.project.slug, asked))
    messages.info(request, "You now see the names. It is recorded that you looked.")
    key = disagreement.key
    if kind is Kind.JUDGMENT:
        # The form may have been on the page of one condition of the document.
        key = disagreement_of_form(request, key.narrative, key.candidate)
    return redirect(disagreement_url(key, asked))


def _redirect_to_next(request: PageRequest, settled: Disagreement) -> HttpResponse:
    """Redirect after settling: to the next disagreement of the filter, else to the list."""
    member, asked = settled.member, filter_in(request.GET)
    # The next one that the page offered, if it is still open: searching for the next one again
    # means reading all answers.
    offered = parse_disagreement(request.POST.get("next", ""))
    if offered is not None and is_open(member, offered):
        return redirect(disagreement_url(offered, asked))
    filters = QueueFilterForm(member, asked).queue_filter()
    onward = next_disagreement(member, filters, position_of(member, filters, settled.key))
    if onward is not None and onward.disagreement_key != settled.key:
        return redirect(disagreement_url(onward.disagreement_key, asked))
    return redirect(list_url(member.project.slug, asked))


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
