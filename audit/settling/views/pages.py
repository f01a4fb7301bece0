"""Pages of disagreements: the list, settling one or many, sending back, and reveals.

The address names the kind (`audit.urls`); `kind_pages` says what is shown of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.guidelines import rejudge_requests
from annotate.judgments.blindness import BLIND_TASKS
from annotate.judgments.completion import open_assignments
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Assignment
from annotate.projects import access as annotate_access
from annotate.projects.project_page import project_page
from audit.settling import access, settle_many
from audit.settling.forms import QueueFilterForm, RuleForm, SettleManyForm
from audit.settling.kinds import Disagreement
from audit.settling.models import Reveal
from audit.settling.queue import (
    PAGE_SIZE,
    count_by_kind,
    is_open,
    keys_after,
    read_all,
    read_page,
    table_rows,
)
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter, State
from audit.settling.views.addresses import (
    add_filter,
    disagreement_of_form,
    disagreement_url,
    filter_in,
    list_url,
    parse_disagreement,
    parse_position,
    revealed_disagreement,
)
from audit.settling.views.kind_pages import item_context, session_context
from base.csv_output import csv_response
from base.errors import Refused
from base.pagination import newest_by_key, page_by_key, parse_key
from base.requests import PageRequest, refusal_as_message, refusal_in
from base.texts import amount

# The most disagreements that are sent at once.
MAX_VIEWS = 20


@never_cache  # a cached page would still list what was settled since
@require_GET
def disagreements(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's disagreements: open, waiting for an annotator, or settled."""
    member = annotate_access.lead(request.user, slug)
    form = QueueFilterForm(member, request.GET)
    form.remove_unused()
    filters = form.queue_filter()
    after = parse_position(request.GET.get("after", ""))
    listed = read_page(member, filters, after=after, size=PAGE_SIZE)
    asked = filter_in(request.GET)
    # Only settled ones have a cause.
    asked_open = {**asked, "settled_cause": ""}
    here = reverse("audit:disagreements", args=[slug])
    sent_back = RejudgeRequest.objects.open().filter(by__project=member.project_id).exists()
    totals = {
        state: listed.total
        if queue_filter == filters
        else sum(count_by_kind(member, queue_filter).values())
        if sent_back or state != "waiting"
        else 0
        for state, queue_filter in (
            ("open", filters.replaced(settled=False, waiting=False, cause="")),
            ("waiting", filters.replaced(settled=False, waiting=True, cause="")),
            ("settled", filters.replaced(settled=True, waiting=False)),
        )
    }
    ticked_kind = (
        _settled_together(filters.kind, listed.counts) if filters.state is State.OPEN else None
    )
    return project_page(
        request,
        "settling/disagreements.html",
        member,
        "disagreements",
        grades=form.grades,
        form=form,
        rarer=[
            field
            for field in form.rarer
            if filters.settled or field.name != "settled_cause" or field.value()
        ],
        rarer_used=any(field.value() for field in form.rarer),
        filtered=filters
        != QueueFilter(settled=filters.settled, waiting=filters.waiting, order=filters.order),
        rows=[{"item": item, "url": disagreement_url(item.key, asked)} for item in listed.items],
        total=listed.total,
        kinds=_kinds(filters, listed.counts, here, asked),
        totals=totals,
        showing=filters.state.name.lower(),
        by_effect=filters.order is Order.EFFECT,
        by_measure=filters.order is Order.MEASURE,
        open_url=add_filter(here, {**asked_open, "state": ""}),
        waiting_url=add_filter(here, {**asked_open, "state": State.WAITING}),
        settled_url=add_filter(here, {**asked, "state": State.SETTLED}),
        all_url=add_filter(here, {"state": asked.get("state", "")}),
        settle_many_url=add_filter(
            reverse("audit:settling_many", args=[slug]),
            {**asked, "kind": Kind.CHECK if ticked_kind is Kind.CHECK else "", "state": ""},
        )
        if ticked_kind and listed.counts[ticked_kind]
        else "",
        ticked_url=reverse("audit:settling_many", args=[slug]),
        ticked_kind=ticked_kind,
        asked={name: value for name, value in asked.items() if name != "only"},
        n_only=len(filters.only),
        without_only_url=add_filter(here, {**asked, "only": ""}),
        table_url=add_filter(reverse("audit:disagreements_table", args=[slug]), asked),
        first_url=add_filter(here, asked) if after else "",
        next_url=add_filter(here, {**asked, "after": str(listed.after)}) if listed.after else "",
        words=f"{len(listed.items)} of {listed.total:,} shown",
        assigned=bool(open_assignments(member, *BLIND_TASKS)),
    )


