"""Pages of samples: the list, drawing one, suspects, figures, and what machines claim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from annotate.collection.models import Run
from annotate.judgments.machine_claims import contradicted_labels, count_undecided
from annotate.projects import access as annotate_access
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.checks import access, samples
from audit.checks.claims import build_frame
from audit.checks.condition_counts import label_rows, listed_labels
from audit.checks.figures import Figures, Rates, figures
from audit.checks.forms import (
    BoundForm,
    MachineForm,
    SampleForm,
    SendForm,
    SuspectsForm,
    choices_of_planned,
)
from audit.checks.machines import (
    choose_machine,
    claiming_machines,
    describe_labels,
    effect_of_choosing,
)
from audit.checks.models import Sample
from audit.checks.queue import (
    LABEL_FILTERS,
    MODES,
    filter_labels,
    progress_by_mode,
    sample_rows,
    to_settle,
)
from audit.checks.samples import Plan, plan
from audit.checks.suspects import Suspect, find_suspects, merge_suspects
from base.csv_output import csv_response
from base.pagination import Page, page_by_key
from base.requests import PageRequest, refusal_in

# The kinds of error by what the sample asks. A number of conditions is neither relevant nor not;
# two questions determine only relevance.
ERROR_KINDS: dict[str, tuple[str, ...]] = {
    Sample.Asks.GRADE: ("status", "grade"),
    Sample.Asks.COUNT: ("grade",),
    Sample.Asks.QUESTIONS: ("topic", "constraint", "status"),
}

PAGE_SIZE = 50


@require_GET
def checks(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's samples, with how many labels of each the reader can check or settle."""
    member = annotate_access.member(request.user, slug)
    samples_shown = Sample.objects.filter(project=member.project)
    passes = progress_by_mode(member)
    if passes and not member.leads:
        # A checker finds the labels of a mode in its pass; the samples only offer what is to settle
        samples_shown = samples_shown.filter(pk__in=to_settle(member).values("sample"))
    page = page_by_key(samples_shown.select_related("rater", "created_by"), request.GET, PAGE_SIZE)
    return project_page(
        request,
        "checks/checks.html",
        member,
        "checks",
        planned=kind_of(member.project.kind).checks if member.leads else (),
        undecided=count_undecided(member.project) if member.leads else 0,
        passes=passes,
        rows=sample_rows(member, page.rows),
        page=page,
    )


@require_http_methods(["GET", "POST"])
def new_sample(request: PageRequest, slug: str) -> HttpResponse:
    """Show the form of a sample and draw it; `preview` shows the strata and draws nothing.

    A planned check (`?planned=`) shows its strata at once, as does a draw that is refused.
    """
    member = annotate_access.lead(request.user, slug)
    sent = request.POST
    planned = _initial_of_planned(member, request)
    form = SampleForm(member, sent or None, initial=planned)
    if planned and not sent:
        as_sent = {field.name: field.value() for field in form}
        form = SampleForm(member, as_sent, initial=planned)
    plans: list[tuple[str, Plan]] = []
    if form.is_valid():
        selection, choices = form.selection(), form.choices()
        cleaned = form.cleaned_data
        selections = samples.selections_in_modes(member.project, selection, cleaned["modes"])
        if request.method == "POST" and "preview" not in request.POST:
            shown = {name: cleaned[name] for name in ("shows_claim", "shows_reason")}
            with refusal_in(form):
                made = samples.make_in_modes(
                    partial(samples.draw_sample, by=member, **shown, **choices),
                    name=cleaned["name"],
                    project=member.project,
                    selections=selections,
                )
                words = "The sample is drawn. Two people check each label."
                return _redirect_to_made(request, member, made, words)
        plans = [
            (MODES.get(mode, ""), plan(build_frame(member.project, in_mode), **choices))
            for mode, in_mode in selections.items()
        ]
    return project_page(
        request,
        "checks/new_sample.html",
        member,
        "checks",
        form=form,
        plans=plans,
        drawable=bool(plans) and not any(plan.refused for _mode, plan in plans),
        status=422 if sent and form.errors else 200,
    )


