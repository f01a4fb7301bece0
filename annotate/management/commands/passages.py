"""`manage.py passages PROJECT --output FILE`: cut the documents of a project into passages."""

from __future__ import annotations

import json
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotate.collection.models import DocumentText, PassageRule
from annotate.collection.passages import (
    passage_rule_of,
    passages_of_document,
    set_passage_rule,
)
from annotate.management.projects import get_project
from annotate.projects.models import Project
from base.commands import RejudgeCommand

# How many texts are in memory at a time.
TEXTS = 50


class Command(RejudgeCommand):
    """Store how passages are cut, and write them as JSON, one object a line."""

    help = "Cut the documents of a project into passages, and set what layouts hold of texts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("--words", type=int, help="words per passage (400)")
        parser.add_argument("--overlap", type=int, help="words repeated in the next passage (200)")
        parser.add_argument(
            "--sentences",
            action=BooleanOptionalAction,
            dest="at_sentences",
            help="begin and end passages at sentences",
        )
        parser.add_argument("--published", choices=PassageRule.Published.values)
        parser.add_argument("--share", type=int, help="percent of a document around its evidence")
        parser.add_argument("--output", metavar="FILE", help="a new file for the passages")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        named = ("words", "overlap", "at_sentences", "published", "share")
        changes = {name: options[name] for name in named if options[name] is not None}
        if changes:
            set_passage_rule(project=project, changes=changes, by=None)
        rule = passage_rule_of(project)
        if options["output"] is None:
            for name in named:
                self.stdout.write(f"{name}: {getattr(rule, name)}")
            return
        target = Path(options["output"])
        count = 0
        with target.open("xb") as stream:
            for line in _passage_lines(project, rule):
                stream.write(line)
                count += 1
        self.stdout.write(f"{count:,} passages in {target}")


def _passage_lines(project: Project, rule: PassageRule) -> Iterator[bytes]:
    """Yield each passage as a line of JSON, in byte order of the documents' ids."""
    keys = sorted(
        project.documents.filter(text_version__isnull=False).values_list("doc_id", "pk", "title"),
        key=lambda row: row[0].encode(),
    )
    for start in range(0, len(keys), TEXTS):
        part = keys[start : start + TEXTS]
        texts: dict[int, tuple[str, str]] = {
            pk: (text, markup)
            for pk, text, markup in DocumentText.objects.current()
            .filter(document__in=[pk for _doc_id, pk, _title in part])
            .values_list("document", "text", "markup")
        }
        for doc_id, pk, title in part:
            text, markup = texts[pk]
            for passage in passages_of_document(rule, doc_id, text, markup):
                fields = {
                    "_id": passage.passage_id,
                    "title": title,
                    "text": passage.text,
                    "doc_id": doc_id,
                    "start": passage.start,
                    "end": passage.end,
                }
                yield json.dumps(fields, ensure_ascii=False).encode() + b"\n"
