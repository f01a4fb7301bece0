"""Pages of pools: count and make one, missing texts, documents taken out, replacements."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.models import Run
from annotate.pairs.pool import documents_without_text
from annotate.pools import access, actions, provenance, replacing
from annotate.pools.actions import choose_hard_negatives, hard_negative_systems
from annotate.pools.choosing import FullPoolCount
from annotate.pools.forms import NegativesForm, PoolForm, ReplacementForm
from annotate.pools.labelled import CUTOFFS, labelled_at
from annotate.pools.models import Pool
from annotate.pools.removal import DOCUMENTS
from annotate.projects import access as project_access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.bulk import in_byte_order
from base.csv_output import csv_response
from base.pagination import newest_by_key, page_by_key
from base.requests import PageRequest, refusal_as_message, refusal_in
from base.texts import amount

# How many queries of a count a page shows; the download has all of them.
QUERIES = 200


@require_GET
def pools(request: PageRequest, slug: str) -> HttpResponse:
    """List the pools, and labelled@k of each run."""
    member = access.lead(request.user, slug)
    page = newest_by_key(
        Pool.objects.filter(project=member.project_id).select_related("by", "project"), request.GET
    )
    systems = hard_negative_systems(member.project)
    return project_page(
        request,
        "pools/pools.html",
        member,
        section="pools",
        pools=provenance.with_runs(page.rows),
        judged=labelled_at(member.project),
        cutoffs=CUTOFFS,
        removed=DOCUMENTS.removed(member.project).count(),
        negatives=NegativesForm(
            _runs(member),
            initial={"runs": systems.names, "depth": systems.depth},
        ),
        page=page,
    )


@require_http_methods(["GET", "POST"])
def new_pool(request: PageRequest, slug: str) -> HttpResponse:
    """Count what a pool would contain; a POST makes it."""
    member = access.lead(request.user, slug)
    runs = _runs(member)
    sent = request.POST if request.method == "POST" else request.GET
    form = PoolForm(runs, sent if "method" in sent else None)
    counted: FullPoolCount | None = None
    name = sent.get("name", "").strip() or _free_name(member)
    if form.is_bound and form.is_valid():
        with refusal_in(form):
            recipe = actions.recipe_of(project=member.project, **form.rule())
            if request.method == "POST":
                seen = sent.get("counted", "")[:64]
                # If it is refused, the page shows the count again, with the name to change.
                with refusal_in(form):
                    return redirect(
                        actions.request_pool(recipe=recipe, name=name, by=member, counted=seen)
                    )
            counted = actions.count_pool(recipe)
    return project_page(
        request,
        "pools/new_pool.html",
        member,
        section="pools",
        form=form,
        again=PoolForm(runs, sent, auto_id=False),
        name=name,
        counts=counted,
        queries=counted["queries"][:QUERIES] if counted else [],
        more_queries=max(0, len(counted["queries"]) - QUERIES) if counted else 0,
        status=422 if form.errors else 200,
    )


@require_GET
def pool(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a pool and, once it is made, its contents."""
    member, candidate_pool = access.pool(request.user, slug, pk)
    counts = candidate_pool.counts if candidate_pool.state == Pool.State.DONE else None
    return project_page(
        request,
        "pools/pool.html",
        member,
        section="pools",
        pool=provenance.with_runs([candidate_pool])[0],
        counts=counts,
        queries=counts["queries"][:QUERIES] if counts else [],
        more_queries=max(0, len(counts["queries"]) - QUERIES) if counts else 0,
    )


@require_GET
def documents(request: PageRequest, slug: str, pk: int) -> StreamingHttpResponse:
    """Download the documents of a pool, with the runs that rank each and the ranks."""
    _member, candidate_pool = access.pool(request.user, slug, pk)
    return csv_response(provenance.table_rows(candidate_pool), f"{slug}-pool-{pk}.csv")


@require_POST
def hard_negatives(request: PageRequest, slug: str) -> HttpResponse:
    """Choose the systems whose non-relevant documents a release lists."""
    member = access.lead(request.user, slug)
    form = NegativesForm(_runs(member), request.POST)
    if not form.is_valid():
        messages.error(request, "Choose runs of this project, and a depth that is a number.")
        return redirect("annotate:pools", slug)
    with refusal_as_message(request):
        chosen = choose_hard_negatives(project=member.project, by=member, **form.cleaned_data)
        messages.success(
            request,
            f"Releases list the hard negatives of {amount(len(chosen.runs), 'system')}."
            if chosen.runs
            else "Releases list no hard negatives.",
        )
    return redirect("annotate:pools", slug)


