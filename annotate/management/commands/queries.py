"""`manage.py queries PROJECT remove|restore|list|draw`: take queries out and back, draw topics."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from annotate.collection.removal import INSTRUCTIONS, QUERIES, ChangeCounts
from annotate.collection.topics import Conditions, draw_topics
from annotate.management.projects import get_project
from annotate.projects.models import Project
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Take queries and instructions out with a reason, bring them back, list them, draw topics."""

    help = (
        "Take queries or instructions out with a reason, and bring them back. `list` prints what "
        "is out; `draw` draws topics and takes the others out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("action", choices=["remove", "restore", "list", "draw"])
        parser.add_argument(
            "--query", action="append", default=[], metavar="ID", help="a query; may be repeated"
        )
        parser.add_argument(
            "--pair",
            action="append",
            default=[],
            metavar="ID",
            help="an instruction pair; may be repeated",
        )
        parser.add_argument("--reason", default="", help="why they are taken out")
        parser.add_argument("--number", type=int, help="draw: how many topics")
        parser.add_argument("--seed", type=int, default=1, help="draw: the seed (default: 1)")
        parser.add_argument("--least", type=int, help="draw: relevant documents, at least")
        parser.add_argument("--most", type=int, help="draw: relevant documents, at most")
        parser.add_argument(
            "--without-narrative",
            action="store_true",
            help="draw: also topics without a narrative",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        with transaction.atomic():
            lines = _ACTIONS[options["action"]](project, options)
        for line in lines:
            self.stdout.write(line)


def _list_removed(project: Project, options: dict[str, Any]) -> list[str]:
    queries = QUERIES.removed(project).order_by("query_id")
    pairs = INSTRUCTIONS.removed(project).order_by("pair_id")
    return [
        *(f"query\t{query.query_id}\t{query.removed_reason}" for query in queries),
        *(f"pair\t{pair.pair_id}\t{pair.removed_reason}" for pair in pairs),
    ]


def _remove(project: Project, options: dict[str, Any]) -> list[str]:
    queries, pairs = _get_keys(project, options)
    reason, counts = options["reason"], []
    if queries:
        counts.append(QUERIES.remove(project=project, keys=queries, reason=reason, by=None))
    if pairs:
        counts.append(INSTRUCTIONS.remove(project=project, keys=pairs, reason=reason, by=None))
    return _count_lines(counts, "taken out")


def _restore(project: Project, options: dict[str, Any]) -> list[str]:
    queries, pairs = _get_keys(project, options)
    counts = []
    if queries:
        counts.append(QUERIES.restore(project=project, keys=queries, by=None))
    if pairs:
        counts.append(INSTRUCTIONS.restore(project=project, keys=pairs, by=None))
    return _count_lines(counts, "brought back")


def _get_keys(project: Project, options: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Look up every id before anything is changed."""
    if not options["query"] and not options["pair"]:
        raise CommandError("Name queries with --query, or instruction pairs with --pair.")
    queries = QUERIES.keys_of(project, options["query"])
    return queries, INSTRUCTIONS.keys_of(project, options["pair"])


def _count_lines(counts: list[ChangeCounts], done: str) -> list[str]:
    return [f"{count.changed:,} {done}, {count.unchanged:,} unchanged" for count in counts]


def _draw(project: Project, options: dict[str, Any]) -> list[str]:
    if options["number"] is None:
        raise CommandError("Give the number of topics with --number.")
    conditions = Conditions(not options["without_narrative"], options["least"], options["most"])
    changed = draw_topics(
        project=project,
        conditions=conditions,
        number=options["number"],
        seed=options["seed"],
        by=None,
    )
    return [f"{options['number']:,} drawn, {changed.changed:,} taken out"]


_ACTIONS = {"list": _list_removed, "remove": _remove, "restore": _restore, "draw": _draw}
