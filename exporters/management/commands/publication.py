"""`manage.py publication PROJECT`: print the publication settings of a project, and change them."""

from __future__ import annotations

import json
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from annotate.management.projects import get_project
from base.commands import RejudgeCommand
from exporters.exports.actions import LAYOUTS
from exporters.exports.publishing import FIELDS, set_publication


class Command(RejudgeCommand):
    """Change the publication settings that are named, and print all of them."""

    help = "Change how a project is published: texts, licence, creators, layouts of releases."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument(
            "--texts",
            action=BooleanOptionalAction,
            help="publish titles and texts of documents, which needs a licence",
        )
        parser.add_argument(
            "--claims",
            action=BooleanOptionalAction,
            help="publish claimed labels of accepted instructions where nobody has judged",
        )
        parser.add_argument(
            "--licence", help="the licence of instructions and labels, as in CC-BY-4.0"
        )
        parser.add_argument("--texts-licence", help="the licence of the texts, if it is another")
        parser.add_argument("--texts-source", help="where the texts come from")
        parser.add_argument("--languages", help="the languages, as in 'eng-Latn deu-Latn'")
        parser.add_argument(
            "--creator",
            action="append",
            dest="creators",
            metavar="NAME",
            help="a creator, as in 'Curie, Marie'; may be repeated",
        )
        parser.add_argument("--publisher", help="who publishes it, as in Zenodo")
        parser.add_argument("--year", type=int, help="the year of publication")
        parser.add_argument("--description", help="a description in a sentence or two")
        parser.add_argument("--citation", help="the citation, as BibTeX")
        parser.add_argument(
            "--instructions-in-queries",
            action=BooleanOptionalAction,
            help="in BEIR, append the instruction to the query",
        )
        parser.add_argument(
            "--layout",
            action="append",
            dest="layouts",
            metavar="LAYOUT",
            help=f"a layout that releases hold, one of {', '.join(LAYOUTS)}; may be repeated",
        )
        parser.add_argument("--json", action="store_true", help="print the settings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        changes = {name: options[name] for name in FIELDS if options[name] is not None}
        if "creators" in changes:
            changes["creators"] = "\n".join(changes["creators"])
        publication = set_publication(project=project, changes=changes, by=None)
        settings = {name: getattr(publication, name) for name in FIELDS}
        if options["json"]:
            self.stdout.write(json.dumps(settings, ensure_ascii=False, indent=2))
            return
        for name, value in settings.items():
            shown = ", ".join(value) if isinstance(value, list) else value
            self.stdout.write(f"{name}: {'' if shown is None else shown}".rstrip())
