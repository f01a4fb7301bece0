"""Make, verify and copy releases of a project; used by pages, API, commands and the job."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from django.conf import settings
from django.db import transaction
from django.http import FileResponse, Http404
from django.utils import timezone

from annotate.collection.models import Query
from annotate.judgments.blindness import must_answer_first
from annotate.loading.models import Load
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Guideline, Membership, Project
from base.errors import Refused, refuse_invalid_characters
from base.snapshot import snapshot
from base.texts import tidy
from exporters.exports.access import BLIND
from exporters.exports.actions import (
    ANY_FILE,
    FORMATS,
    WRITERS,
    check_format,
    record_download,
    write,
)
from exporters.exports.files import BUFFER, Edition, FileFacts, Writer, pack
from exporters.exports.layouts import about
from exporters.exports.manifest import manifest
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.models import Export, publication_of
from exporters.exports.selection import selection
from exporters.exports.selection.labellers import labellers
from exporters.releases import contents, file_store
from exporters.releases.models import Release
from formats.texts import CannotHold
from jobs import queue
from jobs.errors import JobError
from jobs.models import Job
from jobs.runner import Progress, save_result

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MAX_NOTE = 2_000
# Names that have another meaning in URLs.
TAKEN_BY_PAGES = {"new", "files", "discarding"}


def check_name(project: Project, name: str) -> None:
    """Refuse an invalid name, or one that a release of the project already has."""
    if not NAME.fullmatch(name):
        raise Refused(
            "A release's name has letters, digits, dots, hyphens and underscores, at most "
            "60 of them, and begins with a letter or a digit, as in v1.0."
        )
    if name.lower() in TAKEN_BY_PAGES:
        raise Refused(f"“{name}” cannot be the name of a release.")
    taken = Release.objects.filter(project=project, name__iexact=name).exclude(
        state__in=[Job.State.FAILED, Job.State.CANCELLED]
    )
    if (other := taken.first()) is not None:
        raise Refused(
            f"A release called {other.name} already exists, and releases never change. "
            "Choose another name."
        )


def request_release(
    *,
    project: Project,
    name: str,
    note: str = "",
    by: Membership | None,
    now: datetime | None = None,
) -> Release:
    """Request a release and return its row; a worker makes the files.

    Refused: a member who is not a lead, a lead who has judging or reviewing left, an archived
    project, a project without queries, an invalid or taken name, an invalid note, a second release
    while one is being made, a file that is being loaded.
    """
    if by is not None:
        if not by.leads or by.project_id != project.pk:
            raise Refused("Only leads of this project can release it.")
        if must_answer_first(by):
            raise Refused(BLIND)
    note = tidy(note)
    refuse_invalid_characters(note)
    with transaction.atomic():
        # Of two concurrent requests, the second waits here and then finds the first.
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        refuse_if_archived(locked)
        check_name(locked, name)
        if len(note) > MAX_NOTE:
            raise Refused(f"A note has at most {MAX_NOTE} characters.")
        if not Query.objects.filter(project=locked).exists():
            raise Refused("There is nothing to release yet: this project has no queries.")
        under_way = Release.objects.filter(project=locked, state__in=Job.UNDER_WAY).first()
        if under_way is not None:
            raise Refused(f"{under_way.name} is being made. Wait until it is done, or cancel it.")
        if sentence := loading_sentence(locked):
            raise Refused(sentence)
        release = Release.objects.create(
            project=locked,
            name=name,
            note=note,
            by=by,
            requested_at=now or timezone.now(),
        )
        if by is not None:
            queue.enqueue(release)
        record(project=locked, what="release.asked", about=release, words=note, by=by, now=now)
    return release


def loading_sentence(project: Project) -> str:
    """Say which file is being loaded: a release would have half of what belongs together. Or ""."""
    load = Load.objects.filter(project=project, dry_run=False, state__in=Job.UNDER_WAY).first()
    if load is None:
        return ""
    return f"{load.file_name} is being loaded. Release once it is done, or cancel it under Load."


def discard_release(*, release: Release, by: Membership) -> None:
    """Delete a failed or cancelled release, which has no files. Only the audit log names it then.

    Refused: a member who is not a lead, a release that is made or being made.
    """
    if not by.leads or by.project_id != release.project_id:
        raise Refused("Only leads of this project can discard a release.")
    refuse_if_archived(by.project)
    with transaction.atomic():
        locked = Release.objects.select_for_update().get(pk=release.pk)
        if locked.state not in Release.DISCARDABLE:
            raise Refused("Only a failed or cancelled release can be discarded.")
        record(project=by.project, what="release.discarded", about=locked, by=by)
        locked.delete()


def build(job: Release, progress: Progress) -> None:
    """Make a release: write every export from one snapshot, store the files, fill the row.

    The row is filled only once, so a worker that takes over a release with a manifest does nothing.
    """
    if job.manifest is not None:
        return
    with TemporaryDirectory(prefix="release-", dir=settings.SCRATCH) as scratch:
        folder = Path(scratch)
        sizes = (
            WRITERS[Export.Format(name)].size(job.project) for name in format_names(job.project)
        )
        progress.start(sum(sizes), "Writing the files")
        try:
            held, at, guideline = _write(job, folder, progress)
        except CannotHold as error:
            raise JobError(f"This cannot be written: {error}.") from error
        own = folder / contents.NAME
        own.write_bytes(contents.to_bytes(held))
        facts = file_store.file_facts(own, contents.NAME, "")
        progress.start(len(held["files"]) + 1, "Storing the files")
        for entry in [*held["files"], facts]:
            try:
                file_store.store(job.project_id, folder / entry["name"], entry["sha256"])
            except file_store.Damaged as damaged:
                raise JobError(str(damaged)) from damaged
            progress.advance()
    save_result(
        job,
        at=at,
        guideline=guideline,
        code_version=held["code_version"],
        sha256=facts["sha256"],
        manifest=held,
    )


def format_names(project: Project) -> list[str]:
    """Return the names of all formats, and of the layouts in the publication settings."""
    layouts = set(publication_of(project).layouts)
    return [str(name) for name in WRITERS if name in FORMATS or name in layouts]


def _write(
    job: Release, folder: Path, progress: Progress
) -> tuple[contents.Contents, datetime, Guideline | None]:
    """Write all files except release.json from one snapshot into an empty folder."""
    written: dict[str, Manifest] = {}
    files: list[FileFacts] = []
    with snapshot():
        at = timezone.now()
        edition = Edition(job.name, f"{at:%Y-%m-%d}")
        for name in format_names(job.project):
            (folder / name).mkdir()
            written[name] = write(
                job.project, name, folder / name, progress.advance, edition=edition
            )
        into = Writer(folder)
        with into.file(contents.QUERIES, "Every query with its texts.") as stream:
            for query in selection.queries(job.project):
                fields = {
                    "query_id": query.query_id,
                    "title": query.title,
                    "description": query.description,
                }
                stream.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
        guideline = Guideline.objects.latest_of(job.project)
        if guideline is not None:
            with into.file(contents.GUIDELINES, "The current guidelines.") as stream:
                stream.write(guideline.text.encode())
        about.write(job.project, into)
        labels = labellers(job.project)
    for name, export in written.items():
        files += [{**entry, "name": f"{name}/{entry['name']}"} for entry in export["files"]]
        whole = [entry["name"] for entry in export["files"]] + [manifest.NAME]
        with (folder / f"{name}.zip").open("xb") as stream:
            pack(folder / name, whole, stream, top=f"{job.project.slug}-{name}")
        for path, holds in (
            (f"{name}/{manifest.NAME}", "How these files were made, with counts for each pair."),
            (f"{name}.zip", "All of them in one archive."),
        ):
            files.append(file_store.file_facts(folder / path, path, holds))
    files += into.files
    held = contents.compose(
        job, at=at, guideline=guideline, written=written, labels=labels, files=files
    )
    return held, at, guideline


class Verification(NamedTuple):
    """The result of verifying a release: the number of files read, and the faults found."""

    files: int
    faults: list[str]


def verify(release: Release) -> Verification:
    """Read every stored file of a release and compare it with its checksum."""
    every = contents.files(release)
    faults = [
        wrong
        for entry in every.values()
        if (wrong := file_store.find_fault(release.project_id, entry))
    ]
    content = contents.to_bytes(contents.of(release))
    if release.sha256 != hashlib.sha256(content).hexdigest():
        faults.append("The row in the database does not match release.json.")
    return Verification(len(every), faults)


def copy_format(release: Release, format_name: str, folder: Path) -> Manifest:
    """Copy a release's stored export in one format into an empty folder, and return its manifest.

    Every file is checked before it is copied. Refused: an unknown format, one that the release does
    not have, a missing or damaged file.
    """
    check_format(format_name)
    prefix = f"{format_name}/"
    every = contents.files(release)
    mine = {name: entry for name, entry in every.items() if name.startswith(prefix)}
    if not mine:
        raise Refused(
            f"{release.name} does not hold the format {format_name}. Choose it in the "
            "publication settings, and make another release."
        )
    try:
        for name, entry in mine.items():
            target = folder / name.removeprefix(prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            with (
                file_store.open_checked(release.project_id, entry) as source,
                target.open("xb") as stream,
            ):
                shutil.copyfileobj(source, stream, BUFFER)
    except file_store.Damaged as damaged:
        raise Refused(str(damaged)) from damaged
    return cast(Manifest, json.loads((folder / manifest.NAME).read_bytes()))


def send_file(
    member: Membership, release: Release, name: str, content_type: str = ANY_FILE
) -> FileResponse:
    """Send one file of a release after verifying its checksum; raise `file_store.Damaged`."""
    entry = contents.files(release).get(name)
    if entry is None:
        raise Http404("There is no such file in this release.")
    stream = file_store.open_checked(release.project_id, entry)
    record_download(what="release.taken", of=release, name=name, by=member)
    filename = f"{release.project.slug}-{release.name}-{name.replace('/', '-')}"
    return FileResponse(stream, as_attachment=True, filename=filename, content_type=content_type)
