"""Pages of evaluations: request one, follow it, and read its figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models.fields.json import KeyTransform
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate.judgments.blindness import must_answer_first
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.access import lead
from annotate.projects.models import Project
from annotate.projects.project_page import project_page
from base.csv_output import csv_lines
from base.errors import Refused
from base.pagination import newest_by_key
from base.plots import as_file
from base.requests import PageRequest, refusal_in
from base.tags.figures import interval_remark, true_minus
from exporters.evaluations import access, charts, tables
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.forms import EvaluationForm
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import NAMES, name_of
from exporters.evaluations.queue_effects import SIDES, TopicDocument, find_candidates
from exporters.evaluations.tables import interval_text
from exporters.exports.access import BLIND_FIGURES
from jobs.models import Job

# The measure of ir_measures in the first table; its others are folded below it.
IR_FIRST = "nDCG@10"
# What an interval is over, by the option intervals.clusters.
OVER = {"pair": "pairs", "query": "queries", "core": "core queries"}
# How many points a chart draws at most.
MOST_POINTS = 400
MOST_DECIDING = 25
MOST_LINKED = 20
BINS = 20
# How many releases are compared, and how many evaluations are looked at for them.
MOST_RELEASES = 20
MOST_READ = 200


# How many evaluations the list shows, the newest first.
SHOWN = 25


class Bar(NamedTuple):
    """A topic with its value, and the page of its query."""

    label: str
    value: float
    url: str


class Bin(NamedTuple):
    """A bin of a histogram, and the topics in it."""

    low: float
    high: float
    topics: list[str]
    urls: list[tuple[str, str]]


class Move(NamedTuple):
    """A changed document: its two ranks, and the page with the judgments behind its relevance."""

    topic: str
    document: str
    original: int
    changed: int
    score: float
    url: str


def is_first(key: str) -> bool:
    """Whether a measure belongs in the first table."""
    return key in NAMES or key.startswith(f"{IR_FIRST} ")


def value_rows(results: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    """Return systems with their values, for the table of first measures or of the others."""
    measures = [measure for measure in results["measures"] if is_first(measure["key"]) == first]
    return {
        "measures": measures,
        "rows": [
            {
                "name": system["name"],
                "cells": [_cell(system["values"].get(measure["key"])) for measure in measures],
            }
            for system in results["systems"]
        ],
    }


def _cell(value: Mapping[str, Any] | None) -> dict[str, str]:
    if value is None:
        return {"value": "–", "interval": "", "remark": "", "words": ""}
    if value["value"] is None:
        words = value.get("reason") or value["note"]
        return {"value": "–", "interval": "", "remark": "", "words": words}
    shown, _bracket, interval = interval_text({**value, "note": ""}).partition(" [")
    return {
        "value": true_minus(shown),
        "interval": true_minus(f"[{interval}") if interval else "",
        "remark": interval_remark(value["note"]),
        "words": value["note"],
    }


def difference_rows(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return differences from the baseline, one row per measure and system."""
    rows = []
    for measure in results["measures"]:
        for name, comparison in results["differences"].get(measure["key"], {}).items():
            is_defined = comparison["difference"] is not None
            rows.append(
                {
                    "measure": measure["name"],
                    "name": name,
                    "first": is_first(measure["key"]),
                    "difference": true_minus(f"{comparison['difference']:+.3f}")
                    if is_defined
                    else comparison["reason"],
                    "interval": ""
                    if comparison["low"] is None
                    else true_minus(f"[{comparison['low']:+.3f}, {comparison['high']:+.3f}]"),
                    "remark": interval_remark(comparison["note"]),
                    "n": comparison["n"],
                    "p": "–" if comparison["p"] is None else f"{comparison['p']:.4f}",
                    "p_holm": "–"
                    if comparison["p_holm"] is None
                    else f"{comparison['p_holm']:.4f}",
                }
            )
    return rows


