"""`manage.py maxp RUN --output FILE`: turn a run over passages into a run over documents."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from base.commands import RejudgeCommand
from formats.passages import rank_documents
from formats.problems import FormatError
from formats.source import open_source
from formats.trec_run import read_run, write_run


class Command(RejudgeCommand):
    """Give each document the score of its best passage, and write the run."""

    help = "Turn a TREC run over passages (FT911-3_2) into one over documents, by MaxP."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="a TREC run over passages")
        parser.add_argument("--output", required=True, metavar="FILE", help="a new file")

    def handle(self, *args: Any, **options: Any) -> None:
        target = Path(options["output"])
        try:
            with open_source(options["run"]) as source:
                lines = list(rank_documents(read_run(source)))
            with target.open("xb") as stream:
                count = write_run(lines, stream)
        except FormatError as error:
            raise CommandError(str(error)) from error
        except ValueError as error:
            raise CommandError(f"{options['run']}: {error}.") from error
        self.stdout.write(f"{count:,} documents in {target}")