def _settled_together(kind: Kind | None, counts: Mapping[Kind, int]) -> Kind | None:
    """Return what can be settled together in a list: documents, or labels where none is listed."""
    if kind is None:
        return Kind.JUDGMENT if counts[Kind.JUDGMENT] else Kind.CHECK
    return kind if kind in (Kind.JUDGMENT, Kind.CHECK) else None


@require_GET
def disagreements_table(request: PageRequest, slug: str) -> HttpResponseBase:
    """Download all disagreements that match the page's filter as a table."""
    member = annotate_access.lead(request.user, slug)
    form = QueueFilterForm(member, request.GET)
    if not form.is_valid():
        return redirect(list_url(slug, filter_in(request.GET)))
    return csv_response(
        table_rows(read_all(member, form.queue_filter())), f"{slug}-disagreements.csv"
    )


@never_cache  # the browser's back button would show an old number
@require_GET
def disagreement_count(request: PageRequest, slug: str) -> HttpResponse:
    """Return how many match the filter; the page of a disagreement loads this separately."""
    member = annotate_access.lead(request.user, slug)
    filters = QueueFilterForm(member, filter_in(request.GET)).queue_filter()
    total = sum(count_by_kind(member, filters).values())
    state = filters.state.label.lower()
    return HttpResponse(f"{total:,} {state}", content_type="text/plain; charset=utf-8")


@require_GET
def reveals(request: PageRequest, slug: str) -> HttpResponse:
    """List the reveals, newest first."""
    member = annotate_access.lead(request.user, slug)
    reveals = Reveal.objects.filter(by__project=member.project_id).select_related(
        "by", "narrative__pair", "candidate__document", "item__sample"
    )
    page = newest_by_key(reveals, request.GET)
    return project_page(
        request,
        "settling/reveals.html",
        member,
        "disagreements",
        rows=[
            {"reveal": reveal, "url": disagreement_url(revealed_disagreement(reveal))}
            for reveal in page.rows
        ],
        page=page,
        words=f"{len(page.rows)} shown",
    )


def _kinds(
    filters: QueueFilter, counts: dict[Kind, int], here: str, asked: dict[str, str]
) -> list[dict[str, Any]]:
    """Return each kind with how many of it match the filter, all kinds together first."""
    listed: list[tuple[str, int, str]] = [("All kinds", sum(counts.values()), "")]
    listed += [(kind.label, counts[kind], kind.value) for kind in Kind]
    return [
        {
            "name": name,
            "count": count,
            "url": add_filter(here, {**asked, "kind": kind}),
            "current": kind == (filters.kind or ""),
        }
        for name, count, kind in listed
    ]


