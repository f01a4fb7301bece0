"""Pages of a pair's documents: a big table's windows, and an instruction's attributes."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate.collection.document_rendering import find_in_table, read_pane
from annotate.collection.forms import WindowForm
from annotate.collection.marking import NO_WORDS
from annotate.judgments import assignments
from annotate.judgments.access import pair_for_lead
from annotate.judgments.attributes import attributes_of, current_conditions, set_negated
from annotate.judgments.document_names import name_of, names_for
from annotate.judgments.repeats import unmask
from annotate.pairs import access
from annotate.pairs.models import Assignment, Narrative
from annotate.pairs.pool import in_pool_of, judged_narrative, words_to_mark
from base.pagination import page_by_key, parse_key
from base.requests import PageRequest, refusal_as_message


@require_GET
def table(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """Show one window of a document's table: `?row=101&column=31`, or with `find=words` the window
    of the next match.

    Returns a whole page, or only the window for an htmx request. The judge page names the document
    by its number there, which may be that of a repeat.
    """
    member, pair = access.pair(request.user, pk)
    spot = unmask(candidate_pk, member.pk)
    candidate = access.candidate(pair, spot.candidate)
    form = WindowForm(request.GET)
    form.is_valid()
    asked = form.cleaned_data
    narrative = judged_narrative(pair)
    words = words_to_mark(pair, narrative) if narrative else NO_WORDS
    shown = read_pane(
        candidate.document, words, row=asked.get("row") or 1, column=asked.get("column") or 1
    )
    if shown.table is None:
        return redirect("annotate:document", pair.pk, candidate.pk)
    find = asked.get("find", "")
    if find:
        window = find_in_table(shown.table, find, asked.get("go") or "here", words)
        shown = replace(shown, table=window)
    stage = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "query": pair.query,
        "candidate": candidate,
        "document_number": candidate_pk,
        "name": name_of(candidate.document, pair.project, hidden=True)
        if spot.again
        else names_for(member, [candidate])[candidate.pk],
        "document": shown.document,
        "text": shown.text,
        "table": shown.table,
        "marks": shown.marks,
        "find": find,
    }
    if request.htmx:
        return render(request, "components/_table.html", stage)
    if assignments.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        stage["judge_url"] = reverse("annotate:judge", args=[pair.pk, candidate_pk])
    return render(request, "rewriting/document.html", stage)


@require_http_methods(["GET", "POST"])
def attributes(request: PageRequest, pk: int) -> HttpResponse:
    """Show documents with the attributes they satisfy and violate.

    A POST sets which attributes the reversed query negates.
    """
    member, pair = pair_for_lead(request.user, pk)
    if request.method == "POST":
        numbers = [parse_key(word) for word in request.POST.getlist("negated")]
        with refusal_as_message(request):
            set_negated(
                pair=pair,
                numbers=[number or 0 for number in numbers],
                version=parse_key(request.POST.get("version", "")),
                by=member,
            )
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
