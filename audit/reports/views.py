"""Pages of reports: where people differ, the collection, and agreement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotate.judgments.blindness import BLIND_TASKS, must_answer_first
from annotate.judgments.completion import open_assignments
from annotate.judgments.pair_rules import Rule
from annotate.judgments.rule_report import MAX_NAMED, PairStatus, RuleReport, rule_report
from annotate.overview.lists import at_instruction
from annotate.projects import access as annotate_access
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from annotate.projects.project_page import project_page
from audit.reports import access, actions
from audit.reports.coverage import by_category, coverage, csv_rows
from audit.reports.differences import TOP, Spot, differences
from audit.reports.forms import ComparedForm, ScopeForm
from audit.reports.models import AgreementReport, AgreementReportQuerySet
from audit.reports.paper import latex_against, paper_text
from audit.reports.reliability import HEADLINE
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.rule_standings import BROKEN_AT_ONCE, RuleStanding, rule_standings
from audit.reports.scopes import Scope, describe_scope, parts_of, stored_scope
from audit.reports.statements_since import count_changes_since
from audit.reports.tables import (
    Table,
    against_machines,
    people_alone,
    tables,
)
from audit.reports.unit_table import Of, units
from base.csv_output import csv_lines, csv_response
from base.pagination import newest_by_key, parse_key
from base.requests import PageRequest, refusal_as_message

# The most lines that a chart draws; the page of agreement shows all of them.
DRAWN = 12


# The number of lines of a table on a page, such as pairs of people.
LINES = 50


@require_GET
def differences_page(request: PageRequest, slug: str) -> HttpResponse:
    """Show how much people agree, and where their disagreements concentrate."""
    member = annotate_access.lead(request.user, slug)
    compared = differences(member)
    # Figures over the whole project would reveal others' answers to a lead who is still blind.
    blind = must_answer_first(member)
    reports = AgreementReport.objects.of("").computed().filter(project=member.project)
    report = None if blind else reports.first()
    figures = report.figures if report is not None else None
    return project_page(
        request,
        "reports/differences.html",
        member,
        "disagreements",
        grades=list(member.project.grades.order_by("value")),
        compared=compared,
        lists=[listing for listing in _lists(member, compared) if listing["rows"]],
        grid=_grid(compared.meetings),
        blind=access.BLIND if blind else "",
        report=report,
        come_since=report is not None and figures is not None and any(count_changes_since(report)),
        headline_words=COEFFICIENTS[HEADLINE],
        lonely_words=_people_alone_words(people_alone(figures)) if figures else "",
        charts=[_chart(table) for table in tables(figures) if table.by == "people"]
        if figures
        else [],
        assigned=bool(open_assignments(member, *BLIND_TASKS)),
    )


@require_GET
def collection(request: PageRequest, slug: str) -> HttpResponse:
    """Show the rules for pairs, which pairs break them, and the coverage of the taxonomy.

    `?rule=` with `?after=` pages through the pairs that break a rule.
    """
    member = annotate_access.lead(request.user, slug)
    report = rule_report(member)
    blind = must_answer_first(member)
    covered = coverage(member)
    return project_page(
        request,
        "reports/collection.html",
        member,
        "overview",
        kind=kind_of(member.project.kind),
        report=report,
        rules=[
            (standing, _broken_pairs(request, report, standing))
            for standing in rule_standings(report)
        ],
        named=MAX_NAMED,
        coverage=covered,
        blind=access.BLIND if blind else "",
        by_category=None if blind else by_category(member, covered),
    )


@require_GET
def categories_table(request: PageRequest, slug: str) -> HttpResponse:
    """Send the figures of each category as CSV."""
    member = access.unblinded_lead(request.user, slug)
    return HttpResponse(
        "".join(csv_lines(csv_rows(by_category(member)))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-categories.csv"'},
    )


def _broken_pairs(
    request: HttpRequest, report: RuleReport, standing: RuleStanding
) -> dict[str, Any]:
    """Return a page of the pairs that break a rule."""
    rule = standing.rule.value
    after = request.GET.get("after", "") if request.GET.get("rule") == rule else ""
    behind = parse_key(after) or 0
    rest = standing.broken_after(behind)
    shown = rest[:BROKEN_AT_ONCE]
    return {
        "names_documents": standing.rule is Rule.SHRINKING or standing.rule.is_of_labels,
        "rows": [_broken_pair(report, standing.rule, pair) for pair in shown],
        "first_url": f"?rule={rule}#{rule}-title" if behind else "",
        "next_url": f"?{urlencode({'rule': rule, 'after': shown[-1].pair.pk})}#{rule}-title"
        if len(rest) > BROKEN_AT_ONCE
        else "",
    }


def _broken_pair(report: RuleReport, rule: Rule, status: PairStatus) -> dict[str, Any]:
    url = reverse("annotate:query", args=[status.pair.project.slug, status.pair.query_id])
    query = url + at_instruction(status.pair.pk)
    candidates = status.breaking_candidates(rule)
    share = status.counts.dropped_percent
    return {
        "pair": status.pair,
        "url": query,
        "counts": status.counts,
        "share": None if share is None else round(share),
        "documents": [
            (
                reverse("audit:disagreement", args=[status.narrative, candidate])
                if rule is Rule.SHRINKING
                else query,
                report.documents[candidate],
            )
            for candidate in candidates[:MAX_NAMED]
        ],
        "more": max(len(candidates) - MAX_NAMED, 0),
    }


def _lists(member: Membership, compared: Any) -> list[dict[str, Any]]:
    """Return the lists of the page; each line links to the queue of disagreements."""
    queue = reverse("audit:disagreements", args=[member.project.slug])
    matrix = reverse("annotate:matrix", args=[member.project.slug])

    def rows(spots: list[Spot], **asked: str) -> list[dict[str, Any]]:
        """Build the lines; `asked` is the filter of the queue, where "" stands for the key."""
        made = []
        for spot in spots[:TOP]:
            filled = {name: value or spot.key for name, value in asked.items()}
            made.append(
                {
                    "spot": spot,
                    "open_url": f"{queue}?{urlencode(filled)}",
                    "settled_url": f"{queue}?{urlencode({**filled, 'state': 'settled'})}",
                }
            )
        return made

    categories = [
        {
            "spot": spot,
            "open_url": f"{matrix}?{urlencode({'state': 'disputed', 'category': spot.key or '-'})}",
        }
        for spot in compared.categories[:TOP]
    ]
    documents, instructions = "Documents compared", "Instructions compared"
    conditions = rows(compared.conditions, kind="verdict", condition="")
    criteria = rows(compared.criteria, kind="review", criterion="")
    queries = rows(compared.queries, kind="judgment", query="")
    return [
        {
            "key": key,
            "title": title,
            "of": of,
            "unit": unit,
            "rows": shown,
            "more": max(len(getattr(compared, key)) - TOP, 0),
        }
        for key, title, of, unit, shown in (
            ("queries", "By query", "Query", documents, queries),
            ("categories", "By category", "Category", documents, categories),
            ("conditions", "By condition", "Condition", documents, conditions),
            ("criteria", "By criterion of the reviews", "Criterion", instructions, criteria),
        )
    ]


def _grid(meetings: list[Any]) -> dict[str, Any]:
    """Return how often two grades meet, as a table; rows and columns are the given grades."""
    scale = sorted({grade for meeting in meetings for grade in meeting[:2]})
    times = {meeting[:2]: meeting.times for meeting in meetings}
    return {
        "scale": scale,
        "rows": [
            (row, [(column, times.get((row, column), 0)) for column in scale if column >= row])
            for row in scale
        ],
    }


def _chart(table: Table) -> dict[str, Any]:
    """Return the lines of a table to draw: the latest in time, else those that agree least."""
    lines = list(table.lines)
    if table.key in {"pairs", "queries", "categories"}:
        # Lines without a value come last.
        lines.sort(key=lambda line: (line.headline["value"] is None, line.headline["value"] or 0))
    elif table.key in {"weeks", "guidelines"}:
        lines = lines[-DRAWN:]
    return {
        "table": table,
        "lines": lines[:DRAWN],
        "left_out": len(table.lines) - len(lines[:DRAWN]),
        "over_time": table.key in {"weeks", "guidelines"},
        "sorted": table.key in {"pairs", "queries", "categories"},
    }


@require_http_methods(["GET", "POST"])
def agreement(request: PageRequest, slug: str) -> HttpResponse:
    """Show the newest report of the agreement in the part of the project that the address names; a
    POST requests a new one.
    """
    return _show_scope(request, slug, "agreement")


@require_http_methods(["GET", "POST"])
def agreement_machines(request: PageRequest, slug: str) -> HttpResponse:
    """Show people against machines, from the same reports; never on the page of the people."""
    return _show_scope(request, slug, "agreement_machines")


@require_http_methods(["GET", "POST"])
def agreement_comparison(request: PageRequest, slug: str) -> HttpResponse:
    """Compare the agreement in two parts of the project; a POST requests the comparison."""
    member = annotate_access.lead(request.user, slug)
    is_asked = request.method == "POST" or {"of", "against"} & set(request.GET)
    form = ComparedForm(_offered_parts(member.project), request.GET if is_asked else None)
    template = "reports/agreement_comparison.html"
    context: dict[str, Any] = {"place": "comparison", "form": form, "report": None}
    if not form.is_valid():
        status = 422 if request.method == "POST" else 200
        return project_page(request, template, member, "agreement", status=status, **context)
    of, against = form.cleaned_data["of"], form.cleaned_data["against"]
    here = f"{reverse('audit:agreement_comparison', args=[slug])}?{urlencode(form.cleaned_data)}"
    if request.method == "POST":
        with refusal_as_message(request):
            actions.request_comparison(
                project=member.project,
                scope=stored_scope(of),
                against=stored_scope(against),
                by=member,
            )
        return redirect(here)
    reports = AgreementReport.objects.filter(
        project=member.project, compares=True, scope=of, against=against
    )
    context |= {"here": here}
    return _render_newest(request, template, member, reports, context, _comparison_context)


@require_GET
def agreement_past(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show one report as it was computed, even if newer ones exist."""
    member, report = access.computed_report(request.user, slug, pk)
    if report.compares:
        template, context = "reports/agreement_comparison.html", _past_comparison_context(report)
        return project_page(request, template, member, "agreement", **context)
    scope = stored_scope(report.scope)
    context = _frame_context(member, scope, "agreement") | {
        "form": ScopeForm(member.project, scope.form_data),
        "past": report,
        "report": report,
        **_report_context(report),
    }
    return project_page(request, "reports/agreement.html", member, "agreement", **context)


