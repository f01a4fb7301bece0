"""`manage.py candidates PROJECT remove|restore|list`: take documents out of pools, and back."""

from __future__ import annotations

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.management.projects import project_called
from annotate.pools.removal import (
    named,
    remove_candidates,
    removed_candidates,
    restore_candidates,
)
from base.errors import Refused


class Command(BaseCommand):
    """Take candidates out of their pools with a reason, bring them back, or list them."""

    help = "Take candidates out of their pools with a reason, bring them back, or list those out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("action", choices=["remove", "restore", "list"])
        parser.add_argument(
            "--candidate",
            action="append",
            nargs=2,
            default=[],
            metavar=("QUERY", "DOCUMENT"),
            help="a candidate by its ids; may be given again",
        )
        parser.add_argument("--file", help="candidates, one a line: query id, TAB, document id")
        parser.add_argument("--reason", default="", help="why they are taken out")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        if options["action"] == "list":
            rows = removed_candidates(project).order_by("query__query_id", "document__doc_id")
            for row in rows.select_related("query", "document"):
                self.stdout.write(
                    f"{row.query.query_id}\t{row.document.doc_id}\t{row.removed_reason}"
                )
            return
        ids = [(query, document) for query, document in options["candidate"]]
        if options["file"]:
            ids += _read(Path(options["file"]))
        try:
            keys = named(project, ids)
            if options["action"] == "remove":
                changed = remove_candidates(
                    project=project, candidates=keys, reason=options["reason"], by=None
                )
            else:
                changed = restore_candidates(project=project, candidates=keys, by=None)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        done = "taken out" if options["action"] == "remove" else "brought back"
        self.stdout.write(f"{changed.changed:,} {done}, {changed.unchanged:,} were so already")


def _read(file: Path) -> list[tuple[str, str]]:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            lines = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if len(line) < 2:
            raise CommandError(
                f"Line {number} of {file} has no TAB. Write the query's id, a TAB, the document's."
            )
        found.append((line[0], line[1]))
    return found
