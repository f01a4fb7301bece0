"""`manage.py candidates PROJECT remove|restore|list|replace`: take documents out of pools."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.collection.models import Candidate
from annotate.management.projects import get_project
from annotate.pools.removal import DOCUMENTS
from annotate.pools.replacing import Effects, NewDocument, effects, replace_document
from annotate.projects.models import Project
from base.commands import RejudgeCommand
from base.texts import amount


class Command(RejudgeCommand):
    """Take candidates out of their pools with a reason, bring them back, list or replace them."""

    help = (
        "Take candidates out of their pools with a reason, bring them back, list or replace them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("action", choices=["remove", "restore", "list", "replace"])
        parser.add_argument(
            "--candidate",
            action="append",
            nargs=2,
            default=[],
            metavar=("QUERY", "DOCUMENT"),
            help="a candidate, by its query's id and its document's; may be repeated",
        )
        parser.add_argument("--file", help="candidates, one per line: query id, TAB, document id")
        parser.add_argument("--reason", default="", help="why they are taken out or replaced")
        parser.add_argument(
            "--with", dest="new", metavar="DOCUMENT", help="replace: the id of the new document"
        )
        parser.add_argument("--title", default="", help="replace: the title of a new document")
        parser.add_argument("--text", metavar="FILE", help="replace: the text of a new document")
        parser.add_argument("--by", metavar="NAME", help="replace: the lead who replaces it")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="replace: print what would change, and change nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        if options["action"] == "list":
            rows = DOCUMENTS.removed(project).order_by("query__query_id", "document__doc_id")
            for row in rows.select_related("query", "document"):
                self.stdout.write(
                    f"{row.query.query_id}\t{row.document.doc_id}\t{row.removed_reason}"
                )
            return
        ids = [(query, document) for query, document in options["candidate"]]
        if options["file"]:
            ids += _read_candidate_ids(Path(options["file"]))
        keys = DOCUMENTS.keys_of(project, ids)
        if options["action"] == "replace":
            self._replace(project, keys, options)
            return
        if options["action"] == "remove":
            changed = DOCUMENTS.remove(
                project=project, keys=keys, reason=options["reason"], by=None
            )
        else:
            changed = DOCUMENTS.restore(project=project, keys=keys, by=None)
        done = "taken out" if options["action"] == "remove" else "brought back"
        self.stdout.write(f"{changed.changed:,} {done}, {changed.unchanged:,} unchanged")

    def _replace(self, project: Project, keys: list[int], options: dict[str, Any]) -> None:
        """Replace one document, as its page does."""
        if len(keys) != 1 or not options["new"]:
            raise CommandError("Name one document with --candidate, and the new one with --with.")
        lead = project.memberships.named(options["by"] or "").first()
        if lead is None:
            raise CommandError("Name with --by the lead of this project who replaces it.")
        candidate = Candidate.with_removed.select_related("query__project", "document").get(
            pk=keys[0]
        )
        text = _read_text(Path(options["text"])) if options["text"] else ""
        new = NewDocument(options["new"], options["title"], text)
        expected = effects(candidate, new)
        for line in _effect_lines(expected):
            self.stdout.write(line)
        if options["dry_run"]:
            return
        replace_document(
            candidate=candidate, new=new, reason=options["reason"], token=expected.token, by=lead
        )
        self.stdout.write("replaced")


def _effect_lines(expected: Effects) -> list[str]:
    """Return what a replacement changes, in the words of its page."""
    return [
        amount(len(expected.pools), "pool", "pools"),
        amount(
            expected.claims,
            "claimed label moves to the new document",
            "claimed labels move to the new document",
        ),
        f"no longer counted, but kept: {', '.join(expected.answers) or 'nothing'}",
    ]


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not text in UTF-8.") from error


def _read_candidate_ids(file: Path) -> list[tuple[str, str]]:
    ids = []
    for number, words in enumerate(_read_text(file).removesuffix("\n").split("\n"), 1):
        line = words.split("\t")
        if len(line) < 2:
            raise CommandError(
                f"Line {number} of {file} has no TAB. Write query id, TAB, document id."
            )
        ids.append((line[0], line[1]))
    return ids
