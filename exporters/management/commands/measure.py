"""`manage.py measure PROJECT RUN...`: measure systems by their loaded runs, and print the table."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.collection.models import Run
from annotate.management.projects import get_project
from annotate.projects.models import Project
from base.commands import RejudgeCommand
from exporters.evaluations import systems, tables
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.models import Evaluation
from exporters.evaluations.options import name_of
from exporters.evaluations.systems import SIDES, System
from exporters.management.commands.release import find_release
from jobs.runner import run

# How many disputed documents are printed.
SHOWN = 10


class Command(RejudgeCommand):
    """Measure systems on a release, or on the current rows."""

    help = "Measure systems by their loaded runs, before and after the change of narratives."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument(
            "runs",
            nargs="+",
            metavar="RUN",
            help="a loaded run: its name, or [SYSTEM:][SIDE=]NAME if the name does not show its "
            f"system and side; a side is one of {', '.join(SIDES)}",
        )
        parser.add_argument("--release", metavar="NAME", help="measure on this release")
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="MEASURE.OPTION=VALUE",
            help="as in p-mrr.documents=changed or 'ir.measures=nDCG@20 AP'; may be repeated",
        )
        parser.add_argument(
            "--baseline", default="", metavar="SYSTEM", help="compare with this system"
        )
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", help="print all results as JSON")
        shown.add_argument("--csv", action="store_true", help="print all values, one per line")
        shown.add_argument("--latex", action="store_true", help="print the table for LaTeX")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        release = find_release(project, options["release"]) if options["release"] else None
        requested = request_evaluation(
            project=project,
            measured=_systems(project, options["runs"]),
            release=release,
            options=dict(map(_option, options["option"])),
            baseline=options["baseline"],
            by=None,
        )
        run(requested.pk)
        requested.refresh_from_db()
        if requested.results is None:
            raise CommandError("The evaluation was cancelled or taken over by a worker.")
        self._print(requested, options)

    def _print(self, made: Evaluation, options: dict[str, Any]) -> None:
        results: dict[str, Any] = made.results or {}
        if options["json"]:
            shown = {
                "project": made.project.slug,
                "release": made.release.name if made.release else None,
                "systems": made.systems,
                "options": made.options,
                "code_version": made.code_version,
                "results": results,
            }
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        if options["csv"] or options["latex"]:
            table = tables.systems if options["csv"] else tables.summary
            kind = "csv" if options["csv"] else "tex"
            self.stdout.write(tables.render_table(table(results), kind), ending="")
            return
        self._print_systems(results)
        self._print_estimates(results)
        self._print_disagreements(results)
        sentences = [*results["notes"], *results["warnings"]]
        for one in results["systems"]:
            for key, value in one["values"].items():
                sentences += [f"{one['name']}, {key}: {words}" for words in value["warnings"]]
        self.stdout.write("\n".join(dict.fromkeys(sentences)))

    def _print_systems(self, results: dict[str, Any]) -> None:
        """Print the values and the differences as narrow tables, and then the notes."""
        frame = tables.systems(results)
        values = frame[["system", "measure", "value", "low", "high", "n"]]
        self.stdout.write(tables.render_table(values, "md"))
        compared = frame[frame["baseline"] != ""]
        if len(compared):
            differences = compared.drop(columns=["low", "high"]).rename(
                columns={"difference_low": "low", "difference_high": "high"}
            )
            columns = ["system", "measure", "difference", "low", "high", "p", "p_holm"]
            self.stdout.write(f"\nDifference from {results['baseline']}:\n")
            self.stdout.write(tables.render_table(differences[columns], "md"))
        self.stdout.write("")
        of_one = frame["system"].nunique() == 1
        named = frame.assign(
            name=frame["measure"] if of_one else frame["system"] + " " + frame["measure"]
        )
        for column in ("reason", "note"):
            for words in filter(None, named[column].dropna().unique()):
                names = ", ".join(named["name"][named[column] == words])
                self.stdout.write(f"{names}: {words}")

    def _print_estimates(self, results: dict[str, Any]) -> None:
        """Print what scores would be if people had judged all pairs of a machine, if asked for."""
        if (about := results["estimates"]) is None:
            return
        self.stdout.write(
            f"\nIf people had judged all {about['pairs']:,} pairs that {about['machine']} "
            f"labelled, of which they judged {about['judged']:,}:\n"
        )
        if about["note"]:
            self.stdout.write(f"No estimate: {about['note']}.\n")
            return
        columns = ["system", "measure", "machine", "people", "combined"]
        columns += ["combined_low", "combined_high", "width_ratio"]
        self.stdout.write(tables.render_table(tables.estimates(results)[columns], "md"))

    def _print_disagreements(self, results: dict[str, Any]) -> None:
        """Print the documents that decide the queue's measure, and how sure its ranking is."""
        deciding = results["deciding"]
        if not deciding["measure"]:
            return
        name = name_of(deciding["measure"])
        decides = tables.deciding(results).query("measure == @name").head(SHOWN)
        order = tables.places(results).query("measure == @name")
        self.stdout.write(
            f"\nDisputed documents: {deciding['disputed']:,}. Settling these would change {name} "
            "most (figure: the largest change; changes: what each grade would change):\n"
        )
        self.stdout.write(tables.render_table(decides.drop(columns=["measure"]), "md"))
        if len(order):
            self.stdout.write(
                f"Probability that the first system stays before the second by {name}:\n"
            )
            self.stdout.write(tables.render_table(order.drop(columns=["measure"]), "md"))


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--option {text}: write MEASURE.OPTION=VALUE.")
    return name, value


def _systems(project: Project, given: list[str]) -> list[System]:
    """Return the systems that these runs form; a system named in the argument keeps its name."""
    alone: list[Run] = []
    named: dict[str, dict[str, Run]] = {}
    known = {one.name: one for one in Run.objects.filter(project=project)}
    for text in given:
        if text in known:
            alone.append(known[text])
            continue
        system, _colon, rest = text.rpartition(":")
        side, _equals, name = rest.rpartition("=")
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise CommandError(f"{project.slug} has no run called {name!r}. Its runs: {there}.")
        if side and side not in SIDES:
            raise CommandError(
                f"{text}: {side!r} is not a side. Choose one of: {', '.join(SIDES)}."
            )
        one = known[name]
        side = side or systems.side_of(one)
        runs = named.setdefault(system or one.tag or name, {})
        if side in runs:
            raise CommandError(f"{text}: this system already has a run for the {side} side.")
        runs[side] = one
    return [*systems.propose_systems(alone), *(System(name, runs) for name, runs in named.items())]
