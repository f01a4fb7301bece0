"""`manage.py agreement PROJECT [--json]`: how much a project's people agree, computed now."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.models import Project
from audit.figures import Line, tables
from audit.models import RESAMPLES, SEED
from audit.reliability import COEFFICIENTS, agreement_of


class Command(BaseCommand):
    """Computes the agreement of one project and prints it; nothing is stored."""

    help = "Compute how much the people of a project agree, and print it with what it was of."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        figures = agreement_of(project, seed=SEED, resamples=RESAMPLES)
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(figures)))


def _lines(figures: dict[str, Any]) -> list[str]:
    found = tables(figures)
    lines = [f"Agreement of {figures['project']}, {figures['computed_at']}"]
    if not found:
        lines.append("Nobody has judged or reviewed anything yet.")
    for table in found:
        lines += ["", f"{table.title}"]
        for line in table.lines:
            lines += ["", f"  {line.label}: {_counts(line, table.unit)}"]
            lines += [f"    {one['title']:<{_WIDTH}}  {_shown(one)}" for one in line.coefficients]
    lines += [""]
    lines += [f"Left out: {entry['count']} {entry['reason']}." for entry in figures["left_out"]]
    lines.append(
        f"Intervals: 95 % percentile bootstrap over units, {figures['resamples']:,} resamples, "
        f"seed {figures['seed']}. Scale: {', '.join(map(str, figures['scale']))}."
    )
    return lines


_WIDTH = max(map(len, COEFFICIENTS.values()))


def _counts(line: Line, unit: str) -> str:
    people = "person" if len(line.raters) == 1 else "people"
    counts = f"{line.units:,} {unit} shared, {len(line.raters)} {people}"
    return "; ".join(
        [counts, *(f"{entry['units']:,} {entry['reason']}" for entry in line.excluded)]
    )


def _shown(coefficient: dict[str, Any]) -> str:
    if coefficient["value"] is None:
        return str(coefficient["note"])
    shown = f"{coefficient['value']:6.3f}"
    if coefficient["interval"] is None:
        return f"{shown}  {coefficient['interval_note']}"
    low, high = coefficient["interval"]
    shown += f"  [{low:.3f}, {high:.3f}]"
    return f"{shown}  {coefficient['note']}".rstrip()
