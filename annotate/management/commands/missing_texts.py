"""`manage.py missing_texts PROJECT`: the documents to judge that have no text."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotate.management.projects import get_project
from annotate.pairs.pool import documents_without_text
from base.bulk import in_byte_order
from base.commands import RejudgeCommand


class Command(RejudgeCommand):
    """Print the ids of the documents that judges are shown and that have no text."""

    help = "Print the ids of the documents to judge that have no text, one per line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument(
            "--pools",
            action="store_true",
            help="all documents of the pools, also those that only checks of labels show",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        documents = documents_without_text(project, whole_pool=options["pools"])
        for doc_id in documents.order_by(in_byte_order("doc_id")).values_list("doc_id", flat=True):
            self.stdout.write(doc_id)
