"""`manage.py release PROJECT NAME`: freeze a project under a name, or verify a release."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from annotate.judgments.blindness import must_answer_first
from annotate.management.projects import get_project
from annotate.projects.models import Membership, Project
from base.commands import RejudgeCommand
from base.texts import amount
from exporters.releases import actions as releasing
from exporters.releases import contents
from exporters.releases.models import Release
from exporters.releases.preview import preview
from jobs.runner import run


class Command(RejudgeCommand):
    """Make a release, whole or not at all, or compare an existing one with its checksums."""

    help = "Freeze a project under a name as a release, or verify a release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("name", help="the name of the release, as in v1.0")
        parser.add_argument("--note", default="", help="what the release is for")
        parser.add_argument(
            "--verify",
            action="store_true",
            help="make no release: read the stored files and list missing and changed ones",
        )
        parser.add_argument(
            "--files",
            action="store_true",
            help="list each file with its sha256",
        )
        parser.add_argument("--json", action="store_true", help="print what it holds as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = get_project(options["project"])
        if options["verify"]:
            self._verify(find_release(project, options["name"]), with_files=options["files"])
            return
        open_work = _open_work(project)
        if not options["json"]:
            for sentence in open_work:
                self.stdout.write(sentence)
        release = releasing.request_release(
            project=project,
            name=options["name"],
            note=options["note"],
            by=None,
            now=timezone.now(),
        )
        made = run(release.pk)
        release.refresh_from_db()
        if not made or release.manifest is None:
            raise CommandError(f"{release.name} was cancelled or taken over by a worker.")
        self._print(release, options, open_work)

    def _verify(self, release: Release, *, with_files: bool) -> None:
        checked = releasing.verify(release)
        for fault in checked.faults:
            self.stderr.write(fault)
        if checked.faults:
            faults = amount(len(checked.faults), "fault")
            raise CommandError(
                f"{release.name} is not as it was released: {faults} in {checked.files:,} files."
            )
        if with_files:
            self._print_files(release)
        self.stdout.write(f"{release.name}: {checked.files:,} files, all as they were released.")
        self.stdout.write(f"sha256 {release.sha256}")

    def _print(self, release: Release, options: dict[str, Any], open_work: list[str]) -> None:
        held = contents.of(release)
        if options["json"]:
            shown = {**held, "sha256": release.sha256, "open_work": open_work}
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        for sentence in held["warnings"]:
            if sentence not in open_work:
                self.stdout.write(sentence)
        if options["files"]:
            self._print_files(release)
        named = f"{options['project']} {release.name}"
        files = amount(len(contents.files(release)), "file")
        self.stdout.write(
            f"{files} are kept. List them with their sha256:\n"
            f"  {settings.COMMAND} release {named} --verify --files\n"
            "Write those of a format into a folder:\n"
            f"  {settings.COMMAND} export {options['project']} trec --release {release.name} "
            "--output FOLDER"
        )
        self.stdout.write(contents.citation(release))

    def _print_files(self, release: Release) -> None:
        for entry in contents.files(release).values():
            self.stdout.write(f"{entry['sha256']}  {entry['name']}")


def _open_work(project: Project) -> list[str]:
    """Return the warnings of the page on which releases are made; [] if every lead is blind."""
    leads = project.memberships.active().filter(role=Membership.Role.LEAD).order_by("pk")
    reader = next((lead for lead in leads if not must_answer_first(lead)), None)
    return preview(reader).warnings if reader is not None else []


def find_release(project: Project, name: str) -> Release:
    """Return the finished release of this name; raise CommandError, listing names, if none."""
    release = Release.objects.made().select_related("project").filter(project=project, name=name)
    if (one := release.first()) is not None:
        return one
    names = Release.objects.made().filter(project=project).order_by("-pk")
    there = ", ".join(names.values_list("name", flat=True)[:20])
    known = f"Its releases: {there}." if there else "It has no releases yet."
    raise CommandError(f"{project.slug} has no release called {name!r}. {known}")
