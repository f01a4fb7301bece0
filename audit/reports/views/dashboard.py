"""Two pages of the leads' dashboard: where people differ, and the rules of the collection."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotate.judgments.blindness import BLIND_TASKS, must_answer_first
from annotate.judgments.pair_rules import Rule
from annotate.judgments.tally import MAX_NAMED, PairStatus, RuleReport, rule_report
from annotate.judgments.work_left import open_assignments
from annotate.projects import access
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.reports.access import BLIND, unblinded_lead
from audit.reports.category_figures import by_category, csv_rows
from audit.reports.coverage import coverage
from audit.reports.differences import TOP, Spot, differences
from audit.reports.models import AgreementReport
from audit.reports.reliability import HEADLINE
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.rule_standings import RuleStanding, rule_standings
from audit.reports.statements_since import count_changes_since
from audit.reports.tables import Table, tables
from base.csv_output import csv_lines
from base.page_request import PageRequest
from base.pagination import parse_key

# The most lines that a chart draws; the page of agreement shows all of them.
DRAWN = 12
# The most pairs that break a rule to list on one page.
LISTED = 20


@require_GET
def differences_page(request: PageRequest, slug: str) -> HttpResponse:
    """Show how much people agree, and where their disagreements concentrate."""
    member = access.lead(request.user, slug)
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
        blind=BLIND if blind else "",
        report=report,
        come_since=report is not None and figures is not None and any(count_changes_since(report)),
        headline_words=COEFFICIENTS[HEADLINE],
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
    member = access.lead(request.user, slug)
    report = rule_report(member)
    blind = must_answer_first(member)
    return project_page(
        request,
        "reports/collection.html",
        member,
        "overview",
        kind=kind_of(member.project.kind),
        report=report,
        rules=[_rule(request, report, standing) for standing in rule_standings(report)],
        named=MAX_NAMED,
        coverage=coverage(member),
        blind=BLIND if blind else "",
        by_category=None if blind else by_category(member),
    )


@require_GET
def categories_table(request: PageRequest, slug: str) -> HttpResponse:
    """Send the figures of each category as CSV."""
    member = unblinded_lead(request.user, slug)
    return HttpResponse(
        "".join(csv_lines(csv_rows(by_category(member)))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-categories.csv"'},
    )


def _rule(request: HttpRequest, report: RuleReport, standing: RuleStanding) -> dict[str, Any]:
    """Return one rule with its counts, and a page of the pairs that break it."""
    rule = standing.rule.value
    after = request.GET.get("after", "") if request.GET.get("rule") == rule else ""
    behind = parse_key(after) or 0
    rest = [pair for pair in standing.broken if pair.pair.pk > behind]
    shown = rest[:LISTED]
    return {
        "rule": rule,
        "name": standing.name,
        "sentence": standing.sentence,
        "state": standing.state,
        "pairs": standing.holds + standing.not_known + len(standing.broken),
        "kept": standing.holds,
        "not_yet": standing.not_known,
        "broken": len(standing.broken),
        "names_documents": standing.rule is Rule.SHRINKING or standing.rule.is_of_labels,
        "rows": [_broken_pair(report, standing.rule, pair) for pair in shown],
        "first_url": f"?rule={rule}#{rule}-title" if behind else "",
        "next_url": f"?{urlencode({'rule': rule, 'after': shown[-1].pair.pk})}#{rule}-title"
        if len(rest) > LISTED
        else "",
    }


def _broken_pair(report: RuleReport, rule: Rule, status: PairStatus) -> dict[str, Any]:
    query = reverse("annotate:query", args=[status.pair.project.slug, status.pair.query_id])
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
        {"spot": spot, "open_url": f"{matrix}?{urlencode(_category(spot))}"}
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


def _category(spot: Spot) -> dict[str, str]:
    return {"state": "disputed", "category": spot.key or "-"}


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
        "sorted": table.key in {"pairs", "queries", "categories"},
    }