def _redirect_to_made(
    request: PageRequest, member: Membership, made: Sequence[Sample], words: str
) -> HttpResponse:
    """Redirect to the list, where the new samples wait for their checks."""
    if len(made) > 1:
        words = f"{words} There are {len(made)} samples, one for each mode."
    messages.success(request, words)
    return redirect("audit:checks", member.project.slug)


@require_http_methods(["GET", "POST"])
def suspects(request: PageRequest, slug: str) -> HttpResponse:
    """List documents claimed relevant that runs miss; a POST makes a sample of them."""
    member = annotate_access.lead(request.user, slug)
    runs = list(Run.objects.filter(project=member.project).order_by("name"))
    form = SuspectsForm(member, _suspects_query(request, runs)) if runs else None
    send = SendForm(request.POST if request.method == "POST" else None)
    result = None
    if form is not None and form.is_valid():
        selection, cleaned = form.selection(), form.cleaned_data
        rule = {name: cleaned[name] for name in ("depth", "at_least", "below")}
        runs_chosen = list(cleaned["runs"])
        selections = samples.selections_in_modes(member.project, selection, cleaned["modes"])
        with refusal_in(form, "at_least"):
            by_mode = {
                mode: find_suspects(member.project, in_mode, runs=runs_chosen, **rule)
                for mode, in_mode in selections.items()
            }
    if form is not None and form.is_valid():
        if request.method == "POST" and send.is_valid():
            sent = send.cleaned_data
            how = {name: sent[name] for name in ("stratify", "shows_claim")}
            missed = {mode: of for mode, of in selections.items() if by_mode[mode].suspects}
            with refusal_in(send):
                made = samples.make_in_modes(
                    partial(samples.pick_suspects, runs=runs_chosen, by=member, **rule, **how),
                    name=sent["name"],
                    project=member.project,
                    selections=missed or selections,
                )
                words = "The sample is made. Two people check each label."
                return _redirect_to_made(request, member, made, words)
        result = merge_suspects(list(by_mode.values()))
    page = _suspects_page(result.suspects if result else [], request.GET)
    wrong = send.errors or (form.errors if form is not None else not runs)
    return project_page(
        request,
        "checks/suspects.html",
        member,
        "checks",
        grades=list(member.project.grades.order_by("value")),
        runs=runs,
        form=form,
        send=send,
        result=result,
        rows=page.rows,
        page=page,
        status=422 if request.method == "POST" and wrong else 200,
    )


@require_GET
def sample(request: PageRequest, pk: int) -> HttpResponse:
    """Show the figures of a sample to leads, the reader's own progress to others."""
    member, sample = access.sample(request.user, pk)
    [progress] = sample_rows(member, [sample])
    context: dict[str, Any] = {"sample": sample, "name": progress.name, "progress": progress}
    if member.leads and access.is_blind(member, sample):
        context["blind"] = access.BLIND_TO_PEOPLE
    elif member.leads:
        bound = BoundForm(request.GET)
        showing = request.GET.get("show", "")
        showing = showing if showing in LABEL_FILTERS else "all"
        page = page_by_key(filter_labels(sample, showing), request.GET, PAGE_SIZE)
        counted = figures(sample, bound=bound.share())
        context |= {
            "grades": list(member.project.grades.order_by("value")),
            "figures": counted,
            "kinds": ERROR_KINDS[sample.asks],
            "tables": [_rates_table(counted, kind) for kind in ERROR_KINDS[sample.asks]],
            "bound": bound,
            "runs": list(sample.runs.order_by("name")),
            "showing": showing,
            "rows": listed_labels(member, sample, page.rows),
            "page": page,
        }
    return project_page(request, "checks/sample.html", member, "checks", **context)


@require_GET
def sample_labels(request: PageRequest, pk: int) -> StreamingHttpResponse:
    """Download the labels of a sample as CSV."""
    member, sample = access.sample_for_lead(request.user, pk)
    return csv_response(label_rows(member, sample), f"labels-{pk}.csv")


def _initial_of_planned(member: Membership, request: PageRequest) -> dict[str, Any]:
    """Return the form's initial values: the kind's planned check that `?planned=` numbers."""
    number = request.GET.get("planned", "")
    checks = kind_of(member.project.kind).checks
    is_number = number.isascii() and number.isdecimal() and len(number) < 9
    if not (is_number and int(number) < len(checks)):
        return {}
    return choices_of_planned(checks[int(number)], member)


