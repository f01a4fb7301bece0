"""`manage.py pool PROJECT NAME`: count a pool, then make it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.projects import get_project
from annotate.pools import actions
from annotate.pools.choosing import DocumentCounts
from annotate.pools.models import Pool
from base.commands import RejudgeCommand
from jobs.runner import run


class Command(RejudgeCommand):
    """Select documents of runs for judging, by a rule that is stored with the pool."""

    help = "Select documents of runs for judging. --count only prints what the pool would hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("name", help="the name of the pool")
        parser.add_argument(
            "--run",
            action="append",
            default=[],
            dest="runs",
            metavar="RUN",
            help="the name of a loaded run; may be repeated",
        )
        parser.add_argument("--method", default="union", choices=Pool.Method.values)
        parser.add_argument("--depth", type=int, help="documents of each run, or of a fusion")
        parser.add_argument(
            "--strata", default="", help="strata of a sample: last rank:percentage, '10:100 50:20'"
        )
        parser.add_argument("--seed", type=int, default=1, help="the seed of a sample (default: 1)")
        parser.add_argument("--count", action="store_true", help="only count, make nothing")
        parser.add_argument("--json", action="store_true", help="print the count as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        rule = {name: options[name] for name in ("method", "runs", "depth", "strata", "seed")}
        recipe = actions.recipe_of(project=project, **rule)
        counted = actions.count_pool(recipe)
        if not options["count"]:
            pool = actions.request_pool(
                recipe=recipe, name=options["name"], by=None, counted=counted["sha256"]
            )
            if not run(pool.pk):
                raise CommandError(f"{pool.name} was cancelled or taken over by a worker.")
        if options["json"]:
            self.stdout.write(json.dumps(counted, ensure_ascii=False, indent=2))
            return
        for sentence in counted["warnings"]:
            self.stdout.write(sentence)
        for query in counted["queries"]:
            self.stdout.write(f"{query['query_id']}: {_describe_counts(query)}")
        for number, counts in enumerate(counted["runs"], 1):
            shared = ", ".join(f"{many:,}" for many in counts["shared"])
            self.stdout.write(
                f"run {number}, {counts['name']}: {counts['documents']:,} documents, "
                f"{counts['alone']:,} in no other run; shared with each run: {shared}"
            )
        made = "would hold" if options["count"] else "holds"
        self.stdout.write(f"{options['name']} {made} {_describe_counts(counted)}")


def _describe_counts(counts: DocumentCounts) -> str:
    return (
        f"{counts['documents']:,} documents: {counts['new']:,} new, {counts['judged']:,} judged, "
        f"{counts['waiting']:,} not judged, {counts['removed']:,} taken out"
    )
