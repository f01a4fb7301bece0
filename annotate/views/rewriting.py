"""The rewrite page: the original beside the altered narrative, and the documents it is about."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate import access
from annotate.actions import rewriting as actions
from annotate.actions import seats
from annotate.actions.seats import free_seats
from annotate.errors import Refused, Stale
from annotate.forms.rewriting import NarrativeForm
from annotate.models import Assignment, Candidate, InstructionPair, Membership, Narrative
from annotate.narrative_diff import before_pieces, diff
from annotate.requests import PageRequest
from annotate.shown import show


@require_http_methods(["GET", "POST"])
def rewrite(request: PageRequest, pk: int) -> HttpResponse:
    """Write the next version of a pair's altered narrative."""
    member, pair = access.pair(request.user, pk)
    if not member.leads and not seats.holds(pair=pair, task=Assignment.Task.REWRITE, by=member):
        messages.error(request, "This is not your seat. Take one from your list, then go on.")
        return redirect("annotate:home")
    original = pair.current(Narrative.Side.ORIGINAL)
    altered = pair.current(Narrative.Side.ALTERED)
    starting = altered or original
    form = NarrativeForm(
        request.POST or None,
        initial={
            "text": starting.text if starting else "",
            "based_on": altered.version if altered else 0,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            saved = actions.rewrite_narrative(
                pair=pair,
                text=form.cleaned_data["text"],
                note=form.cleaned_data["note"],
                based_on=form.cleaned_data["based_on"],
                by=member,
            )
        except Stale as stale:
            # What they typed stays; the next save is based on the version they are told of.
            version = altered.version if altered else 0
            form = NarrativeForm({**request.POST.dict(), "based_on": version})
            form.add_error("text", str(stale))
        except Refused as refused:
            form.add_error("text", str(refused))
        else:
            messages.success(request, f"Version {saved.version} is saved. It can be judged now.")
            return redirect("annotate:rewrite", pair.pk)
    page = _page(member, pair, original, altered, form)
    return render(request, "annotate/rewrite.html", page, status=422 if form.errors else 200)


@require_GET
def document(request: PageRequest, pk: int, candidate_pk: int) -> HttpResponse:
    """One document of a pair, to read beside the narrative."""
    member, pair = access.pair(request.user, pk)
    candidate = access.candidate(pair, candidate_pk)
    shown = show(candidate.document)
    return render(
        request,
        "annotate/document.html#document" if request.htmx else "annotate/document.html",
        {
            "project": pair.project,
            "member": member,
            "pair": pair,
            "query": pair.query,
            "candidate": candidate,
            "document": shown.document,
            "text": shown.text,
            "table": shown.table,
        },
    )


def _page(
    member: Membership,
    pair: InstructionPair,
    original: Narrative | None,
    altered: Narrative | None,
    form: NarrativeForm,
) -> dict[str, Any]:
    versions = pair.narratives.filter(side=Narrative.Side.ALTERED).select_related("author")
    starting = original.text if original else ""
    pieces = diff(starting, altered.text if altered else starting)
    judging = seats.holds(pair=pair, task=Assignment.Task.JUDGE, by=member)
    return {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "query": pair.query,
        "original": original,
        "altered": altered,
        "form": form,
        "pieces": pieces,
        "before_pieces": before_pieces(pieces),
        "versions": list(versions.order_by("-version")),
        "at_stake": relevant_documents(pair),
        "grades": list(pair.project.grades.order_by("value")),
        "show_prior": pair.project.show_prior or member.leads,
        "judge_free": altered is not None and free_seats(pair, Assignment.Task.JUDGE, member) > 0,
        "judge_url": reverse("annotate:judging", args=[pair.pk]) if judging and altered else None,
    }


def relevant_documents(pair: InstructionPair) -> list[Candidate]:
    """The candidates of a pair that were relevant before, with their documents but not the
    texts.
    """
    return list(
        pair.query.candidates.filter(prior_relevance__gte=pair.project.relevant_from)
        .select_related("document")
        .order_by("-prior_relevance", "document__doc_id")
    )