def _rates_table(counted: Figures, kind: str) -> dict[str, Any]:
    """Return the table of one kind of error: a line for each stratum, and one for all."""
    return {
        "kind": kind,
        "lines": [_rate_line(line, kind) for line in counted.strata],
        "all": _rate_line(counted.overall, kind),
        "weighted": getattr(counted.weighted, kind, None),
    }


def _rate_line(line: Rates, kind: str) -> dict[str, Any]:
    """Return a line: how many are checked, of how many, and how many of them are wrong."""
    if kind in line.questions:
        of = line.questions[kind]
        checked, items, rate = of.rate.of, of.claimed, of.rate
        # A stratum without claims on the question has nothing more to check.
        more = of.more if of.claimed else None
    else:
        checked, items = line.checked, line.items
        rate, more = getattr(line, kind), getattr(line, f"more_{kind}")
    return {"of": line, "checked": checked, "items": items, "rate": rate, "more": more}


def _suspects_query(request: PageRequest, runs: list[Run]) -> QueryDict:
    """Return the rule in the query string or form; by default, the documents of the earlier qrels
    that every run misses, but for runs over instructions, which say nothing about them.
    """
    sent = request.POST if request.method == "POST" else request.GET
    if "runs" in sent or "depth" in sent or request.method == "POST":
        return sent
    of_queries = [run for run in runs if not run.names_pairs] or runs
    default = QueryDict(mutable=True)
    default.setlist("runs", [str(run.pk) for run in of_queries])
    at_least = str(len(of_queries))
    default.update({"claims": Sample.Source.PRIOR, "at_least": at_least, "depth": "100"})
    return default


def _suspects_page(suspects: list[Suspect], query: QueryDict) -> Page[Any]:
    """Return the page of suspects after the one in `?after=`; the whole list is in memory."""
    keys = [suspect.key for suspect in suspects]
    after = query.get("after", "")
    start = keys.index(after) + 1 if after in keys else 0
    rows = suspects[start : start + PAGE_SIZE]
    end = start + len(rows)
    onward = _with_after(query, keys[end - 1]) if end < len(suspects) else ""
    previous = ""
    if start:
        before = start - PAGE_SIZE
        previous = _with_after(query, keys[before - 1] if before > 0 else "")
    return Page(rows, previous, onward)


def _with_after(query: QueryDict, after: str) -> str:
    """Return the query string with another `after`."""
    link = query.copy()
    link["after"] = after
    return "?" + link.urlencode()


@require_http_methods(["GET", "POST"])
def machines(request: PageRequest, slug: str) -> HttpResponse:
    """List the labels that machines claim differently; a POST chooses whose claims count.

    `?machine=` shows what the choice would do, with a button that makes it.
    """
    member = access.lead_of_claims(request.user, slug)
    asked = request.POST if request.method == "POST" else request.GET
    form = MachineForm(member, asked if "machine" in asked or asked is request.POST else None)
    if request.method == "POST" and form.is_valid():
        machine = form.cleaned_data["machine"]
        with refusal_in(form):
            choose_machine(machine=machine, by=member)
            messages.success(request, f"The claims of {machine.name} count now.")
            return redirect("audit:machines", slug)
    rows = contradicted_labels(member.project).select_related(
        "narrative__pair__query", "candidate__document"
    )
    page = page_by_key(rows, request.GET, PAGE_SIZE)
    preview = request.method == "GET" and form.is_valid()
    return project_page(
        request,
        "checks/machines.html",
        member,
        "checks",
        form=form,
        machines=claiming_machines(member.project),
        differing=rows.count(),
        undecided=count_undecided(member.project),
        chosen=form.cleaned_data["machine"] if preview else None,
        effect=effect_of_choosing(form.cleaned_data["machine"]) if preview else None,
        labels=describe_labels(member, page.rows),
        grades=list(member.project.grades.order_by("value")),
        page=page,
        status=422 if request.method == "POST" and form.errors else 200,
    )