def estimate_rows(results: Mapping[str, Any], *, first: bool) -> list[dict[str, Any]]:
    """Return what each measure would be if people had judged all pairs, by measure and system."""
    measures = [measure for measure in results["measures"] if is_first(measure["key"]) == first]
    return [
        {
            "measure": measure["name"],
            "name": name,
            "machine": "–"
            if estimate["machine"] is None
            else true_minus(f"{estimate['machine']:.3f}"),
            "people": _cell(estimate["people"]),
            "combined": _cell(estimate["combined"]),
            "width_ratio": estimate["width_ratio"],
        }
        for measure in measures
        for name, estimate in results["estimates"]["measures"].get(measure["key"], {}).items()
    ]


def compared_with(results: Mapping[str, Any], key: str, system: str) -> str:
    """Return the baseline, or "" if a system's values by a measure cannot be compared with it."""
    baseline: str = results["baseline"]
    has_both = {baseline, system} <= results["by_query"].get(key, {}).keys()
    return baseline if has_both and baseline != system else ""


def query_bars(project: Project, results: Mapping[str, Any], key: str, system: str) -> list[Bar]:
    """Return a bar per topic, highest first: the difference from the baseline, or the value."""
    by_system = results["by_query"].get(key, {})
    mine = by_system.get(system, {})
    other = by_system.get(compared_with(results, key, system))
    values = {
        topic: value - (other[topic] if other else 0)
        for topic, value in mine.items()
        if value is not None and (other is None or other.get(topic) is not None)
    }
    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    if len(ordered) > MOST_POINTS:
        ordered = ordered[: MOST_POINTS // 2] + ordered[-MOST_POINTS // 2 :]
    urls = query_urls(project, values)
    return [Bar(topic, value, urls.get(topic, "")) for topic, value in ordered]


def query_urls(project: Project, topics: Iterable[str]) -> dict[str, str]:
    """Return the URL of each pair's query page, for the pairs that still exist."""
    rows = InstructionPair.objects.filter(project=project, pair_id__in=list(topics)[:5_000])
    return {
        pair_id: reverse("annotate:query", args=[project.slug, query])
        for pair_id, query in rows.values_list("pair_id", "query")
    }


def topic_rows(project: Project, results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures of each topic; the first MOST_POINTS have links to their queries."""
    topics = results["collection"]["topics"]
    urls = query_urls(project, [row["topic"] for row in topics[:MOST_POINTS]])
    return [{**row, "url": urls.get(row["topic"], "")} for row in topics]


def dropped_shares(topics: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the topics that have a share that dropped, the largest first."""
    defined = [row for row in topics if row["share_dropped"] is not None]
    return sorted(defined, key=lambda row: (-row["share_dropped"], row["topic"]))[:MOST_POINTS]


def over_releases(evaluation: Evaluation, system: str, measure: str) -> list[dict[str, Any]]:
    """Return a system's value by a measure on each release of the project, the oldest first.

    From the newest evaluation of each release with the same options, but for the machine, which
    changes none of these values; the last MOST_RELEASES.
    """
    measured = Evaluation.objects.computed().filter(
        project=evaluation.project_id, release__isnull=False
    )
    options = _without_machine(evaluation.options)
    newest: dict[int, tuple[int, str, list[dict[str, Any]]]] = {}
    for pk, release, name, systems, of_other in measured.values_list(
        "pk", "release_id", "release__name", "systems", "options"
    )[:MOST_READ]:
        is_alike = _without_machine(of_other) == options
        if is_alike and any(entry["name"] == system for entry in systems):
            newest.setdefault(release, (pk, name, systems))
    runs: dict[str, Any] = next(
        (entry["runs"] for entry in evaluation.systems if entry["name"] == system), {}
    )
    places = {
        pk: next(at for at, entry in enumerate(systems) if entry["name"] == system)
        for pk, _name, systems in newest.values()
    }
    values = _values_of(places, measure)
    return [
        {
            "release": name,
            "url": reverse("exporters:evaluation", args=[evaluation.project.slug, pk]),
            "same_runs": systems[places[pk]]["runs"] == runs,
            **{key: (values.get(pk) or {}).get(key) for key in ("value", "low", "high", "n")},
            "cell": _cell(values.get(pk)),
        }
        for _release, (pk, name, systems) in sorted(newest.items())[-MOST_RELEASES:]
    ]


def _without_machine(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if not name.startswith("machine.")}


def release_table(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the rows of `over_releases` as a table, its head first."""
    fields = ["release", "value", "low", "high", "n", "same_runs"]
    return [
        fields,
        *(["" if row[key] is None else str(row[key]) for key in fields] for row in rows),
    ]


def _values_of(places: Mapping[int, int], measure: str) -> dict[int, dict[str, Any] | None]:
    """Return a measure's value of one system in each evaluation; `places`: its place in each."""
    values: dict[int, dict[str, Any] | None] = {}
    for place in set(places.values()):
        of_system = KeyTransform(place, KeyTransform("systems", "results"))
        rows = Evaluation.objects.filter(pk__in=[pk for pk in places if places[pk] == place])
        values |= dict(
            rows.annotate(
                measured=KeyTransform(measure, KeyTransform("values", of_system))
            ).values_list("pk", "measured")
        )
    return values


def histogram(project: Project, values: Iterable[tuple[str, float | None]]) -> list[Bin]:
    """Return p-MRR from -1 to 1 in 20 bins of equal width; 1 belongs to the last bin.

    The first topics of each bin have links to their queries.
    """
    bins = [
        Bin((n - BINS / 2) / (BINS / 2), (n + 1 - BINS / 2) / (BINS / 2), [], [])
        for n in range(BINS)
    ]
    for topic, value in values:
        if value is not None:
            place = int((value + 1) * BINS / 2 + 1e-9)
            bins[min(BINS - 1, max(0, place))].topics.append(topic)
    urls = query_urls(project, [topic for bar in bins for topic in bar.topics[:MOST_LINKED]])
    for bar in bins:
        bar.urls.extend((topic, urls.get(topic, "")) for topic in bar.topics[:MOST_LINKED])
    return bins


def moves(project: Project, changed: Sequence[Sequence[Any]]) -> list[Move]:
    """Return changed documents with both ranks, lowest pairwise score first.

    The first are the documents that rise farthest although they should fall.
    """
    from measures.followir import pair_score

    scored = sorted(
        ((pair_score(old, new), topic, document, old, new) for topic, document, old, new in changed)
    )[:MOST_POINTS]
    urls = document_urls(project, [(topic, document) for _, topic, document, *_ in scored])
    return [
        Move(topic, document, old, new, score, urls.get((topic, document), ""))
        for score, topic, document, old, new in scored
    ]


def deciding_rows(
    project: Project, results: Mapping[str, Any], measure: str
) -> list[dict[str, Any]]:
    """Return the documents whose settlement would move a measure most, with links."""
    rows = results["deciding"]["by_measure"].get(measure, [])
    rows = [row for row in rows if row["figure"]][:MOST_DECIDING]
    queries = query_urls(project, {row["topic"] for row in rows})
    documents = {
        side: document_urls(
            project,
            [(row["topic"], row["document"]) for row in rows if row["side"] == side],
            SIDES[side],
        )
        for side in {row["side"] for row in rows}
    }
    return [
        {
            **row,
            "figure": f"{row['figure']:.4f}",
            "grades": ", ".join(map(str, row["grades"])),
            "changes": [
                {"grade": grade, "change": true_minus(f"{change:+.4f}")}
                for grade, change in row["changes"].items()
            ],
            "query_url": queries.get(row["topic"], ""),
            "url": documents[row["side"]].get((row["topic"], row["document"]), ""),
        }
        for row in rows
    ]


def place_rows(results: Mapping[str, Any], measure: str) -> dict[str, Any] | None:
    """Return how sure the ranking of systems by a measure is.

    A row per system has the probability that it stays before each system below it. None if nothing
    is disputed or only one system is measured.
    """
    stability = results["places"]["by_measure"].get(measure)
    if stability is None:
        return None
    order = stability["order"]
    return {
        **stability,
        "names": order[1:],
        "rows": [
            {
                "place": place,
                "name": name,
                "cells": [
                    f"{stability['before'][name][other]:.3f}"
                    if other in stability["before"][name]
                    else ""
                    for other in order[1:]
                ],
            }
            for place, name in enumerate(order, 1)
        ],
    }


def document_urls(
    project: Project, places: Collection[TopicDocument], side: str = Narrative.Side.ALTERED
) -> dict[TopicDocument, str]:
    """Return the URL of each document's judgments under the current narrative of a side."""
    return {
        place: reverse("audit:disagreement", args=[narrative, candidate])
        for place, (narrative, candidate) in find_candidates(project, places, side).items()
    }


@require_http_methods(["GET", "POST"])
def evaluations(request: PageRequest, slug: str) -> HttpResponse:
    """Show the newest results, and list evaluations; a POST requests a new one, followed here.

    `?release=` chooses a release in the form, instead of the newest.
    """
    member = lead(request.user, slug)
    form = EvaluationForm(
        member.project,
        request.POST if request.method == "POST" else None,
        release=request.GET.get("release", ""),
    )
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            request_evaluation(
                project=member.project,
                measured=form.chosen_systems,
                release=form.chosen_release,
                options=form.cleaned_data["options"],
                baseline=form.cleaned_data["baseline"],
                by=member,
            )
            return redirect("exporters:evaluations", slug)
    rows = Evaluation.objects.filter(project=member.project_id).defer(
        "results", "release__manifest"
    )
    listed = newest_by_key(rows.select_related("by", "project", "release"), request.GET, SHOWN)
    done = Evaluation.objects.filter(project=member.project_id, state=Job.State.DONE)
    newest = done.select_related("project", "release").order_by("-pk").first()
    unfinished = rows.exclude(state=Job.State.DONE).filter(pk__gt=newest.pk if newest else 0)
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
        page=listed,
        newest=newest,
        requested=unfinished.order_by("-pk").first(),
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
        lines = csv_lines(release_table(_content(request, evaluation)["over_releases"]))
        response = HttpResponse("".join(lines), content_type=tables.KINDS["csv"])
    elif table in tables.TABLES and kind in tables.KINDS:
        try:
            frame = tables.TABLES[table](results)
        except Refused as refused:
            messages.error(request, str(refused))
            return redirect("exporters:evaluation", slug, pk)
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
    topics = topic_rows(project, results)
    chosen = urlencode({"system": system, "measure": measure})
    against = compared_with(results, measure, system)
    differences = difference_rows(results)
    return {
        "results": results,
        "first": value_rows(results, first=True),
        "others": value_rows(results, first=False),
        "differences": [row for row in differences if row["first"]],
        "other_differences": [row for row in differences if not row["first"]],
        "estimates": estimate_rows(results, first=True) if results["estimates"] else [],
        "other_estimates": estimate_rows(results, first=False) if results["estimates"] else [],
        "over": OVER[evaluation.options.get("intervals.clusters", "pair")],
        "warnings": _warnings(results),
        "system": system,
        "measure": measure,
        "measure_name": name_of(measure),
        "systems": [(name, f"{here}?{urlencode({'system': name})}") for name in names],
        "measures": [(measure["key"], measure["name"]) for measure in results["measures"]],
        "bars": query_bars(project, results, measure, system),
        "against": against,
        "histogram": histogram(project, by_query.get(system, {}).items()),
        "has_p_mrr": _has_values(by_query.get(system, {})),
        "moves": moves(project, found_moves),
        "moves_in_all": len(found_moves),
        "deciding": results["deciding"],
        "deciding_rows": deciding_rows(project, results, measure),
        "places": place_rows(results, measure),
        "draws": results["places"],
        "totals": tables.figures(results),
        "topics": topics,
        "shares": dropped_shares(topics),
        "over_releases": over_releases(evaluation, system, measure),
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
