"""Pages of evaluations: the list with its form, the results, and tables to download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.project_page import project_page
from base.csv_output import csv_lines
from base.page_request import PageRequest, refusal_in
from base.pagination import newest_by_key
from base.plots import as_file
from exporters.evaluations import access, charts, page, tables
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.forms import EvaluationForm
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import name_of
from exporters.exports.access import BLIND_FIGURES
from jobs.models import Job

# How many evaluations the list shows, the newest first.
SHOWN = 25


@require_http_methods(["GET", "POST"])
def evaluations(request: PageRequest, slug: str) -> HttpResponse:
    """Show the newest results, and list evaluations; a POST requests a new one.

    `?release=` chooses a release in the form.
    """
    member = lead(request.user, slug)
    form = EvaluationForm(
        member.project,
        request.POST if request.method == "POST" else None,
        release=request.GET.get("release", ""),
    )
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            return redirect(
                request_evaluation(
                    project=member.project,
                    measured=form.chosen_systems,
                    release=form.chosen_release,
                    options=form.cleaned_data["options"],
                    baseline=form.cleaned_data["baseline"],
                    by=member,
                )
            )
    rows = Evaluation.objects.filter(project=member.project_id).defer(
        "results", "release__manifest"
    )
    listed = newest_by_key(rows.select_related("by", "project", "release"), request.GET, SHOWN)
    done = Evaluation.objects.filter(project=member.project_id, state=Job.State.DONE)
    newest = done.select_related("project", "release").order_by("-pk").first()
    # A lead who is still blind sees no figures.
    results = {} if newest is None or must_answer_first(member) else _content(request, newest)
    return project_page(
        request,
        "evaluations/evaluations.html",
        member,
        "evaluation",
        form=form,
        evaluations=[
            {
                "evaluation": evaluation,
                "names": ", ".join(system["name"] for system in evaluation.systems),
            }
            for evaluation in listed.rows
        ],
        next_url=listed.next,
        newest=newest,
        **results,
        status=422 if form.errors else 200,
    )


@require_GET
def evaluation(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of an evaluation and, once it is done, its results."""
    member, evaluation = access.evaluation(request.user, slug, pk)
    done = evaluation.state == Job.State.DONE
    blind = done and must_answer_first(member)
    content = _content(request, evaluation) if done and not blind else {"results": None}
    return project_page(
        request,
        "evaluations/evaluation.html",
        member,
        "evaluation",
        evaluation=evaluation,
        blind=BLIND_FIGURES if blind else "",
        **content,
    )


@require_GET
def evaluation_table(
    request: PageRequest, slug: str, pk: int, table: str, kind: str
) -> HttpResponse:
    """Send a table of the results as CSV, Markdown or LaTeX, a chart as SVG, or all as JSON."""
    evaluation = access.computed_evaluation(request.user, slug, pk)
    results = evaluation.results
    if results is None:
        raise Http404("This evaluation has no results yet.")
    name = f'attachment; filename="{slug}-evaluation-{pk}-{table}.{kind}"'
    if (table, kind) == ("results", "json"):
        response: HttpResponse = JsonResponse(
            results, json_dumps_params={"indent": 2, "ensure_ascii": False}
        )
    elif table in charts.CHARTS and kind == "svg":
        drawn = as_file(charts.draw(table, _content(request, evaluation)))
        response = HttpResponse(drawn, content_type="image/svg+xml")
    elif (table, kind) == ("over-releases", "csv"):
        lines = csv_lines(page.release_table(_content(request, evaluation)["over_releases"]))
        response = HttpResponse("".join(lines), content_type=tables.KINDS["csv"])
    elif table in tables.TABLES and kind in tables.KINDS:
        frame = tables.TABLES[table](results)
        response = HttpResponse(tables.render_table(frame, kind), content_type=tables.KINDS[kind])
    else:
        raise Http404("There is no such table of an evaluation.")
    response["Content-Disposition"] = name
    return response