@require_http_methods(["GET", "POST"])
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def disagreement(request: PageRequest, kind: Kind, **keys: int) -> HttpResponse:
    """Show everybody's answers, or settle the disagreement and go to the next one."""
    disagreement = access.disagreement(request.user, kind, **keys)
    form = disagreement.form(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            cleaned = form.cleaned_data | {"uuid": uuid4()}
            made = disagreement.save_decision(
                cleaned, _parse_uuid(request.POST.get("instead_of", ""))
            )
            messages.success(request, disagreement.message(made))
            return _redirect_to_next(request, disagreement)
    if (address := disagreement.other_page_url()) and disagreement.decision() is None:
        return redirect(address)
    filters = QueueFilterForm(disagreement.member, filter_in(request.GET)).queue_filter()
    shown = item_context(request, disagreement, form)
    context = session_context(request, disagreement, filters, shown["decision"]) | shown
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
        view_template=disagreement.template,
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
        frame = {"project": member.project, "member": disagreement.member}
        context = frame | item_context(request, disagreement, disagreement.form())
        views.append(render_to_string(disagreement.template, context, request))
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
    with refusal_as_message(request):
        disagreement.reveal()
        messages.info(request, "You now see the names. It is recorded that you looked.")
    key = disagreement.key
    if kind is Kind.JUDGMENT:
        # The form may have been on the page of one condition of the document.
        key = disagreement_of_form(request, key.narrative, key.candidate)
    return redirect(disagreement_url(key, filter_in(request.GET)))


def _redirect_to_next(request: PageRequest, settled: Disagreement) -> HttpResponse:
    """Redirect to the next disagreement of the filter after one is settled or sent back, else to
    the list.
    """
    member, asked = settled.member, filter_in(request.GET)
    # The next one that the page offered, if it is still open: searching for the next one again
    # means reading all answers.
    offered = parse_disagreement(request.POST.get("next", ""))
    if offered is not None and is_open(member, offered):
        return redirect(disagreement_url(offered, asked))
    filters = QueueFilterForm(member, asked).queue_filter()
    for following in keys_after(member, filters, settled.key, 1):
        return redirect(disagreement_url(following, asked))
    return redirect(list_url(member.project.slug, asked))


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@require_POST
def rejudge_request(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Ask a judge to look at their answer again, and go to the next disagreement; stay on a page
    where nobody differs, as of a document that was only flagged.
    """
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    with refusal_as_message(request):
        if not (answer := request.POST.get("answer", "")):
            raise Refused("Choose whose answer to send back.")
        rejudge_requests.ask(
            statement=disagreement.answer(parse_key(answer) or 0),
            words=request.POST.get("words", ""),
            by=disagreement.member,
        )
        sent_back = f"{disagreement.candidate.document.doc_id} was sent back"
        messages.success(request, f"{sent_back} and waits for an annotator.")
        if disagreement.differs():
            return _redirect_to_next(request, disagreement)
    key = disagreement_of_form(request, narrative, candidate)
    return redirect(disagreement_url(key, filter_in(request.GET)))


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
    key = disagreement_of_form(request, narrative, candidate)
    return redirect(disagreement_url(key, filter_in(request.GET)))


@require_http_methods(["GET", "POST"])
def settling_many(request: PageRequest, slug: str) -> HttpResponse:
    """Choose a rule (`?rule=`, else the first that settles something), preview its result, and
    settle exactly that.

    htmx gets the preview alone, when the rule on the page changes.
    """
    member = annotate_access.lead(request.user, slug)
    asked = filter_in(request.GET)
    filtered = QueueFilterForm(member, request.GET)
    # An invalid filter does not count as no filter: that would settle everything.
    sound = filtered.is_valid()
    filters = filtered.queue_filter()
    idle = settle_many.idle_rules(member, filters) if sound else []
    first = next(rule for rule in settle_many.Rule if rule not in idle)
    rule_form = RuleForm(member, {"rule": first, **request.GET.dict()}, idle=idle)
    of_checks = filters.kind is Kind.CHECK
    form = SettleManyForm(request.POST or None, of_checks=of_checks)
    if request.method == "POST" and sound and rule_form.is_valid() and form.is_valid():
        cleaned = form.cleaned_data
        with refusal_in(form):
            if of_checks:
                settled = settle_many.settle_checks(
                    filters=filters, choice=rule_form.choice(), by=member, **cleaned
                )
                are = amount(settled, "checked label is", "checked labels are")
                messages.success(request, f"{are} settled.")
                return redirect(list_url(slug, {**asked, "state": State.SETTLED}))
            batch = settle_many.settle_many(
                filters=filters, choice=rule_form.choice(), by=member, **cleaned
            )
            return redirect("audit:batch", slug, batch)
    changed = request.htmx and not request.htmx.boosted
    preview = None
    if sound and rule_form.is_valid():
        with refusal_in(rule_form, "rule"):
            preview = settle_many.preview(member, filters, rule_form.choice())
    return project_page(
        request,
        "settling/settling_many.html#preview" if changed else "settling/settling_many.html",
        member,
        "disagreements",
        grades=list(member.project.grades.order_by("value")),
        how=rule_form,
        wrong=[str(error) for errors in filtered.errors.values() for error in errors],
        form=form,
        of_checks=of_checks,
        preview=preview,
        rows=[{"shown": outcome, "url": disagreement_url(outcome.key)} for outcome in preview.shown]
        if preview
        else [],
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
    counts = {
        "standing": Q(withdrawn_at=None, text_replaced_at=None),
        "replaced": Q(withdrawn_at=None, text_replaced_at__isnull=False),
    }
    return project_page(
        request,
        "settling/batch.html",
        member,
        "disagreements",
        grades=list(member.project.grades.order_by("value")),
        first=first,
        totals=of_it.aggregate(
            all=Count("pk"), **{name: Count("pk", filter=which) for name, which in counts.items()}
        ),
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
        back = settle_many.withdraw_batch(batch=batch, by=member)
        are = amount(back, "decision is", "decisions are")
        messages.success(request, f"{are} withdrawn; people differ there again.")
    return redirect("audit:batch", slug, batch)