@require_GET
def agreement_table(request: PageRequest, slug: str, pk: int, table: str) -> HttpResponse:
    """Show a table of a report with all its lines, such as every pair of people, by pages."""
    member, report = access.computed_report(request.user, slug, pk)
    if report.compares or report.figures is None:
        return redirect(report)
    shown = next((each for each in tables(report.figures) if each.key == table), None)
    if shown is None:
        raise Http404("There is no such table in this report.")
    page = Paginator(shown.lines, LINES).get_page(request.GET.get("page"))
    return project_page(
        request,
        "reports/agreement_table.html",
        member,
        "agreement",
        report=report,
        figures=report.figures,
        scope_words=describe_scope(stored_scope(report.scope)),
        table=shown.with_lines(list(page)),
        lines=page,
    )


def _headline(report: Any) -> dict[str, Any] | None:
    """Return the first coefficient of a report that has a value, else the first one."""
    figures = [figure for figure in (report.everyone, report.reviewed, report.difference) if figure]
    return next(
        (figure for figure in figures if figure["value"] is not None),
        figures[0] if figures else None,
    )


@require_GET
def agreement_reports(request: PageRequest, slug: str) -> HttpResponse:
    """List the reports, the newest first."""
    member = annotate_access.lead(request.user, slug)
    reports = AgreementReport.objects.filter(project=member.project)
    listed = (
        reports.select_related("by")
        .defer("figures")
        .annotate(
            everyone=F("figures__judgments__all__coefficients__" + HEADLINE),
            reviewed=F("figures__reviews__all__coefficients__" + HEADLINE),
            difference=F("figures__differences__" + HEADLINE),
        )
    )
    page = newest_by_key(listed, request.GET)
    blind = must_answer_first(member)
    rows = [
        {
            "report": report,
            "scope": describe_scope(stored_scope(report.scope)),
            "against": describe_scope(stored_scope(report.against)) or "the whole project",
            "url": reverse("audit:agreement_past", args=[slug, report.pk]),
            # The sum would reveal whether others have answered since.
            "sum": "" if blind else report.sha256,
            "headline": None if blind else _headline(report),
        }
        for report in page.rows
    ]
    context: dict[str, Any] = {
        "place": "reports",
        "rows": rows,
        # While blind, the page hides the sums: with one, a lead could check a guess.
        "blind": blind,
        "page": page,
        "words": (f"{len(rows)} report shown" if len(rows) == 1 else f"{len(rows)} reports shown"),
    }
    return project_page(request, "reports/agreement_reports.html", member, "agreement", **context)