def _runs(member: Membership) -> list[Run]:
    return list(Run.objects.filter(project=member.project_id).order_by("name"))


def _free_name(member: Membership) -> str:
    """Propose a name that no pool of the project has."""
    taken = {
        name.casefold()
        for name in Pool.objects.filter(project=member.project_id).values_list("name", flat=True)
    }
    number = len(taken) + 1
    while f"pool-{number}" in taken:
        number += 1
    return f"pool-{number}"


@require_GET
def missing_texts(request: PageRequest, slug: str) -> HttpResponse:
    """List the documents to judge that have no text; `?show=pool` those of the whole pools."""
    member = project_access.lead(request.user, slug)
    whole_pool = request.GET.get("show") == "pool"
    without_text = documents_without_text(member.project, whole_pool=whole_pool)
    page = page_by_key(without_text, request.GET)
    return project_page(
        request,
        "pools/missing_texts.html",
        member,
        section="load",
        documents=page.rows,
        whole_pool=whole_pool,
        count=without_text.count() if page.previous or page.next else len(page.rows),
        page=page,
    )


@require_GET
def missing_texts_file(request: PageRequest, slug: str) -> HttpResponse:
    """Download the ids of these documents, one per line."""
    member = project_access.lead(request.user, slug)
    whole_pool = request.GET.get("show") == "pool"
    documents = documents_without_text(member.project, whole_pool=whole_pool)
    ids = documents.order_by(in_byte_order("doc_id")).values_list("doc_id", flat=True)
    lines = [f"{doc_id}\n" for doc_id in ids]
    response = HttpResponse(lines, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-missing-texts.txt"'
    return response


@require_GET
def removed(request: PageRequest, slug: str) -> HttpResponse:
    """List the documents that were taken out of pools, with the reasons."""
    member = access.lead(request.user, slug)
    rows = DOCUMENTS.removed(member.project).select_related("query", "document", "removed_by")
    page = page_by_key(rows, request.GET)
    return project_page(
        request,
        "pools/removed.html",
        member,
        section="pools",
        candidates=page.rows,
        page=page,
    )


@require_http_methods(["GET", "POST"])
def replacement(request: PageRequest, slug: str, pk: int, candidate: int) -> HttpResponse:
    """Preview the effects of replacing a document; with their digest, replace it."""
    member, pooled = access.candidate(request.user, slug, pk, candidate)
    form = ReplacementForm(request.POST or None)
    effects = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            if "preview" in request.POST:
                effects = replacing.effects(pooled, form.document())
            else:
                made = replacing.replace_document(
                    candidate=pooled,
                    new=form.document(),
                    reason=form.cleaned_data["reason"],
                    token=request.POST.get("token", ""),
                    by=member,
                )
                pools = made.pools.count()
                messages.success(
                    request,
                    f"{made.old} was replaced by {made.new} in {pools} "
                    f"{'pool' if pools == 1 else 'pools'}.",
                )
                return redirect("annotate:query", slug, pk)
    return project_page(
        request,
        "pools/replacement.html",
        member,
        section="queries",
        query=pooled.query,
        candidate=pooled,
        form=form,
        effects=effects,
        status=422 if form.errors else 200,
    )


@require_GET
def replacements(request: PageRequest, slug: str) -> HttpResponse:
    """List replacements with their reasons, including undone ones."""
    member = access.lead(request.user, slug)
    page = page_by_key(replacing.replacements(member.project), request.GET)
    return project_page(
        request,
        "pools/replacements.html",
        member,
        section="pools",
        rows=page.rows,
        page=page,
    )


@require_POST
def undoing(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Undo a replacement."""
    member, undone = access.replacement(request.user, slug, pk)
    with refusal_as_message(request):
        replacing.undo_replacement(replacement=undone, by=member)
        messages.success(request, "The replacement is undone: the old document is back.")
    return redirect("annotate:replacements", slug)
