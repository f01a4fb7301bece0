"""Try what a release would write and warn of, by the writers of the release, and keep nothing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple, NoReturn

from django.conf import settings

from annotate.projects.models import Membership, Project
from base.snapshot import snapshot
from exporters.exports import publishing
from exporters.exports.actions import WRITERS
from exporters.exports.before_publishing import KINDS
from exporters.exports.files import Writer
from exporters.exports.layouts import paired_qrels
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.models import Export
from exporters.releases.actions import format_names
from exporters.releases.changes_since import changes_since
from exporters.releases.models import Release
from formats.texts import CannotHold


class FormatCheck(NamedTuple):
    """A format of the release, and why it cannot be written."""

    name: str
    problem: Annotated[str, "Empty: it can be written."]


class Trial(NamedTuple):
    """What the release would say about itself.

    `manifest`: that of its qrels, with the rules, warnings and counts; None if these cannot be
    written. `publication`: what is missing in the publication settings. `findings`: what to look at
    before publishing, with counts. `last`: the newest release, with what changed since.
    """

    formats: list[FormatCheck]
    manifest: Manifest | None
    publication: list[str]
    findings: list[tuple[str, int]]
    last: Release | None
    changes: list[str]

    @property
    def problems(self) -> list[FormatCheck]:
        """The formats that cannot be written: the release would fail."""
        return [check for check in self.formats if check.problem]


class _FirstFile(Exception):
    """Raised when a layout opens its first file: it has refused nothing."""


class _NoFiles(Writer):
    """A writer that stops at the first file, before which layouts refuse what they cannot hold."""

    def file(self, name: str, holds: str) -> NoReturn:
        raise _FirstFile


def try_release(by: Membership) -> Trial:
    """Write the labels of a release into a folder that is deleted, and check every other format.

    What the formats have in common is read once.
    """
    project = by.project
    last = Release.objects.made().filter(project=project).order_by("-pk").first()
    with snapshot():
        manifest, problem = _try_qrels(project)
        formats = [FormatCheck(Export.Format.TREC.value, problem)]
        formats += [
            FormatCheck(name, _find_problem(project, name))
            for name in format_names(project)
            if name != Export.Format.TREC
        ]
        before_publishing = manifest.get("before_publishing", {}) if manifest else {}
        return Trial(
            formats,
            manifest,
            publishing.preview(project).checks,
            [
                (heading, before_publishing[kind]["count"])
                for kind, (heading, _reason) in KINDS.items()
                if kind in before_publishing and before_publishing[kind]["count"]
            ],
            last,
            changes_since(project, last.at) if last and last.at else [],
        )


def _try_qrels(project: Project) -> tuple[Manifest | None, str]:
    """Return the manifest of the qrels, or None and why they cannot be written."""
    with TemporaryDirectory(prefix="trial-", dir=settings.SCRATCH) as scratch:
        try:
            return paired_qrels.try_labels(project, Writer(Path(scratch))), ""
        except CannotHold as error:
            return None, f"{error}."


def _find_problem(project: Project, name: str) -> str:
    """Return why a format cannot be written, or ""."""
    try:
        WRITERS[Export.Format(name)].write(project, _NoFiles(Path()), lambda _: None)
    except CannotHold as error:
        return f"{error}."
    except _FirstFile:
        pass
    return ""