def _content(request: PageRequest, evaluation: Evaluation) -> dict[str, Any]:
    """Return the context of the page of an evaluation that has results."""
    if evaluation.results is None:
        return {}
    results, project = evaluation.results, evaluation.project
    names = [system["name"] for system in results["systems"]]
    others = [name for name in names if name != results["baseline"]]
    by_query = results["by_query"].get("p-mrr", {})
    # A system with an original and a changed run says most.
    followed = [name for name in others if _has_values(by_query.get(name, {}))]
    system = _choose(request.GET.get("system", ""), names, (followed or others or names or [""])[0])
    keys = [measure["key"] for measure in results["measures"]]
    # Where no document loses its relevance, the first measure has no values.
    with_values = [
        key for key in keys if _has_values(results["by_query"].get(key, {}).get(system, {}))
    ]
    measure = _choose(request.GET.get("measure", ""), keys, (with_values or keys or [""])[0])
    found_moves: list[Any] = next(
        (entry["moves"] for entry in results["systems"] if entry["name"] == system), []
    )
    here = reverse("exporters:evaluation", args=[project.slug, evaluation.pk])
    topics = page.topic_rows(project, results)
    chosen = urlencode({"system": system, "measure": measure})
    against = results["baseline"] if results["baseline"] not in ("", system) else ""
    differences = page.difference_rows(results)
    return {
        "results": results,
        "first": page.value_rows(results, first=True),
        "others": page.value_rows(results, first=False),
        "differences": [row for row in differences if row["first"]],
        "other_differences": [row for row in differences if not row["first"]],
        "warnings": _warnings(results),
        "system": system,
        "measure": measure,
        "measure_name": name_of(measure),
        "systems": [(name, f"{here}?{urlencode({'system': name})}") for name in names],
        "measures": [(measure["key"], measure["name"]) for measure in results["measures"]],
        "bars": page.query_bars(project, results, measure, system),
        "against": against,
        "histogram": page.histogram(project, by_query.get(system, {}).items()),
        "has_p_mrr": _has_values(by_query.get(system, {})),
        "moves": page.moves(project, found_moves),
        "moves_in_all": len(found_moves),
        "deciding": results.get("deciding"),
        "deciding_rows": page.deciding_rows(project, results, measure),
        "places": page.place_rows(results, measure),
        "draws": results.get("places"),
        "totals": tables.figures(results),
        "topics": topics,
        "shares": page.dropped_shares(topics),
        "over_releases": page.over_releases(evaluation, system, measure),
        "bars_caption": _bars_caption(measure, system, against),
        "csv": {
            name: _table_url(evaluation, name, "csv")
            for name in ("queries", "documents", "collection")
        }
        | {"over_releases": f"{here}tables/over-releases.csv?{chosen}"},
        "charts_url": f"{here}tables/",
        "charts_query": chosen,
        "oracles": (results["oracles"] or {}).get("measures", []),
        "tables": [
            (name, [(kind, _table_url(evaluation, name, kind)) for kind in tables.KINDS])
            for name in tables.TABLES
        ],
        "json_url": _table_url(evaluation, "results", "json"),
    }


def _has_values(by_topic: Mapping[str, float | None]) -> bool:
    """Return whether a measure is defined for any topic."""
    return any(value is not None for value in by_topic.values())


def _bars_caption(measure: str, system: str, against: str) -> str:
    if against:
        return (
            f"{name_of(measure)}: {system} minus {against}, a bar for each pair, the largest "
            "difference first. A bar links to its query."
        )
    return (
        f"{name_of(measure)} of {system}, a bar for each pair, the highest first. A bar links to "
        "its query."
    )


def _choose(requested: str, available: list[str], otherwise: str) -> str:
    return requested if requested in available else otherwise


def _warnings(results: dict[str, Any]) -> list[str]:
    """Return the warnings about the runs, each once, with the systems concerned."""
    of_systems: dict[str, list[str]] = {}
    for system in results["systems"]:
        for value in system["values"].values():
            for words in value["warnings"]:
                names = of_systems.setdefault(words, [])
                if system["name"] not in names:
                    names.append(system["name"])
    return [f"{', '.join(names)}: {words}." for words, names in of_systems.items()]


def _table_url(evaluation: Evaluation, table: str, kind: str) -> str:
    return reverse(
        "exporters:evaluation_table", args=[evaluation.project.slug, evaluation.pk, table, kind]
    )
