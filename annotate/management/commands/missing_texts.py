"""`manage.py missing_texts PROJECT`: the documents to judge that have no text."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.management.projects import get_project
from annotate.pairs.pool import documents_without_text
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Print the ids of the documents that judges are shown and that have no text."""

    help = "Print the ids of the documents to judge that have no text, one per line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")

    def handle(self, *args: Any, **options: Any) -> None:
        found = documents_without_text(get_project(options["project"])).order_by("doc_id")
        for doc_id in found.values_list("doc_id", flat=True):
            self.stdout.write(doc_id)
