"""`manage.py agreement PROJECT [--by …] [--json]`: compute how much a project's people agree.

Compares people with each other; with `--by machine` alone, people with machines.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.projects import get_project
from audit.checks.models import RESAMPLES, SEED
from audit.reports.reliability import agreement_of
from audit.reports.report_parts import SPLITS
from audit.reports.scopes import Scope, describe_scope, scope_of
from audit.reports.tables import Line, Table, against_machines, people_alone, tables
from base.commands import RejudgeCommand
from base.tags.figures import interval_remark

# The splits that are printed by default.
_DEFAULT_SPLITS = ("pair", "query", "criterion", "self")


class Command(RejudgeCommand):
    """Compute and print the agreement in a project or a part of it; nothing is stored."""

    help = "Compute how much the people of a project agree; print the figures and their basis."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument(
            "--by",
            action="append",
            choices=SPLITS,
            metavar="SPLIT",
            help=f"split the figures; may be given several times: {', '.join(SPLITS)}",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="print all coefficients of each line, not only those that the page shows first",
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
        part = parser.add_argument_group("a part of the project")
        part.add_argument("--query", metavar="ID", help="one query")
        part.add_argument("--category", metavar="KEY", help="one category of instructions")
        part.add_argument("--domain", metavar="NAME", help="one domain of queries")
        part.add_argument("--side", help="one side of the narratives")
        part.add_argument("--criterion", metavar="KEY", help="reviews on one criterion")
        part.add_argument("--people", nargs=2, metavar="NAME", help="two people")
        part.add_argument(
            "--guideline",
            metavar="VERSION",
            help="answers under one version of the guidelines; 0: before any",
        )
        part.add_argument("--week", metavar="DAY", help="judged in the week of a day: 2026-11-16")
        part.add_argument("--blind", action="store_true", help="blind judgments only")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        first, other = options["people"] or ("", "")
        scope = scope_of(project, {**options, "one": first, "other": other})
        by = options["by"] or (SPLITS if options["json"] else _DEFAULT_SPLITS)
        figures = agreement_of(project, seed=SEED, resamples=RESAMPLES, scope=scope, by=by)
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False))
        else:
            lines = _report_lines(
                figures, scope, machines=list(by) == ["machine"], every=options["all"]
            )
            self.stdout.write("\n".join(lines))


def _report_lines(
    figures: dict[str, Any], scope: Scope, *, machines: bool, every: bool
) -> list[str]:
    chosen_tables = (
        [against.table for against in against_machines(figures)] if machines else tables(figures)
    )
    of = f" ({describe_scope(scope)})" if scope else ""
    lines = [f"Agreement of {figures['project']}{of}, {figures['computed_at']}"]
    if not chosen_tables and machines:
        lines.append("No machine has judged any of this.")
    elif not chosen_tables and (alone := people_alone(figures)):
        lines.append(f"No two people answered the same; all answers are by {', '.join(alone)}.")
    elif not chosen_tables and scope:
        lines.append("Nobody has answered anything in this part. Ask for a larger one.")
    elif not chosen_tables:
        lines.append("Nobody has judged or reviewed anything yet.")
    for table in chosen_tables:
        lines += _table_lines(table, every=every)
    lines += [""]
    if chosen_tables and not every:
        lines.append("All coefficients: --all; for programs: --json.")
    lines += [f"Left out: {entry['count']} {entry['reason']}." for entry in figures["left_out"]]
    lines.append(
        "Intervals: 95% expanded percentile bootstrap over units unless stated, BCa if a table is "
        "skewed, "
        f"{figures['resamples']:,} resamples, seed {figures['seed']}. "
        f"Scale: {', '.join(map(str, figures['scale']))}."
    )
    lines.append(f"SHA-256 of the counted answers: {figures['sha256']}.")
    return lines


def _table_lines(table: Table, *, every: bool) -> list[str]:
    lines = ["", table.title]
    shown = [_coefficients(line, table, every=every) for line in table.lines]
    width = max(len(coefficient["title"]) for several in shown for coefficient in several)
    for line, several in zip(table.lines, shown, strict=True):
        lines += ["", f"  {line.label}: {_format_counts(line, table)}"]
        lines += [
            f"    {coefficient['title']:<{width}}  {_format_coefficient(coefficient)}"
            for coefficient in several
        ]
    return lines


def _coefficients(line: Line, table: Table, *, every: bool) -> list[dict[str, Any]]:
    """Return every coefficient of a line, or those that the page shows before it is unfolded."""
    if every:
        return line.coefficients
    return line.first if len(table.lines) == 1 else [line.headline]


def _format_counts(line: Line, table: Table) -> str:
    by = "person" if len(line.raters) == 1 else table.by
    unit = table.one_unit if line.units == 1 else table.unit
    counts = f"{line.units:,} {unit} shared, {len(line.raters)} {by}"
    return "; ".join(
        [counts, *(f"{entry['units']:,} {entry['reason']}" for entry in line.excluded)]
    )


def _format_coefficient(coefficient: dict[str, Any]) -> str:
    if coefficient["value"] is None:
        return str(coefficient["note"])
    text = f"{coefficient['value']:6.3f}"
    if coefficient["interval"] is None:
        return f"{text}  {coefficient['interval_note']}"
    low, high = coefficient["interval"]
    text += f"  [{low:.3f}, {high:.3f}]"
    if "linearised" in coefficient["interval_note"]:
        text += "  by its variance"
    elif "BCa" in coefficient["interval_note"]:
        text += "  BCa"
    if remark := interval_remark(coefficient["interval_note"]):
        text += f"  {remark}"
    return f"{text}  {coefficient['note']}".rstrip()