@require_GET
def agreement_report(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Send a report's figures as JSON, with the version and the sum of what was counted."""
    _member, report = access.computed_report(request.user, slug, pk)
    response = JsonResponse(
        {
            "report": report.pk,
            "state": report.state,
            "code_version": report.code_version,
            "sha256": report.sha256,
            "figures": report.figures,
        },
        json_dumps_params={"indent": 2, "ensure_ascii": False},
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-agreement-{report.pk}.json"'
    return response


@require_GET
def agreement_units(request: PageRequest, slug: str) -> HttpResponseBase:
    """Send the current unit table of a part of the project: `of` in the address names which one;
    with `people=numbered` it has no names.
    """
    member = access.unblinded_lead(request.user, slug)
    of = request.GET.get("of", Of.JUDGMENTS)
    if of not in list(Of):
        raise Http404("There is no such table.")
    form = ScopeForm(member.project, request.GET)
    if not form.is_valid():
        errors = [str(error) for field in form.errors.values() for error in field]
        messages.error(request, " ".join(errors))
        return redirect("audit:agreement", slug)
    numbered = request.GET.get("people") == "numbered"
    return csv_response(
        units(member.project, form.scope, Of(of), numbered=numbered), f"{slug}-{of}.csv"
    )


def _show_scope(request: PageRequest, slug: str, name: str) -> HttpResponse:
    member = annotate_access.lead(request.user, slug)
    form, template = ScopeForm(member.project, request.GET), f"reports/{name}.html"
    is_valid = form.is_valid()
    scope = form.scope
    context = _frame_context(member, scope, name) | {"form": form, "report": None}
    machines = member.project.memberships.filter(is_machine=True).order_by("name")
    context |= {"machines": machines if name == "agreement_machines" else ()}
    if not is_valid:
        status = 422 if request.method == "POST" else 200
        return project_page(request, template, member, "agreement", status=status, **context)
    if request.method == "POST":
        with refusal_as_message(request):
            actions.request_agreement(project=member.project, scope=scope, by=member)
        return redirect(context["here"])
    reports = AgreementReport.objects.of(str(scope)).filter(project=member.project)
    return _render_newest(request, template, member, reports, context, _report_context)


def _render_newest(
    request: PageRequest,
    template: str,
    member: Membership,
    reports: AgreementReportQuerySet,
    context: dict[str, Any],
    figures_context: Callable[[AgreementReport | None], dict[str, Any]],
) -> HttpResponse:
    """Render the progress of the newest report, and the figures of the newest with figures."""
    report = reports.order_by("-pk").defer("figures").first()
    context |= {"report": report}
    if must_answer_first(member):
        context["blind"] = access.BLIND
    else:
        context |= figures_context(reports.computed().first())
    return project_page(request, template, member, "agreement", **context)


def _frame_context(member: Membership, scope: Scope, name: str) -> dict[str, Any]:
    slug = member.project.slug
    return {
        "place": {"agreement": "people", "agreement_machines": "machines"}[name],
        "scope": scope,
        "scope_words": describe_scope(scope),
        "here": _scope_url(f"audit:{name}", slug, scope),
        "people_url": _scope_url("audit:agreement", slug, scope),
        "machines_url": _scope_url("audit:agreement_machines", slug, scope),
        "whole_url": reverse(f"audit:{name}", args=[slug]),
    }


def _people_alone_words(people: list[str]) -> str:
    """Return why there is no agreement if nobody answered the same as anybody else; else ""."""
    if not people:
        return ""
    if len(people) == 1:
        return f"Only {people[0]} has answered here"
    return (
        f"{len(people)} people answered here, but no two of them on the same document or "
        "instruction"
    )


def _report_context(report: AgreementReport | None) -> dict[str, Any]:
    """Return what a page shows of a report; empty without figures."""
    if report is None or report.figures is None:
        return {}
    figures, scope = report.figures, stored_scope(report.scope)
    shown = tables(figures)
    of, slug = describe_scope(scope), report.project.slug
    return {
        "computed": report,
        "figures": figures,
        "stale_words": count_changes_since(report).words,
        "tables": [table.with_lines(table.lines[:LINES]) for table in shown],
        "lonely_words": _people_alone_words(people_alone(figures)),
        "against": [(machine, latex_against(machine, of)) for machine in against_machines(figures)],
        "paper": [part for table in shown if (part := paper_text(table, of))],
        "unit_tables": [
            (key, _unit_table_url(slug, scope, key), title) for key, title in _unit_tables(figures)
        ],
        "unit_table": _unit_table_url(slug, scope, Of.MACHINES) if figures["machines"] else "",
    }


def _unit_tables(figures: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if figures["judgments"]["all"]["ratings"]:
        yield Of.JUDGMENTS, "Judgments, CSV"
    if figures["reviews"]["all"]["ratings"]:
        yield Of.REVIEWS, "Reviews, CSV"


def _offered_parts(project: Project) -> list[tuple[str, str]]:
    """Return the parts of a project that can be compared, each with its name."""
    return [
        (str(part), _capitalize(describe_scope(part) or "the whole project"))
        for part in parts_of(project)
    ]


def _past_comparison_context(report: AgreementReport) -> dict[str, Any]:
    """Return what the page of comparisons shows of one as it was computed."""
    parts = {"of": report.scope, "against": report.against}
    return {
        "place": "comparison",
        "form": ComparedForm(_offered_parts(report.project), parts),
        "here": report.get_absolute_url(),
        "past": report,
        "report": report,
        **_comparison_context(report),
    }


def _comparison_context(report: AgreementReport | None) -> dict[str, Any]:
    """Return what a page shows of a comparison; empty without figures."""
    if report is None or report.figures is None:
        return {}
    figures = report.figures
    first, second = figures["first"], figures["second"]
    return {
        "computed": report,
        "figures": figures,
        "stale_words": count_changes_since(report).words,
        "rows": [
            {
                "title": COEFFICIENTS[key],
                "first": first["coefficients"][key],
                "second": second["coefficients"][key],
                "difference": difference,
            }
            for key, difference in figures["differences"].items()
        ],
        "names": [
            _capitalize(describe_scope(stored_scope(part)) or "the whole project")
            for part in (report.scope, report.against)
        ],
        "headline_difference": figures["differences"][HEADLINE],
    }


def _capitalize(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _unit_table_url(slug: str, scope: Scope, of: str) -> str:
    asked = urlencode({"of": of, **scope.form_data})
    return f"{reverse('audit:agreement_units', args=[slug])}?{asked}"


def _scope_url(name: str, slug: str, scope: Scope) -> str:
    where = reverse(name, args=[slug])
    return f"{where}?{scope}" if scope else where
